"""Elements at indices that a tensor holds: `topi.take`, `topi.gather` and so on."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError

from .running import computed, normal


def indices(*numbers, dtype="int64", name="i"):
    """A tensor of indices, and what it holds."""
    array = np.array(numbers, dtype)
    return te.placeholder(array.shape, dtype, name), array


@pytest.mark.parametrize("mode", ["fast", "clip", "wrap"])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint64"])
def test_parts_are_taken_along_an_axis_or_of_all_elements(mode, axis, dtype, rng):
    x, t = normal(rng, 4, 3), te.placeholder((4, 3), name="x")
    numbers = [[2, 0], [1, 2]] if mode == "fast" else [[0, 99], [13, 2]]
    i, given = indices(*numbers, dtype=dtype)
    found = computed(topi.take(t, i, axis, mode=mode), {t: x, i: given})
    wanted = x.take(given.astype("int64"), axis, mode="raise" if mode == "fast" else mode)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("axis", [None, 1])
def test_one_index_may_be_a_scalar(axis, rng):
    x, t = normal(rng, 4, 3), te.placeholder((4, 3), name="x")
    np.testing.assert_array_equal(computed(topi.take(t, 2, axis), {t: x}), x.take(2, axis))


def test_parts_are_taken_for_each_element_of_a_batch(rng):
    x, t = normal(rng, 2, 5, 3), te.placeholder((te.var("n", "int64"), 5, 3), name="x")
    i = te.placeholder((t.shape[0], 4), "int32", "i")
    given = rng.integers(0, 5, (2, 4)).astype("int32")
    found = computed(topi.take(t, i, 1, batch_dims=1), {t: x, i: given})
    np.testing.assert_array_equal(found, np.stack([x[k][given[k]] for k in range(2)]))


def test_an_element_is_gathered_for_each_index_which_may_count_from_the_end(rng):
    x, t = normal(rng, 4, 3), te.placeholder((4, 3), name="x")
    i, given = indices([0, -1, 3], [-4, 1, 2])
    found = computed(topi.gather(t, 0, i), {t: x, i: given})
    np.testing.assert_array_equal(found, np.take_along_axis(x, given, 0))


@pytest.mark.parametrize("batch", [0, 1])
def test_parts_are_gathered_at_places(batch, rng):
    x, t = normal(rng, 4, 4, 3), te.placeholder((4, 4, 3), name="x")
    i, given = indices([0, -1, 3, 1], [2, 1, 0, -2])
    found = computed(topi.gather_nd(t, i, batch), {t: x, i: given})
    wanted = x[given[0], given[1]] if batch == 0 else x[np.arange(4), given[0], given[1]]
    np.testing.assert_array_equal(found, wanted)


def test_tensors_of_indices_broadcast(rng):
    x, t = normal(rng, 4, 3, 2), te.placeholder((4, 3, 2), name="x")
    (i, rows), (j, columns) = indices([0], [3]), indices(2, 0, 1, dtype="int8", name="j")
    for function in (topi.index_tensor, topi.adv_index):
        found = computed(function(t, [i, j]), {t: x, i: rows, j: columns})
        np.testing.assert_array_equal(found, x[rows, columns])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a_new_axis_is_one_at_an_index(axis):
    i, given = indices(2, 0, 5, -1)
    found = computed(topi.one_hot(i, 1, 0, 3, axis, "float32"), {i: given})
    wanted = np.array([[0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 0, 0]], "float32")
    np.testing.assert_array_equal(found, wanted.T if axis == 0 else wanted)


@pytest.mark.parametrize("shape", [(4, 3, 2), (24,), (2, 1, 12)])
def test_a_number_is_unravelled(shape):
    i, given = indices(0, 7, 23, dtype="int32")
    found = computed(topi.unravel_index(i, shape), {i: given})
    np.testing.assert_array_equal(found, np.unravel_index(given, shape))


MATRIX, ROW = te.placeholder((4, 3)), te.placeholder((2,), "int64")
UNKNOWN = te.placeholder((te.var("n"), 2), "int64")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda: topi.take(MATRIX, ROW, 0, mode="raise"), 'is "fast", "clip" or "wrap"'),
        (lambda: topi.take(MATRIX, ROW, 0, 1), "the axes of the batch come before the one"),
        (lambda: topi.gather(MATRIX, 0, ROW), "takes indices of as many axes as the tensor has"),
        (
            lambda: topi.gather_nd(MATRIX, te.placeholder((3, 5), "int64")),
            r"`topi\.gather_nd` finds no such axes",
        ),
        (lambda: topi.gather_nd(MATRIX, UNKNOWN), "needs the number of indices that a place has"),
        (lambda: topi.index_tensor(MATRIX, [ROW] * 3), "a tensor of indices for each of the first"),
    ],
)
def test_indices_that_do_not_fit_are_refused(function, said):
    with pytest.raises(DiagnosticError, match=said):
        function()
