"""Nodes by the keys that TVM has for their types: `make_node("relax.expr.Var", name_hint="x")`.

A key is a class of ours with a word for where TVM has it: "relax.expr.Call", "tir.Call",
"relax.TensorStructInfo", "IntImm". Our own full names are keys as well: "ir.relax.Call".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, meant_hint, nearest
from relaxscript.errors.user_frame import caller_span

from .field_types import brief
from .module import IRModule
from .node import NODE_CLASSES, Node
from .relax import Attrs

__all__ = ["class_of_key", "make_node", "type_keys"]

# The files of each of TVM's words, those that are asked first before others of the same class.
_FILES: Mapping[str, tuple[str, ...]] = {
    "relax.expr": ("relax",),
    "relax": ("struct_info", "types", "relax", "distributed"),
    "relax.distributed": ("distributed", "struct_info"),
    "tir": ("prim", "tir", "tir_compute", "types"),
    "ir": ("prim", "tir", "types", "vdevice", "relax", "env_func"),
}
# Classes that have no word before them in TVM.
_PLAIN = (
    "DummyGlobalInfo", "EnvFunc", "FloatImm", "FuncType", "GlobalInfo", "GlobalVar", "IntImm", "Op",
    "PointerType", "PrimType", "Range", "Target", "TupleType", "VDevice",
)  # fmt: skip
# What is no node here.
_OTHERS: Mapping[str, Callable[..., Any]] = {"DictAttrs": Attrs, "IRModule": IRModule}


def type_keys() -> dict[str, Callable[..., Any]]:
    """All keys, and what each makes."""
    for files in _FILES.values():
        for name in files:
            import_module(f"{__package__}.{name}")
    found: dict[str, Callable[..., Any]] = dict(_OTHERS)
    ours = {key: cls for key, cls in NODE_CLASSES.items() if key.startswith("ir.")}
    by_file: dict[str, dict[str, type[Node]]] = {}
    for key, cls in ours.items():
        _, file, name = key.split(".")
        by_file.setdefault(file, {})[name] = cls
    for word, files in _FILES.items():
        for file in files:
            for name, cls in by_file.get(file, {}).items():
                found.setdefault(f"{word}.{name}", cls)
                if word == "ir" and name in _PLAIN:
                    found.setdefault(name, cls)
    return found | ours


def class_of_key(type_key: str) -> Callable[..., Any]:
    """The class of a key; raises `DiagnosticError` (RX0103) for none, with the nearest."""
    known = type_keys()
    if type_key in known:
        return known[type_key]
    by_class = {cls: key for key, cls in reversed(known.items()) if key.endswith(f".{type_key}")}
    hint = meant_hint(nearest(str(type_key), known))
    if by_class:
        hint = meant_hint("` or `".join(sorted(by_class.values())))
    message = f"there is no type key {brief(type_key)}{hint}"
    raise DiagnosticError(Diagnostic("RX0103", message, caller_span()))


def make_node(type_key: str, **kwargs: Any) -> Any:
    """A node by the key of its type and its fields, `make_node("IntImm", dtype="int32", value=1)`.

    The fields are those of the class here, converted as its constructor does. "DictAttrs" takes any
    names. Raises `DiagnosticError` (RX0103) for an unknown key. A field that the class has not,
    that is missing or that cannot hold its value is refused as well.
    """
    made_by = class_of_key(type_key)
    if made_by is not Attrs:
        _require_fields(type_key, made_by, kwargs)
    try:
        return made_by(**kwargs)
    except DiagnosticError:
        raise
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        message = f"a node `{type_key}` cannot be made of these fields: {error}"
        nature: Any = "value" if isinstance(error, ValueError) else "type"
        found = Diagnostic("RX0103", message, caller_span(), nature=nature)
        raise DiagnosticError(found) from error


def _require_fields(key: str, made_by: Callable[..., Any], given: Mapping[str, Any]) -> None:
    parameters = inspect.signature(made_by).parameters
    for name in given:
        if name not in parameters:
            hint = meant_hint(nearest(name, parameters))
            message = f"a node `{key}` has no field `{name}`{hint}"
            raise DiagnosticError(Diagnostic("RX0103", message, caller_span()))
    required = [p.name for p in parameters.values() if p.default is p.empty]
    missing = [name for name in required if name not in given]
    if missing:
        message = f"a node `{key}` needs its field `{missing[0]}`"
        raise DiagnosticError(Diagnostic("RX0103", message, caller_span()))
