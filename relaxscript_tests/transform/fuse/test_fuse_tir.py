"""FuseTIR: functions of calls of PrimFuncs become PrimFuncs, where nothing is lost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from relaxscript.ir.instrument import WellFormedInstrument
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import BufferLoad
from relaxscript.ir.relax import Function
from relaxscript.ir.tir import Block, BufferStore, PrimFunc
from relaxscript.ir.walk import walk
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, OPTIMISED, assert_allclose_tree, assert_same
from relaxscript.transform import FuseOps, FuseTIR, PassContext
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.fuse.annotated import (
    CHAINED_TWICE,
    MAIN,
    TWICE,
    callees,
    chain,
    legal_module,
    long_function,
    module,
)


def fuse(script: str) -> IRModule:
    """FuseTIR on the functions of a script's module, which stay what they are otherwise."""
    mod = module(script)
    text = mod.script(show_meta=True)
    with PassContext(instruments=[WellFormedInstrument()]):
        made = FuseTIR()(mod)
        assert FuseTIR()(made) is made
    assert mod.script(show_meta=True) == text
    assert_same(from_source(made.script(show_meta=True)), made)
    return made


def check_same_results(made: IRModule, before: IRModule, *args: np.ndarray) -> None:
    """All executors give for a fused module what the interpreter gives for the one before."""
    expected = EXECUTORS["interpreter"](before)("main", *[a.copy() for a in args])
    for name, load in EXECUTORS.items():
        near = OPTIMISED.get(name, 0.0)
        found = load(made)("main", *[a.copy() for a in args])
        assert_allclose_tree(found, expected, near, near)


def test_a_function_becomes_a_prim_func_with_buffers_between_the_loops():
    made = fuse(CHAINED_TWICE)
    assert_same(
        made,
        from_source("""
@I.ir_module
class M:
    @T.prim_func(private=True)
    def fused_twice_twice(
        x: T.Buffer(("n",), "float32"), b_intermediate_1: T.Buffer(("n",), "float32")
    ):
        T.func_attr({"tir.noalias": True})
        n = T.int64()
        b_intermediate = T.alloc_buffer((n,))
        for i in range(n):
            with T.block("b"):
                vi = T.axis.spatial(n, i)
                b_intermediate[vi] = x[vi] * T.float32(2)
        for i in range(n):
            with T.block("b_1"):
                vi = T.axis.spatial(n, i)
                b_intermediate_1[vi] = b_intermediate[vi] * T.float32(2)

    @R.function
    def main(x: R.Tensor(("k",), "float32")):
        k = T.int64()
        cls = M
        with R.dataflow():
            y = R.call_tir(cls.fused_twice_twice, (x,), out_sinfo=R.Tensor((k,), "float32"))
            R.output(y)
        return y
"""),
    )


def test_a_function_that_writes_into_what_it_is_given_does_not_promise_different_memory():
    made = fuse(CHAINED_TWICE.replace("b[vi] = a[vi] * T.float32(2)", "a[vi] = T.float32(1)\n"
                "                b[vi] = a[vi] * T.float32(2)"))  # fmt: skip
    prim_funcs = [f for f in made.functions.values() if isinstance(f, PrimFunc)]
    assert prim_funcs
    assert all("tir.noalias" not in (f.attrs or {}) for f in prim_funcs)


def exps(*attributes: str) -> str:
    """A module whose function calls two PrimFuncs, each with attributes of its own."""
    functions = "".join(
        f"""
    @T.prim_func(private=True)
    def exp{k}(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
        {line}
        for i in range(8):
            with T.block("y"):
                vi = T.axis.spatial(8, i)
                y[vi] = {"T.exp(x[vi])" if "sum" not in line else "x[vi] + x[vi]"}
"""
        for k, line in enumerate(attributes)
    )
    return f"""{functions}
    @R.function(private=True)
    def fused(x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
        R.func_attr({{"Primitive": True}})
        cls = M
        with R.dataflow():
            a = R.call_tir(cls.exp0, (x,), out_sinfo=R.Tensor((8,), "float32"))
            b = R.call_tir(cls.exp1, (a,), out_sinfo=R.Tensor((8,), "float32"))
            R.output(b)
        return b

    @R.function
    def main(x: R.Tensor((8,), "float32")):
        cls = M
        y = cls.fused(x)
        return y
"""


