"""Names that users know as `tvm.ir.base`: nodes, places, structural equality."""

from __future__ import annotations

from relaxscript.errors import Span

from .node import Node
from .structural_equality import (
    assert_structural_equal,
    get_first_structural_mismatch,
    structural_equal,
    structural_hash,
)

__all__ = [
    "Node", "Span", "assert_structural_equal", "get_first_structural_mismatch",
    "structural_equal", "structural_hash",
]  # fmt: skip
