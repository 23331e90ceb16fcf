"""Templates of example calls of operators of neural networks, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript_tests.op.operands import T, Value


def starts(*places: int) -> Value:
    """Where sequences begin, and where the last ends."""
    return Value(np.array(places, "int32"), TensorStructInfo((len(places),), "int32"))


NAN, INFINITY = float("nan"), float("inf")
# Values with which sums, maxima and means are not what they are of others.
SPECIAL = (0.0, -0.0, 1.5, -2.25, float("inf"), float("-inf"), float("nan"), 1e-40)
LARGE = (0.0, 1.5, -2.25, float("-inf"), 80.0)

SOFTMAX: list[Any] = [
    (T((2, 3)),),
    (T((2, 3)), 0),
    (T((4, 1, 3)), -2),
    (T((0, 3)),),
    (T((2, 0)),),
    (T((5, 3), values=(NAN, INFINITY, -INFINITY, 1.0)),),
    (T((5, 3), values=(-INFINITY, -90.0, 0.0, 80.0)), 0),
]

CASES: dict[str, list[Any]] = {
    "nn.softmax": SOFTMAX,
    "nn.log_softmax": SOFTMAX,
    "nn.leakyrelu": [(T((2, 3)),), (T(()), 0.5)],
    "nn.softplus": [(T((2, 3)),), (T(()), 2.0, 1.0)],
    "nn.layer_norm": [
        (T((2, 3)), T((3,)), T((3,)), -1),
        (T((4, 2, 3)), T((2, 3)), T((2, 3)), [1, 2]),
        (T((4, 2, 3)), T((3, 4)), T((3, 4)), [-1, 0], 0.5, False),
        (T((0, 3)), T((3,)), T((3,)), [1], 1e-5, True, False),
        (T((2, 0)), T((0,)), T((0,)), -1),
        (T((2, 3), values=(7.0,)), T((3,)), T((3,)), -1),
        (T((2, 3)), T(()), T(()), []),
    ],
    "nn.rms_norm": [
        (T((2, 3)), T((3,))),
        (T((4, 1)), T((4, 1)), [0, 1]),
        (T((4, 2, 3)), T((3, 4)), [-1, 0], 0.5),
    ],
    "nn.conv1d": [
        (T((2, 3, 7)), T((4, 3, 3))),
        (T((2, 3, 7)), T((4, 3, 3)), 2, [1, 0], 2),
        (T((0, 3, 7)), T((4, 3, 3))),
        (T((4, 2, 5), values=SPECIAL), T((2, 2, 2)), 2, 1),
        (T((2, 2, 5)), T((2, 2, 2), values=SPECIAL), 1, 1),
        (T((2, 7, 4)), T((3, 2, 6)), 1, 1, 1, 2, "NWC", "WIO", "NCW", "float32"),
        (T((1, 2, 5, 2)), T((3, 4, 2)), 1, 0, 1, 1, "NCW2c", "OIW", "CNW"),
        (T((2, 0, 5)), T((3, 0, 2)), 1, 1),
        (T((1, 3, 1)), T((3, 1, 1)), 2, 0, 3, 3),
    ],
    "nn.conv2d": [
        (T((1, 3, 5, 6)), T((2, 3, 2, 3))),
        (T((1, 4, 5, 6)), T((2, 2, 2, 3)), [2, 1], [0, 1, 2, 0], 1, 2),
        (T((1, 5, 6, 3)), T((2, 3, 3, 2)), 1, 1, 1, 1, "NHWC", "HWIO"),
        (
            T((1, 2, 5, 3, 2, 2)),
            T((6, 1, 2, 3, 2)),
            [2, 1],
            [1, 2],
            [1, 2],
            2,
            "NCHW2c2h",
            "OI2iHW",
            "HNCW3c",
            "float64",
        ),
    ],
    "nn.conv1d_transpose": [
        (T((2, 3, 4)), T((3, 2, 3))),
        (T((2, 4, 5)), T((4, 3, 2)), 2, [1, 0], 1, 1, 2),
        (T((0, 3, 4)), T((3, 2, 3))),
        (T((4, 2, 3), values=SPECIAL), T((2, 2, 2)), 3, 0, 1),
        (T((2, 2, 3)), T((2, 2, 2), values=SPECIAL), 2, 1),
    ],
    "nn.conv2d_transpose": [
        (T((1, 3, 2, 4)), T((3, 2, 2, 3)), 2, 1, [1, 0], [1, 2]),
        (T((1, 2, 4, 3)), T((2, 3, 5, 3)), 1, 0, 0, 1, 1, "NHWC", "HWOI", "NCHW", "float64"),
        (
            T((1, 2, 4, 2, 2)),
            T((2, 2, 2, 3, 2)),
            [2, 3],
            [1, 0, 2, 1],
            [1, 2],
            2,
            2,
            "NHWC2c",
            "IOHW2i",
            "NCHW4c",
        ),
    ],
    "nn.conv3d_transpose": [(T((1, 2, 2, 1, 3)), T((2, 1, 1, 2, 2)), [1, 2, 3])],
    "nn.conv3d": [(T((1, 2, 3, 4, 5)), T((3, 2, 2, 1, 3)), 2, [1, 0, 2])],
    "nn.max_pool1d": [
        (T((4, 3, 7), values=SPECIAL), 2, 1, 1),
        (T((2, 3, 7)), 3),
        (T((2, 7, 3)), 2, 2, [1, 0], 1, True, False, "NWC"),
    ],
    "nn.avg_pool1d": [
        (T((4, 3, 7), values=SPECIAL), 2, 1, 1),
        (T((2, 3, 7)), 3),
        (T((2, 3, 8)), 3, 2, 1, 1, True, True),
    ],
    "nn.max_pool2d": [
        (T((2, 3, 5, 6)),),
        (T((2, 3, 5, 6)), [2, 3], 2, [0, 1, 1, 0], 1),
        (T((0, 3, 5, 6)), 2, 1, 0, 2),
        (T((1, 2, 3, 3, 2)), 2, 2, 1, 1, True, False, "NCHW2c", "NHWC"),
        (T((1, 4, 3, 5)), 2, [3, 2], [1, 0, 0, 2], [2, 1], True, False, "NCHW", "NCHW2c"),
    ],
    "nn.avg_pool2d": [
        (T((2, 3, 5, 6)), [2, 3], 2, [0, 1, 1, 0]),
        (T((2, 5, 6, 3)), 2, 2, 1, 1, True, True, "NHWC", "NCHW"),
        (T((1, 2, 3, 3, 2)), 2, 2, 1, [2, 1], True, False, "NCHW2c", "NHWC"),
        (T((1, 4, 3, 5)), 2, [3, 2], [1, 0, 0, 2], [2, 1], False, True, "NCHW", "NCHW2c"),
        (T((0, 3, 5, 6)), 2, 1, 0, 2),
    ],
    "nn.max_pool3d": [(T((1, 2, 3, 4, 5)), 2, 2)],
    "nn.avg_pool3d": [(T((1, 2, 3, 4, 5)), [1, 2, 3])],
    "nn.adaptive_avg_pool1d": [
        (T((4, 3, 7), values=SPECIAL), 3),
        (T((2, 3, 7)), 3),
        (T((2, 3, 7)),),
        (T((2, 3, 6)), 3),
    ],
    "nn.adaptive_avg_pool2d": [
        (T((2, 3, 5, 6)), [2, 4]),
        (T((2, 5, 6, 3)), 7, "NHWC", "NCHW"),
        (T((0, 3, 5, 6)), 1),
        (T((1, 2, 3, 4, 2)), [3, 6], "NCHW2c"),
    ],
    "nn.adaptive_avg_pool3d": [(T((1, 2, 3, 4, 5)), 2)],
    "nn.batch_norm": [
        (T((2, 3, 4)), *[T((3,))] * 4, 1),
        (T((2, 3, 4)), *[T((4,))] * 4, -1, 0.5, False, True, 0.25, False),
        (T((0, 3)), *[T((3,))] * 4, 1, 1e-5, True, False, 0.1, False),
        (T((3, 1)), *[T((1,))] * 4, 1, 1e-5, False, False),
        (T((2, 3)), *[T((2,))] * 4, -2, 0.1, True, True, 1.0),
    ],
    "nn.group_norm": [
        (T((2, 6, 5)), T((6,)), T((6,)), 3, 1, [2]),
        (T((2, 5, 6)), T((6,)), T((6,)), 2, -1, [1], 0.5, False, False),
        (T((0, 6)), T((6,)), T((6,)), 3, 1, []),
        (T((2, 0)), T((0,)), T((0,)), 3, 1, []),
        (T((6, 2)), T((6,)), T((6,)), 6, 0, [0, 1]),
    ],
    "nn.instance_norm": [
        (T((2, 3, 5)), T((3,)), T((3,)), 1, [2]),
        (T((2, 5, 3)), T((3,)), T((3,)), -1, [1], 0.5, True, False),
        (T((0, 3, 5)), T((3,)), T((3,)), 1, [2]),
    ],
    "nn.dropout": [(T((2, 3)),), (T((0, 3)), 0.25)],
    "nn.cross_entropy_with_logits": [
        (T((2, 3)), T((2, 3))),
        (T((3,)), T((3,))),
        (T((0, 3)), T((0, 3))),
        (T((2, 0)), T((2, 0))),
    ],
    "nn.nll_loss": [
        (T((2, 3)), T((2,), "int64", 3)),
        (T((2, 3, 4)), T((2, 4), "int32", 3), T((3,)), "sum"),
        (T((2, 3, 4)), T((2, 4), "int8", 3), None, "none", 1),
        (T((3,)), T((), "int64", 3)),
        (T((3,)), T((), "uint64", 3), T((3,)), "mean", 0),
        (T((7, 3)), T((7,), "int64", 3), T((3,)), "mean", 1),
        (T((0, 3)), T((0,), "int64", 3)),
        (T((2, 3, 4)), T((2, 4), "int64", 3), T((3,)), "mean", 1),
    ],
    "nn.attention": [
        (T((2, 3, 4, 5)), T((2, 6, 4, 5)), T((2, 6, 4, 7))),
        (T((1, 3, 2, 5)), T((1, 6, 2, 5)), T((1, 6, 2, 5)), T((1, 1, 3, 6)), 0.5, "TopLeft"),
        (T((1, 3, 2, 5)), T((1, 6, 2, 5)), T((1, 6, 2, 5)), None, None, "BottomRight", 2),
        (T((1, 6, 2, 5)), T((1, 3, 2, 5)), T((1, 3, 2, 5)), None, None, "BottomRight"),
        (T((2, 3, 1, 5)), T((2, 0, 1, 5)), T((2, 0, 1, 4))),
        (
            T((2, 3, 1, 2), values=LARGE[:3]),
            T((2, 4, 1, 2), values=LARGE[:3]),
            T((2, 4, 1, 2)),
            T((2, 1, 3, 4), values=LARGE),
        ),
        (
            T((2, 3, 1, 2), values=SPECIAL),
            T((2, 4, 1, 2), values=SPECIAL),
            T((2, 4, 1, 2), values=SPECIAL),
        ),
        (T((0, 3, 2, 5)), T((0, 6, 2, 5)), T((0, 6, 2, 5))),
    ],
    "nn.attention_var_len": [
        (
            T((1, 7, 2, 5)),
            T((1, 7, 2, 5)),
            T((1, 7, 2, 3)),
            starts(0, 3, 3, 6),
            T((1,), "int32", 4),
        ),
        (
            T((1, 4, 2, 5)),
            T((1, 6, 2, 5)),
            T((1, 6, 2, 5)),
            starts(0, 1, 4),
            T((), "int32"),
            starts(0, 4, 6),
            None,
            0.5,
            "BottomRight",
            2,
        ),
    ],
    "nn.prelu": [(T((2, 3)), T((3,))), (T((2, 3, 4)), T((2,)), 0), (T((0, 3)), T((3,)), -1)],
    "nn.batch_flatten": [(T((2, 3)),), (T((4, 2, 3)),), (T((3,)),), (T((0, 3)),)],
    "nn.pixel_shuffle": [
        (T((4, 2, 3)), 1),
        (T((2, 8, 3, 5)), 2),
        (T((9, 2, 1)), 3),
        (T((0, 4, 3, 5)), 2),
    ],
    "nn.pad": [
        (T((2, 3)), [1, 2, 0, 1]),
        (T((2, 3)), [0, 0, 2, 1], "reflect"),
        (T((1, 3)), [2, 1, 5, 4], "reflect"),
        (T((2, 3)), [3, 5, 4, 7], "circular"),
        (T((2, 3)), [3, 0, 0, 1], "constant", 2.5),
        (T((2, 3)), [1, 1, 1, 1], "replicate"),
        (T((2, 3)), [1, 0, 0, 2], "circular"),
        (T((0, 3)), [1, 0, 0, 2], "constant", 1.0),
        (T(()), []),
    ],
}