OURS = 'T.func_attr({"tir.vector_math": True})'


@pytest.mark.parametrize("attributes", [(OURS, OURS), (OURS, 'T.func_attr({"sum": 1})')])
def test_functions_with_vector_math_become_one_with_it(attributes):
    before = module(exps(*attributes))
    made = fuse(exps(*attributes))
    (function,) = [f for f in made.functions.values() if isinstance(f, PrimFunc)]
    assert function.attrs is not None
    assert function.attrs["tir.vector_math"] == 1
    check_same_results(made, before, np.linspace(-1, 1, 8, dtype="float32"))


def test_functions_with_different_math_stay_apart():
    made = fuse(exps(OURS, "T.evaluate(0)"))
    assert isinstance(made["fused"], Function)


def test_blocks_and_buffers_have_names_of_their_own():
    function = fuse_operators("""
            a = R.nn.softmax(x)
            b = R.nn.softmax(a)
            gv = R.add(b, R.nn.softmax(b))""")
    names = [line.split('"')[1] for line in function.script().splitlines() if "T.block(" in line]
    assert len(names) == len(set(names))


def fuse_operators(lines: str, params: str = 'x: R.Tensor((4, 8), "float32")') -> PrimFunc:
    """The PrimFunc of a function of operators, with `lines` the bindings of its block."""
    mod = legal_module(f"""
@I.ir_module
class M:
    @R.function(private=True)
    def fused({params}):
        R.func_attr({{"Primitive": True}})
        with R.dataflow():{lines}
            R.output(gv)
        return gv

    @R.function
    def main({params}):
        cls = M
        y = cls.fused(x)
        return y
""")
    made = FuseTIR()(mod)["fused"]
    assert isinstance(made, PrimFunc)
    return made


def test_an_operand_of_two_calls_is_one_buffer():
    function = fuse_operators("""
            a = R.add(x, x)
            gv = R.multiply(a, x)""")
    assert [b.name for b in function.buffer_map.values()] == ["x", "T_multiply_intermediate"]


def test_several_results_are_several_buffers_and_those_that_nobody_takes_are_allocated():
    function = fuse_operators("""
            a = R.exp(x)
            t = R.split(a, 2, axis=1)
            gv = t[1]""")
    assert [b.name for b in function.buffer_map.values()] == ["x", "T_split_1_intermediate"]
    function = fuse_operators("""
            a = R.exp(x)
            gv = R.split(a, 2, axis=1)""")
    assert len(function.buffer_map) == 3


def test_a_function_may_return_a_tuple_of_what_its_calls_make():
    script = f"""{TWICE}
    @R.function(private=True)
    def both(x: R.Tensor((3,), "float32")):
        R.func_attr({{"Primitive": True}})
        cls = M
        a = R.call_tir(cls.twice, (x,), out_sinfo=R.Tensor((3,), "float32"))
        b = R.call_tir(cls.twice, (a,), out_sinfo=R.Tensor((3,), "float32"))
        t = (b, a)
        return t

    @R.function
    def main(x: R.Tensor((3,), "float32")):
        cls = M
        y = cls.both(x)
        z = y[1]
        return y, z
"""
    made = fuse(script)
    assert isinstance(made["both"], PrimFunc)
    before = module(script)
    check_same_results(made, before, np.array([1, 2, 3], "float32"))


def test_shape_variables_that_are_passed_become_scalars():
    made = FuseTIR()(
        FuseOps()(
            legal_module("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n * 2", 3), "float32"), s: R.Shape(["n"])):
        with R.dataflow():
            a = R.exp(x)
            b = R.sin(a)
            R.output(b)
        return b
