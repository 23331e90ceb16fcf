"""How far apart floating-point numbers are."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np


def ulps(actual: Any, expected: Any) -> Any:
    """How far numbers are from those expected, in units in the last place; NaN is NaN."""
    info = ml_dtypes.finfo(expected.dtype)
    wide, other = actual.astype("float64"), expected.astype("float64")
    with np.errstate(all="ignore"):
        unit = np.maximum(np.abs(other) * float(info.eps), float(info.smallest_subnormal))
        apart = np.abs(wide - other) / unit
    return np.where((wide == other) | ((wide != wide) & (other != other)), 0, apart)
