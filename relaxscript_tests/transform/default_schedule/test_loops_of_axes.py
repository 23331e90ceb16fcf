"""Loops of blocks by tiles: before, after, what stays, and the same bits."""

from __future__ import annotations

import pytest

from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.transform.default_schedule.loops_of_axes import with_loops_of_axes
from relaxscript.transform.default_schedule.wide_indices import with_wide_indices

from .test_conditional_inits import assert_same_bits
from .test_distributed_loops import MATRICES, assert_arranged, function

PRODUCT = """
for {loops}:
    with T.block("C"):
        vi = T.axis.spatial(24, {i})
        vj = T.axis.spatial(24, {j})
        vk = T.axis.reduce(24, {k})
        with T.init():
            C[vi, vj] = T.float32(0)
        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
PLAIN = PRODUCT.format(loops="i, j, k in T.grid(24, 24, 24)", i="i", j="j", k="k")


def tiled(
    loops: str, sizes: str, i: str = "i * 8 + ii", j: str = "j * 8 + jj", k: str = "k"
) -> str:
    return PRODUCT.format(loops=f"{loops} in T.grid({sizes})", i=i, j=j, k=k)


@pytest.mark.parametrize(
    "body",
    [
        tiled("i, j, ii, jj, k", "3, 3, 8, 8, 24"),
        tiled("k, j, jj, i, ii", "24, 3, 8, 3, 8"),
        tiled("i, j, k, ii, jj, kk", "3, 3, 6, 8, 8, 4", k="k * 4 + kk"),
        tiled("i, j, ii, k, jj", "2, 3, 12, 24, 8", i="ii + 12 * i"),
    ],
)
def test_loops_by_tiles_are_loops_over_axes(body: str):
    given = with_wide_indices(function(MATRICES, body))
    text = given.script()
    made = with_loops_of_axes(given)
    assert_structural_equal(made, with_wide_indices(function(MATRICES, PLAIN)))
    assert with_loops_of_axes(made) is made
    assert given.script() == text
    assert_same_bits(given, made)
    assert_arranged(function(MATRICES, body), "product")


@pytest.mark.parametrize(
    "body",
    [
        PLAIN,
        # Axes have not all of their values, or some more than once.
        tiled("i, j, ii, jj, k", "2, 3, 8, 8, 24"),
        tiled("i, j, ii, jj, k", "5, 3, 8, 8, 24", i="i * 4 + ii"),
        # The loops are not in the order of the values that they give, so that sums are others.
        tiled("i, j, ii, jj, kk, k", "3, 3, 8, 8, 4, 6", k="k * 4 + kk"),
        # Another iteration stores what is read.
        tiled("i, j, ii, jj, k", "3, 3, 8, 8, 24").replace("A[vi, vk]", "C[vi, vk]"),
    ],
)
def test_other_blocks_stay(body: str):
    given = with_wide_indices(function(MATRICES, body))
    assert with_loops_of_axes(given) is given


def test_functions_whose_buffers_may_overlap_stay():
    body = tiled("i, j, ii, jj, k", "3, 3, 8, 8, 24")
    given = with_wide_indices(function(MATRICES, body, noalias=False))
    assert with_loops_of_axes(given) is given
