"""Names that users know as `relax.op.search`: choosing elements."""

from __future__ import annotations

from relaxscript.op.indexing import bucketize, searchsorted
from relaxscript.op.search import argmax, argmin, where

__all__ = ["argmax", "argmin", "bucketize", "searchsorted", "where"]
