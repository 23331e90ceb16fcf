"""Names that users know as `relax.op.datatype`: conversions between dtypes."""

from __future__ import annotations

from relaxscript.op.datatype import astype, wrap_param

__all__ = ["astype", "wrap_param"]
