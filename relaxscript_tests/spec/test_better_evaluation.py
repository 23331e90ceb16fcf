"""Evaluation: what the specification says of values, effects and operators where TVM differs.

Source: spec "Evaluating Expressions", "Optimizations", "Notable Operators".
"""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as relax
from relaxscript.runtime import register_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import every_executor, failure

from .told import accepted, told, warned

PAIR = np.ones(2, "float32")


@pytest.fixture(autouse=True)
def _packed_functions():
    @register_func("spec.bump")
    def bump(x):
        x += 7


# ---------------------------------------------------------------- order of effects


@I.ir_module
class Unused:
    @R.function
    def outside(x: R.Tensor(ndim=1)):
        y = R.match_cast(x, R.Tensor((2,)))
        return R.add(x, x)


@every_executor
def test_a_failing_cast_outside_of_a_dataflow_block_is_kept_though_nobody_uses_it(load):
    program = load(Unused)
    assert program.outside(PAIR).tolist() == [2, 2]
    assert failure(lambda: program.outside(np.ones(3))).diagnostic.code == "RX0605"
    optimised = relax.analysis.remove_all_unused(Unused["outside"])
    assert "match_cast" in optimised.script()


# ---------------------------------------------------------------- values


@I.ir_module
class Constants:
    @R.function(pure=False)
    def twice():
        c = R.const([0, 0], "int64")
        d = R.const([0, 0], "int64")
        R.call_packed("spec.bump", c, sinfo_args=R.Tuple())
        return (c, d)

    @R.function
    def zeros():
        return R.const([0, 0], "int64")

    @R.function(pure=False)
    def through_a_function():
        cls = Constants
        a = cls.zeros()
        R.call_packed("spec.bump", a, sinfo_args=R.Tuple())
        b = cls.zeros()
        return (a, b)

    @R.function(pure=False)
    def in_a_tuple():
        t = (R.const([0, 0], "int64"), R.const([0, 0], "int64"))
        R.call_packed("spec.bump", t[0], sinfo_args=R.Tuple())
        return t


@every_executor
@pytest.mark.parametrize("name", ["twice", "through_a_function", "in_a_tuple"])
def test_a_constant_is_a_new_tensor_each_time(load, name):
    program = load(Constants)
    for _ in range(2):
        changed, other = program[name]()
        assert changed.tolist() == [7, 7]
        assert other.tolist() == [0, 0]
    program.zeros()[:] = 1
    assert program.zeros().tolist() == [0, 0]


