"""Names that users know as `relax.op.create`: tensors of nothing but their shape."""

from __future__ import annotations

from relaxscript.op.create import full, full_like, ones, ones_like, tril, triu, zeros, zeros_like
from relaxscript.op.ranges import arange, eye, eye_like, hamming_window

__all__ = [
    "arange", "eye", "eye_like", "full", "full_like", "hamming_window", "ones", "ones_like",
    "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip
