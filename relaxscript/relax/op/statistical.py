"""Names that users know as `relax.op.statistical`: reductions and scans."""

from __future__ import annotations

from relaxscript.op.scan import cumprod, cumsum
from relaxscript.op.statistical import max, mean, min, prod, std, sum, variance

__all__ = ["cumprod", "cumsum", "max", "mean", "min", "prod", "std", "sum", "variance"]
