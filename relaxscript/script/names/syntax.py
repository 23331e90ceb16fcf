"""The notation that parser and printer share: symbols, precedence, words of the scalar language.

Everything here is a table. `OPERATORS` ties a symbol to its class in Python's `ast`, its precedence
and the scalar node that it means; the other tables name what is written as a call. Whatever is
printed by one of these tables is parsed by the same one.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.tir import ForKind
from relaxscript.tir_builder import AXIS_KINDS

__all__ = [
    "AXIS_LETTERS", "BUFFER_DIM_DTYPE", "DIM_DTYPE", "HEADERS", "LOOPS", "OPERATORS", "OPERATOR_OF",
    "SCALAR_CALLS", "SCALAR_OPERATORS", "TIR_INT_DTYPE", "Level", "OperatorSyntax",
]  # fmt: skip


class Level(IntEnum):
    """Precedence of Python's expressions, from the weakest binding to the strongest."""

    TEST = 1  # lambda
    OR = 2
    AND = 3
    NOT = 4
    COMPARE = 5
    BIT_OR = 6
    BIT_XOR = 7
    BIT_AND = 8
    SHIFT = 9
    SUM = 10
    TERM = 11
    FACTOR = 12
    POWER = 13
    AWAIT = 14
    ATOM = 15


class OperatorSyntax(NamedTuple):
    """A symbol: its class in `ast`, how strongly it binds, and the scalar node that it means."""

    symbol: str
    syntax: type[ast.AST]
    level: Level
    scalar: type[prim.PrimExpr] | None = None


# The symbol of a unary operator is called "unary -" where a binary one looks the same.
# fmt: off
OPERATORS = (
    OperatorSyntax("or",      ast.Or,       Level.OR,      prim.Or),
    OperatorSyntax("and",     ast.And,      Level.AND,     prim.And),
    OperatorSyntax("not",     ast.Not,      Level.NOT,     prim.Not),
    OperatorSyntax("==",      ast.Eq,       Level.COMPARE, prim.EQ),
    OperatorSyntax("!=",      ast.NotEq,    Level.COMPARE, prim.NE),
    OperatorSyntax("<",       ast.Lt,       Level.COMPARE, prim.LT),
    OperatorSyntax("<=",      ast.LtE,      Level.COMPARE, prim.LE),
    OperatorSyntax(">",       ast.Gt,       Level.COMPARE, prim.GT),
    OperatorSyntax(">=",      ast.GtE,      Level.COMPARE, prim.GE),
    OperatorSyntax("is",      ast.Is,       Level.COMPARE),
    OperatorSyntax("is not",  ast.IsNot,    Level.COMPARE),
    OperatorSyntax("in",      ast.In,       Level.COMPARE),
    OperatorSyntax("not in",  ast.NotIn,    Level.COMPARE),
    OperatorSyntax("|",       ast.BitOr,    Level.BIT_OR),
    OperatorSyntax("^",       ast.BitXor,   Level.BIT_XOR),
    OperatorSyntax("&",       ast.BitAnd,   Level.BIT_AND),
    OperatorSyntax("<<",      ast.LShift,   Level.SHIFT),
    OperatorSyntax(">>",      ast.RShift,   Level.SHIFT),
    OperatorSyntax("+",       ast.Add,      Level.SUM,     prim.Add),
    OperatorSyntax("-",       ast.Sub,      Level.SUM,     prim.Sub),
    OperatorSyntax("*",       ast.Mult,     Level.TERM,    prim.Mul),
    OperatorSyntax("@",       ast.MatMult,  Level.TERM),
    OperatorSyntax("/",       ast.Div,      Level.TERM,    prim.Div),
    OperatorSyntax("//",      ast.FloorDiv, Level.TERM,    prim.FloorDiv),
    OperatorSyntax("%",       ast.Mod,      Level.TERM,    prim.FloorMod),
    OperatorSyntax("unary -", ast.USub,     Level.FACTOR),
    OperatorSyntax("unary +", ast.UAdd,     Level.FACTOR),
    OperatorSyntax("~",       ast.Invert,   Level.FACTOR),
    OperatorSyntax("**",      ast.Pow,      Level.POWER),
)
# fmt: on

OPERATOR_OF: Mapping[type[ast.AST], OperatorSyntax] = {row.syntax: row for row in OPERATORS}
SCALAR_OPERATORS: Mapping[type[prim.PrimExpr], OperatorSyntax] = {
    row.scalar: row for row in OPERATORS if row.scalar is not None
}

# Scalar nodes that are written as calls of `T.<name>`, their fields being the arguments in order,
# where they are not written with a symbol.
SCALAR_CALLS: Mapping[type[prim.PrimExpr], str] = {
    prim.Max: "max",
    prim.Min: "min",
    prim.Div: "truncdiv",  # of integers
    prim.Mod: "truncmod",
    prim.FloorDiv: "FloorDiv",  # of floats
    prim.FloorMod: "FloorMod",
    prim.Cast: "Cast",
    prim.Select: "Select",
    prim.Ramp: "Ramp",
    prim.Broadcast: "Broadcast",
    prim.Shuffle: "Shuffle",
}

# What a whole number means where nothing beside it says more.
DIM_DTYPE = DataType("int64")  # a dimension in Relax
BUFFER_DIM_DTYPE = DataType("int64")  # a dimension of a buffer
TIR_INT_DTYPE = DataType("int32")  # anywhere else in a PrimFunc

# ForKind -> the word of `T.`
LOOPS: Mapping[str, str] = {
    ForKind.SERIAL: "serial",
    ForKind.PARALLEL: "parallel",
    ForKind.VECTORIZED: "vectorized",
    ForKind.UNROLLED: "unroll",
    ForKind.THREAD_BINDING: "thread_binding",
}

# The letters of the kinds of axes of a block, as in `T.axis.remap`.
AXIS_LETTERS: Mapping[str, str] = {kind: letter for letter, kind in AXIS_KINDS.items()}

# The comment at the top of a script for each namespace that it uses.
HEADERS: Mapping[str, str] = {"ir": "ir", "tir": "tir", "relax": "relax"}
