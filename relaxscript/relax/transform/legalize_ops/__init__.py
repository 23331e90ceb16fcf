"""Names that users know as `relax.transform.legalize_ops`: legalisations of one's own."""

from __future__ import annotations

from . import common

__all__ = ["common"]
