"""Values between the elements of an array, from those around them with weights.

An element of weight 0 counts for nothing, even one that is infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.dtypes import converted

__all__ = ["cubic_weights", "linear_weights", "rounded", "weighted"]


def linear_weights(t: Any) -> list[Any]:
    """The weights of the two elements around a place, `t` behind the first of them."""
    return [1 - t, t]


def cubic_weights(t: Any, alpha: float) -> list[Any]:
    """The weights of the four elements around a place, `t` behind the second of them.

    They are those of the cubic convolution of Keys (1981), with the parameter `alpha`.
    """
    t2, t3 = t * t, t * t * t
    return [
        alpha * (t3 - 2 * t2 + t),
        (alpha + 2) * t3 - (alpha + 3) * t2 + 1,
        -(alpha + 2) * t3 + (2 * alpha + 3) * t2 - alpha * t,
        alpha * (t2 - t3),
    ]


def weighted(values: Any, weights: Any) -> Any:
    """Products with weights that broadcast to the values."""
    return np.where(weights == 0, 0, values * weights)


def rounded(values: Any, dtype: np.dtype[Any]) -> Any:
    """Floats of 64 bits as elements of a dtype, integers rounded to even and held in its range."""
    if dtype.kind not in "iu":
        return converted(values, dtype)
    limits = np.iinfo(dtype)
    # The largest number of 64 bits is no float, and the next one does not fit.
    held = np.clip(np.rint(values), float(limits.min), float(limits.max))
    return np.where(held >= float(limits.max), limits.max, held.astype(dtype)).astype(dtype)
