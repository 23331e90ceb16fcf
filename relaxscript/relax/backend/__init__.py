"""Names that users know as `relax.backend`: the registry of patterns, and backends.

`relax.backend.numpy_blas` is one: products and convolutions by numpy. `relax.backend.patterns`
makes patterns of what libraries compute as one.
"""

from __future__ import annotations

from . import numpy_blas, pattern_registry, patterns, utils
from .pattern_registry import get_pattern, get_patterns_with_prefix, register_patterns

__all__ = [
    "get_pattern", "get_patterns_with_prefix", "numpy_blas", "pattern_registry", "patterns",
    "register_patterns", "utils",
]  # fmt: skip
