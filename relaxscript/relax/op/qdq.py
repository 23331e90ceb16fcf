"""Names that users know as `relax.op.qdq`: quantization."""

from __future__ import annotations

from relaxscript.op.qdq import dequantize, quantize

__all__ = ["dequantize", "quantize"]
