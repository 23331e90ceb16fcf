"""Templates of example calls of operators of images, by name."""

from __future__ import annotations

from typing import Any

from relaxscript_tests.op.operands import S, T

CASES: dict[str, list[Any]] = {
    "image.resize2d": [
        (T((1, 2, 3, 5)), (6, 4)),
        (T((2, 5, 3, 1)), 4, None, "NHWC", "nearest_neighbor"),
        (T((1, 1, 4, 7)), (2, 3), None, "NCHW", "nearest_neighbor", "align_corners", ""),
        (T((1, 2, 3, 5)), (1, 9), None, "NCHW", "cubic", "align_corners"),
        (T((1, 2, 3, 5)), (7, 2), None, "NCHW", "cubic", "asymmetric", "floor", -0.75, 1),
        (
            T((1, 2, 4, 5)), (3, 1), [0.25, 0.5, 1.25, 0.75], "NCHW", "linear",
            "tf_crop_and_resize", "round", -0.5, 0, 7.0,
        ),
        (T((1, 2, 3, 5)), (1, 7), None, "NCHW", "linear", "pytorch_half_pixel"),
        (
            T((1, 3, 4, 2)), (5, 7), None, "NHWC", "nearest_neighbor", "tf_half_pixel_for_nn",
            "round_prefer_floor",
        ),
        (T((0, 2, 3, 5)), (2, 0)),
        (T((1, 2, 3, 5)), S((4, 2)), ("out_dtype", "float32")),
    ],
    "image.resize3d": [
        (T((1, 2, 3, 2, 5)), (2, 5, 4)),
        (T((1, 3, 2, 5, 1)), 4, None, "NDHWC", "nearest_neighbor", "asymmetric", "ceil"),
        (T((1, 1, 2, 3, 1)), (3, 1, 2), None, "NCDHW", "cubic"),
        (
            T((1, 1, 4, 2, 3)), (2, 3, 4), [0, 0, 0.5, 1, 1, 1.5], "NCDHW", "linear",
            "tf_crop_and_resize",
        ),
    ],
    "image.grid_sample": [
        (T((2, 3, 4, 5)), T((2, 2, 3, 1), "float32", 3)),
        (T((1, 2, 3, 5)), T((1, 2, 4, 2)), "nearest", "NCHW", "border"),
        (T((1, 2, 3, 5)), T((1, 2, 4, 2), "float64", 4), "bicubic", "NCHW", "reflection"),
        (T((1, 4, 3, 2)), T((1, 2, 2, 3)), "bilinear", "NHWC", "reflection", True),
        (T((1, 2, 3, 4, 5)), T((1, 3, 2, 1, 3)), "bilinear", "NCDHW", "zeros", True),
        (T((1, 2, 1, 4)), T((1, 2, 0, 3)), "bicubic", "NCHW", "reflection", True),
        (T((0, 2, 3, 4)), T((0, 2, 5, 3))),
    ],
    "image.affine_grid": [
        (T((2, 2, 3)), (3, 5)),
        (T((1, 2, 3)), 4, ("align_corners", False)),
        (T((1, 3, 4)), (2, 1, 3)),
        (T((0, 2, 3)), (3, 0)),
        (T((1, 2, 3)), S((2, 3))),
    ],
}  # fmt: skip
