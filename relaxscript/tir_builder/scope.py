"""The scopes that `with` opens: statements are collected inside, and become one at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from relaxscript.ir.prim import const
from relaxscript.ir.tir import Evaluate, SeqStmt, Stmt

from .mistake import TIRError
from .operands import INT_DTYPE

if TYPE_CHECKING:
    from .block import OpenBlock
    from .builder import TIRBuilder

__all__ = ["Opener", "Scope", "sequence_of"]

# What a statement does to those after it: a variable, memory, or an assertion holds them as body.
Opener = Callable[[Stmt], Stmt]


class Scope:
    """A part of a program; `as` gives `value`, and `statement` is what it was, once it has ended.

    `close` makes the statement of what was collected; where it gives None, nothing is added.
    """

    def __init__(
        self, builder: TIRBuilder, written: str, close: Callable[[Stmt], Stmt | None],
        value: Any = None, block: OpenBlock | None = None, loops: int = 1,
    ) -> None:  # fmt: skip
        self.builder = builder
        # How it is called in scripts.
        self.written = written
        self.close = close
        self.value = value
        self.block = block
        # How much deeper the statements inside are.
        self.loops = loops
        self.statement: Stmt | None = None
        # Whether there were statements in it, at its end.
        self.is_filled = False
        self._items: list[Stmt | Opener] = []
        self._around: OpenBlock | None = None

    def __enter__(self) -> Any:
        builder = self.builder
        builder.check_unfinished(self.written)
        builder.open.append(self)
        self._items, builder.items = builder.items, []
        self._around = builder.innermost
        if self.block is not None:
            builder.innermost = self.block
        builder.depth += self.loops
        return self.value

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        builder = self.builder
        if kind is not None:
            self.abandon()
            return
        if self not in builder.open:
            raise TIRError("", f"`{self.written}` is not open", code="RX0105")
        if builder.open[-1] is not self:
            last = builder.open[-1].written
            message = f"`{last}` is still open"
            raise TIRError("", message, code="RX0105", help="scopes end innermost first")
        items = builder.items
        self.is_filled = bool(items)
        self.abandon()
        self.statement = self.close(sequence_of(items))
        if self.statement is not None:
            builder.add(self.statement)

    def abandon(self) -> None:
        """Forget what was collected, inside of scopes in it, too."""
        builder = self.builder
        while self in builder.open:
            scope = builder.open.pop()
            builder.items = scope._items
            assert scope._around is not None
            builder.innermost = scope._around
            builder.depth -= scope.loops


def sequence_of(items: Sequence[Stmt | Opener]) -> Stmt:
    """A list of statements as one; what an opener begins lasts to the end of the list."""
    rest: list[Stmt] = []
    for item in reversed(items):
        if isinstance(item, Stmt):
            rest.append(item)
        else:
            rest = [item(_sequence(rest))]
    return _sequence(rest)


def _sequence(backwards: list[Stmt]) -> Stmt:
    match backwards:
        case []:
            return Evaluate.make(const(0, INT_DTYPE))
        case [only]:
            return only
    return SeqStmt.make(tuple(reversed(backwards)))
