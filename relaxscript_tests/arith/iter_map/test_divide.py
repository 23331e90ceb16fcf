"""Division of iter maps by some of their iterators."""

from __future__ import annotations

import re
from typing import Any

import pytest

from relaxscript import arith, tir
from relaxscript.arith import IterMark, format_expr
from relaxscript.ir.prim import PrimExpr, SizeVar, Var
from relaxscript.ir.tir import Range

X, Y, Z = (Var(name, "int32") for name in "xyz")
N = SizeVar("n", "int32")
DOMAIN = {X: Range(0, 3), Y: Range(0, 4), Z: Range(0, 5)}
FLAT = X * 4 + Y


def shown(found: list[list[IterMark]]) -> list[list[str]]:
    """The sources of all marks, and the conditions of the last."""
    texts = [[format_expr(arith.normalize_iter_map_to_expr(m.source)) for m in p] for p in found]
    if found:
        texts[-1] = [format_expr(mark.extent) for mark in found[-1]]
    return texts


@pytest.mark.parametrize(
    ("bindings", "inner", "predicate", "expected"),
    [
        ([Z * 12 + Y * 3 + X + N], [X], True, [["z * 4 + y", "x + n"], ["True", "True"]]),
        ([Z * 12 + Y * 3 + X], [Y, X], True, [["z", "y * 3 + x"], ["True", "True"]]),
        ([X, Y, 7], [Y], True, [["x", "0"], ["0", "y"], ["0", "7"], ["True", "True"]]),
        ([X * 2, Y * 2], [Y], True, [["x * 2", "0"], ["0", "y * 2"], ["True", "True"]]),
        ([FLAT // 2, FLAT % 2], [Y], True, [["x", "y // 2"], ["0", "y % 2"], ["True", "True"]]),
        ([FLAT // 4, FLAT % 4], [Y], True, [["x", "0"], ["0", "y"], ["True", "True"]]),
        ([FLAT], [X], True, []),
        ([FLAT // 3], [Y], True, []),
        ([(FLAT + 2) // 4], [Y], True, []),
        ([X * 2 + Y], [Y], True, []),
        ([FLAT * 2], [Y], True, []),
        ([X, X], [X], True, []),
        (
            [Z * 12 + Y * 3 + X],
            [X],
            Z * 4 + Y < 18,
            [["z * 4 + y", "x"], ["z * 4 + y < 18", "True"]],
        ),
        ([X, Y], [Y], tir.And(X >= 1, Y < 3), [["x + -1", "1"], ["0", "y"], ["x >= 1", "y < 3"]]),
        (
            [X, Y],
            [Y],
            tir.all(X < 2, Z < 3, N < 9),
            [["x", "0"], ["0", "y"], ["n < 9 and x < 2 and z < 3", "True"]],
        ),
        ([FLAT], [Y], FLAT < 10, []),
        ([FLAT // 4], [Y], FLAT // 4 < 2, [["x", "0"], ["x < 2", "True"]]),
    ],
)
def test_bindings_are_divided(
    bindings: list[PrimExpr], inner: list[Var], predicate: Any, expected: list[list[str]]
) -> None:
    assert shown(arith.subspace_divide(bindings, DOMAIN, inner, predicate)) == expected


def test_extents_are_those_of_both_parts() -> None:
    (binding, _) = arith.subspace_divide([Z * 12 + Y * 3 + X], DOMAIN, [Y, X])
    assert [format_expr(mark.extent) for mark in binding] == ["5", "12"]


def test_trivial_iterators_are_on_their_side() -> None:
    over = {X: Range(0, 1), Y: Range(0, 1)}
    found = arith.subspace_divide([X, Y], over, [Y], simplify_trivial_iterators=False)
    assert shown(found) == [["x", "0"], ["0", "y"], ["True", "True"]]
    found = arith.subspace_divide([X, Y], over, [Y], tir.And(N > X, N > Y))
    assert shown(found) == [["0", "0"], ["0", "0"], ["n > x", "n > y"]]
    assert not arith.subspace_divide([X, Y], over, [Y], N > X + Y)


def test_an_analyzer_says_what_is_known_of_other_variables() -> None:
    tile, known = Var("tile", "int32"), arith.Analyzer()
    over = {X: Range(0, 4), Y: Range(0, tile)}
    assert not arith.subspace_divide([Y * tile + X], over, [X])
    known.bind(tile, 4)
    found = arith.subspace_divide([Y * tile + X], over, [X], analyzer=known)
    assert shown(found) == [["y", "x"], ["True", "True"]]


@pytest.mark.parametrize(
    ("inner", "message"),
    [
        (X, "`subspace_divide.sub_iters` must be a list of variables, not"),
        (["x"], "`subspace_divide.sub_iters` must be a scalar variable, not"),
        ([N], "`subspace_divide.sub_iters` has `n`, which is not among the input_iters"),
    ],
)
def test_wrong_iterators_are_named(inner: Any, message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)):
        arith.subspace_divide([X], DOMAIN, inner)
