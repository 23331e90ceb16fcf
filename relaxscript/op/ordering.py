"""The order of the elements of every dtype: NaN is the largest and equal to itself, -0 is 0.

Of dtypes that it does not have itself (bfloat16, float8), numpy puts NaN anywhere. Two NaN in
slices are different to it. Sorting by these keys depends on neither.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ordered_like", "rank_keys"]


def ordered_like(x: Any) -> Any:
    """An array that numpy sorts as the elements of `x` are ordered: `x` itself where it can be."""
    return x if x.dtype.isbuiltin == 1 else rank_keys(x)


def rank_keys(x: Any) -> Any:
    """Integers or bools that are ordered, and equal, as the elements of `x` are.

    The bits of a float without its sign are ordered as its distances from 0 are; those of negative
    ones count downwards.
    """
    if x.dtype.isbuiltin != 1:
        x = x.astype(np.float32)  # which holds the values of all narrow floats
    if x.dtype.kind in "biu":
        return x
    bits = np.ascontiguousarray(x).view(np.dtype(f"i{x.dtype.itemsize}")).reshape(x.shape)
    largest = np.iinfo(bits.dtype).max
    distances = bits & largest
    keys = np.where(bits < 0, -distances, distances)
    return np.where(np.isnan(x), largest, keys)
