"""From Python's `ast` to source in the house style: one subclass of `astunparse.Unparser`.

The house style is double quotes, parentheses only where needed, and comments as statements. A blank
line is between definitions; lines are broken at the width inside their brackets (`layout.py`). It
writes the syntax that scripts are printed in. What astunparse gets wrong of that (constants,
attributes, mixed slices) is right here: the source always means the tree that it was made from.

Text is collected as a list of pieces. With `record=True` the unparser also notes which pieces
belong to an `ast` node that has an `origin`. That is the IR node that it was made from; `places`
turns it into spans. Start reading at `unparse`.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from astunparse import Unparser

from .expressions import (
    CLOSE,
    COMMA,
    OPEN,
    ExpressionUnparser,
)
from .layout import lay_out
from .tree import Comment

__all__ = ["HouseUnparser", "Mark", "unparse"]

_DEFINITIONS = frozenset({ast.FunctionDef, ast.ClassDef})
Mark = tuple[Any, int, int]  # an IR node, its first piece and the piece after its last


def unparse(tree: ast.AST, width: int = 100) -> str:
    """The source of a module, statement or expression."""
    return HouseUnparser(tree, width).text


class _Methods(dict[type, Any]):
    """The visitor of each class of syntax, looked up once."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def __missing__(self, cls: type) -> Any:
        method = self[cls] = getattr(self.owner, f"_{cls.__name__}")
        return method


class HouseUnparser(ExpressionUnparser, Unparser):  # type: ignore[misc]
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

    def _AnnAssign(self, t: ast.AnnAssign) -> None:
        self.fill()
        self.dispatch(t.target)
        self.write(": ")
        self._annotation(t.annotation)
        if t.value is not None:
            self.write(" = ")
            self._value(t.value)

    def _annotation(self, tree: ast.expr) -> None:
        # One StructInfo is in many places and is one tree, so it is rendered once.
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
        elif t.orelse:
            self.fill("else")
            self.enter()
            self.dispatch(t.orelse)
            self.leave()

    def _While(self, t: ast.While) -> None:
        self._block("while ", t.test, t.body)

    def _block(self, word: str, test: ast.expr, body: list[ast.stmt]) -> None:
        self.fill(word)
        self._value(test)
        self.enter()
        self.dispatch(body)
        self.leave()

    def _For(self, t: ast.For) -> None:
        self.fill("for ")
        self._target(t.target)
        self.write(" in ")
        self.dispatch(t.iter)
        self.enter()
        self.dispatch(t.body)
        self.leave()

    def _ClassDef(self, t: ast.ClassDef) -> None:
        self._decorators(t.decorator_list)
        self.fill(f"class {t.name}")
        self.enter()
        self.dispatch(t.body)
        self.leave()

    def _FunctionDef(self, t: ast.FunctionDef) -> None:
        self._decorators(t.decorator_list)
        self.fill(f"def {t.name}")
        self.write(OPEN)
        self.dispatch(t.args)
        self.write(CLOSE)
        if t.returns is not None:
            self.write(" -> ")
            self._annotation(t.returns)
        self.enter()
        self.dispatch(t.body)
        self.leave()

    def _decorators(self, decorators: list[ast.expr]) -> None:
        self._blank()
        for decorator in decorators:
            self.fill("@")
            self.dispatch(decorator)

    def _arguments(self, t: ast.arguments) -> None:
        for index, parameter in enumerate(t.args):
            if index:
                self.write(COMMA)
            self.dispatch(parameter)

    def _arg(self, t: ast.arg) -> None:
        self.write(t.arg)
        if t.annotation is not None:
            self.write(": ")
            self._annotation(t.annotation)
