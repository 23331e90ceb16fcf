"""Parts of tensors, and what they are replaced by: `topi.strided_slice` and its kin."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError

from .running import computed, normal

BOUNDS = [-9, -7, -2, 0, 1, 5, 7, 9]
STEPS = [1, 2, -1, -3]


def test_slices_are_those_of_numpy(rng):
    x, t = normal(rng, 7), te.placeholder((7,), name="x")
    for low, high, step in itertools.product(BOUNDS, BOUNDS, STEPS):
        made = topi.strided_slice(t, [low], [high], [step])
        wanted = x[low:high:step]
        assert [int(d) for d in made.shape] == [len(wanted)], (low, high, step)
        if low in (-9, 1, 9):
            np.testing.assert_array_equal(computed(made, {t: x}), wanted)


@pytest.mark.parametrize("step", STEPS)
def test_bounds_of_a_variable_dimension_are_limited_where_they_may_be_outside(step, rng):
    t = te.placeholder((te.var("n", "int64"), 2), name="x")
    for low, high in itertools.product([-4, 0, 2], [-5, -1, 3, 9]):
        made = topi.strided_slice(t, [low], [high], [step], assume_inbound=False)
        for size in (0, 3, 8):
            x = normal(rng, size, 2)
            np.testing.assert_array_equal(computed(made, {t: x}), x[low:high:step])


def test_bounds_of_a_variable_dimension_are_taken_as_they_are_where_they_are_inside(rng):
    x, t = normal(rng, 6, 2), te.placeholder((te.var("n", "int64"), 2), name="x")
    made = topi.strided_slice(t, [1], [5], [2])
    assert [int(d) for d in made.shape] == [2, 2]
    np.testing.assert_array_equal(computed(made, {t: x}), x[1:5:2])


def test_sizes_may_stand_in_the_place_of_ends(rng):
    x, t = normal(rng, 6, 5), te.placeholder((6, 5), name="x")
    made = topi.strided_slice(t, [2, 1], [3, -1], slice_mode="size")
    np.testing.assert_array_equal(computed(made, {t: x}), x[2:5, 1:])


def test_axes_may_be_named(rng):
    x, t = normal(rng, 6, 5), te.placeholder((6, 5), name="x")
    made = topi.strided_slice(t, [1], [4], axes=[-1])
    np.testing.assert_array_equal(computed(made, {t: x}), x[:, 1:4])


def test_bounds_may_be_computed(rng):
    x, t = normal(rng, 6, 5), te.placeholder((6, 5), name="x")
    bounds = [te.placeholder((2,), "int64", name) for name in ("low", "high", "step")]
    numbers = [np.array(n, "int64") for n in ([1, -3], [6, 5], [2, 1])]
    given = {t: x, **dict(zip(bounds, numbers))}
    made = topi.dynamic_strided_slice(t, *bounds, (3, 3))
    np.testing.assert_array_equal(computed(made, given), x[1:6:2, -3:])


@pytest.mark.parametrize("dim", [5, "n"])
def test_windows_slide_along_the_last_axes(dim, rng):
    x = normal(rng, 2, 5, 8)
    rows = te.var("n", "int64") if dim == "n" else dim
    t = te.placeholder((2, rows, 8), name="x")
    found = computed(topi.sliding_window(t, 1, (3, 2), (1, 3)), {t: x})
    wanted = np.lib.stride_tricks.sliding_window_view(x, (3, 2), (1, 2))[:, ::1, ::3]
    np.testing.assert_array_equal(found, wanted)


def test_a_slice_is_replaced(rng):
    x, v = normal(rng, 6, 5), normal(rng, 3, 2)
    t, new = te.placeholder((6, 5), name="x"), te.placeholder((3, 2), name="v")
    bounds = [te.placeholder((2,), "int64", name) for name in ("low", "high", "step")]
    for low, high, step in [([0, 1], [6, 3], [2, 1]), ([-1, 4], [-6, 0], [-2, -2])]:
        numbers = [np.array(n, "int64") for n in (low, high, step)]
        given = {t: x, new: v, **dict(zip(bounds, numbers))}
        wanted = x.copy()
        wanted[tuple(map(slice, low, high, step))] = v
        np.testing.assert_array_equal(computed(topi.strided_set(t, new, *bounds), given), wanted)


def test_a_slice_of_one_axis_is_replaced_without_strides(rng):
    x, v = normal(rng, 6, 5), normal(rng, 3, 5)
    t, new = te.placeholder((6, 5), name="x"), te.placeholder((3, 5), name="v")
    low, high = (te.placeholder((1,), "int32", name) for name in ("low", "high"))
    given = {t: x, new: v, low: np.array([2], "int32"), high: np.array([5], "int32")}
    wanted = x.copy()
    wanted[2:5] = v
    np.testing.assert_array_equal(computed(topi.strided_set(t, new, low, high), given), wanted)


MATRIX = te.placeholder((4, 3))
UNKNOWN = te.placeholder((te.var("n"),), "int64")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda: topi.strided_slice(MATRIX, [0], [1, 2]), "each axis has a bound of each kind"),
        (lambda: topi.strided_slice(MATRIX, [0], [1], [0]), "a stride of 0 leads nowhere"),
        (
            lambda: topi.strided_slice(MATRIX, [0], [1], slice_mode="length"),
            'the mode of a slice is "end" or "size"',
        ),
        (
            lambda: topi.dynamic_strided_slice(MATRIX, UNKNOWN, UNKNOWN, UNKNOWN, (1, 3)),
            "needs the number of axes that are sliced",
        ),
        (
            lambda: topi.strided_set(MATRIX, MATRIX, UNKNOWN, UNKNOWN),
            r"`topi\.strided_set` needs the number of axes",
        ),
        (lambda: topi.slice_scatter(MATRIX, MATRIX, 4, 0, -1, 0), "the step goes forward"),
        (
            lambda: topi.sliding_window(MATRIX, 0, (2,), (1,)),
            "a window has a size and a stride for each of the last 2 axes",
        ),
    ],
)
def test_slices_that_are_none_are_refused(function, said):
    with pytest.raises(DiagnosticError, match=said):
        function()