@I.ir_module
class FirstClass:
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
        @R.function
        def plus(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return R.add(x, y)

        @R.function
        def minus(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return R.subtract(x, y)

        pair = (plus, (minus,))
        if c:
            chosen = plus
        else:
            chosen = pair[1][0]
        first = pair[0]
        return (chosen(x), first(x))

    @R.function
    def gives(n: R.Tensor((), "int64")) -> R.Callable((R.Tensor,), R.Tensor):
        @R.function
        def adds(x: R.Tensor) -> R.Tensor:
            return R.add(x, n)

        return adds

    @R.function
    def global_ones(x: R.Tensor((), "int64")):
        cls = FirstClass
        made = (cls.gives, cls.gives)
        f = made[1](x)
        return f(x)


@every_executor
def test_functions_are_values_in_tuples_branches_and_results(load):
    program = load(FirstClass)
    for c, expected in ((True, [2, 2]), (False, [0, 0])):
        chosen, first = program.main(np.array(c), PAIR)
        assert (chosen.tolist(), first.tolist()) == (expected, [2, 2])
    assert program.gives(np.array(2))(np.array(3)) == 5
    assert program.global_ones(np.array(3)) == 6


# ---------------------------------------------------------------- operators


UNKNOWN = """
    @I.ir_module
    class M:
        @R.function
        def rank_only(x: R.Tensor("float32", ndim=1)):
            return R.add(x, x)

        @R.function
        def dtype_unknown(x: R.Tensor(ndim=1)):
            return R.add(x, x)

        @R.function
        def nothing_known(x: R.Tensor):
            return R.nn.softmax(R.add(x, x))
    """


@every_executor
def test_operators_run_on_tensors_of_which_little_is_known(load):
    program = load(accepted(UNKNOWN))
    assert program.rank_only(PAIR).tolist() == [2, 2]
    assert program.dtype_unknown(PAIR.astype("int8")).tolist() == [2, 2]
    assert program.nothing_known(np.zeros((2, 2))).tolist() == [[0.5, 0.5], [0.5, 0.5]]


OPERANDS = """
    @I.ir_module
    class M:
        @R.function
        def add(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
            return R.add(x, y)

        @R.function
        def matmul(x: R.Tensor(("a", "b"), "float32"), y: R.Tensor(("c", "d"), "float32")):
            return R.matmul(x, y)
    """


@every_executor
def test_no_kernel_runs_on_operands_that_do_not_go_together(load):
    program = load(warned(OPERANDS))

    def ones(*shape):
        return np.ones(shape, "float32")

    assert program.add(PAIR, ones(1)).tolist() == [2, 2]
    assert failure(lambda: program.add(PAIR, ones(3))).diagnostic.code == "RX0606"
    assert program.matmul(ones(2, 3), ones(3, 2)).tolist() == [[3, 3], [3, 3]]
    for x, y in ((ones(2, 3), ones(5, 2)), (ones(1, 200), ones(1, 1)), (ones(2, 3), ones(2, 3))):
        error = failure(lambda x=x, y=y: program.matmul(x, y))
        assert "columns" in str(error)
        assert error.diagnostic.code == "RX0606"


# ---------------------------------------------------------------- functions of others as values


@I.ir_module
class Missing:
    @R.function(pure=False)
    def called(c: R.Tensor((), "bool"), x: R.Tensor((2,), "float32")):
        if c:
            y = R.call_packed("spec.is_missing", x, sinfo_args=R.Tensor((2,), "float32"))
        else:
            y = x
        return y

    @R.function
    def named(x: R.Object):
        f = R.ExternFunc("spec.is_missing")
        return x


@every_executor
def test_a_packed_function_is_looked_up_when_it_is_evaluated(load):
    program = load(Missing)
    assert program.called(np.array(False), PAIR) is PAIR
    calls = (lambda: program.called(np.array(True), PAIR), lambda: program.named(PAIR))
    for call in calls:
        assert "there is no packed function `spec.is_missing`" in str(failure(call))
    register_func("spec.is_missing", lambda x: x + 1)
    assert program.called(np.array(True), PAIR).tolist() == [2, 2]


@I.ir_module
class Kernels:
    @T.prim_func
    def more(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        for i in range(2):
            b[i] = a[i] + T.float32(1)

    @R.function(pure=False)
    def directly(x: R.Tensor((2,), "float32")):
        cls = Kernels
        y = R.zeros((2,), "float32")
        unit = cls.more(x, y)
        return (y, unit)

    @R.function(pure=False)
    def by_its_symbol(x: R.Tensor((2,), "float32")):
        y = R.zeros((2,), "float32")
        unit = R.call_packed("more", x, y, sinfo_args=R.Tuple())
        return (y, unit)

    @R.function(pure=False)
    def as_a_value(x: R.Tensor((2,), "float32")):
        cls = Kernels
        y = R.zeros((2,), "float32")
        t = (cls.more, x)
        f = t[0]
        unit = f(x, y)
        return (y, unit)


@every_executor
@pytest.mark.parametrize("name", ["directly", "by_its_symbol", "as_a_value"])
def test_a_prim_func_is_called_as_it_is_with_unit_for_a_result(load, name):
    result, unit = load(Kernels)[name](PAIR)
    assert result.tolist() == [2, 2]
    assert unit == ()


# ---------------------------------------------------------------- what is written in place


IN_PLACE = """
    @I.ir_module
    class M:
        @T.prim_func
        def add(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
            for i in range(2):
                a[i] = a[i] + b[i]

        @R.function
        def main(x: R.Tensor((2,), "float32")):
            row = R.Tensor((2,), "float32")
            with R.dataflow():
                y = R.exp(x)
                other = (y, x)
                u = R.call_tir_inplace(M.add, (y, x), inplace_indices=[0], out_sinfo=row)
                z = R.add({used}, u)
                R.output(z)
            return z

        @R.function
        def packed(x: R.Tensor((2,), "float32")):
            row = R.Tensor((2,), "float32")
            with R.dataflow():
                y = R.exp(x)
                u = R.call_inplace_packed("spec.bump", y, inplace_indices=[0], sinfo_args=row)
                z = R.add({used_packed}, u)
                R.output(z)
            return z
    """


@every_executor
def test_what_was_written_in_place_is_not_used_again_under_any_name(load):
    program = load(accepted(IN_PLACE.format(used="other[1]", used_packed="u")))
    assert program.main(np.zeros(2, "float32")).tolist() == [1, 1]
    assert program.packed(np.zeros(2, "float32")).tolist() == [16, 16]
    for used in ("y", "other[0]"):
        wrong = IN_PLACE.format(used=used, used_packed="y")
        assert told(wrong) == [f"error RX0403 {used}", "error RX0403 y"]
