"""The axes of a block, as frames have them: `vi, vj = T.axis.remap("SS", [i, j])`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.ir.prim import Var
from relaxscript.script.names.tir_values import dtype_of

from .tir_frames import statements

__all__ = ["R", "S", "opaque", "reduce", "remap", "scan", "spatial"]


def spatial(dom: Any, binding: Any, dtype: str | None = None) -> Var:
    """An axis whose values may be computed in any order; `dom` is an extent or a range."""
    return _axis("spatial", dom, binding, dtype)


def reduce(dom: Any, binding: Any, dtype: str | None = None) -> Var:
    """An axis over which results are accumulated."""
    return _axis("reduce", dom, binding, dtype)


def scan(dom: Any, binding: Any, dtype: str | None = None) -> Var:
    """An axis whose values build on those before."""
    return _axis("scan", dom, binding, dtype)


def opaque(dom: Any, binding: Any, dtype: str | None = None) -> Var:
    """An axis of which nothing may be assumed."""
    return _axis("opaque", dom, binding, dtype)


def _axis(kind: str, dom: Any, binding: Any, dtype: Any) -> Var:
    made = statements(f"T.axis.{kind}")
    with made.told(f"T.axis.{kind}") as builder:
        wanted = None if dtype is None else dtype_of(dtype)
        return builder.innermost.axis(kind, made.plain(dom), binding, dtype=wanted)


def remap(kinds: str, bindings: Sequence[Any], dtype: str = "int32") -> Any:
    """Axes over the whole range of loops: one for each letter of `kinds`; one alone is no list."""
    with statements("T.axis.remap").told("T.axis.remap") as builder:
        found = builder.innermost.remap(kinds, bindings)
    return found[0] if len(found) == 1 else found


S = spatial
R = reduce
