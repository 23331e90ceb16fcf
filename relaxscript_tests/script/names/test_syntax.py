"""The tables of the notation agree with Python and with themselves."""

from __future__ import annotations

import ast

import pytest

from relaxscript.ir import prim
from relaxscript.script.names.syntax import (
    AXIS_LETTERS,
    LOOPS,
    OPERATORS,
    SCALAR_CALLS,
    SCALAR_OPERATORS,
)


@pytest.mark.parametrize("row", OPERATORS, ids=[row.symbol for row in OPERATORS])
def test_a_symbol_is_read_as_its_syntax(row):
    unary = issubclass(row.syntax, ast.unaryop)
    symbol = row.symbol.removeprefix("unary ")
    tree = ast.parse(f"{symbol} a" if unary else f"a {symbol} b", mode="eval").body
    (op,) = tree.ops if isinstance(tree, ast.Compare) else (tree.op,)
    assert type(op) is row.syntax


def test_the_levels_are_those_of_python():
    binary = [
        row for row in OPERATORS if issubclass(row.syntax, ast.operator) and row.symbol != "**"
    ]
    for weak in binary:
        for strong in binary:
            tree = ast.parse(f"a {weak.symbol} b {strong.symbol} c", mode="eval").body
            assert (type(tree.op) is weak.syntax and isinstance(tree.right, ast.BinOp)) == (
                weak.level < strong.level
            )


def test_every_scalar_with_two_operands_has_a_notation():
    def leaves(cls: type) -> set[type]:
        below = cls.__subclasses__()
        return {cls} if not below else {leaf for sub in below for leaf in leaves(sub)}

    for parent in (prim.Binary, prim.Comparison, prim.Logic):
        assert leaves(parent) <= {*SCALAR_OPERATORS, *SCALAR_CALLS}


def test_letters_and_words_are_all_different():
    assert len(set(AXIS_LETTERS.values())) == len(AXIS_LETTERS)
    assert len(set(LOOPS.values())) == len(LOOPS)
