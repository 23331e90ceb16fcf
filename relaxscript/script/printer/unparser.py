"""From Python's `ast` to text in the house style: one subclass of `astunparse.Unparser`.

The house style is double quotes, parentheses only where they are needed, comments as statements,
a blank line between definitions, and lines broken at the width inside their brackets (`layout.py`).
What astunparse gets wrong on some Python (constants, attributes, mixed slices, type parameters,
`match`) is right here on each, so the text always means the tree it was made from.

Text is collected as a list of pieces. With `record=True` the unparser also notes which pieces
belong to an `ast` node that has an `origin`, the IR node that it was made from; `places` turns
that into spans. Start reading at `unparse`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from astunparse import Unparser

from relaxscript.script.syntax import OPERATOR_OF

from .expressions import (
    CLOSE,
    CLOSE_LIST,
    COMMA,
    LAST,
    OPEN,
    OPEN_LIST,
    ExpressionUnparser,
)
from .layout import lay_out
from .patterns import PatternUnparser
from .tree import Comment

__all__ = ["HouseUnparser", "Mark", "unparse"]

_DEFINITIONS = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
Mark = tuple[Any, int, int]  # an IR node, its first piece and the piece after its last


def unparse(tree: ast.AST, width: int = 100) -> str:
    """The text of a module, statement or expression."""
    return HouseUnparser(tree, width).text


class _Methods(dict[type, Any]):
    """The visitor of each class of syntax, looked up once."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def __missing__(self, cls: type) -> Any:
        method = self[cls] = getattr(self.owner, f"_{cls.__name__}")
        return method


