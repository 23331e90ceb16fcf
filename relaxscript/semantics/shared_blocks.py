"""Blocks whose code several PrimFuncs share.

A block with this annotation reads nothing from around it but its axes and its buffers. It means
what it means without the annotation. A code generator may write it as a function of its own, once
for all blocks that do the same.
"""

from __future__ import annotations

__all__ = ["SHARED"]

SHARED = "relaxscript.shared"
