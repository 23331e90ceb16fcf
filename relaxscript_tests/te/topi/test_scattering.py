"""Elements put at indices that a tensor holds: `topi.scatter_nd` and so on."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError

from .running import computed, normal

COMBINATIONS = {
    "update": lambda old, new: new,
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def put(x, places, values, reduction):
    """An array with values put in one after the other."""
    made = x.copy()
    for place, value in zip(places, values):
        made[place] = COMBINATIONS[reduction](made[place], value)
    return made


@pytest.mark.parametrize("reduction", COMBINATIONS)
@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_updates_are_put_in_one_after_the_other(reduction, target, rng):
    x, new = normal(rng, 4, 3), normal(rng, 5, 2)
    given = rng.integers(-4, 4, (5, 2))
    n = te.var("n", "int64")
    t, i = te.placeholder((4, 3), name="x"), te.placeholder((n, 2), "int64", "i")
    u = te.placeholder((n, 2), name="u")
    made = topi.scatter_elements(t, i, u, 0, reduction)
    places = [(given[place], place[1]) for place in np.ndindex(5, 2)]
    wanted = put(x, places, new.ravel(), reduction)
    np.testing.assert_array_equal(computed(made, {t: x, i: given, u: new}, target), wanted)


@pytest.mark.parametrize("mode", COMBINATIONS)
def test_parts_are_put_at_places(mode, rng):
    x, new = normal(rng, 4, 3, 2), normal(rng, 5, 2)
    given = np.array([[0, 3, 0, -1, 1], [2, 1, 2, 1, -3]])
    t, i = te.placeholder(x.shape, name="x"), te.placeholder((2, 5), "int64", "i")
    u = te.placeholder(new.shape, name="u")
    found = computed(topi.scatter_nd(t, i, u, mode), {t: x, i: given, u: new})
    np.testing.assert_array_equal(found, put(x, map(tuple, given.T), new, mode))


@pytest.mark.parametrize("accumulate", [False, True])
def test_values_are_put_where_tensors_of_indices_say(accumulate, rng):
    x, new = normal(rng, 4, 3), normal(rng, 2, 1)
    rows, columns = np.array([[0], [-1]]), np.array([1, 1, 2], "int8")
    t, u = te.placeholder(x.shape, name="x"), te.placeholder(new.shape, name="u")
    i, j = te.placeholder((2, 1), "int64", "i"), te.placeholder((3,), "int8", "j")
    found = computed(topi.index_put(t, [i, j], u, accumulate), {t: x, i: rows, j: columns, u: new})
    wanted = x.copy()
    if accumulate:
        np.add.at(wanted, (rows, columns), new)
    else:
        wanted[rows, columns] = new
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("given", "shape"), [(3, (5,)), ([3, 0], (5,)), ([[3, 0], [1, 2]], (5, 4))]
)
def test_a_sparse_tensor_has_one_value_elsewhere(given, shape):
    places = np.array(given, "int32")
    values = np.array([7, 8], "float32") if places.ndim else np.array(7, "float32")
    i = te.placeholder(places.shape, "int32", "i")
    v = te.placeholder(values.shape, name="v")
    found = computed(topi.sparse_to_dense(i, shape, v, -1), {i: places, v: values})
    wanted = np.full(shape, -1, "float32")
    wanted[tuple(places.T) if places.ndim == 2 else places] = values
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("k", [0, 1, -1, (2, 2)])
def test_matrices_get_a_diagonal(k, rng):
    offset = k if isinstance(k, int) else k[0]
    x = normal(rng, 2, 3, 4)
    wanted = x.copy()
    rows = np.arange(np.diagonal(x, offset, 1, 2).shape[1]) + max(-offset, 0)
    new = normal(rng, 2, len(rows))
    wanted[:, rows, rows + offset] = new
    t, d = te.placeholder(x.shape, name="x"), te.placeholder(new.shape, name="d")
    found = computed(topi.matrix_set_diag(t, d, k), {t: x, d: new})
    np.testing.assert_array_equal(found, wanted)


def test_combinations_and_diagonals_that_are_none_are_refused():
    t = te.placeholder((4, 3))
    with pytest.raises(
        DiagnosticError, match=r"in `topi\.scatter_elements` it is one of \"update\""
    ):
        topi.scatter_elements(t, te.placeholder((4, 3), "int64"), t, 0, "sub")
    with pytest.raises(DiagnosticError, match=r"`topi\.matrix_set_diag` sets one diagonal"):
        topi.matrix_set_diag(t, t, (0, 1))
