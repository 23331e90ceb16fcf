"""The language as data: nodes, modules, traversal, structural equality.

Start with `node.py` (what a node is). Then come `relax.py`, `struct_info.py`, `prim.py` and
`tir.py` (the grammar) and `module.py` (programs). `walk.py` and `structural_equality.py` have the
functions on all of them, `json_writer.py` and `json_reader.py` their form as data.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from relaxscript.errors import SequentialSpan, Span, absent_modules, not_built
from relaxscript.runtime.object_path import (
    ArrayIndexPath,
    AttributeAccessPath,
    MapValuePath,
    MissingArrayElementPath,
    MissingMapEntryPath,
    ObjectPath,
    ObjectPathPair,
    RootPath,
    UnknownAttributeAccessPath,
)

from . import base
from .module import IRModule
from .node import Node
from .op_attributes import register_op_attr
from .prim import PrimExpr
from .relax import Attrs, Attrs as DictAttrs, BaseFunc, GlobalVar, Op
from .structural_equality import (
    StructuralMismatch,
    assert_structural_equal,
    get_first_structural_mismatch,
    structural_equal,
    structural_hash,
)
from .tir import Range
from .types import FuncType, PointerType, PrimType, TupleType, Type
from .vdevice import DummyGlobalInfo, GlobalInfo, Target, VDevice

if TYPE_CHECKING:
    from . import instrument, transform
    from .env_func import EnvFunc
    from .json_reader import load_json
    from .json_writer import save_json
    from .type_keys import make_node

__all__ = [
    "ArrayIndexPath", "AttributeAccessPath", "Attrs", "BaseFunc", "DictAttrs", "DummyGlobalInfo",
    "EnvFunc", "FuncType", "GlobalInfo", "GlobalVar", "IRModule", "MapValuePath",
    "MissingArrayElementPath", "MissingMapEntryPath", "Node", "ObjectPath", "ObjectPathPair",
    "Op", "PointerType", "PrimExpr", "PrimType", "Range", "RootPath", "SequentialSpan", "Span",
    "StructuralMismatch", "Target", "TupleType", "Type", "UnknownAttributeAccessPath", "VDevice",
    "assert_structural_equal", "base", "get_first_structural_mismatch", "instrument", "load_json",
    "make_node", "register_op_attr", "save_json", "structural_equal", "structural_hash",
    "transform",
]  # fmt: skip


# What most programs do not ask for, by the files that have it.
_MODULES = ("attrs", "expr", "function", "global_info", "instrument", "op", "transform", "type")
_LATER = {
    "EnvFunc": "env_func", "load_json": "json_reader", "make_node": "type_keys",
    "save_json": "json_writer",
}  # fmt: skip

if not TYPE_CHECKING:
    absent_modules.answer_for(__path__)

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return import_module(f"{__name__}.{name}")
        if name in _LATER:
            found = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
            return found
        return not_built.of_ir(name)
