"""The state of printing one Relax function: names, scopes, and statements that must come first."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Call,
    Expr,
    Function,
    GlobalVar,
    If,
    MatchCast,
    Op,
    SeqExpr,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.walk import walk

from . import tree
from .annotations import AnnotationPrinter
from .session import Session

__all__ = ["RelaxPrinter"]


class RelaxPrinter(AnnotationPrinter):
    """One Relax function that is being written, or a piece of one; it is used once."""

    def __init__(
        self, session: Session, print_expr: Callable[[RelaxPrinter, Expr], ast.expr]
    ) -> None:
        super().__init__(session)
        self.print_expr = print_expr
        # Operators that take nothing but that many tensors, with their names as syntax.
        self.plain_operators: dict[Op, tuple[int, ast.expr]] = {}
        # The statements that must come before the one that is being written.
        self.pending: list[ast.stmt] = []
        self.alias_needed = False
        self.root: Node | None = None  # what is written, in which variables are read
        self._read: set[Var] | None = None

    def define(self, var: Var, outlives: bool = False) -> ast.Name:
        """The left side of a binding."""
        known = self.trees.get(var)
        if known is None:
            name = self.names.get(var)
            if name is None:
                name = self.names.define(var, var.name_hint, outer=outlives)
            known = self.trees[var] = self.session.at(var, tree.name(name))
        return known

    def use(self, expr: Expr) -> ast.expr:
        """A use of a variable; one that nobody bound gets a name now."""
        if isinstance(expr, Var):
            return self.trees.get(expr) or self.define(expr)
        return self.print_expr(self, expr)

    @property
    def read(self) -> set[Var]:
        """The variables that are read anywhere; only unread ones may go without a name."""
        if self._read is None:
            self._read = set()
            for node in walk(self.root) if self.root is not None else ():
                self._read.update(_operands(node))
        return self._read

    def global_function(self, var: GlobalVar) -> ast.expr:
        """`cls.f`."""
        self.alias_needed = True
        owner = self.session.options.module_alias or self.session.module_name
        return tree.attribute(tree.name(owner), self.session.function_name(var.name_hint))


def _operands(node: Node) -> Iterable[Var]:
    """The variables that a node reads itself."""
    values: tuple[Any, ...] = ()
    match node:
        case Call(op=op, args=args):
            values = (op, *args)
        case VarBinding(value=value) | MatchCast(value=value) | TupleGetItem(tuple_value=value):
            values = (value,)
        case SeqExpr(body=value) | If(cond=value) | Function(body=value):
            values = (value,)
        case Tuple(fields):
            values = fields
    return (value for value in values if isinstance(value, Var))
