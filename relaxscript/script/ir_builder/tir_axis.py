"""The axes of a block, as frames have them: `vi, vj = T.axis.remap("SS", [i, j])`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.ir.prim import Var
from relaxscript.script import tir_axis as forms

from .tir_frames import writer

__all__ = ["R", "S", "opaque", "reduce", "remap", "scan", "spatial"]


def spatial(dom: Any, binding: Any, dtype: str = "int32") -> Var:
    """An axis whose values may be computed in any order; `dom` is an extent or a range."""
    found: Var = writer("T.axis.spatial").axis_of(forms.spatial(dom, binding, dtype))
    return found


def reduce(dom: Any, binding: Any, dtype: str = "int32") -> Var:
    """An axis over which results are accumulated."""
    found: Var = writer("T.axis.reduce").axis_of(forms.reduce(dom, binding, dtype))
    return found


def scan(dom: Any, binding: Any, dtype: str = "int32") -> Var:
    """An axis whose values build on those before."""
    found: Var = writer("T.axis.scan").axis_of(forms.scan(dom, binding, dtype))
    return found


def opaque(dom: Any, binding: Any, dtype: str = "int32") -> Var:
    """An axis of which nothing may be assumed."""
    found: Var = writer("T.axis.opaque").axis_of(forms.opaque(dom, binding, dtype))
    return found


def remap(kinds: str, bindings: Sequence[Any], dtype: str = "int32") -> Any:
    """Axes over the whole range of loops: one for each letter of `kinds`; one alone is no list."""
    return writer("T.axis.remap").axis_of(forms.remap(kinds, bindings, dtype))


S = spatial
R = reduce
