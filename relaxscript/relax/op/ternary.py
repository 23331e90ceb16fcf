"""Names that users know as `relax.op.ternary`: operators of three tensors."""

from __future__ import annotations

from relaxscript.op.ternary import ewise_fma

__all__ = ["ewise_fma"]
