"""Names that users know as `relax.op.sorting`: orders of elements."""

from __future__ import annotations

from relaxscript.op.sorting import argsort, sort, topk

__all__ = ["argsort", "sort", "topk"]