class HouseUnparser(ExpressionUnparser, PatternUnparser, Unparser):  # type: ignore[misc]
    """Renders one tree when it is made; `text` is the result."""

    def __init__(
        self, tree: ast.AST, width: int = 100, record: bool = False, step: int = 4
    ) -> None:
        self.pieces: list[str] = []
        self.write = self.pieces.append
        self.methods = _Methods(self)
        self.width = width
        self.step = step
        self.marks: list[Mark] = []
        self.future_imports: list[str] = []
        self._rendered: dict[ast.AST, list[str]] = {}
        self._indent = 0
        self._newline = "\n"
        self._line = 0
        self.record = record
        self.dispatch = self._recording if record else self._plain
        self.dispatch(tree)
        self._end_line()
        self.text = "".join(self.pieces).removeprefix("\n")

    # ---- lines

    def fill(self, text: str = "") -> None:
        """Begin a line; the one before it is complete now."""
        self._end_line()
        self._line = len(self.pieces)
        self.write(self._newline)
        if text:
            self.write(text)

    def _end_line(self) -> None:
        line = self.pieces[self._line :]
        if len(line) > 1 and sum(map(len, line)) - 1 > self.width:
            lay_out(self.pieces, self._line, self.width, self.step)

    def enter(self) -> None:
        """Open a block."""
        self.write(":")
        self._indent += 1
        self._newline = "\n" + " " * self.step * self._indent

    def leave(self) -> None:
        """Close a block."""
        self._indent -= 1
        self._newline = "\n" + " " * self.step * self._indent

    def _blank(self) -> None:
        # Definitions are separated by a line, at the outermost level by two; one that begins a
        # block needs none.
        if len(self.pieces) > 0 and self.pieces[-1] != ":":
            self._end_line()
            self.write("\n" if self._indent else "\n\n")
            self._line = len(self.pieces)

    # ---- dispatch

    def _plain(self, tree: Any) -> None:
        self.methods[tree.__class__](tree)

    def _recording(self, tree: Any) -> None:
        start = len(self.pieces)
        self.methods[tree.__class__](tree)
        self._mark(tree, start)

    def _mark(self, tree: Any, start: int) -> None:
        for origin in getattr(tree, "origins", ()):
            self.marks.append((origin, start, len(self.pieces)))

    def _list(self, statements: Sequence[ast.stmt]) -> None:
        defined = False
        for statement in statements:
            if defined and statement.__class__ not in _DEFINITIONS:
                self._blank()
            self.dispatch(statement)
            defined = statement.__class__ in _DEFINITIONS

    # ---- statements

    def _Module(self, t: ast.Module) -> None:
        self._list(t.body)

    def _Comment(self, t: Comment) -> None:
        self.fill(f"# {t.text}".rstrip())

    def _Assign(self, t: ast.Assign) -> None:
        self.fill()
        for target in t.targets:
            self._target(target)
            self.write(" = ")
        self._value(t.value)

    def _AugAssign(self, t: ast.AugAssign) -> None:
        self.fill()
        self.dispatch(t.target)
        self.write(f" {OPERATOR_OF[t.op.__class__].symbol}= ")
        self._value(t.value)

    def _AnnAssign(self, t: ast.AnnAssign) -> None:
        self.fill()
        if not t.simple and isinstance(t.target, ast.Name):
            self._items("(", [t.target], ")")
        else:
            self.dispatch(t.target)
        self.write(": ")
        self._annotation(t.annotation)
        if t.value is not None:
            self.write(" = ")
            self._value(t.value)

    def _annotation(self, tree: ast.expr) -> None:
        # One StructInfo stands in many places and is one tree, so it is rendered once.
        if self.record:
            self.dispatch(tree)
            return
        known = self._rendered.get(tree)
        if known is None:
            start = len(self.pieces)
            self.dispatch(tree)
            self._rendered[tree] = self.pieces[start:]
        else:
            self.pieces += known

    def _Return(self, t: ast.Return) -> None:
        self.fill("return")
        if t.value is not None:
            self.write(" ")
            self._value(t.value)

    def _Delete(self, t: ast.Delete) -> None:
        self.fill("del ")
        self._items("", t.targets, "")

    def _Assert(self, t: ast.Assert) -> None:
        self.fill("assert ")
        self._value(t.test)
        if t.msg is not None:
            self.write(", ")
            self._value(t.msg)

    def _If(self, t: ast.If, word: str = "if ") -> None:
        self._block(word, t.test, t.body)
        if len(t.orelse) == 1 and t.orelse[0].__class__ is ast.If:
            following = t.orelse[0]
            start = len(self.pieces)
            self._If(following, "elif ")
            self._mark(following, start)
        else:
            self._else(t.orelse)

    def _While(self, t: ast.While) -> None:
        self._block("while ", t.test, t.body)
        self._else(t.orelse)

    def _block(self, word: str, test: ast.expr, body: list[ast.stmt]) -> None:
        self.fill(word)
        self._value(test)
        self.enter()
        self.dispatch(body)
        self.leave()

    def _else(self, body: list[ast.stmt]) -> None:
        if body:
            self.fill("else")
            self.enter()
            self.dispatch(body)
            self.leave()

    def _For(self, t: ast.For, word: str = "for ") -> None:
        self.fill(word)
        self._target(t.target)
        self.write(" in ")
        self.dispatch(t.iter)
        self.enter()
        self.dispatch(t.body)
        self.leave()
        self._else(t.orelse)

    def _AsyncFor(self, t: Any) -> None:
        self._For(t, "async for ")

    def _TryStar(self, t: Any) -> None:
        self.fill("try")
        self.enter()
        self.dispatch(t.body)
        self.leave()
        for handler in t.handlers:
            self._ExceptHandler(handler, "except*")
        self._else(t.orelse)
        if t.finalbody:
            self.fill("finally")
            self.enter()
            self.dispatch(t.finalbody)
            self.leave()

    def _ExceptHandler(self, t: ast.ExceptHandler, word: str = "except") -> None:
        self.fill(word)
        if t.type is not None:
            self.write(" ")
            self.dispatch(t.type)
        if t.name:
            self.write(f" as {t.name}")
        self.enter()
        self.dispatch(t.body)
        self.leave()

    def _ClassDef(self, t: ast.ClassDef) -> None:
        self._decorators(t.decorator_list)
        self.fill(f"class {t.name}")
        self._type_params(t)
        if t.bases or t.keywords:
            self._items(OPEN, [*t.bases, *t.keywords], CLOSE)
        self.enter()
        self.dispatch(t.body)
        self.leave()

    def _FunctionDef(self, t: ast.FunctionDef, word: str = "def") -> None:
        self._decorators(t.decorator_list)
        self.fill(f"{word} {t.name}")
        self._type_params(t)
        self.write(OPEN)
        self.dispatch(t.args)
        bare = t.args.vararg is None and not t.args.kwonlyargs and t.args.kwarg is None
        self.write(CLOSE if bare else LAST)
        if t.returns is not None:
            self.write(" -> ")
            self._annotation(t.returns)
        self.enter()
        self.dispatch(t.body)
        self.leave()

    def _AsyncFunctionDef(self, t: Any) -> None:
        self._FunctionDef(t, "async def")

    def _decorators(self, decorators: list[ast.expr]) -> None:
        self._blank()
        for decorator in decorators:
            self.fill("@")
            self.dispatch(decorator)

    def _type_params(self, t: Any) -> None:
        if getattr(t, "type_params", None):
            self._items(OPEN_LIST, t.type_params, CLOSE_LIST)

    def _TypeVar(self, t: Any) -> None:
        self._type_param("", t, t.bound)

    def _TypeVarTuple(self, t: Any) -> None:
        self._type_param("*", t, None)

    def _ParamSpec(self, t: Any) -> None:
        self._type_param("**", t, None)

    def _type_param(self, stars: str, t: Any, bound: ast.expr | None) -> None:
        self.write(stars + t.name)
        if bound is not None:
            self.write(": ")
            self.dispatch(bound)
        if getattr(t, "default_value", None) is not None:
            self.write(" = ")
            self.dispatch(t.default_value)

    def _TypeAlias(self, t: Any) -> None:
        self.fill("type ")
        self.dispatch(t.name)
        self._type_params(t)
        self.write(" = ")
        self._value(t.value)

    def _arguments(self, t: ast.arguments) -> None:
        """Parameters; a `/` follows the positional ones, a `*` precedes those by keyword."""
        plain = [*t.posonlyargs, *t.args]
        defaults = [*[None] * (len(plain) - len(t.defaults)), *t.defaults]
        parts: list[tuple[str, ast.arg | None, ast.expr | None]] = []
        for index, (arg, default) in enumerate(zip(plain, defaults, strict=True), 1):
            parts.append(("", arg, default))
            if index == len(t.posonlyargs):
                parts.append(("/", None, None))
        if t.vararg is not None or t.kwonlyargs:
            parts.append(("*", t.vararg, None))
        parts += [("", a, d) for a, d in zip(t.kwonlyargs, t.kw_defaults, strict=True)]
        if t.kwarg is not None:
            parts.append(("**", t.kwarg, None))
        for index, (sign, parameter, default) in enumerate(parts):
            if index:
                self.write(COMMA)
            if sign:
                self.write(sign)
            if parameter is not None:
                self.dispatch(parameter)
            if default is not None:
                self.write(" = " if parameter and parameter.annotation else "=")
                self.dispatch(default)

    def _arg(self, t: ast.arg) -> None:
        self.write(t.arg)
        if t.annotation is not None:
            self.write(": ")
            self._annotation(t.annotation)
