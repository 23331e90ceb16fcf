"""FuseOps: which calls become one function, and what that looks like."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent

import pytest

from relaxscript.ir.instrument import WellFormedInstrument
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Call
from relaxscript.ir.walk import compounds
from relaxscript.testing.compare import assert_same
from relaxscript.transform import FuseOps, PassContext
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.fuse.annotated import (
    CHAINED_TWICE,
    TWICE,
    callees,
    legal_module,
    long_function,
    module,
)

X = 'x: R.Tensor(("n", 8), "float32")'
EXP_SIN = "a = R.exp(x)\nb = R.sin(a)"


def fuse(body: str, params: str = X, **options: object) -> IRModule:
    """FuseOps on a function whose operators are PrimFuncs with patterns."""
    lines = "\n".join(f"        {line}" for line in body.strip().splitlines())
    mod = legal_module(
        f"@I.ir_module\nclass M:\n    @R.function\n    def main({params}):\n"
        f"        n = T.int64()\n{lines}\n"
    )
    with PassContext(instruments=[WellFormedInstrument()], **options):  # type: ignore[arg-type]
        return FuseOps()(mod)


def fuse_block(bindings: str, results: str, params: str = X, **options: object) -> IRModule:
    """FuseOps on a function of one block, which gives some of its values."""
    block = indent(bindings.strip(), "    ")
    body = f"with R.dataflow():\n{block}\n    R.output({results})\nreturn {results}"
    return fuse(body, params, **options)


def test_a_chain_of_elementwise_calls_becomes_one_function():
    before = (
        TWICE
        + """
    @R.function
    def main(x: R.Tensor(("k",), "float32")):
        k = T.int64()
        cls = M
        with R.dataflow():
            a = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((k,), "float32"))
            b = R.call_tir(cls.twice, (a,), out_sinfo=R.Tensor((k,), "float32"))
            R.output(b)
        return b
"""
    )
    mod = module(before)
    made = FuseOps()(mod)
    assert_same(made, module(CHAINED_TWICE))
    assert_same(mod, module(before))
    assert FuseOps()(made) is made


def test_a_diamond_becomes_one_function():
    made = fuse_block(
        """
a = R.exp(x)
b = R.sin(a)
c = R.cos(a)
d = R.add(b, c)""",
        "d",
    )
    assert callees(made) == ["fused_exp_sin_cos_add"]


@pytest.mark.parametrize("product", ["matmul", "conv2d"])
def test_a_product_takes_the_elementwise_calls_behind_it(product):
    made = {
        "matmul": lambda: fuse_block(
            """
a = R.matmul(x, w)
c = R.add(a, b)
d = R.nn.relu(c)""",
            "d",
            'x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 3), "float32"), '
            'b: R.Tensor((3,), "float32")',
        ),
        "conv2d": lambda: fuse_block(
            """
a = R.nn.conv2d(x, w)
c = R.add(a, b)
d = R.nn.relu(c)""",
            "d",
            'x: R.Tensor(("n", 2, 8, 8), "float32"), w: R.Tensor((3, 2, 3, 3), "float32"), '
            'b: R.Tensor((1, 3, 1, 1), "float32")',
        ),
    }[product]()
    assert callees(made) == [f"fused_{product}_add_relu"]


def test_two_products_are_never_in_one_function():
    made = fuse_block(
        """
a = R.matmul(x, w)
b = R.matmul(x, v)
c = R.add(a, b)""",
        "c",
        'x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 3), "float32"), '
        'v: R.Tensor((8, 3), "float32")',
    )
    assert callees(made) == ["matmul", "fused_matmul_add"]


def test_a_product_takes_no_call_that_moves_elements():
    made = fuse_block(
        """
a = R.matmul(x, w)
b = R.permute_dims(a)""",
        "b",
        'x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 3), "float32")',
    )
    assert callees(made) == ["matmul", "permute_dims"]


def test_a_reduction_takes_the_elementwise_calls_before_it_and_none_behind_it():
    made = fuse_block(
        """
