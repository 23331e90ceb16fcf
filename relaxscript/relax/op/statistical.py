"""Names that users know as `relax.op.statistical`: reductions, scans and medians."""

from __future__ import annotations

from relaxscript.op.logical_reduction import all, any
from relaxscript.op.order_statistics import median
from relaxscript.op.scan import cumprod, cumsum
from relaxscript.op.statistical import max, mean, min, prod, std, sum, variance

__all__ = [
    "all", "any", "cumprod", "cumsum", "max", "mean", "median", "min", "prod", "std", "sum",
    "variance",
]  # fmt: skip
