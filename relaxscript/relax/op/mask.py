"""Names that users know as `relax.op.mask`: elements chosen by a mask."""

from __future__ import annotations

from relaxscript.op.mask import masked_fill

__all__ = ["masked_fill"]