a = R.exp(x)
b = R.max(a, axis=1)
c = R.negative(b)""",
        "c",
    )
    assert callees(made) == ["fused_exp_max", "negative"]


def test_elementwise_calls_join_one_that_moves_elements_and_what_follows_that():
    made = fuse_block(
        """
a = R.exp(x)
b = R.permute_dims(a)
c = R.negative(b)""",
        "c",
    )
    assert callees(made) == ["fused_exp_permute_dims_negative"]


def test_a_value_that_leaves_the_block_is_computed_by_itself():
    made = fuse_block(
        """
a = R.exp(x)
b = R.sin(a)
c = R.cos(b)""",
        "a, c",
    )
    assert callees(made) == ["exp", "fused_sin_cos"]


def test_a_value_with_two_uses_that_never_meet_is_computed_by_itself():
    made = fuse_block(
        """
a = R.exp(x)
b = R.sin(a)
c = R.cos(a)""",
        "b, c",
    )
    assert callees(made) == ["exp", "sin", "cos"]


def test_an_opaque_call_is_never_in_a_group():
    made = fuse_block(
        """
a = R.exp(x)
b = R.cumsum(a, axis=1)
c = R.sin(b)
d = R.cos(c)""",
        "d",
    )
    assert callees(made) == ["exp", "cumsum", "fused_sin_cos"]


def test_fields_of_a_tuple_are_taken_in_the_function_that_makes_it():
    made = fuse_block(
        """
t = R.split(x, 2, axis=1)
a = t[0]
b = t[1]
c = R.add(a, b)""",
        "c",
        'x: R.Tensor((4, 8), "float32")',
    )
    assert callees(made) == ["fused_split_add"]
    assert "t[1]" in made["fused_split_add"].script()


def test_a_function_gives_the_tuple_that_its_last_call_makes():
    made = fuse_block(
        """
a = R.exp(x)
t = R.split(a, 2, axis=1)
b = t[0]
c = t[1]""",
        "b, c",
        'x: R.Tensor((4, 8), "float32")',
    )
    assert callees(made) == ["fused_exp_split"]
    assert str(made["fused_exp_split"].ret_struct_info).count("R.Tensor((4, 4)") == 2


def test_a_field_of_a_tuple_from_elsewhere_is_taken_where_it_was():
    made = fuse_block(
        """
t = R.split(x, 2, axis=1)
a = t[0]
b = R.exp(a)
c = R.sin(b)""",
        "t, c",
        'x: R.Tensor((4, 8), "float32")',
    )
    assert callees(made) == ["split", "fused_exp_sin"]
    assert 'a: R.Tensor((4, 4), "float32") = t[0]' in made["main"].script()


def test_shape_variables_that_no_operand_tells_are_passed():
    made = fuse_block(
        """
a = R.exp(x)
b = R.sin(a)""",
        "b",
        'x: R.Tensor(("n * 2", 3), "float32"), s: R.Shape(["n"])',
    )
    text = made.script()
    assert 'tir_vars: R.Shape(["n"])' in text
    assert "cls.fused_exp_sin(x, R.shape([n]))" in text


def test_functions_have_shape_variables_of_their_own():
    made = fuse_block(EXP_SIN, "b")
    outer, inner = (made[name].params[0].struct_info.dims[0] for name in ("main", "fused_exp_sin"))
    assert outer is not inner


def test_constants_are_parameters_and_operands_that_come_twice_come_once():
    made = fuse_block(
        """
a = R.add(x, R.const([1, 2, 3, 4, 5, 6, 7, 8], "float32"))
b = R.multiply(a, x)""",
        "b",
    )
    function = made["fused_add_multiply"]
    assert [param.name_hint for param in function.params] == ["x", "param_0"]


def test_groups_that_differ_in_names_only_share_a_function():
    made = fuse(
        """
with R.dataflow():
    a = R.exp(x)
    b = R.sin(a)
    R.output(b)
