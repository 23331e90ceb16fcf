"""Names that users know as `tvm.topi.reduction`: reductions along axes."""

from __future__ import annotations

from relaxscript.topi import all, any, argmax, argmin, collapse_sum, max, min, prod, sum

__all__ = ["all", "any", "argmax", "argmin", "collapse_sum", "max", "min", "prod", "sum"]
