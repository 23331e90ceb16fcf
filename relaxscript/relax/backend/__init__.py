"""Names that users know as `relax.backend`: the registry of patterns, passes, and backends.

`relax.backend.numpy_blas` is one: products and convolutions by numpy. `relax.backend.patterns`
makes patterns of what libraries compute as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from relaxscript.transform.legalize.dispatch import DispatchSampling, DispatchSortScan

from . import cpu_generic, numpy_blas, pattern_registry, patterns, utils
from .pattern_registry import get_pattern, get_patterns_with_prefix, register_patterns

if not TYPE_CHECKING:
    from relaxscript.errors.absent_modules import answer_for as _answer_for
    from relaxscript.errors.not_built import of_backend as __getattr__  # noqa: F401

    _answer_for(__path__)

__all__ = [
    "DispatchSampling", "DispatchSortScan", "cpu_generic", "get_pattern",
    "get_patterns_with_prefix", "numpy_blas", "pattern_registry", "patterns",
    "register_patterns", "utils",
]  # fmt: skip
