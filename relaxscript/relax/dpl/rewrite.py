"""Names that users know as `tvm.relax.dpl.rewrite`: rewriting by patterns."""

from __future__ import annotations

from relaxscript.dpl import (
    ExprPatternRewriter,
    OrRewriter,
    PatternMatchingRewriter,
    TupleRewriter,
    rewrite_bindings,
    rewrite_call,
)

__all__ = [
    "ExprPatternRewriter", "OrRewriter", "PatternMatchingRewriter", "TupleRewriter",
    "rewrite_bindings", "rewrite_call",
]  # fmt: skip
