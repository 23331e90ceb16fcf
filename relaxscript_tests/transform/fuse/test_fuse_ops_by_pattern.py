"""FuseOpsByPattern: which matches become functions, and what these look like."""

from __future__ import annotations

import pytest

from relaxscript.dpl import DFPattern, is_const, is_op, wildcard
from relaxscript.errors import DiagnosticError
from relaxscript.ir.instrument import WellFormedInstrument
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Var
from relaxscript.script import from_source
from relaxscript.transform import FuseOpsByPattern, FusionPattern, PassContext, PatternCheckContext
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.before_after import check
from relaxscript_tests.transform.fuse.annotated import callees

HEAD = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 8), "float32")):
        n = T.int64()
        with R.dataflow():
"""


def module(body: str) -> IRModule:
    return from_source(script(body))


def script(body: str) -> str:
    lines = [line.strip() for line in body.split("\n")]
    return HEAD + "\n".join(" " * (8 if t.startswith("return") else 12) + t for t in lines)


def relu_of(pattern: DFPattern) -> DFPattern:
    return is_op("relax.nn.relu")(pattern)


def product() -> DFPattern:
    return is_op("relax.matmul")(wildcard(), wildcard())


def fuse(body: str, *patterns: object, **options: object) -> IRModule:
    with PassContext(instruments=[WellFormedInstrument()]):
        return FuseOpsByPattern(patterns, **options)(module(body))  # type: ignore[arg-type]


PRODUCT = """a = R.matmul(x, w)
b = R.nn.relu(a)
R.output(b)
        return b"""
CHAIN = """a = R.exp(x)
b = R.exp(a)
c = R.exp(b)
R.output(c)
        return c"""
FUSED = """
@I.ir_module
class M:
    @R.function(private=True)
    def fused_relax_matmul_relax_nn_relu(
        x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 8), "float32")
    ) -> R.Tensor(("n", 8), "float32"):
        R.func_attr({"Composite": "mine.product", "Primitive": True})
        n = T.int64()
        with R.dataflow():
            a = R.matmul(x, w)
            gv = R.nn.relu(a)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 8), "float32")):
        n = T.int64()
        cls = M
        with R.dataflow():
            b: R.Tensor((n, 8), "float32") = cls.fused_relax_matmul_relax_nn_relu(x, w)
            R.output(b)
        return b
"""
ANNOTATED = """
@I.ir_module
class M:
    @R.function
    def fused_relax_matmul_relax_nn_relu_mine(
        x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 8), "float32")
    ) -> R.Tensor(("n", 8), "float32"):
        R.func_attr({"Codegen": "mine"})
        n = T.int64()

        @R.function
        def composite(
            x1: R.Tensor(("m", 8), "float32"), w1: R.Tensor((8, 8), "float32")
        ) -> R.Tensor(("m", 8), "float32"):
            R.func_attr({"Composite": "mine.product"})
            m = T.int64()
            with R.dataflow():
                a = R.matmul(x1, w1)
                gv = R.nn.relu(a)
                R.output(gv)
            return gv

        gv1: R.Tensor((n, 8), "float32") = composite(x, w)
        return gv1

    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 8), "float32")):
        n = T.int64()
        cls = M
        with R.dataflow():
            b: R.Tensor((n, 8), "float32") = cls.fused_relax_matmul_relax_nn_relu_mine(x, w)
            R.output(b)
        return b
"""


def test_what_a_pattern_matches_becomes_a_private_function_with_its_name():
    step = FuseOpsByPattern([("mine.product", relu_of(product()))])
    made = check(step, script(PRODUCT), FUSED)
    assert step(made) is made


def test_a_function_for_a_code_generator_is_around_the_one_of_the_pattern():
    step = FuseOpsByPattern([("mine.product", relu_of(product()))], annotate_codegen=True)
    made = check(step, script(PRODUCT), ANNOTATED)
    assert step(made) is made


def test_the_pattern_that_comes_first_wins():
    small, large = ("mine.matmul", product()), ("mine.both", relu_of(product()))
    assert callees(fuse(PRODUCT, small, large)) == ["fused_relax_matmul"]
    assert callees(fuse(PRODUCT, large, small)) == ["fused_relax_matmul_relax_nn_relu"]


def test_no_binding_is_in_two_functions():
    twice = is_op("relax.exp")(is_op("relax.exp")(wildcard()))
    assert callees(fuse(CHAIN, ("mine.twice", twice))) == ["fused_relax_exp_relax_exp"]


def test_equal_groups_share_one_function_and_others_get_a_number():
    made = fuse(
        CHAIN.replace("exp(b)", "exp(R.sum(b))"), ("mine.exp", is_op("relax.exp")(wildcard()))
    )
    names = ["fused_relax_exp", "fused_relax_exp", "fused_relax_exp1"]
    assert callees(made) == names


@pytest.mark.parametrize("leak", ["c = R.add(a, b)", "c = R.add(b, R.exp(a))"])
def test_a_match_whose_inside_is_used_elsewhere_is_left_alone(leak):
    body = f"a = R.matmul(x, w)\nb = R.nn.relu(a)\n{leak}\nR.output(c)\n        return c"
    mod = module(body)
    step = FuseOpsByPattern([("mine.product", relu_of(product()))])
    assert step(mod) is mod


def test_a_match_whose_inside_leaves_the_block_is_left_alone():
    body = PRODUCT.replace("R.output(b)", "R.output(a, b)").replace("return b", "return (a, b)")
    mod = module(body)
    assert FuseOpsByPattern([("mine.product", relu_of(product()))])(mod) is mod


def test_constants_are_part_of_the_function_or_arguments_of_it():
    pattern = is_op("relax.add")(wildcard(), is_const())
    body = "a = R.add(x, R.const([1.0] * 8, 'float32'))\nR.output(a)\n        return a"
    (bound,) = callees(made := fuse(body, ("mine.add", pattern)))
    assert [p.name_hint for p in made[bound].params] == ["x"]
    (lifted,) = callees(made := fuse(body, ("mine.add", pattern), bind_constants=False))
    assert [p.name_hint for p in made[lifted].params] == ["x", "param_0"]


def test_shape_variables_that_no_argument_tells_are_passed():
    pattern = is_op("relax.zeros")(wildcard())
    made = fuse(
        "a = R.zeros((n, 2), 'float32')\nR.output(a)\n        return a", ("m.zeros", pattern)
    )
    (name,) = callees(made)
    assert [p.name_hint for p in made[name].params] == ["tir_vars"]


def test_a_match_on_a_tensor_whose_shape_is_a_value_is_left_alone():
    mod = module("""s: R.Shape(ndim=2) = R.shape_of(x)
