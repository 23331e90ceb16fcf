"""The values of operations on literals."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.arith import NO, YES, prove, simplify
from relaxscript.arith.evaluate import evaluate
from relaxscript.arith.literals import MAX_DEPTH, truth_of_literals, value_of_literals
from relaxscript.errors import Source, Span
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript_tests import examples
from relaxscript_tests.arith.scalars import N, integer

OPERATIONS = (prim.Add, prim.Sub, prim.Mul, prim.FloorDiv, prim.FloorMod, prim.Max, prim.Min)
COMPARISONS = (prim.EQ, prim.NE, prim.LT, prim.LE, prim.GT, prim.GE)


def drawn(rng: np.random.Generator, depth: int) -> PrimExpr:
    if depth == 0 or rng.random() < 0.2:
        return integer(int(rng.integers(-5, 9)))
    make = OPERATIONS[rng.integers(len(OPERATIONS))]
    divisor = integer(int(rng.choice([-3, -1, 2, 7])))
    right = divisor if make in (prim.FloorDiv, prim.FloorMod) else drawn(rng, depth - 1)
    return make.make(drawn(rng, depth - 1), right)


def test_operations_and_comparisons_have_the_values_that_evaluation_gives(
    rng: np.random.Generator,
) -> None:
    for _ in range(examples(1_000)):
        a, b = drawn(rng, 4), drawn(rng, 4)
        assert value_of_literals(a) == evaluate(a)
        assert evaluate(simplify(a)) == evaluate(a)
        for make in COMPARISONS:
            compared = make.make(a, b)
            assert truth_of_literals(compared) is bool(evaluate(compared))
            assert prove(compared) is (YES if evaluate(compared) else NO)


@pytest.mark.parametrize(
    "e",
    [N, N + 1, prim.FloorDiv(integer(3), integer(0)), prim.FloorMod(integer(3), integer(0)),
     prim.Div(integer(7), integer(2))],
)  # fmt: skip
def test_what_is_no_operation_on_literals_or_divides_by_zero_has_no_value(e: PrimExpr) -> None:
    assert value_of_literals(e) is None
    assert truth_of_literals(prim.EQ(e, integer(0))) is None


def test_values_of_deep_expressions_are_left_to_the_canonical_form() -> None:
    e: PrimExpr = integer(0)
    for _ in range(MAX_DEPTH + 1):
        e = prim.Add.make(e, integer(1))
    assert value_of_literals(e) is None
    assert evaluate(simplify(e)) == MAX_DEPTH + 1


def test_a_value_that_is_no_int64_is_left_to_be_computed() -> None:
    e = prim.Add.make(integer((1 << 63) - 1), integer(1))
    assert simplify(e) is e


def test_a_value_is_where_its_operation_was() -> None:
    span = Span(Source("f.py", "1 + 2"), 1, 1, 1, 6)
    made = simplify(prim.Add.make(integer(1), integer(2)).replace(span=span))
    assert isinstance(made, prim.IntImm)
    assert (made.value, made.span) == (3, span)
