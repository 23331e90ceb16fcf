"""Images sampled at places by the functions that users know: `topi.image.grid_sample`."""

from __future__ import annotations

import pytest

import relaxscript.op as R
from relaxscript import te, topi
from relaxscript.errors import DiagnosticError
from relaxscript_tests.te.topi.running import computed, normal


@pytest.mark.parametrize("target", ["llvm", "reference"])
@pytest.mark.parametrize("method", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_an_image_is_sampled_at_places_inside_and_outside(method, padding, target, rng):
    x, g = normal(rng, 2, 3, 4, 5), 2 * normal(rng, 2, 2, 3, 6)
    g[0, 0, 0, :3] = float("nan"), float("inf"), -float("inf")
    a, b = te.placeholder(x.shape, name="a"), te.placeholder(g.shape, name="b")
    made = topi.image.grid_sample(a, b, method, "NCHW", padding)
    wanted = R.image.grid_sample(x, g, method, "NCHW", padding, True)
    assert (computed(made, {a: x, b: g}, target) == wanted).all()


@pytest.mark.parametrize("aligned", [False, True])
def test_affine_maps_make_a_grid(aligned, rng):
    m = normal(rng, 2, 2, 3)
    a = te.placeholder((te.var("n", "int64"), 2, 3), name="a")
    found = computed(topi.image.affine_grid(a, (3, 4), aligned), {a: m})
    assert (found == R.image.affine_grid(m, (3, 4), align_corners=aligned)).all()


def test_tensors_and_attributes_that_do_not_fit_are_refused():
    a, b = te.placeholder((1, 2, 3, 4)), te.placeholder((1, 2, 5, 6))
    sample = topi.image.grid_sample
    with pytest.raises(DiagnosticError, match='it is one of "nearest", "bilinear", "bicubic"'):
        sample(a, b, "linear")
    with pytest.raises(DiagnosticError, match='it is one of "zeros", "border", "reflection"'):
        sample(a, b, padding_mode="mirror")
    with pytest.raises(DiagnosticError, match='takes the axes of "NCHW" in some order'):
        sample(a, b, layout="NCHW2c")
    with pytest.raises(DiagnosticError, match="there are 5, as in the layout"):
        sample(te.placeholder((1, 2, 3, 4, 5)), b, layout="NCDHW")
    with pytest.raises(DiagnosticError, match="takes a matrix for each image or volume"):
        topi.image.affine_grid(te.placeholder((2, 3)), (3, 4))
