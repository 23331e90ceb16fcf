"""Inverses of bijective iter maps."""

from __future__ import annotations

import re
from typing import Any

import pytest

from relaxscript import arith
from relaxscript.arith import IterMark, IterSplitExpr, IterSumExpr, format_expr
from relaxscript.errors import OperandError
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import Range

X, Y = Var("x", "int32"), Var("y", "int32")
OUTPUTS = [Var(f"o{k}", "int32") for k in range(3)]
DOMAIN = {X: Range(0, 16), Y: Range(0, 6)}


def detect(indices: list[PrimExpr], level: str = "bijective") -> list[IterSumExpr]:
    result = arith.detect_iter_map(indices, DOMAIN, True, level)
    assert not result.errors
    return result.indices


@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        ([X // 4, X % 4, Y], {"x": "o0 * 4 + o1", "y": "o2"}),
        ([Y, X], {"x": "o1", "y": "o0"}),
        ([Y * 16 + X], {"x": "o0 % 16", "y": "o0 // 16"}),
        ([X * 2 + 3, Y], {"x": "(o0 + 1) // 2 - 2", "y": "o1"}),
        ([(X + 3) % 16, Y], {"x": "(o0 + 13) % 16", "y": "o1"}),
    ],
)
def test_the_inverse_is_the_iterators_by_their_indices(
    indices: list[PrimExpr], expected: dict[str, str]
) -> None:
    inverse = arith.inverse_affine_iter_map(detect(indices), OUTPUTS[: len(indices)])
    assert {v.name: format_expr(e) for v, e in inverse.items()} == expected


def test_an_iterator_that_begins_elsewhere_is_itself() -> None:
    found = arith.detect_iter_map([X], {X: Range(3, 8)}).indices
    assert format_expr(arith.inverse_affine_iter_map(found, [7])[X]) == "7"


def test_numbers_among_the_indices_tell_nothing() -> None:
    inverse = arith.inverse_affine_iter_map(detect([X, 0, Y]), OUTPUTS)
    assert {v.name: format_expr(e) for v, e in inverse.items()} == {"x": "o0", "y": "o2"}


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([X // 4], "the iter map is not bijective: they do not tell all of it"),
        ([X % 4], "the iter map is not bijective: they do not tell all of it"),
        ([X * 4 + Y], "the iter map is not bijective: it takes values more than once, or not all"),
    ],
)
def test_a_map_that_is_not_bijective_is_refused(indices: list[PrimExpr], message: str) -> None:
    with pytest.raises(OperandError, match=re.escape(message)):
        arith.inverse_affine_iter_map(detect(indices, "surjective"), OUTPUTS[: len(indices)])


def test_a_mark_of_no_variable_is_refused() -> None:
    split = IterSplitExpr(IterMark(X * Y, 8), 1, 8, 1)
    with pytest.raises(OperandError, match="an iterator is no variable"):
        arith.inverse_affine_iter_map([IterSumExpr([split], 0)], [0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, [0]), "`inverse_affine_iter_map.iter_map` must be a list of IterSumExprs, not"),
        (([X], [0]), "`inverse_affine_iter_map.iter_map` must be a list of IterSumExprs, not"),
        (([], X), "`inverse_affine_iter_map.outputs` must be a list of expressions, not"),
        (([], [0]), "`inverse_affine_iter_map.outputs` has 1 values for 0 indices"),
        (([], ["x"]), "`inverse_affine_iter_map.outputs` must be a scalar expression or a number"),
    ],
)
def test_a_wrong_argument_is_named(arguments: Any, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        arith.inverse_affine_iter_map(*arguments)