""")
        )
    )
    function = made["fused_exp_sin"]
    assert isinstance(function, PrimFunc)
    assert [p.name for p in function.params if p not in function.buffer_map] == ["n"]
    assert "tir_vars=R.shape([n])" in made["main"].script()


def test_a_call_that_writes_into_an_argument_stays_one():
    script = """
    @T.prim_func(private=True)
    def double(a: T.Buffer((8,), "float32")):
        for i in range(8):
            with T.block("a"):
                vi = T.axis.spatial(8, i)
                a[vi] = a[vi] * T.float32(2)

    @R.function(private=True)
    def fused(x: R.Tensor((8,), "float32"), y: R.Tensor((8,), "float32")):
        R.func_attr({"Primitive": True})
        cls = M
        with R.dataflow():
            a = R.call_tir_inplace(cls.double, (y,), [0], out_sinfo=R.Tensor((8,), "float32"))
            gv = R.call_tir_inplace(cls.double, (a,), [0], out_sinfo=R.Tensor((8,), "float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((8,), "float32")):
        cls = M
        with R.dataflow():
            c = R.exp(x)
            d = cls.fused(x, c)
            R.output(d)
        return d
"""
    made = fuse(script)
    assert "R.call_tir_inplace(" in made["main"].script()
    assert all("tir.noalias" not in (f.attrs or {}) for f in made.functions.values())
    assert "inplace_indices=[1]" in made["main"].script()
    before = module(script)
    check_same_results(made, before, np.arange(8, dtype="float32"))


def test_assertions_stand_in_the_order_of_the_calls():
    checked = """
    @T.prim_func(private=True)
    def checked(a: T.Buffer(("n",), "float32"), b: T.Buffer(("n",), "float32")):
        n = T.int64()
        with T.block("root"):
            assert n <= 4, "too long"
            for i in range(n):
                with T.block("b"):
                    vi = T.axis.spatial(n, i)
                    b[vi] = a[vi] + T.float32(1)
"""
    script = checked + chain("checked", "checked", size="n") + MAIN
    made = fuse(script)
    assert isinstance(made["fused"], PrimFunc)
    assert made["fused"].script().count("assert") == 2
    before = module(script)
    check_same_results(made, before, np.array([1, 2, 3, 4], "float32"))


SELECT = """
    @T.prim_func(private=True)
    def select(
        a: T.Buffer((4,), "{0}"), s: T.Buffer((), "{0}"), b: T.Buffer((4,), "{0}")
    ):
        T.func_attr({{"op_pattern": 0}})
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                b[vi] = T.if_then_else(vi < 2, a[vi], s[()])

    @R.function
    def main(x: R.Tensor((4,), "{0}")):
        cls = M
        with R.dataflow():
            c = R.call_tir(cls.select, (x, R.const({1}, "{0}")), R.Tensor((4,), "{0}"))
            d = R.call_tir(cls.select, (c, R.const({1}, "{0}")), R.Tensor((4,), "{0}"))
            R.output(d)
        return d
"""


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("float32", "2.5"), ("int8", "-3"), ("bool", "False"), ("bfloat16", "1.5"),
     ("float64", 'float("nan")')],
)  # fmt: skip
def test_a_constant_that_is_a_scalar_is_written_into_the_function(dtype, value):
    before = module(SELECT.format(dtype, value))
    grouped = FuseOps()(before)
    assert [p.name_hint for p in grouped["fused_select_select"].params] == ["x"]
    made = FuseTIR()(grouped)
    assert len(made["fused_select_select"].buffer_map) == 2
    assert_same(from_source(made.script(show_meta=True)), made)
    check_same_results(made, before, np.ones(4, before["main"].params[0].struct_info.dtype.numpy))


# Each is a PrimFunc that cannot be joined with another one.
NOT_JOINED = {
    "leaves_out_elements": """
        for i in range(n):
            with T.block("b"):
                vi = T.axis.spatial(n, i)
                if vi > 1:
                    b[vi] = a[vi]""",
    "adds_to_its_result": """
        for i in range(n):
            with T.block("b"):
                vi = T.axis.spatial(n, i)
                b[vi] = b[vi] + a[vi]""",
    "writes_one_place": """
        for i in range(n):
            with T.block("b"):
                vi = T.axis.reduce(n, i)
                b[0] = a[vi]""",
    "starts_late": """
        for i in range(n - 1):
            with T.block("b"):
                vi = T.axis.spatial(n, i + 1)
                b[vi] = a[vi]""",
    "may_write_nothing": """
        for i, j in T.grid(n, n - 1):
            with T.block("b"):
                vi = T.axis.spatial(n, i)
                b[vi] = a[vi]""",
    "says_more_of_its_block": """
        with T.block("root"):
            T.block_attr({"key": 1})
            for i in range(n):
                with T.block("b"):
                    vi = T.axis.spatial(n, i)
                    b[vi] = a[vi]""",
}


@pytest.mark.parametrize("name", NOT_JOINED)
def test_what_cannot_be_joined_stays_a_function(name):
    other = f"""
    @T.prim_func(private=True)
    def other(a: T.Buffer(("n",), "float32"), b: T.Buffer(("n",), "float32")):
        n = T.int64(){NOT_JOINED[name]}
"""
    made = fuse(TWICE + other + chain("other", "twice") + MAIN)
    assert isinstance(made["fused"], Function)
    assert callees(made) == ["fused"]


def test_a_last_call_may_leave_out_elements():
    other = """
    @T.prim_func(private=True)
    def other(a: T.Buffer((4,), "float32"), b: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                if vi > 1:
                    b[vi] = a[vi]
"""
    script = TWICE + other + chain("twice", "other") + MAIN
    made = fuse(script)
    assert isinstance(made["fused"], PrimFunc)
    before = module(script)
    check_same_results(made, before, np.array([1, 2, 3, 4], "float32"))


# Each is something that `main` does with a function, which therefore stays one.
OTHER_USES = {
    "a_value": "f = cls.fused\n        y = f(x)\n        return y",
    "an_argument": "y = cls.fused(x)\n        z = R.make_closure(cls.fused, ())\n"
    "        return y, z",
    "a_result": "y = cls.fused(x)\n        return y, cls.fused",
    "unknown_sizes": 'v = R.match_cast(x, R.Tensor(ndim=1, dtype="float32"))\n'
    "        y = cls.fused(v)\n        return y",
}


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
@pytest.mark.parametrize("use", OTHER_USES)
def test_a_function_that_is_used_otherwise_stays(use):
    main = f"""
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        {OTHER_USES[use]}
"""
    made = fuse(TWICE + chain("twice", "twice", size="n") + main)
    assert isinstance(made["fused"], Function)


@pytest.mark.parametrize(
    "body",
    ["y = R.exp(x)\n        return y", "return x", "y = (x, x)\n        return y"],
    ids=["an_operator", "a_parameter", "parameters"],
)
def test_a_function_of_something_else_stays(body):
    made = fuse(f"""
    @R.function(private=True)
    def fused(x: R.Tensor((4,), "float32")):
        R.func_attr({{"Primitive": True}})
        {body}

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        z = cls.fused(x)
        return z
""")
    assert isinstance(made["fused"], Function)


def test_prim_funcs_that_others_need_are_there_afterwards():
    main = """
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = M
        y = cls.fused(x)
        z = R.call_tir(cls.twice, (y,), out_sinfo=R.Tensor((4,), "float32"))
        return z
"""
    made = fuse(TWICE + chain("twice") + main)
    assert callees(made) == ["fused", "twice"]
    assert "twice" in made


def test_a_module_without_such_functions_stays_as_it_is():
    mod = legal_module("""
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.exp(x)
        return y
""")
    assert FuseTIR()(mod) is mod


@pytest.mark.slow
@pytest.mark.parametrize("is_grouped_often", [True, False])
def test_the_cost_is_linear_in_the_bindings(is_grouped_often):
    def prepare(count: int) -> Callable[[], object]:
        forms = ("R.exp(v{})", "R.add(v{}, v0)", "R.cumsum(v{}, axis=1)")
        chosen = forms if is_grouped_often else forms[:2]
        values = [chosen[i % len(chosen)].format(i) for i in range(count)]
        grouped = FuseOps()(long_function(values))
        return lambda: FuseTIR()(grouped)

    assert growth(prepare, 300, 4) < 5


def test_ranges_and_indices_that_say_the_same_in_a_written_body_are_one_node():
    mod = FuseOps()(long_function(["R.add(v0, v0)", "R.exp(v1)"]))
    made = FuseTIR()(mod)
    (function,) = [f for f in made.functions.values() if isinstance(f, PrimFunc)]
    for block in [n for n in walk(function.body) if isinstance(n, Block) and n.iter_vars]:
        regions = [part.region for part in (*block.reads, *block.writes)]
        assert all(region is regions[0] for region in regions)
        assert isinstance(block.body, BufferStore)
        loads = [n for n in walk(block.body.value) if isinstance(n, BufferLoad)]
        assert all(load.indices is block.body.indices for load in loads)
