"""Random scalar expressions over three variables, and every small assignment of these."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from relaxscript.arith import EvaluationError, evaluate
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var

N, M, K = (Var(name, "int64") for name in "nmk")
VARIABLES = (N, M, K)
# All that is tiny, and a few of each size.
TRIPLES = [
    *itertools.product((0, 1, 2), repeat=3),
    (3, 5, 8),
    (8, 3, 5),
    (5, 8, 3),
    (4, 4, 12),
    (7, 6, 9),
]
SMALL = [dict(zip(VARIABLES, triple)) for triple in TRIPLES]

ARITHMETIC = (
    prim.Add, prim.Sub, prim.Mul, prim.FloorDiv, prim.FloorMod, prim.Div, prim.Mod, prim.Min,
    prim.Max,
)  # fmt: skip
COMPARISONS = (prim.EQ, prim.NE, prim.LT, prim.LE, prim.GT, prim.GE)


def integer(value: int) -> prim.IntImm:
    return prim.IntImm("int64", value)


def shift(name: str, e: PrimExpr, places: PrimExpr | int) -> PrimExpr:
    """`e` shifted "left" or "right"."""
    return prim.Call(e.dtype, f"tir.shift_{name}", (e, prim.as_prim(places)))


def _leaves() -> st.SearchStrategy[PrimExpr]:
    return st.one_of(st.sampled_from(VARIABLES), st.integers(-4, 9).map(integer))


@st.composite
def integers(draw: st.DrawFn, depth: int = 4) -> PrimExpr:
    """An int64 expression."""
    if depth == 0 or draw(st.integers(0, 4)) == 0:
        return draw(_leaves())
    if draw(st.integers(0, 9)) == 0:
        return prim.Select(
            draw(conditions(depth - 1)), draw(integers(depth - 1)), draw(integers(depth - 1))
        )
    make = draw(st.sampled_from(ARITHMETIC))
    return make(draw(integers(depth - 1)), draw(integers(depth - 1)))


@st.composite
def conditions(draw: st.DrawFn, depth: int = 3) -> PrimExpr:
    """A bool expression."""
    choice = draw(st.integers(0, 7))
    if depth == 0 or choice < 5:
        make = draw(st.sampled_from(COMPARISONS))
        return make(draw(integers(max(depth - 1, 0))), draw(integers(max(depth - 1, 0))))
    if choice == 5:
        return prim.Not(draw(conditions(depth - 1)))
    make = draw(st.sampled_from((prim.And, prim.Or)))
    return make(draw(conditions(depth - 1)), draw(conditions(depth - 1)))


def value(e: PrimExpr, assignment: dict[Var, int]) -> int | None:
    """The value of `e`, or None where it divides by zero."""
    try:
        return int(evaluate(e, assignment))
    except EvaluationError:
        return None
