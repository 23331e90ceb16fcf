"""Patterns made of expressions: what has the structure of an expression matches."""

from __future__ import annotations

from collections.abc import Mapping

from relaxscript.ir.relax import Call, Expr, SeqExpr, Tuple, TupleGetItem, Var

from .matcher import attributes_of
from .pattern import (
    AttrPattern,
    CallPattern,
    DFPattern,
    ExprPattern,
    TupleGetItemPattern,
    TuplePattern,
)

__all__ = ["pattern_of"]


def pattern_of(
    expr: Expr,
    var2val: Mapping[Var, Expr] | None = None,
    known: Mapping[Expr, DFPattern] | None = None,
) -> DFPattern:
    """The pattern of what is made as an expression is: the same calls of the same operands.

    A variable that has a value in `var2val` is the pattern of its value, one for all its uses. Of
    expressions that are `known` it is the pattern that is given, of other leaves they themselves.
    """
    values: Mapping[Var, Expr] = {} if var2val is None else var2val
    made: dict[Expr, DFPattern] = dict(known or {})
    pending = [expr]
    while pending:
        node = pending[-1]
        if node in made:
            pending.pop()
            continue
        inner = _parts(node, values)
        missing = [part for part in inner if part not in made]
        if missing:
            pending += reversed(missing)
            continue
        pending.pop()
        made[node] = _pattern(node, [made[part] for part in inner])
    return made[expr]


def _parts(expr: Expr, values: Mapping[Var, Expr]) -> list[Expr]:
    """The expressions of whose patterns that of an expression is made."""
    match expr:
        case Call(op=op, args=args):
            return [op, *args]
        case Tuple(fields=fields):
            return [*fields]
        case TupleGetItem(tuple_value=value):
            return [value]
        case SeqExpr(body=body) if not expr.blocks:
            return [body]
        case Var() if expr in values:
            return [values[expr]]
    return []


def _pattern(expr: Expr, parts: list[DFPattern]) -> DFPattern:
    match expr:
        case Call():
            call = CallPattern(parts[0], tuple(parts[1:]), add_constraint=False)
            attributes = attributes_of(expr)
            return AttrPattern(call, attributes) if attributes else call
        case Tuple():
            return TuplePattern(tuple(parts))
        case TupleGetItem(index=index):
            return TupleGetItemPattern(parts[0], index)
    return parts[0] if parts else ExprPattern(expr)
