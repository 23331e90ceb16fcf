"""Other axes and shapes of tensors: `topi.transpose`, `topi.reshape`, `topi.repeat` and so on."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError

from .running import computed, normal

FUNCTIONS = [
    (lambda t: topi.transpose(t), lambda x: x.transpose()),
    (lambda t: topi.transpose(t, (1, -1, 0)), lambda x: x.transpose(1, 2, 0)),
    (lambda t: topi.expand_dims(t, 1, 2), lambda x: x[:, None, None]),
    (lambda t: topi.expand_dims(t, -1), lambda x: x[..., None]),
    (lambda t: topi.squeeze(t), lambda x: x[:, 0]),
    (lambda t: topi.squeeze(t, 1), lambda x: x[:, 0]),
    (lambda t: topi.squeeze(t, (-2,)), lambda x: x[:, 0]),
    (lambda t: topi.flip(t, 2), lambda x: x[..., ::-1]),
    (lambda t: topi.reverse_sequence(t, None, -1), lambda x: x[..., ::-1]),
    (lambda t: topi.reshape(t, (3, 4, 1)), lambda x: x.reshape(3, 4, 1)),
    (lambda t: topi.reshape(t, (12,)), lambda x: x.reshape(12)),
    (lambda t: topi.repeat(t, 3), lambda x: x.repeat(3)),
    (lambda t: topi.repeat(t, 2, -1), lambda x: x.repeat(2, -1)),
    (lambda t: topi.repeat(t, 0, 0), lambda x: x.repeat(0, 0)),
    (lambda t: topi.tile(t, 2), lambda x: np.tile(x, 2)),
    (lambda t: topi.tile(t, (2, 1, 3, 1)), lambda x: np.tile(x, (2, 1, 3, 1))),
    (lambda t: topi.tile(t, (0, 1)), lambda x: np.tile(x, (0, 1))),
    (lambda t: topi.where(t > 0, t, -1.0), lambda x: np.where(x > 0, x, -1)),
    (lambda t: topi.where(t, 1.0, t), lambda x: np.where(x, 1, x)),
    (lambda t: topi.shape(t), lambda x: x.shape),
    (lambda t: topi.ndarray_size(t, "int64"), lambda x: x.size),
]


@pytest.mark.parametrize(("function", "meaning"), FUNCTIONS)
def test_a_function_is_that_of_numpy(function, meaning, rng):
    x, t = normal(rng, 4, 1, 3), te.placeholder((4, 1, 3), name="x")
    np.testing.assert_array_equal(computed(function(t), {t: x}), meaning(x))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize(
    ("function", "meaning"), [FUNCTIONS[k] for k in (0, 2, 4, 7, 11, 12, 14, 17, 19, 20)]
)
def test_dimensions_may_be_variables_of_either_size(function, meaning, dtype, rng):
    n, m = te.var("n", dtype), te.var("m", dtype)
    x, t = normal(rng, 4, 1, 3), te.placeholder((n, 1, m), name="x")
    np.testing.assert_array_equal(computed(function(t), {t: x}), meaning(x))


def test_a_shape_of_rank_0_has_no_dimensions():
    t = te.placeholder((), name="x")
    found = computed(topi.shape(t), {t: np.float32(1)})
    np.testing.assert_array_equal(found, np.zeros(0, "int32"))


def test_a_shape_may_be_made_of_variables():
    n = te.var("n", "int64")
    x, t = np.arange(24.0, dtype="float32").reshape(2, 12), te.placeholder((n, 12), name="x")
    found = computed(topi.reshape(t, (n * 2, 3, 2)), {t: x})
    np.testing.assert_array_equal(found, x.reshape(4, 3, 2))


def test_sequences_are_reversed_as_far_as_they_are_long(rng):
    x, lengths = normal(rng, 3, 4, 2), np.array([0, 2, 4], "int32")
    t, ends = te.placeholder(x.shape, name="x"), te.placeholder((3,), "int32", "ends")
    found = computed(topi.reverse_sequence(t, ends), {t: x, ends: lengths})
    wanted = x.copy()
    for row, length in enumerate(lengths):
        wanted[row, :length] = x[row, :length][::-1]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("axis", [0, 1])
def test_what_is_behind_a_sequence_is_masked(axis, rng):
    x = normal(rng, 3, 4, 2)
    lengths = np.array([1, 3, 0, 2] if axis == 0 else [0, 2, 4], "int64")
    t, ends = te.placeholder(x.shape, name="x"), te.placeholder(lengths.shape, "int64", "ends")
    found = computed(topi.sequence_mask(t, ends, -7.0, axis), {t: x, ends: lengths})
    places = np.arange(x.shape[axis])
    inside = places[:, None] < lengths if axis == 0 else places < lengths[:, None]
    np.testing.assert_array_equal(found, np.where(inside[..., None], x, -7))


def test_a_tensor_is_repeated_like_another(rng):
    x, t = normal(rng, 2, 4), te.placeholder((2, 4), name="x")
    like = te.placeholder((2, 3, 4, te.var("n", "int64")), name="like")
    found = computed(topi.expand_like(t, like, (1, -1)), {t: x, like: normal(rng, 2, 3, 4, 5)})
    np.testing.assert_array_equal(found, np.broadcast_to(x[:, None, :, None], (2, 3, 4, 5)))


@pytest.mark.parametrize("groups", [2, "g"])
def test_a_layout_is_packed_and_unpacked(groups, rng):
    x = normal(rng, 2, 8, 3)
    packed = np.ascontiguousarray(x.reshape(2, 2, 4, 3).transpose(0, 3, 1, 2))
    t = te.placeholder((2, 8, 3), name="x")
    np.testing.assert_array_equal(
        computed(topi.layout_transform(t, "NCW", "NWC4c"), {t: x}), packed
    )
    known = te.var("g", "int64") if groups == "g" else groups
    t = te.placeholder((2, 3, known, 4), name="x")
    made = topi.layout_transform(t, "NWC4c", "NCW")
    np.testing.assert_array_equal(computed(made, {t: packed}), x)
    made = topi.layout_transform(t, "NWC4c", "NC2cW", "packed")
    np.testing.assert_array_equal(computed(made, {t: packed}), x.reshape(2, 4, 2, 3))
    assert made.op.attrs["schedule_rule"] == "packed"


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda t: topi.flip(t, 2), r"`topi\.flip` finds no axis 2 among 2 axes"),
        (lambda t: topi.transpose(t, (0, 0)), r"`topi\.transpose` takes every axis once"),
        (lambda t: topi.squeeze(t, 1), "only an axis of one element can be removed"),
        (lambda t: topi.reshape(t, (7,)), r"`topi\.reshape` keeps the number of elements"),
        (lambda t: topi.repeat(t, -1), r"`topi\.repeat` repeats nothing less than 0 times"),
        (lambda t: topi.tile(t, (1, -2)), r"`topi\.tile` repeats nothing less than 0 times"),
        (
            lambda t: topi.sequence_mask(t, te.placeholder((3,), "int32"), 0, 2),
            "takes sequences along axis 0 or 1",
        ),
        (lambda t: topi.expand_like(t, t, (0,)), "adds the axes that a tensor has not"),
        (lambda t: topi.layout_transform(t, "NC", "NHC"), "a layout names each axis by a capital"),
        (lambda t: topi.layout_transform(t, "NCH", "NHC"), 'no tensor of the layout "NCH"'),
    ],
)
def test_axes_and_shapes_that_do_not_fit_are_refused(function, said):
    with pytest.raises(DiagnosticError, match=said):
        function(te.placeholder((2, 3)))