with R.dataflow():
    c = R.exp(y)
    d = R.sin(c)
    R.output(d)
return b, d""",
        'x: R.Tensor(("n", 8), "float32"), y: R.Tensor(("m", 8), "float32")',
    )
    assert callees(made) == ["fused_exp_sin", "fused_exp_sin"]


def test_groups_of_other_operands_have_functions_with_other_names():
    made = fuse_block(
        """
a = R.exp(x)
b = R.add(a, x)
c = R.exp(b)
d = R.add(c, b)
e = R.exp(y)
f = R.add(e, x)""",
        "b, d, f",
        'x: R.Tensor((2, 8), "float32"), y: R.Tensor((2, 8), "float32")',
    )
    assert callees(made) == ["fused_exp_add", "fused_exp_add", "fused_exp_add1"]


def test_a_long_name_says_how_much_it_leaves_out():
    negatives = "\n".join(f"a{i + 1} = R.negative(a{i})" for i in range(40))
    made = fuse_block(f"a0 = R.exp(x)\n{negatives}", "a40")
    (name,) = callees(made)
    assert name.startswith("fused_exp_negative_negative")
    assert name.endswith("_and_19_more")


def test_no_function_has_more_bindings_than_max_depth():
    negatives = "\n".join(f"a{i + 1} = R.negative(a{i})" for i in range(5))
    text = f"a0 = R.exp(x)\n{negatives}"
    made = fuse_block(text, "a5", config={"relax.FuseOps.max_depth": 4})
    assert callees(made) == ["fused_exp_negative_negative_negative", "fused_negative_negative"]
    made = fuse_block(text, "a5", config={"relax.FuseOps.max_depth": 1})
    assert callees(made) == ["exp", *["negative"] * 5]


def test_level_zero_fuses_nothing():
    mod = fuse_block(EXP_SIN, "b", opt_level=0)
    assert callees(mod) == ["exp", "sin"]
    assert FuseOps(fuse_opt_level=0)(mod) is mod
    assert callees(FuseOps(fuse_opt_level=1)(mod)) == ["fused_exp_sin"]


def test_outside_of_dataflow_blocks_nothing_is_fused():
    assert callees(fuse("a = R.exp(x)\nb = R.sin(a)\nreturn b")) == ["exp", "sin"]


def test_blocks_in_branches_are_fused():
    made = fuse(
        """
if c:
    with R.dataflow():
        a = R.exp(x)
        b = R.sin(a)
        R.output(b)
    r = b
else:
    r = R.cos(x)
return r""",
        'x: R.Tensor(("n", 8), "float32"), c: R.Tensor((), "bool")',
    )
    assert callees(made) == ["fused_exp_sin", "cos"]


def test_nothing_moves_past_a_match_cast():
    made = fuse_block(
        """
a = R.exp(x)
b = R.sin(a)
y1 = R.match_cast(y, R.Tensor((n, 8), "float32"))
c = R.add(b, y1)
d = R.cos(c)""",
        "d",
        'x: R.Tensor(("n", 8), "float32"), y: R.Tensor(("m", 8), "float32")',
    )
    assert callees(made) == ["fused_exp_sin", "fused_add_cos"]


def test_nothing_moves_past_a_call_that_writes_into_its_arguments():
    made = legal_module("""
@I.ir_module
class M:
    @T.prim_func(private=True)
    def double(a: T.Buffer((8,), "float32")):
        T.func_attr({"op_pattern": 0})
        for i in range(8):
            a[i] = a[i] * T.float32(2)

    @R.function
    def main(x: R.Tensor((8,), "float32")):
        cls = M
        with R.dataflow():
            a = R.exp(x)
            b = R.sin(a)
            d = R.call_tir_inplace(cls.double, (a,), [0], out_sinfo=R.Tensor((8,), "float32"))
            e = R.cos(b)
            f = R.add(d, e)
            R.output(f)
        return f
