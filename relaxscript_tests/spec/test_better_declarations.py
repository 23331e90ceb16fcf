"""What is declared, and casts: what the specification says of them where TVM does otherwise.

Source: spec "Derivation Rules" 11 and 15, "Scope of Shape Variables".
"""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.runtime import Shape
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import every_executor, failure

from .told import accepted, told, warned

# ---------------------------------------------------------------- declared results


@pytest.mark.parametrize(
    ("given", "declared"),
    [
        ('R.Tensor((2,), "float32")', 'R.Tensor((5,), "float32")'),
        ('R.Tensor((2,), "float32")', 'R.Tensor((2,), "float16")'),
        ('R.Tensor((2,), "float32")', "R.Shape([2])"),
        ('R.Tensor(("n",), "float32")', 'R.Tensor(("n + 1",), "float32")'),
        ('R.Tensor(("n", "n"), "float32")', 'R.Tensor(("n", "n * n + 1"), "float32")'),
        ("R.Tuple(R.Object)", "R.Tuple(R.Object, R.Object)"),
    ],
)
def test_a_result_that_can_never_be_what_is_declared_is_refused(given, declared):
    program = f"@R.function\ndef f(x: {given}) -> {declared}:\n    return x"
    assert told(program) == ["error RX0205 x"]


def test_a_result_that_may_be_what_is_declared_is_warned_of():
    program = """
        @R.function
        def f(x: R.Tensor(("n",)), y: R.Tensor(("m",))) -> R.Tensor(("m",)):
            return x
        """
    assert told(program) == ["warning RX0207 x"]


def test_what_is_proved_by_arithmetic_needs_no_warning():
    accepted(
        """
        @R.function
        def f(x: R.Tensor(("n + n",)), s: R.Shape(["n"])) -> R.Tensor(("2 * n",)):
            return x
        """
    )


@I.ir_module
class Abstract:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        cls = Abstract
        a = cls.hides(x)
        return a

    @R.function
    def hides(x: R.Tensor((2,), "float32")) -> R.Object:
        return x


def test_a_declared_result_is_the_result_even_if_the_body_knows_more():
    assert repr(Abstract["hides"].ret_struct_info) == "R.Object"
    assert repr(Abstract["main"].ret_struct_info) == "R.Object"


# ---------------------------------------------------------------- declared bindings


