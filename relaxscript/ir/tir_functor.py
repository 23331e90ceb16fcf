"""Visitors and mutators of TIR as classes with a method for each class of node, by TVM's names.

    @tir.functor.mutator
    class Halve(tir.PyStmtExprMutator):
        def visit_float_imm_(self, op):
            return tir.FloatImm(op.dtype, op.value / 2)

    body = Halve().visit_stmt(func.body)

A method that a class does not define visits what is in the node. These methods call each other, so
what is nested very deep is for `ir_transform` and `post_order_visit`, which do not.

Source: TVM `tir.functor`.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Any, TypeVar

from . import prim, tir, tir_compute
from .field_types import brief
from .prim import PrimExpr
from .stmt_functor import parts_of_tir, rebuild_tir
from .tir import Stmt

__all__ = ["PyStmtExprMutator", "PyStmtExprVisitor", "mutator", "visitor"]

C = TypeVar("C", bound=type)


class _TIRHooks:
    """The methods for the classes of nodes, each of which visits what is in the node."""

    @abstractmethod
    def _visit_parts(self, op: Any) -> Any:
        """Visit what is in a node."""

    def _by_default(self, op: Any) -> Any:
        return self._visit_parts(op)

    visit_add_ = _by_default
    visit_and_ = _by_default
    visit_broadcast_ = _by_default
    visit_buffer_load_ = _by_default
    visit_call_ = _by_default
    visit_cast_ = _by_default
    visit_div_ = _by_default
    visit_eq_ = _by_default
    visit_float_imm_ = _by_default
    visit_floor_div_ = _by_default
    visit_floor_mod_ = _by_default
    visit_ge_ = _by_default
    visit_gt_ = _by_default
    visit_int_imm_ = _by_default
    visit_le_ = _by_default
    visit_let_ = _by_default
    visit_lt_ = _by_default
    visit_max_ = _by_default
    visit_min_ = _by_default
    visit_mod_ = _by_default
    visit_mul_ = _by_default
    visit_ne_ = _by_default
    visit_not_ = _by_default
    visit_or_ = _by_default
    visit_producer_load_ = _by_default
    visit_ramp_ = _by_default
    visit_reduce_ = _by_default
    visit_select_ = _by_default
    visit_shuffle_ = _by_default
    visit_size_var_ = _by_default
    visit_string_imm_ = _by_default
    visit_sub_ = _by_default
    visit_var_ = _by_default
    visit_allocate_ = _by_default
    visit_allocate_const_ = _by_default
    visit_assert_stmt_ = _by_default
    visit_attr_stmt_ = _by_default
    visit_block_ = _by_default
    visit_block_realize_ = _by_default
    visit_buffer_realize_ = _by_default
    visit_buffer_store_ = _by_default
    visit_decl_buffer_ = _by_default
    visit_evaluate_ = _by_default
    visit_for_ = _by_default
    visit_if_then_else_ = _by_default
    visit_let_stmt_ = _by_default
    visit_prefetch_ = _by_default
    visit_seq_stmt_ = _by_default
    visit_while_ = _by_default


class PyStmtExprVisitor(_TIRHooks):
    """A visitor of statements and scalars: `visit_for_`, `visit_add_` and so on may be defined.

    One that is defined calls `self.visit_stmt` and `self.visit_expr` for the parts it goes into.
    Source: TVM `tir.PyStmtExprVisitor`.
    """

    def visit_stmt(self, stmt: Stmt) -> None:
        """Visit a statement by the method for its class."""
        getattr(self, _method_for(stmt, Stmt, "visit_stmt"))(stmt)

    def visit_expr(self, expr: PrimExpr) -> None:
        """Visit a scalar by the method for its class."""
        getattr(self, _method_for(expr, PrimExpr, "visit_expr"))(expr)

    def _visit_parts(self, op: Any) -> None:
        for part in parts_of_tir(op):
            self.visit_stmt(part) if isinstance(part, Stmt) else self.visit_expr(part)


class PyStmtExprMutator(_TIRHooks):
    """A mutator of statements and scalars: a method for a class gives what takes a node's place.

    One that is defined calls `self.visit_stmt` and `self.visit_expr` for the parts to be replaced.
    What is not changed stays the same object. Source: TVM `tir.PyStmtExprMutator`.
    """

    def visit_stmt(self, stmt: Stmt) -> Any:
        """The statement in the place of one; raises `TypeError` where a method gives no other."""
        method = _method_for(stmt, Stmt, "visit_stmt")
        return _of_kind(Stmt, "statement", method, getattr(self, method)(stmt))

    def visit_expr(self, expr: PrimExpr) -> Any:
        """The scalar in the place of one; raises `TypeError` where a method gives no other."""
        method = _method_for(expr, PrimExpr, "visit_expr")
        return _of_kind(PrimExpr, "scalar", method, getattr(self, method)(expr))

    def _visit_parts(self, op: Any) -> Any:
        return rebuild_tir(op, self._visit)

    def _visit(self, part: Any) -> Any:
        return self.visit_stmt(part) if isinstance(part, Stmt) else self.visit_expr(part)


def _of_kind(wanted: type, noun: str, method: str, found: Any) -> Any:
    if not isinstance(found, wanted):
        raise TypeError(f"`{method}` gives {brief(found)}, where a {noun} is needed")
    return found


def _method_name(cls: type) -> str:
    """The method for a class: `visit_if_then_else_` for IfThenElse."""
    words = re.findall("[A-Z]+(?![a-z])|[A-Z][a-z]+", cls.__name__)
    return f"visit_{'_'.join(words).lower()}_"


_METHODS = {
    cls: _method_name(cls)
    for module in (prim, tir, tir_compute)
    for name in module.__all__
    if isinstance(cls := getattr(module, name), type)
    and issubclass(cls, (Stmt, PrimExpr))
    and hasattr(PyStmtExprVisitor, _method_name(cls))
}


def _method_for(node: Any, wanted: type, name: str) -> str:
    """The name of the method for a node."""
    found = _METHODS.get(type(node))
    if found is None or not isinstance(node, wanted):
        noun = "a statement" if wanted is Stmt else "a scalar"
        hint = "; a PrimFunc has one as its `body`" if isinstance(node, tir.PrimFunc) else ""
        raise TypeError(f"`{name}` takes {noun}, not {brief(node)}{hint}")
    return found


def visitor(cls: C) -> C:
    """Decorate a class that derives from `PyStmtExprVisitor`; raises `TypeError` for another.

    Source: TVM `tir.functor.visitor`.
    """
    return _derived(cls, PyStmtExprVisitor, "visitor")


def mutator(cls: C) -> C:
    """Decorate a class that derives from `PyStmtExprMutator`; raises `TypeError` for another.

    Source: TVM `tir.functor.mutator`.
    """
    return _derived(cls, PyStmtExprMutator, "mutator")


def _derived(cls: C, base: type, name: str) -> C:
    if not (isinstance(cls, type) and issubclass(cls, base)):
        raise TypeError(
            f"`tir.functor.{name}` decorates a class that derives from "
            f"`tir.{base.__name__}`, not {brief(cls)}"
        )
    return cls
