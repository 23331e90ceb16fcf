"""Bindings of a backward pass: expressions that share parts become variables, each part once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relaxscript.builder import BlockBuilder
from relaxscript.builder.normal_form import is_simple, operands_of, same_info, with_operands
from relaxscript.errors import Span
from relaxscript.ir.relax import Expr, Tuple, Var
from relaxscript.ir.struct_info import StructInfo
from relaxscript.op import binary
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf

__all__ = ["Emitter"]


class Emitter:
    """Writes expressions behind what is written; mistakes are for callers to place.

    `before_use` is told each variable that an expression mentions, before that is written. `span`
    is the place of what is differentiated.
    """

    def __init__(self, builder: BlockBuilder) -> None:
        self.builder = builder
        self.before_use: Callable[[Var], None] | None = None
        self.span: Span | None = None

    def bind(self, expr: Expr, name: str = "", outlives: bool = False) -> Var:
        """A new variable with the value of an expression of leaves."""
        unique = self.builder.get_unique_name(name) if name else ""
        return self.builder.bind(expr, unique, self.span, outlives=outlives)

    def add(self, one: Expr, other: Expr, name: str) -> Var:
        """The sum of two leaves."""
        return self.bind(binary.add(one, other), name)

    def cast(self, leaf: Expr, info: StructInfo, name: str = "") -> Expr:
        """A leaf of which `info` is known; it is checked where nothing says it."""
        if same_info(struct_info_of_leaf(leaf), info):
            return leaf
        unique = self.builder.get_unique_name(name) if name else ""
        return self.builder.bind_match_cast(leaf, info, unique, self.span)

    def leaves(self, exprs: Sequence[tuple[Expr, str]]) -> list[Expr]:
        """Expressions as leaves; those that are none are bound under the names beside them.

        One expression that occurs in several places is one value.
        """
        names = {id(expr): name for expr, name in reversed(exprs)}
        done: dict[int, Expr] = {}
        for root, _ in exprs:
            pending = [root]
            while pending:
                expr = pending[-1]
                inner = [e for e in operands_of(expr) if id(e) not in done]
                if inner and id(expr) not in done:
                    pending += reversed(inner)
                    continue
                pending.pop()
                if id(expr) not in done:
                    done[id(expr)] = self._leaf(with_operands(expr, done), names.get(id(expr), ""))
        return [done[id(expr)] for expr, _ in exprs]

    def _leaf(self, expr: Expr, name: str) -> Expr:
        """An expression of leaves as one; a tuple of leaves is a leaf."""
        self.note_use(expr)
        if is_simple(expr) or isinstance(expr, Tuple):
            return expr
        normal = self.builder.normal(expr)
        return normal if is_simple(normal) else self.bind(normal, name)

    def note_use(self, expr: Expr) -> None:
        """Have written what a leaf needs."""
        if isinstance(expr, Var) and self.before_use is not None:
            self.before_use(expr)
