"""Nodes of iter maps."""

from __future__ import annotations

import pickle

from relaxscript.ir.iter_map import IterMapExpr, IterMark, IterSplitExpr, IterSumExpr
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.structural_equality import structural_equal

X = Var("x", "int64")


def test_numbers_are_of_the_dtype_of_the_source() -> None:
    split = IterSplitExpr(IterMark(X, 24), 2, 3, 4)
    total = IterSumExpr([split], 1)
    numbers = (split.source.extent, split.lower_factor, split.extent, split.scale, total.base)
    assert {e.dtype for e in (*numbers, split, total)} == {"int64"}


def test_splits_and_sums_are_scalars() -> None:
    total = IterSumExpr([], 5)
    assert isinstance(total, IterMapExpr)
    assert isinstance(total, PrimExpr)


def test_equal_iter_maps_are_equal() -> None:
    def made(extent: int) -> IterSumExpr:
        return IterSumExpr([IterSplitExpr(IterMark(X, extent), 1, 3, 1)], 0)

    assert structural_equal(made(6), made(6))
    assert not structural_equal(made(6), made(9))


def test_iter_maps_are_pickled() -> None:
    total = IterSumExpr([IterSplitExpr(IterMark(X, 6), 1, 3, 1)], 0)
    copy = pickle.loads(pickle.dumps(total))
    assert structural_equal(copy, total, map_free_vars=True)


def test_iter_maps_are_shown_by_their_parts() -> None:
    total = IterSumExpr([IterSplitExpr(IterMark(X, 6), 2, 3, 1)], X + 1)
    assert repr(total) == (
        "IterSumExpr([IterSplitExpr(IterMark(x, extent=6), lower_factor=2, extent=3, scale=1)], "
        "base=x + 1)"
    )
