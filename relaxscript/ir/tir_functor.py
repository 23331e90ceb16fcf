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
from typing import Any, TypeVar

from . import prim, tir, tir_compute
from .field_types import brief
from .prim import PrimExpr
from .stmt_functor import parts_of_tir, rebuild_tir
from .tir import Stmt

__all__ = ["PyStmtExprMutator", "PyStmtExprVisitor", "mutator", "visitor"]

C = TypeVar("C", bound=type)


class PyStmtExprVisitor:
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

    visit_add_ = _visit_parts
    visit_and_ = _visit_parts
    visit_broadcast_ = _visit_parts
    visit_buffer_load_ = _visit_parts
    visit_call_ = _visit_parts
    visit_cast_ = _visit_parts
    visit_div_ = _visit_parts
    visit_eq_ = _visit_parts
    visit_float_imm_ = _visit_parts
    visit_floor_div_ = _visit_parts
    visit_floor_mod_ = _visit_parts
    visit_ge_ = _visit_parts
    visit_gt_ = _visit_parts
    visit_int_imm_ = _visit_parts
    visit_le_ = _visit_parts
    visit_let_ = _visit_parts
    visit_lt_ = _visit_parts
    visit_max_ = _visit_parts
    visit_min_ = _visit_parts
    visit_mod_ = _visit_parts
    visit_mul_ = _visit_parts
    visit_ne_ = _visit_parts
    visit_not_ = _visit_parts
    visit_or_ = _visit_parts
    visit_producer_load_ = _visit_parts
    visit_ramp_ = _visit_parts
    visit_reduce_ = _visit_parts
    visit_select_ = _visit_parts
    visit_shuffle_ = _visit_parts
    visit_size_var_ = _visit_parts
    visit_string_imm_ = _visit_parts
    visit_sub_ = _visit_parts
    visit_var_ = _visit_parts
    visit_allocate_ = _visit_parts
    visit_allocate_const_ = _visit_parts
    visit_assert_stmt_ = _visit_parts
    visit_attr_stmt_ = _visit_parts
    visit_block_ = _visit_parts
    visit_block_realize_ = _visit_parts
    visit_buffer_realize_ = _visit_parts
    visit_buffer_store_ = _visit_parts
    visit_decl_buffer_ = _visit_parts
    visit_evaluate_ = _visit_parts
    visit_for_ = _visit_parts
    visit_if_then_else_ = _visit_parts
    visit_let_stmt_ = _visit_parts
    visit_prefetch_ = _visit_parts
    visit_seq_stmt_ = _visit_parts
    visit_while_ = _visit_parts


class PyStmtExprMutator:
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

    visit_add_ = _visit_parts
    visit_and_ = _visit_parts
    visit_broadcast_ = _visit_parts
    visit_buffer_load_ = _visit_parts
    visit_call_ = _visit_parts
    visit_cast_ = _visit_parts
    visit_div_ = _visit_parts
    visit_eq_ = _visit_parts
    visit_float_imm_ = _visit_parts
    visit_floor_div_ = _visit_parts
    visit_floor_mod_ = _visit_parts
    visit_ge_ = _visit_parts
    visit_gt_ = _visit_parts
    visit_int_imm_ = _visit_parts
    visit_le_ = _visit_parts
    visit_let_ = _visit_parts
    visit_lt_ = _visit_parts
    visit_max_ = _visit_parts
    visit_min_ = _visit_parts
    visit_mod_ = _visit_parts
    visit_mul_ = _visit_parts
    visit_ne_ = _visit_parts
    visit_not_ = _visit_parts
    visit_or_ = _visit_parts
    visit_producer_load_ = _visit_parts
    visit_ramp_ = _visit_parts
    visit_reduce_ = _visit_parts
    visit_select_ = _visit_parts
    visit_shuffle_ = _visit_parts
    visit_size_var_ = _visit_parts
    visit_string_imm_ = _visit_parts
    visit_sub_ = _visit_parts
    visit_var_ = _visit_parts
    visit_allocate_ = _visit_parts
    visit_allocate_const_ = _visit_parts
    visit_assert_stmt_ = _visit_parts
    visit_attr_stmt_ = _visit_parts
    visit_block_ = _visit_parts
    visit_block_realize_ = _visit_parts
    visit_buffer_realize_ = _visit_parts
    visit_buffer_store_ = _visit_parts
    visit_decl_buffer_ = _visit_parts
    visit_evaluate_ = _visit_parts
    visit_for_ = _visit_parts
    visit_if_then_else_ = _visit_parts
    visit_let_stmt_ = _visit_parts
    visit_prefetch_ = _visit_parts
    visit_seq_stmt_ = _visit_parts
    visit_while_ = _visit_parts


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