a = R.match_cast(x, R.Tensor(s, "float32"))
b = R.exp(a)
R.output(b)
return b""")
    assert FuseOpsByPattern([("m.exp", is_op("relax.exp")(wildcard()))])(mod) is mod


def test_a_check_sees_the_match_and_decides():
    seen: list[PatternCheckContext] = []

    def is_taken(context: PatternCheckContext) -> bool:
        seen.append(context)
        return False

    operand = wildcard()
    inner = is_op("relax.matmul")(operand, wildcard())
    pattern = FusionPattern("mine.it", relu_of(inner), {"lhs": operand, "inner": inner}, is_taken)
    mod = module(PRODUCT)
    assert FuseOpsByPattern([pattern])(mod) is mod
    (context,) = seen
    (block,) = mod["main"].body.blocks
    a, b = block.bindings
    assert context.matched_expr is b.value
    assert context.annotated_expr == {"lhs": mod["main"].params[0], "inner": a.value}
    assert context.matched_bindings == {a.var: a.value, b.var: b.value}
    assert context.var_usages[a.var] == [b.var]
    assert context.value_to_bound_var[a.value] is a.var


def test_a_pattern_gives_its_functions_more_attributes():
    operand = wildcard()

    def rank(found: dict[str, Var]) -> dict[str, int]:
        return {"rank": found["it"].struct_info.ndim}  # type: ignore[union-attr]

    pattern = FusionPattern("m.exp", is_op("relax.exp")(operand), {"it": operand}, None, rank)  # type: ignore[arg-type]
    made = fuse(CHAIN, pattern)
    assert made[callees(made)[0]].attrs["rank"] == 2


def test_only_entry_functions_are_looked_into():
    mod = module(PRODUCT)
    mod["other"] = mod["main"].with_attr("global_symbol", "other")
    made = FuseOpsByPattern([("m.product", product())], entry_functions=["other"])(mod)
    assert made["main"] is mod["main"]
    assert made["other"] is not mod["other"]


def test_nothing_is_moved_past_a_check():
    body = """a = R.matmul(x, w)
c = R.match_cast(R.exp(x), R.Tensor((4, 8), "float32"))
b = R.nn.relu(a)
d = R.add(b, R.sum(c))
R.output(d)
        return d"""
    mod = module(body)
    assert FuseOpsByPattern([("mine.product", relu_of(product()))])(mod) is mod


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FusionPattern("", wildcard()), "a fusion pattern has a name, not `''`"),
        (lambda: FusionPattern("m.x", 1), 'the fusion pattern "m.x" is no pattern: `1`'),  # type: ignore[arg-type]
        (
            lambda: FusionPattern("m.x", wildcard(), check=3),  # type: ignore[arg-type]
            '`check` of the fusion pattern "m.x" is no function: `3`',
        ),
        (
            lambda: FuseOpsByPattern([wildcard()]),  # type: ignore[list-item]
            "`wildcard()` is neither a `FusionPattern` nor a tuple of a name and a pattern",
        ),
        (
            lambda: FuseOpsByPattern([("relu", wildcard())], annotate_codegen=True),
            '"relu" names no code generator: that is what is before a dot',
        ),
    ],
)
def test_a_mistake_in_a_fusion_pattern_is_named(make, message):
    with pytest.raises(DiagnosticError) as caught:
        make()
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.code, diagnostic.message) == ("RX0709", message)
    assert diagnostic.help


def test_partition_is_linear_in_the_bindings():
    def prepare(size: int):
        lines = [f"v{i + 1} = R.{'exp' if i % 2 else 'nn.relu'}(v{i})" for i in range(size)]
        mod = module("\n".join(["v0 = R.exp(x)", *lines, f"R.output(v{size})", f"return v{size}"]))
        step = FuseOpsByPattern([("m.x", relu_of(is_op("relax.exp")(wildcard())))])
        return lambda: step(mod)

    assert growth(prepare, 40) < 10


@pytest.mark.parametrize("part", ["check", "attrs_getter"])
def test_what_a_function_of_a_pattern_raises_says_whose_it_is_and_at_which_binding(part):
    def broken(given: object) -> bool:
        raise KeyError("lhs")

    pattern = FusionPattern("mine.product_relu", relu_of(product()), **{part: broken})
    with pytest.raises(KeyError) as caught:
        fuse(PRODUCT, pattern)
    said = f'the {part} of the fusion pattern "mine.product_relu" failed on `b`'
    assert said in caught.value.__notes__
