"""Names that users know as `relax.backend.patterns`: patterns of what libraries compute as one."""

from __future__ import annotations

from relaxscript.transform.byoc.attention_rewrite import make_attention_rewrite_pattern
from relaxscript.transform.byoc.common_patterns import (
    make_attention_pattern,
    make_conv2d_pattern,
    make_fused_bias_activation_pattern,
    make_layer_norm_pattern,
    make_matmul_dequantize_pattern,
    make_matmul_multiply_pattern,
    make_matmul_pattern,
    make_residual_block_pattern,
    make_rms_norm_pattern,
    make_stacked_attention_pattern,
)

__all__ = [
    "make_attention_pattern", "make_attention_rewrite_pattern", "make_conv2d_pattern",
    "make_fused_bias_activation_pattern", "make_layer_norm_pattern",
    "make_matmul_dequantize_pattern", "make_matmul_multiply_pattern", "make_matmul_pattern",
    "make_residual_block_pattern", "make_rms_norm_pattern", "make_stacked_attention_pattern",
]  # fmt: skip
