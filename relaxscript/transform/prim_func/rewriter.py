"""Statements rewritten from the outside in and back, with what is known around each of them."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.stmt_functor import parts_of_tir, rebuild_tir
from relaxscript.ir.tir import Stmt

__all__ = ["StatementRewriter"]

C = TypeVar("C")


class _Frame(Generic[C]):
    """A statement whose parts are being rewritten, in their order."""

    def __init__(self, original: Stmt, stmt: Stmt, context: C) -> None:
        self.original = original
        self.stmt = stmt
        self.context = context
        self.parts = [*parts_of_tir(stmt)]
        self.results: list[Any] = []
        self._left = iter(self.results)

    def result(self, part: Any) -> Any:
        """The part in the place of one; asked for each once, in their order."""
        return next(self._left)


class StatementRewriter(Generic[C]):
    """A rewriter of statements; what a derived class does not define changes nothing.

    `C` is what is known around a statement. A statement that is shared is rewritten once for all
    places around which the same is known; not so where `is_shared` is False. Nothing recurses.
    """

    is_shared = True

    def inside(self, stmt: Stmt, part: Stmt | PrimExpr, context: C) -> C:
        """All that is known around a part of a statement."""
        return context

    def enter(self, stmt: Stmt, context: C) -> Stmt:
        """A statement in the place of one, whose parts are then rewritten."""
        return stmt

    def scalar(self, e: PrimExpr, context: C) -> PrimExpr:
        """A scalar in the place of one."""
        return e

    def leave(self, stmt: Stmt, context: C) -> Stmt:
        """A statement in the place of one whose parts were rewritten."""
        return stmt

    def rewrite(self, root: Stmt, context: C) -> Stmt:
        """`root` rewritten; the same object where nothing changes."""
        done: dict[tuple[int, int], tuple[Stmt, C]] = {}
        frames = [_Frame(root, self.enter(root, context), context)]
        while True:
            frame = frames[-1]
            if len(frame.results) < len(frame.parts):
                part = frame.parts[len(frame.results)]
                inner = self.inside(frame.stmt, part, frame.context)
                if isinstance(part, PrimExpr):
                    frame.results.append(self.scalar(part, inner))
                    continue
                known = done.get((id(part), id(inner)))
                if known is not None and self.is_shared:
                    frame.results.append(known[0])
                else:
                    frames.append(_Frame(part, self.enter(part, inner), inner))
                continue
            made = self.leave(rebuild_tir(frame.stmt, frame.result), frame.context)
            # The context is kept, so that no other one has its identity.
            done[id(frame.original), id(frame.context)] = made, frame.context
            frames.pop()
            if not frames:
                return made
            frames[-1].results.append(made)
