"""Names that users know as `relax.training.utils`."""

from __future__ import annotations

from relaxscript.opdef.gradient import register_te_gradient
from relaxscript.training import AppendLoss

__all__ = ["AppendLoss", "register_te_gradient"]
