"""Templates of example calls of operators of object detection, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript_tests.op.operands import T, Value


def floats(shape: tuple[int, ...], values: Any) -> Value:
    """A tensor of float32 with such values."""
    array = np.array(values, "float32").reshape(shape)
    return Value(array, TensorStructInfo(shape, "float32"))


REGIONS = floats((3, 5), [[0, 1, 0, 4, 3], [1, -3, 2, 3, 2.5], [1, 3, 3, 1, 9]])
WILD = (0.5, 1.0, 0.0, -2.0, float("inf"), float("-inf"), float("nan"))
NUMBER = Value(np.array(2, "int64"), TensorStructInfo((), "int64"))
LIMITS = NUMBER, floats((), 0.25), floats((), 0)

CASES: dict[str, list[Any]] = {
    "vision.get_valid_counts": [
        (T((2, 5, 6)),),
        (T((1, 4, 5)), 1.5, -1, 0),
        (T((0, 3, 6)), 0.5),
        (T((2, 0, 6)),),
    ],
    "vision.non_max_suppression": [
        (T((2, 5, 6)), T((2,), "int32", 6), T((2, 5), "int32")),
        (T((2, 5, 6)), T((2,), "int32", 6), T((2, 5), "int32"), 2, 0.25, True, 3),
        (
            T((1, 6, 5)), T((1,), "int64", 7), T((1, 6), "int32"), -1, 0.5, False, -1, 1, 0, -1,
            False, True,
        ),
        (
            T((2, 5, 6)), T((2,), "int32", 6), T((2, 5), "int32"),
            ("soft_nms_sigma", 0.5), ("score_threshold", 0.1),
        ),
        (T((0, 5, 6)), T((0,), "int32"), T((0, 5), "int32"), ("return_indices", False)),
    ],
    "vision.all_class_non_max_suppression": [
        (T((2, 5, 4)), T((2, 3, 5)), *LIMITS),
        (T((2, 5, 4)), T((2, 3, 5)), *LIMITS, "tensorflow"),
        (T((1, 5, 4)), T((1, 2, 5)), -1, 0.5, 1.0),
        (T((0, 5, 4)), T((0, 3, 5)), *LIMITS),
        (T((1, 0, 4)), T((1, 3, 0)), *LIMITS, "tensorflow"),
    ],
    "vision.multibox_transform_loc": [
        (T((2, 3, 5)), T((2, 20)), T((1, 5, 4))),
        (T((1, 2, 3)), T((1, 12)), T((1, 3, 4)), True, 0.25, [0.5, 0.5, 0.25, 0.25], False),
        (T((0, 3, 5)), T((0, 20)), T((1, 5, 4))),
        (T((2, 3, 5), values=WILD), T((2, 20), values=WILD), T((1, 5, 4), values=WILD), True, 0.1),
    ],
    "vision.roi_align": [
        (T((2, 3, 4, 5)), REGIONS, (2, 3), 1.0),
        (T((2, 5, 6, 1)), REGIONS, 2, 0.5, 2, True, "NHWC", "max"),
        (T((2, 3, 4, 5)), T((0, 5)), (1, 2), 1.0),
        (T((2, 3, 4, 5)), REGIONS, 3, 1.0, -1, True),
    ],
    "vision.roi_pool": [
        (T((2, 3, 4, 5)), REGIONS, (2, 3), 1.0),
        (T((2, 3, 5, 4)), REGIONS, 4, 0.5),
        (T((2, 5, 4, 3)), T((0, 5)), 1, 1.0, "NHWC"),
    ],
}  # fmt: skip
