"""StructInfos that expressions remember of functions, when these functions change."""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.ir.node import Node, fields_of
from relaxscript.ir.relax import Expr, Function, Var, remember_struct_info
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.walk import rewrite

__all__ = ["with_derived_info"]


def with_derived_info(node: Node, step: Callable[[Node], Node | None]) -> Node | None:
    """A copy of an expression whose remembered StructInfo `step` changes, None for others.

    An expression has the StructInfo of functions that it mentions, as `(cls.f, x)` and `cls.f(x)`
    do. When `f` changes, nothing that is written there does.
    """
    if not isinstance(node, Expr) or isinstance(node, (Function, Var)):
        return None
    known = node.known_info
    if not isinstance(known, StructInfo):
        return None
    info = rewrite(known, step)
    if info is known:
        return None
    values = {field.name: getattr(node, field.name) for field in fields_of(type(node))}
    made = type(node).make(**values, span=node.span)
    remember_struct_info(made, info)
    return made
