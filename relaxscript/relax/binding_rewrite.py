"""Names that users know as `relax.binding_rewrite`: the bindings of a block, changed by hand."""

from __future__ import annotations

from relaxscript.dpl.binding_rewrite import DataflowBlockRewrite

__all__ = ["DataflowBlockRewrite"]
