"""Names that users know as `relax.training`: what differentiation asks for."""

from __future__ import annotations

from relaxscript.opdef.gradient import register_te_gradient

__all__ = ["register_te_gradient"]