def test_a_compatible_annotation_wins_whatever_the_value():
    function = accepted(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32"), t: R.Tuple(R.Tensor((2,)))):
            a: R.Object = x
            b: R.Tuple(R.Object, R.Tensor) = (x, x)
            c: R.Tensor(ndim=1) = R.add(x, x)
            d: R.Tensor = t[0]
            e: R.Object = R.shape([2])
            g: R.Tensor(ndim=1) = R.const([1, 2])
            h: R.Prim("int64") = R.prim_value(3)
            return ((a, b, c), (d, e, g, h))
        """
    )
    first, second = (repr(info) for info in function.ret_struct_info.fields)
    assert first == "R.Tuple(R.Object, R.Tuple(R.Object, R.Tensor), R.Tensor(ndim=1))"
    assert second == 'R.Tuple(R.Tensor, R.Object, R.Tensor(ndim=1), R.Prim("int64"))'


MORE = """
    @I.ir_module
    class M:
        @R.function
        def main(x: {given}) -> {declared}:
            y: {declared} = {value}
            return y
    """


@every_executor
@pytest.mark.parametrize("value", ["x", "R.exp(x)", "(x,)[0]"])
def test_an_annotation_that_says_more_is_warned_of_and_checked(load, value):
    declared = 'R.Tensor((5,), "float32")'
    program = MORE.format(given='R.Tensor("float32", ndim=1)', declared=declared, value=value)
    assert [said[:14] for said in told(program)] == ["warning RX0207"]
    main = load(warned(program)).main
    assert main(np.ones(5, "float32")).shape == (5,)
    assert "`y.shape[0]` is 4; must be 5" in str(failure(lambda: main(np.ones(4, "float32"))))


@pytest.mark.parametrize(
    ("given", "declared", "value"),
    [
        ("R.Tensor((2,))", "R.Tensor((3,))", "x"),
        ("R.Tensor((2,))", "R.Tensor((3,))", "R.add(x, x)"),
        ("R.Tensor((2,))", "R.Shape", "x"),
        ("R.Tensor((2,))", "R.Tuple(R.Object)", "(x, x)"),
        ("R.Tensor(('n',))", "R.Tensor(('n + 1',))", "x"),
    ],
)
def test_an_annotation_that_contradicts_the_value_is_refused_at_the_value(given, declared, value):
    program = MORE.format(given=given, declared="R.Object", value=value)
    program = program.replace("y: R.Object", f"y: {declared}").replace("'n + 1'", "n + 1")
    program = program.replace("y: R.Tensor((n", "n = T.int64()\n            y: R.Tensor((n")
    assert told(program) == [f"error RX0205 {value}"]


# ---------------------------------------------------------------- match_cast


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ("R.Tensor((2,))", "R.Tensor((3,))"),
        ('R.Tensor("int8")', 'R.Tensor("int16")'),
        ("R.Tensor(ndim=1)", "R.Tensor(ndim=2)"),
        ("R.Tensor", "R.Shape"),
        ("R.Tuple(R.Object)", "R.Tuple(R.Object, R.Object)"),
        ("R.Tuple(R.Object, R.Shape([2]))", "R.Tuple(R.Object, R.Shape([3]))"),
        ('R.Tensor(("n",))', "R.Tensor((n + 1,))"),
        ('R.Tensor(("n", "n"))', "R.Tensor((m, m + 1))"),
        ('R.Prim("int64", 3)', 'R.Prim("int64", 4)'),
        ('R.Prim("int64")', 'R.Prim("int32")'),
        ("R.Callable((R.Object,), R.Object)", "R.Callable((R.Object, R.Object), R.Object)"),
        ("R.Callable((R.Object,), R.Tensor)", "R.Callable((R.Object,), R.Shape)"),
        ("R.Callable((R.Object,), R.Object)", "R.Callable"),
    ],
)
def test_a_cast_that_can_never_succeed_is_warned_of(given, target):
    program = f"""
        @R.function
        def f(x: {given}, other: R.Tensor(("n",))):
            n, m = T.int64(), T.int64()
            y = R.match_cast(x, {target})
            return y
        """
    assert told(program) == [f"warning RX0205 R.match_cast(x, {target})"]


@pytest.mark.parametrize(
    ("given", "target"),
    [
        ("R.Callable((R.Object,), R.Object, False)", "R.Callable((R.Object,), R.Object, True)"),
        ("R.Callable((R.Object,), R.Object)", "R.Callable((R.Tensor,), R.Tensor)"),
        ("R.Tensor((2,))", "R.Tensor('int8')"),
        ("R.Object", "R.Tensor((2,), 'int8')"),
        ('R.Tensor(("n",))', "R.Tensor((2 * m,))"),
    ],
)
def test_a_cast_that_some_value_passes_is_not_warned_of(given, target):
    accepted(
        f"""
        @R.function
        def f(x: {given}, other: R.Tensor(("n", "m"))):
            n, m = T.int64(), T.int64()
            y = R.match_cast(x, {target})
            return y
        """
    )


def test_what_a_cast_checks_may_be_declared_as_less_and_not_as_more():
    program = """
        @R.function
        def f(x: R.Tensor("float32", ndim=2)):
            y: {} = R.match_cast(x, R.Tensor((2, 2), "float32"))
            return y
        """
    for declared in ("R.Object", "R.Tensor(ndim=2)", "R.Tensor((2, 2))"):
        assert repr(accepted(program.format(declared)).ret_struct_info) == declared
    for declared in ("R.Tensor((2, 3))", "R.Shape", 'R.Tensor("int8")'):
        (found,) = told(program.format(declared))
        assert found.startswith("error RX0205 R.match_cast")
    undecided = program.replace("(2, 2), ", "").format("R.Tensor((2, 2))")
    (found,) = told(undecided)
    assert found.startswith("error RX0205 R.match_cast")


@I.ir_module
class BothWays:
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor(ndim=1), y: R.Object) -> R.Shape(ndim=2):
        m = T.int64()
        if c:
            a = R.match_cast(x, R.Tensor((m,)))
            s = R.shape([m, m + 1])
        else:
            b = R.match_cast(y, R.Shape([m]))
            s = R.shape([m, m * 2])
        return s


@every_executor
def test_each_branch_binds_its_own_dimensions(load):
    program, x = load(BothWays), np.ones(3)
    assert program.main(np.array(True), x, Shape([5])) == Shape([3, 4])
    assert program.main(np.array(False), x, Shape([5])) == Shape([5, 10])


def test_a_dimension_of_a_branch_is_gone_after_it():
    text = BothWays.script().replace("return s", "return R.shape([2, m])")
    assert told(text) == ["error RX0305 m"]
