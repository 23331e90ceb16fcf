"""The axes of a block: the names in `T.axis.`.

`vi = T.axis.spatial(64, i)` makes an axis: a variable of the block with a domain. It has a value
for each time that the block runs. `remap` makes several axes of loop variables at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.ir.prim import Var
from relaxscript.tir_builder import TIRBuilder

from .statement import Arguments, Role, statement

__all__ = ["R", "S", "opaque", "reduce", "remap", "scan", "spatial"]


@statement(Role.GIVES, lambda tb, **given: tb.innermost.axis("spatial", **given), Var)
def spatial(dom: Any, binding: Any, dtype: str = "int32") -> Arguments:
    """An axis whose values may be computed in any order; `dom` is an extent or a range."""
    return locals()


@statement(Role.GIVES, lambda tb, **given: tb.innermost.axis("reduce", **given), Var)
def reduce(dom: Any, binding: Any, dtype: str = "int32") -> Arguments:
    """An axis over which results are accumulated."""
    return locals()


@statement(Role.GIVES, lambda tb, **given: tb.innermost.axis("scan", **given), Var)
def scan(dom: Any, binding: Any, dtype: str = "int32") -> Arguments:
    """An axis whose values build on those before."""
    return locals()


@statement(Role.GIVES, lambda tb, **given: tb.innermost.axis("opaque", **given), Var)
def opaque(dom: Any, binding: Any, dtype: str = "int32") -> Arguments:
    """An axis of which nothing may be assumed."""
    return locals()


def _remap(tb: TIRBuilder, kinds: Any, bindings: Any, dtype: Any = None) -> Any:
    found = tb.innermost.remap(kinds, bindings)
    return found[0] if len(found) == 1 else found


@statement(Role.GIVES, _remap, Var)
def remap(kinds: str, bindings: Sequence[Any], dtype: str = "int32") -> Arguments:
    """Axes over the whole range of loops: one letter of `kinds` (S spatial, R reduce) for each."""
    return locals()


S = spatial
R = reduce
