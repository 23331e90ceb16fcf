"""Rewriting values one by one, in all blocks, branches and local functions of a function.

Each value is matched with what its operands have become by then. What a rule gives is brought into
normal form by the builder, which types it again. It is matched until no rule changes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.builder import ExprMutator
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    Function,
    If,
    LeafExpr,
    MatchCast,
    Op,
    SeqExpr,
    Tuple,
    Var,
)
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import rewrite_top_down

from .graph import operands_of, root_operators
from .matcher import Match, Matcher
from .rules import (
    MOST_STEPS,
    ExprRule,
    check_fits,
    check_keeps_effects,
    endless,
    naming_rewriter,
    require_expr,
)

__all__ = ["CallRewriter"]


class CallRewriter(ExprMutator):
    """Applies rules to the value of each binding, the first that matches and changes it.

    `is_settled` says that no rule can match what came in with the last function.
    """

    def __init__(self, rules: Sequence[ExprRule], mod: IRModule | None = None) -> None:
        super().__init__(mod)
        self.module = mod
        self.is_settled = True
        self._matcher = Matcher(self)
        # The rules by the operator of the calls that they match, and those for any value.
        self._by_operator: dict[str, list[ExprRule]] = {}
        self._of_anything: list[ExprRule] = []
        operators = [root_operators(rule.pattern) for rule in rules]
        names = sorted(frozenset[str]().union(*(found or () for found in operators)))
        for name in names:
            self._by_operator[name] = [
                rule for rule, found in zip(rules, operators) if found is None or name in found
            ]
        self._of_anything = [rule for rule, found in zip(rules, operators) if found is None]
        # Variables that are not seen through: behind casts, and behind their dataflow block.
        self._opaque: set[Var] = set()
        self._leaving: list[Var] = []

    def get(self, var: Any, /) -> Expr | None:
        """The value of a variable, by variables that are in scope here."""
        return None if var in self._opaque else self.builder.lookup_binding(var)

    def keep(self, binding: Binding) -> None:
        """Write a binding as it is."""
        super().keep(binding)
        if isinstance(binding, MatchCast):
            self._opaque.add(binding.var)
        elif self.in_dataflow and not isinstance(binding.var, DataflowVar):
            self._leaving.append(binding.var)

    def leave(self, node: Node) -> None:
        """Close a block; what leaves it stays, and the variables of its value do not."""
        super().leave(node)
        if isinstance(node, DataflowBlock):
            self._opaque.update(self._leaving)
            self._leaving.clear()

    def binding(self, binding: Binding) -> None:
        """Write what becomes of a binding by the rules."""
        value = binding.value
        if isinstance(binding, MatchCast) or isinstance(value, (Var, If, Function, SeqExpr)):
            super().binding(binding)
            return
        made = self._settle(binding)
        if made is value:
            super().binding(binding)
        else:
            self.retype(binding, made)

    def _rules_for(self, expr: Expr) -> list[ExprRule]:
        if isinstance(expr, Call) and isinstance(expr.op, Op):
            return self._by_operator.get(expr.op.name, self._of_anything)
        return self._of_anything

    def _settle(self, binding: Binding) -> Expr:
        """The value of a binding when no rule changes it any more."""
        expr, steps = binding.value, 0
        while True:
            for rule in self._rules_for(expr):
                made = self._apply(rule, expr, binding)
                if made is not None:
                    break
            else:
                return expr
            expr, steps = made, steps + 1
            if isinstance(expr, (Var, If, Function)):
                return expr
            if steps == MOST_STEPS:
                raise endless(repr(rule.pattern), binding.var.name_hint, f"{steps} replacements")

    def _apply(self, rule: ExprRule, expr: Expr, binding: Binding) -> Expr | None:
        """The new value, in normal form; None where the rule leaves it as it is."""
        found = self._matcher.match(rule.pattern, expr)
        if found is None:
            return None
        with naming_rewriter(rule.pattern, binding):
            given = rule.rewriter(expr, found.as_met())
        made = require_expr(given, rule.pattern, binding)
        if made is expr:
            return None
        made = _by_variables(made, found, expr, self._matcher)
        if _is_unchanged(made, expr):
            return None
        if not self.in_dataflow:
            check_keeps_effects(made, binding, rule.pattern, self.module)
        if not _has_leaves_only(made):
            self.is_settled = False  # calls that nobody looked at yet are bound by this
        normal = self._normal(made, binding.span)
        before = self._derive_struct_info(expr, binding.span)
        info = self._derive_struct_info(normal, binding.span)
        check_fits(info, before, rule.pattern, binding, self.builder.context)
        self.changed = True
        return normal


def _has_leaves_only(expr: Expr) -> bool:
    """True if no operand of a value has operands itself."""
    return all(isinstance(e, LeafExpr) and type(e) is not Tuple for e in operands_of(expr))


def _is_unchanged(made: Expr, expr: Expr) -> bool:
    """True if a rewriter gave what there was; calls of two operators are told at a glance."""
    if isinstance(made, Call) and isinstance(expr, Call):
        a, b = made.op, expr.op
        if isinstance(a, Op) and isinstance(b, Op) and a.name != b.name:
            return False
    return structural_equal(made, expr)


def _by_variables(made: Expr, found: Match, root: Expr, matcher: Matcher) -> Expr:
    """The new value, in which what was matched behind variables is these variables again."""
    places: dict[int, Expr] = {}
    for met in found.memo.values():
        if isinstance(met, Var):
            value = matcher.resolve(met)
            if value is not met and value is not root:
                places.setdefault(id(value), met)
    if not places or (id(made) not in places and _has_leaves_only(made)):
        return made
    return rewrite_top_down(made, lambda node: places.get(id(node)))
