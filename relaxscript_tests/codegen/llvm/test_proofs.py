"""What is proved of an index holds for the numbers that code computes, which wrap."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from relaxscript.codegen.llvm.proofs import Proofs
from relaxscript.errors import VMError
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import Var, const
from relaxscript.semantics.expression import compile_expr
from relaxscript.semantics.expression_context import DIMENSIONS, ExpressionContext, FrameLayout
from relaxscript_tests import examples

# Of eight bits, so that all values can be tried and many sums wrap.
I, D, N = Var("i", "int8"), Var("d", "int8"), Var("n", "int8")  # noqa: E741
KINDS = [prim.Add, prim.Sub, prim.Mul, prim.FloorDiv, prim.FloorMod, prim.Div, prim.Mod, prim.Min,
         prim.Max]  # fmt: skip
COMPARE = [prim.LT, prim.LE, prim.GT, prim.GE, prim.EQ, prim.NE]


@st.composite
def expressions(draw, depth=2):
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        number = draw(st.sampled_from([0, 1, 2, 3, 5, 16, 100, -1, -3]))
        return draw(st.sampled_from([I, I, D, N, const(number, "int8")]))
    inner = expressions(depth - 1)
    match draw(st.integers(0, 9)):
        case 0:
            return prim.Select(draw(conditions(1)), draw(inner), draw(inner))
        case 1:
            return prim.Cast("int8", prim.Cast("int16", draw(inner)) + const(100, "int16"))
    return draw(st.sampled_from(KINDS))(draw(inner), draw(inner))


@st.composite
def conditions(draw, depth=2):
    if depth == 0 or draw(st.integers(0, 2)) == 0:
        return draw(st.sampled_from(COMPARE))(draw(expressions(1)), draw(expressions(1)))
    if draw(st.integers(0, 4)) == 0:
        return prim.Not(draw(conditions(depth - 1)))
    kind = draw(st.sampled_from([prim.And, prim.And, prim.Or]))
    return kind(draw(conditions(depth - 1)), draw(conditions(depth - 1)))


@st.composite
def guarded(draw):
    """An index, and conditions on numbers near it."""
    base = draw(expressions(1))
    near = [base + const(draw(st.integers(-3, 3)), "int8") for _ in range(3)]
    low, high = prim.GE(near[0], const(0, "int8")), prim.LT(near[1], const(4, "int8"))
    return near[2], draw(st.sampled_from([[prim.And(low, high)], [high, low], [high], [low]]))


def evaluator(e):
    layout = FrameLayout()
    for var in (I, D, N):
        layout.define(var)
    run = compile_expr(ExpressionContext(layout, DIMENSIONS), e)

    def value(*numbers):
        try:
            return run([None, *numbers])
        except VMError:  # it divides by zero, which ends a program before the index is used
            return None

    return value


POINTS = [
    (i, d, n)
    for i in range(6)
    for d in (*range(-128, 128, 9), -127, -1, 1, 2, 3, 4, 125, 126, 127)
    for n in (0, 1, 7)
]


@pytest.mark.slow
@settings(max_examples=examples(6000))
@given(
    st.one_of(guarded(), st.tuples(expressions(3), st.lists(conditions(), max_size=2))),
    st.sampled_from([True, True, False]),
    st.sampled_from([4, 9, N]),
)
def test_an_index_that_is_proved_inside_lies_inside(program, truth, extent):
    index, known = program
    proofs = Proofs()
    proofs.define(N, (0, 127))
    proofs.loop(I, const(0, "int8"), const(6, "int8"))
    for condition in known:
        proofs.learn(condition, truth)
    size = proofs.read(const(extent, "int8") if isinstance(extent, int) else extent)
    if not proofs.is_inside(index, size):
        return
    value, facts = evaluator(index), [evaluator(condition) for condition in known]
    for point in POINTS:
        here, count = value(*point), extent if isinstance(extent, int) else point[2]
        found = [fact(*point) for fact in facts]  # none where it divides by zero
        if here is not None and all(f is not None and bool(f) == truth for f in found):
            assert 0 <= here < count, point


def proved(index, extent, *known, start=0, loop=None):
    proofs = Proofs()
    proofs.define(M, (0, 1 << 47))
    if loop is not None:
        proofs.loop(loop, const(start, loop.dtype), extent if loop is X else const(8, "int64"))
    for condition in known:
        proofs.learn(condition)
    return proofs.is_inside(index, proofs.read(extent))


X, Y64 = Var("x", "int64"), Var("y", "int64")
M = Var("m", "int64")
SIXTEEN = const(16, "int64")


@pytest.mark.parametrize(
    ("index", "known"),
    [
        (X, []),
        (X // 2, []),
        (prim.Min(X + 1, M - 1), []),
        (X + 1, [X + 1 < M]),
        (X - 2, [X >= 2]),
        (Y64, [prim.And(Y64 >= 0, Y64 < M)]),
        (M - 1 - X, []),
    ],
    ids=str,
)
def test_loops_and_conditions_prove_indices(index, known):
    assert proved(index, M, *known, loop=X)


@pytest.mark.parametrize(
    ("index", "known"), [(X + 1, []), (X - 1, []), (Y64, [Y64 < M]), (Y64, [])], ids=str
)
def test_what_does_not_follow_is_not_proved(index, known):
    assert not proved(index, M, *known, loop=X)


@pytest.mark.parametrize(("lanes", "answer"), [(4, True), (5, False)])
def test_all_lanes_of_a_run_are_proved_at_once(lanes, answer):
    run = prim.Ramp(Y64 * 2, const(1, "int64"), lanes)
    assert proved(run, SIXTEEN + 2, loop=Y64) is answer
    assert proved(prim.Broadcast(Y64, 4), SIXTEEN, loop=Y64)


def test_elements_that_change_are_not_compared():
    """Between a condition and an index, memory may be written."""
    at = prim.BufferLoad(tir.Buffer("b", (4,), "int64"), [0])
    assert not proved(at, SIXTEEN, at >= 0, at < 16)
    assert not proved(at - at, SIXTEEN)
    assert proved(at % 16, SIXTEEN)


def test_what_a_program_assumes_is_not_believed():
    assumed = prim.Call("bool", "tir.assume", (prim.And(Y64 >= 0, Y64 < 4),))
    assert not proved(Y64, SIXTEEN, assumed)
    assert proved(Y64, SIXTEEN, prim.Call("bool", "tir.likely", assumed.args))


def test_conditions_end_with_their_scope():
    proofs = Proofs()
    size = proofs.read(SIXTEEN)
    with proofs.scope(prim.And(Y64 >= 0, Y64 < 16)):
        assert proofs.is_inside(Y64, size)
        with proofs.scope(Y64 < 3, unless=True):
            assert proofs.is_inside(Y64 - 3, size)
        assert not proofs.is_inside(Y64 - 3, size)
    assert not proofs.is_inside(Y64, size)


def test_a_variable_that_is_defined_again_is_another():
    proofs = Proofs()
    size = proofs.read(SIXTEEN)
    proofs.learn(prim.And(Y64 >= 0, Y64 < 16))
    proofs.assign(X, Y64)
    proofs.define(Y64, (-5, 100))
    assert proofs.is_inside(X, size)
    assert not proofs.is_inside(Y64, size)


def test_values_of_another_width_lose_bits():
    proofs = Proofs()
    narrow = Var("narrow", "int8")
    proofs.loop(X, const(0, "int64"), const(200, "int64"))
    proofs.assign(narrow, X)
    assert not proofs.is_inside(narrow, proofs.read(const(200, "int64")))
    proofs.loop(narrow, const(0, "int8"), M)
    assert not proofs.is_inside(narrow, proofs.read(M))


def test_large_expressions_are_not_tried():
    e = Y64
    for _ in range(40):
        e = e % 7 + e
    proofs = Proofs()
    assert not proofs.is_inside(e, proofs.read(SIXTEEN))
