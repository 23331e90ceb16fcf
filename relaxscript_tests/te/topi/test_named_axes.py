"""Sums of products by named axes: `topi.einsum`."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError

from .running import computed, normal


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("bii->b", [(2, 3, 3)]),
        ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]),
        ("ij,i,->ji", [(2, 3), (2,), ()]),
        ("ij->", [(0, 3)]),
        ("ij,ij", [(1, 3), (2, 1)]),
    ],
)
def test_what_subscripts_describe_is_what_numpy_computes(subscripts, shapes, rng):
    arrays = [normal(rng, *shape) for shape in shapes]
    tensors = [te.placeholder(shape, name=f"x{n}") for n, shape in enumerate(shapes)]
    found = computed(topi.einsum(subscripts, *tensors), dict(zip(tensors, arrays)))
    np.testing.assert_allclose(found, np.einsum(subscripts, *arrays), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("size", [1, 4])
def test_an_axis_has_the_size_of_the_longer_which_only_the_run_shows(size, rng):
    n, m = te.var("n", "int64"), te.var("m", "int64")
    a, b = te.placeholder((n, 2), name="a"), te.placeholder((m, 2), name="b")
    x, y = normal(rng, size, 2), normal(rng, 4, 2)
    for left, right in ((x, y), (y, x)):
        found = computed(topi.einsum("ij,ij->j", a, b), {a: left, b: right})
        np.testing.assert_allclose(found, (left * right).sum(0), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("subscripts", "shapes", "said"),
    [
        ("ij,jk", [(2, 3)], "`topi.einsum` gets 1 tensors"),
        ("ij", [(2, 3, 4)], "a tensor of `topi.einsum` has 3 axes"),
        ("ij,jk", [(2, 3), (4, 5)], "an axis has 3 elements in one tensor and 4 in another"),
        ("i->j", [(2,)], "`j` is an axis of the result, and of no operand"),
    ],
)
def test_subscripts_that_do_not_describe_the_tensors_are_refused(subscripts, shapes, said):
    with pytest.raises(DiagnosticError, match=said):
        topi.einsum(subscripts, *map(te.placeholder, shapes))
