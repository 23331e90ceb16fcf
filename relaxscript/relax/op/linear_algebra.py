"""Names that users know as `relax.op.linear_algebra`: products of matrices."""

from __future__ import annotations

from relaxscript.op.contraction import einsum, outer
from relaxscript.op.linear_algebra import linear, matmul

__all__ = ["einsum", "linear", "matmul", "outer"]
