"""How near results of operators are to each other, by what the operator's block says."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np

from relaxscript.op import Operator

from .sampling import Sample


def flat(value: Any) -> tuple[Any, ...]:
    return value if type(value) is tuple else (value,)


def assert_near(operator: Operator, sample: Sample, found: Any, expected: Any) -> None:
    """The elements are as near as the block of the operator says."""
    bounds: Any = itertools.repeat(None)
    if operator.accuracy.terms is not None:
        with np.errstate(all="ignore"):
            bounds = flat(sample.evaluate(operator.accuracy.terms))
    elif operator.accuracy.sums:
        sizes = {v: np.abs(x) if isinstance(x, np.ndarray) else x for v, x in sample.values.items()}
        absolute = Sample(operator, sample.call, sizes, sample.callees)
        bounds = flat(absolute.evaluate())
    for one, other, size in zip(flat(found), flat(expected), bounds):
        assert (one.shape, one.dtype) == (other.shape, other.dtype), str(sample)
        if not (operator.accuracy.ulp or operator.accuracy.sums) or other.dtype.kind in "iub":
            assert same_numbers(one, other), f"{sample}: {one} for {other}"
            continue
        a, b = one.astype(np.float64), other.astype(np.float64)
        with np.errstate(invalid="ignore"):
            allowed = operator.accuracy.ulp * ulp_of(other)
            if size is not None:
                terms = np.abs(size.astype(np.float64))
                allowed = allowed + operator.accuracy.sums * epsilon(other.dtype) * terms
            near = (np.abs(a - b) <= allowed) & np.isfinite(a) & np.isfinite(b)
        near = near | (a == b) | (np.isnan(a) & np.isnan(b))
        assert near.all(), f"{sample}: {one} for {other}"


def same_numbers(a: Any, b: Any) -> bool:
    """True for the same bits; one NaN is as good as another."""
    if a.dtype.kind in "iub":
        return bool((a == b).all())
    x, y = a.astype(np.float64), b.astype(np.float64)
    same = (x == y) & (np.signbit(x) == np.signbit(y))
    return bool((same | (np.isnan(x) & np.isnan(y))).all())


def epsilon(dtype: np.dtype[Any]) -> float:
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    return float(info.eps)


def ulp_of(x: Any) -> Any:
    """A unit in the last place of each element, and of the least normal number below that."""
    info: Any = ml_dtypes.finfo(x.dtype)  # type: ignore[no-untyped-call]
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(x.astype(np.float64)), float(info.smallest_normal))
        return np.exp2(np.floor(np.log2(size))) * float(info.eps)
