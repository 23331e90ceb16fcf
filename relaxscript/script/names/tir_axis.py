"""The axes of a block: what `T.axis.` names.

An axis is a variable of the block with a domain, and a value for each time that the block runs:
`vi = T.axis.spatial(64, i)`. `remap` makes several axes of loop variables at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .tir_types import Form

__all__ = ["R", "S", "opaque", "reduce", "remap", "scan", "spatial"]


def spatial(dom: Any, binding: Any, dtype: str = "int32") -> Form:
    """An axis whose values may be computed in any order; `dom` is an extent or a range."""
    return Form(spatial, dom=dom, binding=binding, dtype=dtype)


def reduce(dom: Any, binding: Any, dtype: str = "int32") -> Form:
    """An axis over which results are accumulated."""
    return Form(reduce, dom=dom, binding=binding, dtype=dtype)


def scan(dom: Any, binding: Any, dtype: str = "int32") -> Form:
    """An axis whose values build on those before."""
    return Form(scan, dom=dom, binding=binding, dtype=dtype)


def opaque(dom: Any, binding: Any, dtype: str = "int32") -> Form:
    """An axis of which nothing may be assumed."""
    return Form(opaque, dom=dom, binding=binding, dtype=dtype)


def remap(kinds: str, bindings: Sequence[Any], dtype: str = "int32") -> Form:
    """Axes over the whole range of loops: one letter of `kinds` (S spatial, R reduce) for each."""
    return Form(remap, kinds=kinds, bindings=bindings, dtype=dtype)


S = spatial
R = reduce
