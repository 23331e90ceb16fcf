"""Expressions as source; part of the unparser.

Every operand says how strongly it must bind where it is, so parentheses are written only where
they are needed. Start reading at `ExpressionUnparser._at_least`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from relaxscript.script.names.syntax import OPERATOR_OF, Level

from .layout import BinaryOperator, Close, Comma, LastClose, Open, Wrap

__all__ = [
    "CLOSE", "CLOSE_LIST", "COMMA", "HIDE", "LAST", "OPEN", "OPEN_LIST", "SHOW",
    "ExpressionUnparser", "level_of", "quote",
]  # fmt: skip

OPEN, CLOSE, LAST = Open("("), Close(")"), LastClose(")")
OPEN_LIST, CLOSE_LIST = Open("["), Close("]")
LAST_INDEX = LastClose("]")
OPEN_DICT, CLOSE_DICT = Open("{"), Close("}")
SHOW, WRAP, HIDE = Open(""), Wrap(""), LastClose("")
COMMA = Comma(", ")


def _operator(symbol: str, level: Level) -> BinaryOperator:
    piece = BinaryOperator(f" {symbol} ")
    piece.level = level
    return piece


SIGNS = {row.syntax: _operator(row.symbol, row.level) for row in OPERATOR_OF.values()}
UNARY = {
    row.syntax: {"not": "not "}.get(row.symbol, row.symbol.removeprefix("unary "))
    for row in OPERATOR_OF.values()
}


class ExpressionUnparser:
    """Visitors of expressions for a class that has `write`, `dispatch` and `record`."""

    pieces: list[str]
    write: Callable[[str], None]
    dispatch: Callable[[Any], None]
    record: bool

    def _target(self, target: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and len(target.elts) > 1:
            self._bare_tuple(target)
        else:
            self.dispatch(target)

    def _bare_tuple(self, t: ast.Tuple) -> None:
        self._items("", t.elts, "")

    def _items(self, opening: str, items: Iterable[ast.AST], closing: str) -> None:
        write, dispatch = self.write, self.dispatch
        write(opening)
        first = True
        for item in items:
            if first:
                first = False
            else:
                write(COMMA)
            dispatch(item)
        write(closing)

    def _at_least(self, level: Level, tree: ast.expr) -> None:
        """An operand: in parentheses if it binds more weakly than `level`."""
        if tree.__class__ is ast.Name or level_of(tree) >= level:
            self.dispatch(tree)
        else:
            self.write(OPEN)
            self.dispatch(tree)
            self.write(LAST)

    def _value(self, tree: ast.expr) -> None:
        """An expression that is alone, which parentheses allow to be broken."""
        self.write(SHOW if tree.__class__ in _BREAKABLE else WRAP)
        self.dispatch(tree)
        self.write(HIDE)

    def _Constant(self, t: ast.Constant) -> None:
        self._write_constant(t.value)

    def _write_constant(self, value: Any) -> None:
        match value:
            case str():
                self.write(quote(value))
            case bytes():
                self.write("b" + quote(value.decode("latin-1")) if value.isascii() else repr(value))
            case float() | complex():
                # A literal too large for a float is how Python writes infinity.
                self.write(repr(value).replace("inf", "1e309").replace("nan", "(1e309 - 1e309)"))
            case tuple():
                self._items(OPEN, [ast.Constant(item) for item in value], CLOSE)
            case _:
                self.write("..." if value is ... else repr(value))

    def _Lambda(self, t: ast.Lambda) -> None:
        arguments = t.args
        self.write("lambda " if arguments.args else "lambda")
        start = len(self.pieces)
        self.dispatch(arguments)
        # No bracket is around them, so no line may be broken between them.
        self.pieces[start:] = [str(piece) for piece in self.pieces[start:]]
        self.write(": ")
        self.dispatch(t.body)

    def _List(self, t: ast.List) -> None:
        self._items(OPEN_LIST, t.elts, CLOSE_LIST)

    def _Tuple(self, t: ast.Tuple) -> None:
        if len(t.elts) == 1:
            self.write(OPEN)
            self.dispatch(t.elts[0])
            self.write(",")
            self.write(LAST)
        else:
            self._items(OPEN, t.elts, CLOSE)

    def _Dict(self, t: ast.Dict) -> None:
        self.write(OPEN_DICT)
        for i, (key, value) in enumerate(zip(t.keys, t.values)):
            if i:
                self.write(COMMA)
            self.dispatch(key)
            self.write(": ")
            self.dispatch(value)
        self.write(CLOSE_DICT)

    def _UnaryOp(self, t: ast.UnaryOp) -> None:
        self.write(UNARY[t.op.__class__])
        self._at_least(OPERATOR_OF[t.op.__class__].level, t.operand)

    def _BinOp(self, t: ast.BinOp) -> None:
        # Chains such as a + b + c lean to the left and may be long: they are walked, not recursed.
        chain: list[ast.BinOp] = []
        left: ast.expr = t
        level = OPERATOR_OF[t.op.__class__].level
        while left.__class__ is ast.BinOp and not chain_ends(left, chain, level, self.record):
            chain.append(left)
            left = left.left
        if level is Level.POWER:
            self._at_least(Level.AWAIT, left)
        else:
            self._at_least(level, left)
        for node in reversed(chain):
            row = OPERATOR_OF[node.op.__class__]
            self.write(SIGNS[node.op.__class__])
            power = row.level is Level.POWER
            self._at_least(Level.FACTOR if power else Level(row.level + 1), node.right)

    def _Compare(self, t: ast.Compare) -> None:
        self._at_least(Level.BIT_OR, t.left)
        for op, operand in zip(t.ops, t.comparators):
            self.write(SIGNS[op.__class__])
            self._at_least(Level.BIT_OR, operand)

    def _BoolOp(self, t: ast.BoolOp) -> None:
        sign = SIGNS[t.op.__class__]
        above = Level(sign.level + 1)
        for i, value in enumerate(t.values):
            if i:
                self.write(sign)
            self._at_least(above, value)

    def _Attribute(self, t: ast.Attribute) -> None:
        value = t.value
        if value.__class__ is ast.Name and not self.record:
            self.write(f"{value.id}.{t.attr}")
            return
        if isinstance(value, ast.Constant) and type(value.value) in (int, float, complex):
            self._items(OPEN, [value], LAST)
        else:
            self._at_least(Level.ATOM, value)
        self.write(f".{t.attr}")

    def _Call(self, t: ast.Call) -> None:
        self._at_least(Level.ATOM, t.func)
        self._items(OPEN, [*t.args, *t.keywords] if t.keywords else t.args, CLOSE)

    def _Subscript(self, t: ast.Subscript) -> None:
        self._at_least(Level.ATOM, t.value)
        index = t.slice
        self.write(OPEN_LIST)
        if isinstance(index, ast.Tuple) and len(index.elts) > 1:
            self._bare_tuple(index)
        elif isinstance(index, ast.Tuple) and any(isinstance(e, ast.Slice) for e in index.elts):
            self.dispatch(index.elts[0])
            self.write(",")
        else:
            self.dispatch(index)
        self.write(LAST_INDEX)


def chain_ends(node: ast.expr, chain: list[ast.BinOp], level: Level, record: bool) -> bool:
    """True if a chain of operators of one level ends before `node`."""
    if not chain:
        return False
    if record or level is Level.POWER:
        return True
    return OPERATOR_OF[node.op.__class__].level is not level  # type: ignore[attr-defined]


_BREAKABLE = frozenset({ast.BinOp, ast.BoolOp, ast.Compare, ast.UnaryOp})
_LEVELS = {ast.Lambda: Level.TEST, ast.Compare: Level.COMPARE}


def level_of(tree: ast.expr) -> Level:
    """The level of precedence of an expression."""
    match tree:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.UnaryOp(op=op):
            return OPERATOR_OF[op.__class__].level
        case ast.Constant(value=int() | float() as value) if value < 0 or value != value:
            return Level.FACTOR if value == value else Level.ATOM
    return _LEVELS.get(tree.__class__, Level.ATOM)


def quote(text: str) -> str:
    """A literal of a string, in double quotes unless single ones save escapes."""
    literal = repr(text)
    if literal[0] == '"' or ('"' in text and "'" not in text):
        return literal
    inner = literal[1:-1]
    if '"' in text:
        inner = inner.replace("\\'", "'").replace('"', '\\"')
    return f'"{inner}"'
