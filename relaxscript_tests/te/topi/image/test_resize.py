"""Images and volumes of another size by the functions that users know: `topi.image.resize2d`."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
import relaxscript.op as R
from relaxscript import te, topi
from relaxscript.errors import DiagnosticError
from relaxscript_tests.te.topi.running import computed, normal


@pytest.mark.parametrize("target", ["llvm", "reference"])
@pytest.mark.parametrize("method", ["nearest_neighbor", "linear", "cubic"])
def test_an_image_gets_another_size(method, target, rng):
    x = normal(rng, 1, 4, 5, 2)
    a = te.placeholder((1, te.var("h", "int64"), 5, 2), name="a")
    made = topi.image.resize2d(a, None, [7, 3], "NHWC", method)
    wanted = R.image.resize2d(x, (7, 3), None, "NHWC", method, rounding_method="")
    assert (computed(made, {a: x}, target) == wanted).all()


def test_lines_and_volumes_get_another_size(rng):
    x = normal(rng, 2, 1, 5)
    a = te.placeholder(x.shape, name="a")
    found = computed(topi.image.resize1d(a, None, [9]), {a: x})
    wanted = R.image.resize2d(x[..., None, :], (1, 9), rounding_method="")[..., 0, :]
    assert (found == wanted).all()
    x = normal(rng, 1, 2, 3, 4, 5)
    a = te.placeholder(x.shape, name="a")
    mode = {"method": "linear", "coordinate_transformation_mode": "align_corners"}
    found = computed(topi.image.resize3d(a, None, [2, 6, 1], **mode), {a: x})
    assert (found == R.image.resize3d(x, (2, 6, 1), **mode)).all()


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_the_size_that_is_wanted_may_be_a_variable(dtype, rng):
    x = normal(rng, 1, 2, 4, 5)
    a = te.placeholder(x.shape, name="a")
    height, width = te.var("height", dtype), te.var("width", dtype)
    made = topi.image.resize2d(a, None, [height, width])
    result = np.empty((1, 2, 3, 7), "float32")
    machine = rx.VirtualMachine(rx.build(rx.IRModule({"main": te.create_prim_func([a, made])})))
    machine["main"](x, result)
    assert (result == R.image.resize2d(x, (3, 7), None, rounding_method="")).all()


def test_a_part_of_an_image_is_spread_and_filled_beyond_it(rng):
    x = normal(rng, 1, 1, 4, 5)
    a = te.placeholder(x.shape, name="a")
    given = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": -1.0}
    found = computed(topi.image.resize2d(a, [0, 0.5, 1.5, 1], [5, 3], **given), {a: x})
    wanted = R.image.resize2d(x, (5, 3), [0, 0.5, 1.5, 1], rounding_method="", **given)
    assert (found == wanted).all()
    assert (found[0, 0, -1] == -1).all()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"method": "bilinear"}, 'it is one of "nearest_neighbor", "linear", "cubic"'),
        ({"coordinate_transformation_mode": "corners"}, 'it is one of "half_pixel"'),
        ({"rounding_method": "up"}, 'it is one of "round"'),
        ({"layout": "NCW"}, 'takes a tensor of the axes of "NCHW" in some order'),
        ({"size": [3]}, r"`topi\.image\.resize2d` takes 2 of them"),
        ({"roi": [0, 1]}, r"`topi\.image\.resize2d` takes 4 of them"),
        ({"coordinate_transformation_mode": "tf_crop_and_resize"}, "takes 4 of them"),
    ],
)
def test_attributes_that_there_are_not_are_refused(given, said):
    options = {"roi": None, "size": [2, 2], **given}
    with pytest.raises(DiagnosticError, match=said):
        topi.image.resize2d(te.placeholder((1, 2, 3, 4)), **options)
