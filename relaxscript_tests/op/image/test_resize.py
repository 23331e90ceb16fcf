"""Images of another size: where elements come from, what they are made of, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests import examples
from relaxscript_tests.op.inference import infer, obliged, ranked, refused, result, shape, tensor

ROW = np.array([10, 20, 40, 70], "float32").reshape(1, 1, 1, 4)


def resized(row: Any, width: int, **settings: Any) -> list[float]:
    return R.image.resize2d(row, (1, width), **settings)[0, 0, 0].tolist()


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        # Of two elements each, at 0.5 and 2.5, and so on.
        ("half_pixel", [15, 55]),
        ("pytorch_half_pixel", [15, 55]),
        ("asymmetric", [10, 40]),
        ("align_corners", [10, 70]),
        ("tf_half_pixel_for_nn", [20, 70]),
    ],
)
def test_elements_come_from_where_the_mode_says(mode: str, expected: list[float]) -> None:
    assert resized(ROW, 2, coordinate_transformation_mode=mode) == expected


def test_one_element_comes_from_the_first_where_corners_are_aligned() -> None:
    for mode in ("align_corners", "pytorch_half_pixel"):
        assert resized(ROW, 1, coordinate_transformation_mode=mode) == [10]
    assert resized(ROW, 1) == [30]


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        # The four come from 0.0, 0.75, 1.5 and 2.25 of three elements.
        ("round", [0, 1, 2, 2]),
        ("round_prefer_ceil", [0, 1, 2, 2]),
        ("round_prefer_floor", [0, 1, 1, 2]),
        ("floor", [0, 0, 1, 2]),
        ("ceil", [0, 1, 2, 2]),
        ("", [0, 0, 1, 2]),
    ],
)
def test_the_nearest_element_is_chosen_as_asked(rounding: str, expected: list[float]) -> None:
    row = np.arange(3, dtype="int8").reshape(1, 1, 1, 3)
    settings = {"method": "nearest_neighbor", "coordinate_transformation_mode": "asymmetric"}
    found = R.image.resize2d(row, (1, 4), rounding_method=rounding, **settings)
    assert found[0, 0, 0].tolist() == expected
    assert found.dtype == np.int8


def test_aligned_corners_round_where_no_rounding_is_said() -> None:
    # The three come from 0, 1.5 and 3.
    settings = {"method": "nearest_neighbor", "coordinate_transformation_mode": "align_corners"}
    assert resized(ROW, 3, rounding_method="", **settings) == [10, 40, 70]


def test_cubic_interpolation_takes_four_elements() -> None:
    # In the middle the weights are -1/16, 9/16, 9/16, -1/16 for an alpha of -0.5.
    middle = [-10 / 16 + 20 * 9 / 16 + 40 * 9 / 16 - 70 / 16]
    assert resized(ROW, 1, method="cubic") == middle
    # And -3/32, 19/32 for -0.75; beyond the image its last element is repeated.
    first = R.image.resize2d(ROW[..., :2], (1, 1), method="cubic", cubic_alpha=-0.75)
    assert first.item() == 15
    x = np.array([1, 3], "float64").reshape(1, 1, 1, 2)
    edge = R.image.resize2d(x, (1, 4), method="cubic")[0, 0, 0]
    # At -0.25 the weights of the elements -2, -1, 0, 1 are those of 0.75 behind -1.
    weights = [-0.0234375, 0.2265625, 0.8671875, -0.0703125]
    assert edge[0] == pytest.approx(1 * sum(weights[:3]) + 3 * weights[3], rel=1e-15)


def test_what_is_outside_can_be_left_out_of_cubic_interpolation() -> None:
    x = np.array([1, 3], "float64").reshape(1, 1, 1, 2)
    found = R.image.resize2d(x, (1, 4), method="cubic", cubic_exclude=1)[0, 0, 0]
    weights = [0.8671875, -0.0703125]
    assert found[0] == pytest.approx((weights[0] + 3 * weights[1]) / sum(weights), rel=1e-15)


def test_a_part_of_an_image_is_cropped_and_what_is_beyond_it_is_filled() -> None:
    settings = {"coordinate_transformation_mode": "tf_crop_and_resize"}
    found = R.image.resize2d(ROW, (1, 3), [0, 1 / 3, 0, 5 / 3], extrapolation_value=-1, **settings)
    assert found[0, 0, 0].tolist() == [20, 70, -1]  # from 1, 3 and 5
    assert R.image.resize2d(ROW, (1, 1), [0, 0, 0, 1], **settings).item() == 30


def test_integers_are_rounded_and_held_in_their_range() -> None:
    row = np.array([0, 255, 255, 0], "uint8").reshape(1, 1, 1, 4)
    assert resized(row, 3, method="cubic", cubic_alpha=-0.75)[1] == 255
    assert resized(np.array([0, 3, 4, 4], "int8").reshape(1, 1, 1, 4), 2) == [2, 4]
    large = np.full((1, 1, 1, 2), 2**63 - 1, "int64")
    assert resized(large, 3) == [2**63 - 1] * 3
    assert resized(np.full((1, 1, 1, 2), 2**64 - 1, "uint64"), 3)[1] == 2**64 - 1


def test_an_element_of_weight_zero_counts_for_nothing() -> None:
    row = np.array([1, np.inf, 2], "float32").reshape(1, 1, 1, 3)
    assert resized(row, 3) == [1, np.inf, 2]


def test_resizing_to_the_same_size_changes_nothing(rng: np.random.Generator) -> None:
    x = rng.standard_normal((2, 3, 4, 5)).astype("float32")
    for method in ("nearest_neighbor", "linear", "cubic"):
        for mode in ("half_pixel", "align_corners", "asymmetric"):
            same = R.image.resize2d(x, (4, 5), None, "NCHW", method, mode)
            assert same.tobytes() == x.tobytes(), (method, mode)


def test_linear_interpolation_keeps_what_is_linear(rng: np.random.Generator) -> None:
    for _ in range(examples(40)):
        h, w, th, tw = (int(n) for n in rng.integers(2, 9, 4))
        y, x = np.mgrid[0:h, 0:w].astype("float64")
        plane = (3 * y - 2 * x + 1).reshape(1, 1, h, w)
        mode = "align_corners"
        found = R.image.resize2d(plane, (th, tw), None, "NCHW", "linear", mode)[0, 0]
        ty = np.linspace(0, h - 1, th)[:, None] if th > 1 else np.zeros((1, 1))
        tx = np.linspace(0, w - 1, tw) if tw > 1 else np.zeros(1)
        np.testing.assert_allclose(found, 3 * ty - 2 * tx + 1, atol=1e-12)


def test_volumes_are_resized_along_three_axes() -> None:
    x = np.arange(4, dtype="float32").reshape(1, 1, 2, 2, 1)
    found = R.image.resize3d(x, (1, 3, 2), coordinate_transformation_mode="align_corners")
    assert found[0, 0].tolist() == [[[0, 0], [0.5, 0.5], [1, 1]]]
    assert result(R.image.resize3d, tensor("n", 3, 4, 5, 6), 2) == "(n, 3, 2, 2, 2) float32"


def test_the_shape_of_a_resized_image() -> None:
    resize = R.image.resize2d
    assert result(resize, tensor("n", 3, "h", 5), (6, 7)) == "(n, 3, 6, 7) float32"
    assert result(resize, tensor(1, 2, 3, 4), [9], layout="NHWC") == "(1, 9, 9, 4) float32"
    assert result(resize, tensor(1, 2, 3, 4), 9, out_dtype="float16") == "(1, 2, 9, 9) float16"
    assert result(resize, ranked(-1), (2, 3)) == "rank 4 float32"
    assert result(resize, tensor(1, 2, 3, 4), shape(ndim=2)) == "rank 4 float32"
    assert result(resize, tensor(1, 2, 3, 4), shape(5, "m")) == "(1, 2, 5, m) float32"
    assert obliged(resize, tensor(1, 2, "h", 4), 9) == ["data: 1 inside h"]


def test_what_cannot_be_resized() -> None:
    x, resize = tensor(1, 2, 3, 4), R.image.resize2d
    assert refused(resize, x, (1, 2, 3)).fact == "has 3 numbers"
    assert refused(R.image.resize3d, tensor(1, 2, 3, 4, 5), (1, 2)).fact == "has 2 numbers"
    assert refused(resize, x, (1, -2)).fact == "has -2"
    assert refused(resize, tensor(1, 2, 3), 4).fact == "has shape (1, 2, 3)"
    assert refused(resize, tensor(1, 2, 0, 4), 4).fact == "has 0 elements along H"
    assert refused(resize, x, 4, method="bilinear").fact == "is 'bilinear'"
    assert refused(resize, x, 4, coordinate_transformation_mode="x").fact == "is 'x'"
    assert refused(resize, x, 4, rounding_method="up").fact == "is 'up'"
    assert refused(resize, x, 4, layout="NCW").operand == "layout"
    assert refused(resize, x, 4, roi=[0, 1]).fact == "has 2 numbers"
    assert refused(resize, x, 4, roi=float("inf")).operand == "roi"
    assert refused(resize, x, 4, roi="all").fact == "is 'all', not a number or a list of numbers"
    crop = refused(resize, x, 4, coordinate_transformation_mode="tf_crop_and_resize")
    assert (crop.operand, crop.fact) == ("roi", "is not given")
    assert refused(resize, tensor(1, 2, 3, 4, dtype="bool"), 4).code == "RX0202"
    assert refused(resize, x, 4, out_dtype="bool").operand == "out_dtype"
    flags = tensor(1, 2, 3, 4, dtype="bool")
    assert infer(resize, flags, 4, method="nearest_neighbor").dtype == "bool"  # type: ignore[attr-defined]
