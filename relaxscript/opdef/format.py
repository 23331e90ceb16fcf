"""Dimensions and shapes as they are written in messages: `n + 1`, `(3, n)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo

__all__ = ["dim_text", "shape_fact", "shape_text"]

_INFIX: Mapping[type[PrimExpr], tuple[str, int]] = {
    prim.Add: ("+", 1),
    prim.Sub: ("-", 1),
    prim.Mul: ("*", 2),
    prim.Div: ("/", 2),
    prim.FloorDiv: ("//", 2),
    prim.FloorMod: ("%", 2),
}
_DEPTH = 6  # what is nested deeper is of no use in a message


def dim_text(e: PrimExpr, strength: int = 0, depth: int = _DEPTH) -> str:
    """A dimension in Python's notation."""
    match e:
        case prim.IntImm(value=value):
            return str(value)
        case prim.Var(name=name):
            return name
        case prim.Binary(a, b) if depth and type(e) in _INFIX:
            symbol, own = _INFIX[type(e)]
            left, right = dim_text(a, own, depth - 1), dim_text(b, own + 1, depth - 1)
            text = f"{left} {symbol} {right}"
            return f"({text})" if own < strength else text
        case prim.Min(a, b) | prim.Max(a, b) if depth:
            name = type(e).__name__.lower()
            return f"{name}({dim_text(a, 0, depth - 1)}, {dim_text(b, 0, depth - 1)})"
        case prim.Cast(value=value) if depth:
            return dim_text(value, strength, depth - 1)
    return "..."


def shape_text(dims: Sequence[PrimExpr]) -> str:
    """A shape as a Python tuple."""
    inside = ", ".join(dim_text(dim) for dim in dims)
    return f"({inside},)" if len(dims) == 1 else f"({inside})"


def shape_fact(info: StructInfo, dims: Sequence[PrimExpr] | None = None) -> str:
    """The shape of a tensor as a fact: "has shape (3, n)"."""
    if not isinstance(info, TensorStructInfo):
        return "has a shape"
    known = info.dims if dims is None else dims
    if known is not None:
        return f"has shape {shape_text(known)}"
    return "has a shape that is not known" if info.ndim < 0 else f"has rank {info.ndim}"
