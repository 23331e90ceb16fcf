"""Images at the places of a grid, and the grids of affine maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests.op.inference import obliged, ranked, refused, result, shape, tensor

IMAGE = np.array([[1, 2, 4], [8, 16, 32]], "float32").reshape(1, 1, 2, 3)


def at(x: float, y: float, *attributes: Any, **settings: Any) -> float:
    """The image at one place."""
    grid = np.array([x, y], "float64").reshape(1, 2, 1, 1)
    return float(R.image.grid_sample(IMAGE, grid, *attributes, **settings).item())


def test_the_centers_of_elements_are_the_elements() -> None:
    for row in range(2):
        for column in range(3):
            x, y = (2 * column + 1) / 3 - 1, (2 * row + 1) / 2 - 1
            for method in ("nearest", "bilinear", "bicubic"):
                assert at(x, y, method) == pytest.approx(IMAGE[0, 0, row, column], rel=1e-6)
            assert at(column - 1, 2 * row - 1, align_corners=True) == IMAGE[0, 0, row, column]


def test_between_elements_each_has_its_share() -> None:
    assert at(0.5, 0, align_corners=True) == (2 + 4 + 16 + 32) / 4
    assert at(0.5, -1, align_corners=True) == 3
    assert at(0.25, -1, "nearest", align_corners=True) == 2
    assert at(0.5, -1, "nearest", align_corners=True) == 4  # of 1.5 the even neighbour


def test_beyond_the_image_there_are_zeros_its_border_or_its_reflection() -> None:
    assert at(-1, -0.5) == 0.5  # half of the first, half of nothing
    assert at(-3, -0.5) == 0
    assert at(-3, -0.5, padding_mode="border") == 1
    assert at(9, 9, padding_mode="border") == 32
    # From the left edge, at -1, outwards comes what comes inwards.
    for outward, inward in ((-1 - 0.4, -1 + 0.4), (1 + 0.6, 1 - 0.6), (-3 - 0.4, 1 - 0.4)):
        reflected = at(outward, 0.2, padding_mode="reflection")
        assert reflected == pytest.approx(at(inward, 0.2, padding_mode="border"), rel=1e-6)
    aligned = at(-1.5, 1, "bilinear", "NCHW", "reflection", True)
    assert aligned == at(-0.5, 1, align_corners=True)


@pytest.mark.parametrize("place", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("method", ["nearest", "bilinear", "bicubic"])
def test_a_place_that_is_far_outside_is_beyond_the_image(place: float, method: str) -> None:
    assert at(place, 0, method) == 0
    for padding in ("border", "reflection"):
        assert at(place, -0.5, method, "NCHW", padding) in (1, 2, 4)


def test_an_infinite_element_does_not_reach_where_its_weight_is_zero() -> None:
    image = np.array([1, np.inf, 3], "float32").reshape(1, 1, 1, 3)
    grid = np.array([[-1, 1], [0, 0]], "float32").reshape(1, 2, 1, 2)
    found = R.image.grid_sample(image, grid, align_corners=True)
    assert found.tolist() == [[[[1, 3]]]]


def test_a_grid_of_the_identity_gives_the_image() -> None:
    image = np.arange(24, dtype="float64").reshape(1, 2, 3, 4)
    for aligned in (True, False):
        identity = np.array([[[1, 0, 0], [0, 1, 0]]], "float64")
        grid = R.image.affine_grid(identity, (3, 4), align_corners=aligned)
        found = R.image.grid_sample(image, grid, align_corners=aligned)
        np.testing.assert_allclose(found, image, rtol=1e-12)


def test_a_grid_of_a_volume_gives_the_volume() -> None:
    volume = np.arange(24, dtype="float64").reshape(1, 1, 2, 3, 4)
    grid = R.image.affine_grid(np.eye(3, 4).reshape(1, 3, 4), (2, 3, 4))
    for layout, x in (("NCDHW", volume), ("NDHWC", volume.transpose(0, 2, 3, 4, 1))):
        found = R.image.grid_sample(x, grid, "bilinear", layout, align_corners=True)
        np.testing.assert_allclose(found, x, rtol=1e-12)
    with_axes = R.image.affine_grid(np.eye(3, 4).reshape(1, 3, 4), (2, 1, 3))
    assert with_axes[0, 0, 0, 0].tolist() == [-1, 0, 1]
    assert with_axes[0, 2, :, 0, 0].tolist() == [-1, 1]


def test_a_grid_is_where_the_map_takes_the_elements() -> None:
    turned = np.array([[[0, 1, 0.5], [-1, 0, 0]]], "float32")
    grid = R.image.affine_grid(turned, (2, 3))
    assert grid[0, 0].tolist() == [[-0.5] * 3, [1.5] * 3]  # y, and a half
    assert grid[0, 1].tolist() == [[1, 0, -1]] * 2  # -x
    edges = R.image.affine_grid(np.eye(2, 3, dtype="float32")[None], (2, 4), align_corners=False)
    assert edges[0, 0, 0].tolist() == [-0.75, -0.25, 0.25, 0.75]
    assert edges[0, 1, :, 0].tolist() == [-0.5, 0.5]


def test_the_shapes_of_samples_and_grids() -> None:
    sample, affine = R.image.grid_sample, R.image.affine_grid
    x = tensor("n", 3, 4, 5)
    assert result(sample, x, tensor("n", 2, "h", 7)) == "(n, 3, h, 7) float32"
    assert result(sample, x, ranked(-1)) == "rank 4 float32"
    assert result(sample, ranked(4), tensor(1, 2, 3, 4)) == "rank 4 float32"
    assert obliged(sample, x, tensor("m", 2, 6, 7)) == ["grid: n equal m"]
    assert result(affine, tensor("n", 2, 3), 4) == "(n, 2, 4, 4) float32"
    assert result(affine, tensor("n", 3, 4), (4, 5, 6)) == "(n, 3, 4, 5, 6) float32"
    assert result(affine, ranked(3), (4, 5)) == "rank 4 float32"
    assert result(affine, tensor("n", 2, 3), shape(ndim=-1)) == "rank -1 float32"


def test_what_is_no_grid() -> None:
    sample, affine = R.image.grid_sample, R.image.affine_grid
    x, grid = tensor(1, 3, 4, 5), tensor(1, 2, 6, 7)
    assert refused(sample, x, tensor(1, 6, 7, 2)).fact == "has 6 elements along axis 1"
    assert refused(sample, x, tensor(2, 2, 6, 7)).fact == "has 2 grids"
    assert refused(sample, x, tensor(1, 2, 6)).fact == "has shape (1, 2, 6)"
    assert refused(sample, tensor(1, 3, 0, 5), grid).fact == "has 0 elements along H"
    assert refused(sample, x, grid, "linear").fact == "is 'linear'"
    assert refused(sample, x, grid, padding_mode="wrap").fact == "is 'wrap'"
    assert refused(sample, x, grid, layout="NC").operand == "layout"
    assert refused(sample, x, grid, "bicubic", "NCDHW").message.startswith("there is no cubic")
    assert refused(sample, tensor(1, 3, 4, 5, dtype="int8"), grid).code == "RX0202"
    assert refused(sample, x, tensor(1, 2, 6, 7, dtype="int8")).operand == "grid"
    assert refused(affine, tensor(1, 3, 4), 4).fact == "has 3 elements along axis 1"
    assert refused(affine, tensor(1, 2), 4).fact == "has shape (1, 2)"
    assert refused(affine, tensor(1, 2, 3), (4,)).fact == "has 1 number"
    assert refused(affine, tensor(1, 2, 3), (4, -1)).fact == "has -1"
