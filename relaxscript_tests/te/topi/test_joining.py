"""Tensors one after the other, parts of one, and grids."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError

from .running import computed, normal


@pytest.mark.parametrize("lengths", [(2,), (2, 0, 3), (1, 2, 3, 4, 5)])
@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_tensors_are_joined_along_an_axis(lengths, target, rng):
    arrays = [normal(rng, 2, length) for length in lengths]
    tensors = [te.placeholder(x.shape, name=f"x{k}") for k, x in enumerate(arrays)]
    found = computed(topi.concatenate(tensors, -1), dict(zip(tensors, arrays)), target)
    np.testing.assert_array_equal(found, np.concatenate(arrays, -1))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_lengths_may_be_variables(dtype, rng):
    sizes = [te.var(name, dtype) for name in "nmk"]
    arrays = [normal(rng, length, 2) for length in (3, 0, 2)]
    tensors = [te.placeholder((n, 2), name=f"x{k}") for k, n in enumerate(sizes)]
    found = computed(topi.concatenate(tensors), dict(zip(tensors, arrays)))
    np.testing.assert_array_equal(found, np.concatenate(arrays))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_tensors_are_stacked_along_a_new_axis(axis, rng):
    arrays = [normal(rng, 2, 3) for _ in range(3)]
    tensors = [te.placeholder((2, 3), name=f"x{k}") for k in range(3)]
    found = computed(topi.stack(tensors, axis), dict(zip(tensors, arrays)))
    np.testing.assert_array_equal(found, np.stack(arrays, axis))


@pytest.mark.parametrize(
    ("sections", "places"),
    [(2, [3]), (3, [2, 4]), (4, [2, 4, 5]), ((1, 1, 4), [1, 1, 4]), ((), [])],
)
@pytest.mark.parametrize("length", [5, "n"])
def test_a_tensor_is_split_along_an_axis(sections, places, length, rng):
    x = normal(rng, 2, 5)
    size = te.var("n", "int64") if length == "n" else length
    t = te.placeholder((2, size), name="x")
    parts = topi.split(t, sections, 1)
    for part, wanted in zip(parts, np.split(x, places, 1), strict=True):
        np.testing.assert_array_equal(computed(part, {t: x}), wanted)


@pytest.mark.parametrize("indexing", ["ij", "xy"])
def test_a_grid_has_a_tensor_for_each_row(indexing, rng):
    arrays = [normal(rng, 2), normal(rng, 3), normal(rng, 4)]
    tensors = [te.placeholder(x.shape, name=f"x{k}") for k, x in enumerate(arrays)]
    made = topi.meshgrid(tensors, indexing)
    for grid, wanted in zip(made, np.meshgrid(*arrays, indexing=indexing), strict=True):
        np.testing.assert_array_equal(computed(grid, dict(zip(tensors, arrays))), wanted)


MATRIX = te.placeholder((2, 3))


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda: topi.concatenate([]), r"`topi\.concatenate` joins one tensor at least"),
        (
            lambda: topi.concatenate([MATRIX, te.placeholder((4, 2))]),
            r"`topi\.concatenate` joins tensors that differ along no other axis",
        ),
        (
            lambda: topi.stack([MATRIX, te.placeholder((2, 3), "int8")]),
            r"`topi\.stack` joins tensors of one rank and dtype",
        ),
        (lambda: topi.split(MATRIX, 0), r"`topi\.split` makes one part at least"),
        (lambda: topi.meshgrid([], "ii"), 'the indexing of a grid is "ij" or "xy"'),
    ],
)
def test_tensors_that_do_not_fit_are_refused(function, said):
    with pytest.raises(DiagnosticError, match=said):
        function()
