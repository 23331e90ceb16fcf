"""Names that users know as `relax.block_builder`: making programs binding by binding."""

from __future__ import annotations

from relaxscript.builder import BlockBuilder

__all__ = ["BlockBuilder"]
