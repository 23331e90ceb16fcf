"""Names that users know as `tvm.ir.base`: nodes, places, structural equality, JSON."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from relaxscript.errors import SequentialSpan, Span

from .node import Node
from .structural_equality import (
    assert_structural_equal,
    get_first_structural_mismatch,
    structural_equal,
    structural_hash,
)

if TYPE_CHECKING:
    from .env_func import EnvFunc
    from .json_reader import load_json
    from .json_writer import save_json

__all__ = [
    "EnvFunc", "Node", "SequentialSpan", "Span", "assert_structural_equal",
    "get_first_structural_mismatch", "load_json", "save_json", "structural_equal",
    "structural_hash",
]  # fmt: skip


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in __all__:
            return getattr(import_module(__package__), name)
        raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
