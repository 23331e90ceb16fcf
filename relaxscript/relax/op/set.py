"""Names that users know as `relax.op.set`: sets of elements."""

from __future__ import annotations

from relaxscript.op.sets import nonzero, unique

__all__ = ["nonzero", "unique"]
