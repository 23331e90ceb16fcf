"""Names that users know as `relax.expr_functor`: visitors and mutators, a hook for each node."""

from __future__ import annotations

from relaxscript.builder.expr_functor import ExprFunctor, PyExprVisitor, visitor
from relaxscript.builder.expr_mutator import PyExprMutator, mutator

__all__ = ["ExprFunctor", "PyExprMutator", "PyExprVisitor", "mutator", "visitor"]