""")
    made = FuseOps()(made)
    assert callees(made) == ["exp", "sin", "double", "fused_cos_add"]


def test_a_call_that_is_checked_when_it_runs_is_never_in_a_group():
    with pytest.warns(match="it is checked when the program runs"):
        mod = legal_module("""
@I.ir_module
class M:
    @T.prim_func(private=True)
    def add(
        a: T.Buffer(("n",), "float32"), b: T.Buffer(("n",), "float32"),
        c: T.Buffer(("n",), "float32"),
    ):
        T.func_attr({"op_pattern": 0})
        n = T.int64()
        for i in range(n):
            c[i] = a[i] + b[i]

    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
        n = T.int64()
        cls = M
        with R.dataflow():
            a = R.exp(x)
            b = R.call_tir(cls.add, (a, y), out_sinfo=R.Tensor((n,), "float32"))
            c = R.exp(b)
            R.output(c)
        return c
""")
    made = FuseOps()(mod)
    assert callees(made) == ["exp", "add", "exp"]


@pytest.mark.parametrize("attribute", ['"Primitive": True', '"Codegen": "mine"'])
def test_functions_that_are_groups_already_stay(attribute):
    mod = legal_module(f"""
@I.ir_module
class M:
    @R.function(private=True)
    def part(x: R.Tensor((4,), "float32")):
        R.func_attr({{{attribute}}})
        with R.dataflow():
            a = R.exp(x)
            b = R.sin(a)
            R.output(b)
        return b

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        y = cls.part(x)
        return y
""")
    assert FuseOps()(mod) is mod


def test_an_attribute_that_is_no_pattern_is_none():
    mod = module(
        TWICE.replace('"op_pattern": 0', '"op_pattern": "elementwise"'),
        """
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        with R.dataflow():
            a = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((4,), "float32"))
            b = R.call_tir(cls.twice, (a,), out_sinfo=R.Tensor((4,), "float32"))
            R.output(b)
        return b
""",
    )
    assert FuseOps()(mod) is mod


def test_calls_on_tensors_of_several_devices_are_not_fused():
    devices = (
        '\n    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]})\n'
    )
    main = """
    @R.function
    def main(x: R.Tensor((4,), "float32", "llvm:1")):
        cls = M
        with R.dataflow():
            a = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((4,), "float32", "llvm:0"))
            b = R.call_tir(cls.twice, (a,), out_sinfo=R.Tensor((4,), "float32", "llvm:0"))
            c = R.call_tir(cls.twice, (b,), out_sinfo=R.Tensor((4,), "float32", "llvm:0"))
            R.output(c)
        return c
"""
    mod = module(devices, TWICE, main)
    assert callees(FuseOps()(mod)) == ["twice", "fused_twice_twice"]


def test_functions_of_groups_are_not_fused_again():
    made = fuse_block(EXP_SIN, "b")
    assert FuseOps()(made) is made


def ladder(count: int) -> IRModule:
    return long_function([f"R.add(v{i}, v{max(0, i - 3)})" for i in range(count)])


def nested_uses(count: int) -> IRModule:
    """The first value is used last, the second one before the last, and so on."""
    half = count // 2
    first = [f"R.exp(v{i})" for i in range(half)]
    return long_function([*first, *(f"R.add(v{half + i}, v{half - i})" for i in range(half))])


@pytest.mark.slow
@pytest.mark.parametrize("program", [ladder, nested_uses])
def test_the_cost_is_linear_in_the_bindings(program):
    def prepare(count: int) -> Callable[[], object]:
        mod = program(count)
        return lambda: FuseOps()(mod)

    assert growth(prepare, 500, 4) < 5


def test_the_call_of_a_group_has_the_places_of_all_that_it_computes():
    mod = fuse_block(EXP_SIN, "b")
    (call,) = [node for node in compounds(mod["main"]) if isinstance(node, Call)]
    assert call.span is not None
    assert [span.text for span in call.span.spans] == ["R.exp(x)", "R.sin(a)"]
