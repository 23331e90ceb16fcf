"""Names that users know as `relax.ir`: what looks on while passes run."""

from __future__ import annotations

from . import instrument

__all__ = ["instrument"]
