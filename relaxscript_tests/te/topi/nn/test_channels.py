"""Channels, rows and columns rearranged: `topi.nn.flatten`, `topi.nn.pixel_shuffle`."""

from __future__ import annotations

import pytest

import relaxscript.op as R
from relaxscript import te, topi
from relaxscript.errors import DiagnosticError
from relaxscript_tests.te.topi.running import computed, normal


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (2, 3), (2,), (0, 3, 4), (2, 0, 4)])
def test_all_elements_of_a_sample_are_along_one_axis(shape, rng):
    x = normal(rng, *shape)
    dims = [te.var(f"n{axis}", "int64") for axis in range(len(shape))]
    for given in (shape, dims):
        a = te.placeholder(tuple(given), name="a")
        assert (computed(topi.nn.flatten(a), {a: x}) == R.nn.batch_flatten(x)).all()


def test_channels_become_neighbours(rng):
    x = normal(rng, 2, 18, 2, 3)
    a = te.placeholder((2, te.var("c", "int64"), 2, te.var("w", "int64")), name="a")
    assert (computed(topi.nn.pixel_shuffle(a, 3), {a: x}) == R.nn.pixel_shuffle(x, 3)).all()


def test_tensors_without_these_axes_are_refused():
    with pytest.raises(DiagnosticError, match=r"`topi\.nn\.flatten` keeps an axis"):
        topi.nn.flatten(te.placeholder(()))
    with pytest.raises(DiagnosticError, match="takes channels, rows and columns"):
        topi.nn.pixel_shuffle(te.placeholder((4, 4)), 2)
    with pytest.raises(DiagnosticError, match="a factor of at least 1"):
        topi.nn.pixel_shuffle(te.placeholder((4, 4, 4)), 0)
