"""Results of vector math that are not merely near: operands, and what is wanted."""

from __future__ import annotations

import numpy as np

__all__ = ["SPECIAL", "VALUES_OF_POW"]

INF, NAN = float("inf"), float("nan")
LEAST, NORMAL, GREATEST = 2.0**-149, 2.0**-126, float(np.finfo("float32").max)

_ODD = [(0.0, 0.0), (-0.0, -0.0), (LEAST, LEAST), (-LEAST, -LEAST), (NAN, NAN)]
_ONE_AT_ZERO = [(0.0, 1), (-0.0, 1), (LEAST, 1), (-LEAST, 1), (NAN, NAN)]
_LOGARITHM = [
    (0.0, -INF), (-0.0, -INF), (1, 0), (INF, INF), (-INF, NAN), (NAN, NAN), (-LEAST, NAN),
    (-1, NAN), (-GREATEST, NAN),
]  # fmt: skip

SPECIAL: dict[str, list[tuple[float, ...]]] = {
    "cos": [*_ONE_AT_ZERO, (INF, NAN), (-INF, NAN)],
    "erf": [
        (0.0, 0.0), (-0.0, -0.0), (NAN, NAN), (INF, 1), (-INF, -1), (4, 1), (-4, -1),
        (GREATEST, 1), (LEAST, LEAST), (-LEAST, -LEAST),
    ],
    "exp": [
        *_ONE_AT_ZERO, (INF, INF), (-INF, 0), (88.72284, INF), (GREATEST, INF), (-GREATEST, 0),
        (-103.972, LEAST), (-103.973, 0),
    ],
    "exp2": [
        *_ONE_AT_ZERO, (INF, INF), (-INF, 0), (1, 2), (10, 1024), (127, 2.0**127), (128, INF),
        (-1, 0.5), (-126, NORMAL), (-127, NORMAL / 2), (-149, LEAST), (-150, 0), (-149.99, LEAST),
        (GREATEST, INF), (-GREATEST, 0),
    ],
    "log": _LOGARITHM,
    "log2": [
        *_LOGARITHM, (2, 1), (0.5, -1), (1024, 10), (2.0**127, 127), (NORMAL, -126), (LEAST, -149),
        (2.0**-130, -130),
    ],
    # The rules of ISO C, F.9.4.4, one after the other.
    "pow": [
        (0.0, -3, INF), (-0.0, -3, -INF), (0.0, -2, INF), (-0.0, -2, INF), (-0.0, -0.5, INF),
        (0.0, -INF, INF), (-0.0, -INF, INF), (0.0, 3, 0.0), (-0.0, 3, -0.0), (0.0, 2, 0.0),
        (-0.0, 2, 0.0), (-0.0, 0.5, 0.0), (-1, INF, 1), (-1, -INF, 1), (1, NAN, 1), (1, -INF, 1),
        (NAN, 0.0, 1), (-INF, -0.0, 1), (0.0, 0.0, 1), (-2, 0.5, NAN), (-2, -1.5, NAN),
        (0.5, -INF, INF), (-0.5, -INF, INF), (2, -INF, 0.0), (-2, -INF, 0.0), (0.5, INF, 0.0),
        (-0.5, INF, 0.0), (2, INF, INF), (-2, INF, INF), (-INF, -3, -0.0), (-INF, -2, 0.0),
        (-INF, -0.5, 0.0), (-INF, 3, -INF), (-INF, 2, INF), (-INF, 0.5, INF), (INF, -1, 0.0),
        (INF, 1, INF), (NAN, 1, NAN), (2, NAN, NAN), (-0.0, NAN, NAN),
        (3, 2, 9), (-3, 3, -27), (2, -149, LEAST), (2, 127, 2.0**127), (2, 128, INF),
        (-2, 129, -INF), (-2, -151, -0.0), (LEAST, 1, LEAST), (GREATEST, 1, GREATEST),
        (-1, 16777215, -1), (-1, 16777216, 1), (-1, GREATEST, 1), (10, 10, 1e10),
    ],
    "rsqrt": [
        (0.0, INF), (-0.0, -INF), (INF, 0.0), (-INF, NAN), (NAN, NAN), (1, 1), (4, 0.5),
        (-LEAST, NAN), (2.0**-126, 2.0**63), (2.0**-148, 2.0**74),
    ],
    "sigmoid": [
        (0.0, 0.5), (-0.0, 0.5), (NAN, NAN), (INF, 1), (-INF, 0.0), (GREATEST, 1),
        (-GREATEST, 0.0), (20, 1), (-103.972, LEAST), (-103.973, 0.0), (LEAST, 0.5),
    ],
    "sin": [*_ODD, (INF, NAN), (-INF, NAN)],
    "tanh": [*_ODD, (INF, 1), (-INF, -1), (10, 1), (-10, -1), (GREATEST, 1), (-GREATEST, -1)],
}  # fmt: skip

# Operands of pow, of which all pairs are tested.
VALUES_OF_POW = [
    0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1.5, -1.5, LEAST,
    -LEAST, NORMAL, GREATEST, -GREATEST, 16777215.0, 16777216.0, -16777215.0, 33554432.0,
    1 - 2.0**-24, 1 + 2.0**-23,
]  # fmt: skip
