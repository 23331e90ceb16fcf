"""An interval holds every value that an expression takes."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, strategies as st

from relaxscript.codegen.llvm.value_ranges import ValueRanges
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import Var, const

I = Var("i", "int32")  # noqa: E741
J = Var("j", "int32")
KINDS = [prim.Add, prim.Sub, prim.Mul, prim.FloorDiv, prim.FloorMod, prim.Min, prim.Max]


@st.composite
def expressions(draw, depth=3):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        number = draw(st.sampled_from([0, 1, 2, 3, 7, -1, -5, 2**31 - 1, -(2**31)]))
        return draw(st.sampled_from([I, J, const(number)]))
    inner = expressions(depth - 1)
    if draw(st.integers(0, 5)) == 0:
        return prim.Select(prim.LT(draw(inner), draw(inner)), draw(inner), draw(inner))
    return draw(st.sampled_from(KINDS))(draw(inner), draw(inner))


def value_of(e, i, j):
    func = tir.PrimFunc([I, J], tir.Evaluate(prim.Call(e.dtype, "tir.ret", (e,))))
    return evaluate(func, [i, j])


@pytest.mark.slow
@given(expressions(), st.tuples(*[st.integers(-20, 20)] * 4), st.data())
def test_values_lie_in_their_interval(e, ends, data):
    ranges = ValueRanges()
    low, high = sorted(ends[:2])
    ranges.define(I, (low, high))
    first, last = sorted(ends[2:])
    ranges.define(J, (first, last))
    try:
        value = value_of(e, data.draw(st.integers(low, high)), data.draw(st.integers(first, last)))
    except RuntimeError:  # it divides by zero
        assume(False)
    assert ranges.of(e)[0] <= value <= ranges.of(e)[1]


def test_what_may_wrap_is_not_exact():
    ranges = ValueRanges()
    ranges.define(I, (0, 100))
    assert ranges.is_exact(I + 5)
    assert ranges.of(I * 7) == (0, 700)
    assert not ranges.is_exact(J + 5)
    assert ranges.of(J + 5) == (-(2**31), 2**31 - 1)


@pytest.mark.parametrize(
    ("e", "interval"),
    [(I % 8, (0, 7)), (I % 2000, (0, 100)), (I // 8, (0, 12)), (prim.Cast("int64", I), (0, 100)),
     (prim.Ramp(I, const(-2), 4), (-6, 100)), (prim.Broadcast(I, 4), (0, 100))],
)  # fmt: skip
def test_intervals(e, interval):
    ranges = ValueRanges()
    ranges.define(I, (0, 100))
    assert ranges.of(e) == interval


def test_a_variable_of_two_loops_has_two_intervals():
    ranges, e = ValueRanges(), I + 1
    ranges.define(I, (0, 9))
    assert ranges.of(e) == (1, 10)
    ranges.define(I, (0, 99))
    assert ranges.of(e) == (1, 100)
