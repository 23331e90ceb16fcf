"""A scalar expression as one line of text for messages: `(n + 3) // 4 * 4`.

This is for people, not for parsing: dtypes are left out. The printer of scripts is another
room's.
"""

from __future__ import annotations

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Op

from .operands import operands_of

__all__ = ["format_expr"]

# Symbol and binding strength of what is written between its operands.
INFIX: dict[type[PrimExpr], tuple[str, int]] = {
    prim.Or: ("or", 1),
    prim.And: ("and", 2),
    prim.EQ: ("==", 4),
    prim.NE: ("!=", 4),
    prim.LT: ("<", 4),
    prim.LE: ("<=", 4),
    prim.GT: (">", 4),
    prim.GE: (">=", 4),
    prim.Add: ("+", 5),
    prim.Sub: ("-", 5),
    prim.Mul: ("*", 6),
    prim.Div: ("/", 6),
    prim.FloorDiv: ("//", 6),
    prim.FloorMod: ("%", 6),
}
# How tightly what is not written between operands holds together.
NOT, ATOM = 3, 9
COMPARING = 4
NAMED: dict[type[PrimExpr], str] = {
    prim.Min: "min",
    prim.Max: "max",
    prim.Mod: "truncmod",
    prim.Select: "select",
}

# What is left to write: text, or an expression and how tightly it must hold together.
_Piece = str | tuple[PrimExpr, int]


def format_expr(root: PrimExpr) -> str:
    """`root` as text, with no more parentheses than needed."""
    written: list[str] = []
    stack: list[_Piece] = [(root, 0)]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            written.append(piece)
            continue
        e, needed = piece
        pieces, strength = _pieces(e)
        if strength < needed:
            pieces = ["(", *pieces, ")"]
        stack.extend(reversed(pieces))
    return "".join(written)


def _pieces(e: PrimExpr) -> tuple[list[_Piece], int]:
    """The pieces of text for `e`, and how tightly they hold together."""
    infix = INFIX.get(type(e))
    if infix is not None:
        symbol, strength = infix
        a, b = operands_of(e)
        left = strength + 1 if strength == COMPARING else strength
        return [(a, left), f" {symbol} ", (b, strength + 1)], strength
    match e:
        case prim.Var(name=name):
            return [name], ATOM
        case prim.IntImm(value=value):
            text = str(bool(value)) if e.dtype.is_bool else str(value)
            return [text], ATOM
        case prim.FloatImm(value=number) | prim.StringImm(value=number):
            return [repr(number)], ATOM
        case prim.Not(a):
            return ["not ", (a, NOT)], NOT
        case prim.BufferLoad(buffer=buffer):
            return [f"{buffer.name}[", *_list(e), "]"], ATOM
        case prim.Let(var=var):
            return [f"let({var.name}, ", *_list(e), ")"], ATOM
    return [f"{_name(e)}(", *_list(e), ")"], ATOM


def _name(e: PrimExpr) -> str:
    match e:
        case prim.Cast(dtype=dtype):
            return dtype
        case prim.Call(op=Op(name)):
            return name.rpartition(".")[2]
        case prim.Call(op=op):
            return getattr(op, "name_hint", "call")
    return NAMED.get(type(e), type(e).__name__.lower())


def _list(e: PrimExpr) -> list[_Piece]:
    pieces: list[_Piece] = []
    for operand in operands_of(e):
        pieces += [", ", (operand, 0)] if pieces else [(operand, 0)]
    return pieces
