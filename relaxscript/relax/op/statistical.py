"""Names that users know as `relax.op.statistical`: reductions and scans."""

from __future__ import annotations

from relaxscript.op.logical_reduction import all, any
from relaxscript.op.scan import cumprod, cumsum
from relaxscript.op.statistical import max, mean, min, prod, std, sum, variance

__all__ = [
    "all", "any", "cumprod", "cumsum", "max", "mean", "min", "prod", "std", "sum", "variance",
]  # fmt: skip
