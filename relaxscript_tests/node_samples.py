"""A node of every class, made by what the declarations of its fields admit."""

from __future__ import annotations

import functools
import random
import types
from collections.abc import Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np

import relaxscript.ir as package
from relaxscript.dtypes import DataType
from relaxscript.errors import DiagnosticError
from relaxscript.ir import prim, relax, tir
from relaxscript.ir.node import NODE_CLASSES, Node, expected_by
from relaxscript.ir.relax import Attrs

TRIES = 10_000
PLAIN: dict[type, list[Any]] = {
    str: ["serial", "global", "default", "spatial"], int: [1, 0], bool: [True],
    float: [-0.0], types.NoneType: [None],
    DataType: [DataType("float32"), DataType("int64"), DataType("bool")],
    np.ndarray: [np.array([[1.5, -0.0, np.nan]], "float32")],
    Attrs: [Attrs(axis=(1, None, "s", True, DataType("int8")), more=Attrs(scale=0.1))],
}  # fmt: skip


def node_classes() -> dict[str, type[Node]]:
    """The classes of the room `ir`, by their names."""
    for found in iter_modules(package.__path__):
        if found.name != "transform":  # a facade of later rooms
            import_module(f"{package.__name__}.{found.name}")
    return {name: cls for name, cls in sorted(NODE_CLASSES.items()) if name.startswith("ir.")}


@functools.cache
def sample(cls: type[Node], seed: int = 0) -> Node:
    """A node of a class that its constructor accepts."""
    wanted = expected_by(cls)
    choices = [_choices(f.name, wanted[f.name], cls) for f in cls._fields]
    draw = random.Random(seed)
    for _ in range(TRIES):
        values = [draw.choice(values) for values in choices]
        try:
            return cls(*values)
        except (TypeError, ValueError, AttributeError, IndexError, DiagnosticError):
            continue
    raise AssertionError(f"no values fit the fields of {cls.__name__}")


def _choices(name: str, wanted: Any, cls: type[Node]) -> list[Any]:
    if wanted is None:  # a place, or anything
        return [()] if name.endswith("_spans") else [None]
    found = [v for kind in wanted.classes if kind is not types.NoneType for v in _values(kind, cls)]
    if wanted.items is not None:
        of = [v for kind in wanted.items for v in _values(kind, cls)]
        found += [(of[0], of[-1]), (of[0],), *((v,) for v in of), ()]
    return [*found, *([None] if types.NoneType in wanted.classes else [])]


def _values(kind: type, holder: type[Node]) -> Iterator[Any]:
    plain = next((base for base in kind.__mro__ if base in PLAIN), None)
    if plain is not None:
        return iter(PLAIN[plain])
    if kind is Mapping:
        return iter([{}])
    return iter(_nodes(kind, holder))


def _nodes(kind: type, holder: type[Node]) -> list[Any]:
    index = prim.Var("i", "int64")
    pointer = prim.Var("p", "handle", prim.PointerType(prim.PrimType("float32"), "global"))
    known: dict[str, list[Any]] = {
        "Op": [relax.Op("tir.exp"), relax.Op("relax.add")],
        "PrimExpr": [index + 1, prim.const(2.5, "float32"), index < 3],
        "Var": [index, pointer] if kind is prim.Var else [relax.Var("x", _tensor())],
        "Expr": [relax.Var("x", _tensor()), relax.Constant(PLAIN[np.ndarray][0])],
        "Stmt": [tir.Evaluate(index)],
        "StructInfo": [_tensor()],
        "Type": [prim.PrimType("int32")],
    }
    if kind.__name__ in known:
        return known[kind.__name__]
    if kind is holder or not issubclass(kind, Node):
        return []
    return [sample(kind, seed) for seed in range(4)]


def _tensor() -> Any:
    from relaxscript.ir.struct_info import TensorStructInfo

    n = prim.Var("n", "int64")
    return TensorStructInfo([n, n * 2], "float32")
