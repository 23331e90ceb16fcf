"""Nodes of iter maps: marked iterators, their splits, and sums of splits.

They say how indices are fused and split from iterators; `relaxscript.arith` finds them.

Source: TVM `arith.IterMapExpr` and the classes beside it (names and order of fields).
"""

from __future__ import annotations

from typing import Any

from .node import Node, field, node
from .prim import IntImm, PrimExpr, as_scalar, like

__all__ = ["IterMapExpr", "IterMark", "IterSplitExpr", "IterSumExpr"]


def _short(e: PrimExpr) -> str:
    """An expression as text; numbers without their dtype."""
    return str(e.value) if isinstance(e, IntImm) else repr(e)


@node
class IterMapExpr(PrimExpr):
    """Anything that an iter map consists of: a split, or a sum of splits."""

    __slots__ = ()


@node
class IterMark(Node):
    """An expression whose values are the integers from 0 to before `extent`.

    A number for `extent` is of the dtype of `source`.
    """

    source: PrimExpr
    extent: PrimExpr

    @staticmethod
    def _arrange(source: Any, extent: Any) -> tuple[Any, ...]:
        return source, like(extent, source)

    def __repr__(self) -> str:
        return f"IterMark({self.source!r}, extent={_short(self.extent)})"


@node
class IterSplitExpr(IterMapExpr):
    """`source // lower_factor % extent * scale`.

    Numbers are of the dtype of the source.
    """

    source: IterMark
    lower_factor: PrimExpr
    extent: PrimExpr
    scale: PrimExpr
    __derived__ = {"dtype": lambda source: source.source.dtype}

    @staticmethod
    def _arrange(source: Any, lower_factor: Any, extent: Any, scale: Any) -> tuple[Any, ...]:
        if not isinstance(source, IterMark):
            return source, lower_factor, extent, scale
        return (source, *(like(e, source.source) for e in (lower_factor, extent, scale)))

    def __repr__(self) -> str:
        numbers = {"lower_factor": self.lower_factor, "extent": self.extent, "scale": self.scale}
        shown = ", ".join(f"{name}={_short(e)}" for name, e in numbers.items())
        return f"IterSplitExpr({self.source!r}, {shown})"


@node
class IterSumExpr(IterMapExpr):
    """The sum of `args` and `base`.

    A number for `base` is of the dtype of the first of `args`.
    """

    args: tuple[IterSplitExpr, ...] = field(convert=tuple)
    base: PrimExpr
    __derived__ = {"dtype": lambda base: base.dtype}

    @staticmethod
    def _arrange(args: Any, base: Any) -> tuple[Any, ...]:
        if isinstance(args, (list, tuple)) and args and isinstance(args[0], PrimExpr):
            return args, like(base, args[0])
        return args, as_scalar(base) if isinstance(base, int) else base

    def __repr__(self) -> str:
        return f"IterSumExpr({[*self.args]}, base={_short(self.base)})"
