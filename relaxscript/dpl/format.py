"""Patterns as text that reads like their constructors, and where each part is in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from relaxscript.arith import format_expr
from relaxscript.ir.relax import Expr, Op, Var

if TYPE_CHECKING:
    from . import pattern as p

    DFPattern = p.DFPattern

__all__ = ["format_pattern", "format_with_places", "inner_patterns"]


def _expr(expr: Expr) -> str:
    if isinstance(expr, Op):
        return f'is_op("{expr.name}")'
    if isinstance(expr, Var):
        return f"is_expr({expr.name_hint})"
    text = repr(expr)
    return f"is_expr({type(expr).__name__ if chr(10) in text else text})"


def _named(word: str, name: str) -> str:
    return f'{word}("{name}")' if name else f"{word}()"


def _dims(shape: Iterable[Any]) -> str:
    dims = [format_expr(dim) for dim in shape]
    return f"({', '.join(dims)}{',' if len(dims) == 1 else ''})"


def _listed(patterns: Iterable[DFPattern]) -> list[Any]:
    pieces: list[Any] = []
    for pattern in patterns:
        pieces += [", ", pattern] if pieces else [pattern]
    return pieces


def _call(call: p.CallPattern) -> list[Any]:
    pieces = [call.op, "(", *_listed(call.args)]
    if call.varg_default_wildcard:
        pieces.append(", varg_default_wildcard=True" if call.args else "varg_default_wildcard=True")
    return [*pieces, ")"]


def _function(function: p.FunctionPattern) -> list[Any]:
    params = ["None"] if function.params is None else ["[", *_listed(function.params), "]"]
    return ["FunctionPattern(", *params, ", ", function.body, ")"]


def _item(item: p.TupleGetItemPattern) -> list[Any]:
    index = "" if item.index is None else f", {item.index}"
    return ["is_tuple_get_item(", item.tuple_value, f"{index})"]


_PIECES: dict[str, Callable[[Any], list[Any]]] = {
    "ExprPattern": lambda x: [_expr(x.expr)],
    "VarPattern": lambda x: [_named("is_var", x.name_hint)],
    "DataflowVarPattern": lambda x: [_named("is_dfv", x.name_hint)],
    "GlobalVarPattern": lambda x: [_named("is_gv", x.name_hint)],
    "ExternFuncPattern": lambda x: [_named("ExternFuncPattern", x.global_symbol)],
    "ConstantPattern": lambda x: ["is_const()"],
    "WildcardPattern": lambda x: ["wildcard()"],
    "CallPattern": _call,
    "FunctionPattern": _function,
    "TuplePattern": lambda x: ["is_tuple([", *_listed(x.fields), "])"],
    "UnorderedTuplePattern": lambda x: ["is_tuple([", *_listed(x.fields), "], unordered=True)"],
    "TupleGetItemPattern": _item,
    "OrPattern": lambda x: ["(", x.left, " | ", x.right, ")"],
    "AndPattern": lambda x: ["(", x.left, " & ", x.right, ")"],
    "NotPattern": lambda x: ["~", x.to_reject],
    "StructInfoPattern": lambda x: [x.pattern, f".has_struct_info({x.struct_info!r})"],
    "TypePattern": lambda x: [x.pattern, f".has_type({x.ttype!r})"],
    "DataTypePattern": lambda x: [x.pattern, f'.has_dtype("{x.dtype}")'],
    "ShapePattern": lambda x: [x.pattern, f".has_shape({_dims(x.shape)})"],
    "PrimArrPattern": lambda x: [f"is_shape({_dims(x.shape)})"],
    "AttrPattern": lambda x: [x.pattern, f".has_attr({dict(x.attrs)!r})"],
}


def _pieces(pattern: DFPattern) -> list[Any]:
    return _PIECES[type(pattern).__name__](pattern)


def inner_patterns(pattern: DFPattern) -> list[DFPattern]:
    """The patterns directly inside of a pattern, in the order of its text."""
    return [piece for piece in _pieces(pattern) if not isinstance(piece, str)]


def _shared(root: DFPattern) -> set[DFPattern]:
    """The patterns that occur at several places and have no name of their own."""
    seen: set[DFPattern] = set()
    twice: set[DFPattern] = set()
    todo = [root]
    while todo:
        pattern = todo.pop()
        if pattern in seen:
            twice.add(pattern)
        else:
            seen.add(pattern)
            todo += inner_patterns(pattern)
    from .pattern import ExprPattern

    return {p for p in twice if not isinstance(p, ExprPattern)}


def format_with_places(root: DFPattern) -> tuple[str, dict[DFPattern, tuple[int, int]]]:
    """The text of a pattern, and where each part is in it first: start and end.

    What occurs at several places is named where it is first, `(p0 := wildcard())`.
    """
    shared = _shared(root)
    names: dict[DFPattern, str] = {}
    starts: dict[DFPattern, int] = {}
    places: dict[DFPattern, tuple[int, int]] = {}
    parts: list[str] = []
    length = 0
    todo: list[Any] = [root]
    while todo:
        piece = todo.pop()
        if isinstance(piece, tuple):  # the end of a pattern
            places[piece[0]] = (starts[piece[0]], length)
            continue
        if not isinstance(piece, str) and piece in names:
            piece = names[piece]
        if isinstance(piece, str):
            parts.append(piece)
            length += len(piece)
            continue
        pieces = [*_pieces(piece), (piece,)]
        if piece in shared:
            names[piece] = f"p{len(names)}"
            pieces = [f"({names[piece]} := ", *pieces, ")"]
        starts[piece] = length
        todo += reversed(pieces)
    return "".join(parts), places


def format_pattern(root: DFPattern) -> str:
    """The text of a pattern."""
    return format_with_places(root)[0]
