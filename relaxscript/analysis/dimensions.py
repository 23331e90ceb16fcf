"""The dimensions of a derived StructInfo: int64 values, as long as they can be read.

A rule combines dimensions of its operands as they come. So a scalar of another dtype may get into
an expression of int64. And a product of two dimensions is as long as both: what is derived again
and again soon has more factors than anybody can read. From `MOST_NODES` on, a dimension is
forgotten: then only the rank is known.
"""

from __future__ import annotations

from relaxscript.arith.operands import operands_of
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.field_roles import dimensions, parts_of, with_dimensions, with_parts
from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, IntImm, PrimExpr
from relaxscript.ir.struct_info import PrimStructInfo, StructInfo, TensorStructInfo
from relaxscript.ir.types import MOST_DIMENSIONS
from relaxscript.ir.walk import post_order, rewrite

__all__ = ["MOST_NODES", "with_readable_dimensions"]

MOST_NODES = 1_000

_ALONE = frozenset({prim.Var, prim.SizeVar})


def with_readable_dimensions(info: StructInfo) -> StructInfo:
    """A derived StructInfo with dimensions of int64; those that nobody can read are forgotten."""
    if info.is_compound:
        return info if info.is_scope or not parts_of(info) else _with_parts(info)
    if isinstance(info, TensorStructInfo) and info.ndim > MOST_DIMENSIONS:
        fact = f"has {info.ndim} dimensions"
        message = f"a tensor has at most {MOST_DIMENSIONS:,} dimensions"
        raise OperandError("the result", fact, message=message, code="RX0204")
    sizes = dimensions(info)
    if isinstance(info, PrimStructInfo):
        return info if all(map(_is_short, sizes)) else with_dimensions(info, None)
    return info if all(map(_is_readable, sizes)) else with_dimensions(info, _dimensions(sizes))


def _with_parts(info: StructInfo) -> StructInfo:
    """Parts may be shared, and tuples of tuples be far larger than what they are made of."""
    done: dict[int, StructInfo] = {}
    for node in post_order(info):
        if isinstance(node, StructInfo) and node.is_compound and not node.is_scope:
            done[id(node)] = with_parts(node, [done.get(id(p), p) for p in parts_of(node)])
        elif isinstance(node, StructInfo):
            done[id(node)] = with_readable_dimensions(node)
    return done[id(info)]


def _dimensions(dims: tuple[PrimExpr, ...]) -> tuple[PrimExpr, ...] | None:
    if not all(map(_is_short, dims)):
        return None
    return tuple([dim if _is_readable(dim) else _to_int64(dim) for dim in dims])


def _is_readable(dim: PrimExpr) -> bool:
    """True if a dimension can stay as it is: in most cases it is a variable or a number."""
    if dim.__class__ in _ALONE or (dim.__class__ is IntImm and dim.dtype is INT64):
        return True
    return dim.dtype is INT64 and _is_short(dim) and not any(map(_is_mixed, post_order(dim)))


def _is_short(e: PrimExpr) -> bool:
    """True if an expression has at most so many nodes, of which each use counts."""
    stack = [e]
    for _ in range(MOST_NODES):
        stack.extend(operands_of(stack.pop()))
        if not stack:
            return True
    return False


def _to_int64(dim: PrimExpr) -> PrimExpr:
    """A dimension in int64, and each operation inside in one dtype."""
    return prim.cast(rewrite(dim, _in_one_dtype), INT64)


def _is_mixed(node: Node) -> bool:
    return isinstance(node, (prim.Binary, prim.Comparison)) and node.a.dtype is not node.b.dtype


def _in_one_dtype(node: Node) -> Node | None:
    if not isinstance(node, (prim.Binary, prim.Comparison)) or not _is_mixed(node):
        return None
    a, b = prim.match_dtypes(node.a, node.b)
    return type(node).make(a, b, span=node.span)
