"""The facts of `true_facts.txt`, and scalar expressions read from Python text."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from relaxscript.arith import Facts
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, Var, as_prim
from relaxscript_tests.arith.scalars import VARIABLES

__all__ = ["Fact", "expression", "facts_of", "true_facts"]

BINARY: dict[type[ast.AST], type[PrimExpr]] = {
    ast.Add: prim.Add, ast.Sub: prim.Sub, ast.Mult: prim.Mul, ast.FloorDiv: prim.FloorDiv,
    ast.Mod: prim.FloorMod, ast.Eq: prim.EQ, ast.NotEq: prim.NE, ast.Lt: prim.LT, ast.LtE: prim.LE,
    ast.Gt: prim.GT, ast.GtE: prim.GE, ast.And: prim.And, ast.Or: prim.Or,
}  # fmt: skip
FUNCTIONS: dict[str, type[PrimExpr]] = {
    "min": prim.Min, "max": prim.Max, "truncdiv": prim.Div, "truncmod": prim.Mod,
    "select": prim.Select,
}  # fmt: skip
UNARY: dict[type[ast.AST], Callable[[PrimExpr], PrimExpr]] = {
    ast.USub: lambda a: prim.Sub(as_prim(0), a),
    ast.Invert: lambda a: prim.Call("int64", "tir.bitwise_not", (a,)),
    ast.Not: prim.Not,
}
INTRINSICS = {"abs": "tir.abs", "if_then_else": "tir.if_then_else"}
BITS: dict[type[ast.AST], str] = {
    ast.LShift: "tir.shift_left", ast.RShift: "tir.shift_right", ast.BitAnd: "tir.bitwise_and",
    ast.BitOr: "tir.bitwise_or", ast.BitXor: "tir.bitwise_xor",
}  # fmt: skip


class Fact(NamedTuple):
    """What is true, where it is, and whether variables may be negative there."""

    text: str
    claim: PrimExpr
    given: tuple[PrimExpr, ...]
    signed: bool

    @property
    def facts(self) -> Facts:
        """What is assumed."""
        return facts_of(self.given, self.signed)


def facts_of(given: tuple[PrimExpr, ...], signed: bool) -> Facts:
    """Conditions as `Facts`."""
    return reduce(Facts.with_condition, given, Facts(nonnegative=not signed))


def true_facts(section: str | None = None) -> list[Fact]:
    """All facts, or those of the section of that heading."""
    text = Path(__file__).with_name("true_facts.txt").read_text("utf-8")
    found = []
    for part in text.split("\n[")[1:]:
        heading, _, lines = part.partition("]\n")
        if section is None or heading == section:
            found += [_fact(line) for line in lines.splitlines() if line]
    return found


def _fact(line: str) -> Fact:
    text, _, given = line.removeprefix("signed:").partition(" given ")
    names = {v.name: v for v in VARIABLES}
    claim = expression(text, names)
    parsed = ast.parse(f"[{given}]", mode="eval").body
    conditions = tuple(_read(e, names) for e in parsed.elts)  # type: ignore[attr-defined]
    return Fact(line, claim, conditions, line.startswith("signed:"))


def expression(text: str, names: dict[str, Var] | None = None) -> PrimExpr:
    """The scalar expression that a text in Python's notation stands for, over int64 variables."""
    return _read(ast.parse(text.strip(), mode="eval").body, {} if names is None else names)


def _read(e: ast.expr, names: dict[str, Var]) -> PrimExpr:
    match e:
        case ast.Name(id=name):
            return names.setdefault(name, Var(name, "int64"))
        case ast.Constant(value=value):
            return as_prim(value)
        case ast.UnaryOp(op=op, operand=operand):
            return UNARY[type(op)](_read(operand, names))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BITS:
            return prim.Call("int64", BITS[type(op)], (_read(left, names), _read(right, names)))
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.Compare(left=left, ops=[op], comparators=[right])
        ):
            return BINARY[type(op)](_read(left, names), _read(right, names))
        case ast.BoolOp(op=op, values=values):
            return reduce(BINARY[type(op)], [_read(value, names) for value in values])
        case ast.Call(func=ast.Name(id=name), args=args):
            operands = [_read(arg, names) for arg in args]
            if name in INTRINSICS:
                return prim.Call("int64", INTRINSICS[name], tuple(operands))
            make = FUNCTIONS[name]
            return make(*operands) if make is prim.Select else reduce(make, operands)
    raise NotImplementedError(ast.dump(e))
