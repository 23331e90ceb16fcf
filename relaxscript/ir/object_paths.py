"""Paths followed in a program: what is at each step of an `ObjectPath`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, meant_hint, nearest
from relaxscript.errors.user_frame import caller_span
from relaxscript.runtime.object_path import (
    ArrayIndexPath,
    AttributeAccessPath,
    MapValuePath,
    ObjectPath,
)

from .field_types import brief
from .module import IRModule
from .node import Node
from .relax import Attrs, GlobalVar

__all__ = ["values_along"]

_MODULE_FIELDS = ("functions", "attrs", "global_infos")


def values_along(root: Any, path: ObjectPath) -> list[Any]:
    """The values at each step of a path, from the root to its end.

    An item or entry that is missing stands for what it is missing in. Raises `DiagnosticError`
    (RX0103) where the path leads nowhere in this program.
    """
    found = [root]
    for step in path.steps()[1:]:
        found.append(_value_at(found[-1], step))
    return found


def _value_at(at: Any, path: ObjectPath) -> Any:
    match path:
        case AttributeAccessPath(attr_key=name):
            return _field(at, name, path)
        case ArrayIndexPath(index=index):
            if not isinstance(at, (tuple, list)) or not 0 <= index < len(at):
                has = f"has {len(at)} items" if isinstance(at, (tuple, list)) else "is no tuple"
                raise _nowhere(path, f"`{path.parent}` {has}")
            return at[index]
        case MapValuePath(key=key):
            return _entry(at, key, path)
    return at


def _field(at: Any, name: str, path: ObjectPath) -> Any:
    if isinstance(at, Attrs):
        return _entry(at, name, path)
    known: tuple[str, ...] = _MODULE_FIELDS if isinstance(at, IRModule) else ()
    if isinstance(at, Node):
        known = tuple(f.name for f in at._fields if not f.place)
    if name not in known:
        hint = meant_hint(nearest(name, known))
        raise _nowhere(path, f"{brief(at)} has no field `{name}`{hint}")
    return getattr(at, name)


def _entry(at: Any, key: Any, path: ObjectPath) -> Any:
    if isinstance(at, Mapping):
        names = {(k.name_hint if isinstance(k, GlobalVar) else k): v for k, v in at.items()}
        name = key.name_hint if isinstance(key, GlobalVar) else key
        if name in names:
            return names[name]
    raise _nowhere(path, f"`{path.parent}` has no entry {brief(key)}")


def _nowhere(path: ObjectPath, reason: str) -> DiagnosticError:
    message = f"the path `{path}` leads nowhere in this program: {reason}"
    return DiagnosticError(Diagnostic("RX0103", message, caller_span(), nature="value"))
