"""Rewriting several bindings of a dataflow block at once, wherever a context matches.

The block is a graph while it is rewritten: values change, bindings come and go. Where nothing
matches any more it is written in an order in which each binding follows what it uses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from relaxscript.builder import ExprMutator
from relaxscript.errors import quantity
from relaxscript.ir.module import IRModule
from relaxscript.ir.node import Node
from relaxscript.ir.relax import (
    Binding,
    Call,
    DataflowBlock,
    DataflowVar,
    Expr,
    LeafExpr,
    MatchCast,
    Tuple,
    TupleGetItem,
    Var,
    VarBinding,
)
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import mentioned

from .binding_order import in_order
from .context import as_variables
from .graph import BlockGraph, GraphSearch
from .pattern import DFPattern
from .rules import (
    MOST_ROUNDS,
    ContextRule,
    check_fits,
    endless,
    naming_rewriter,
    require_expr,
    rewrite_error,
)

__all__ = ["BlockRewriter"]


class BlockRewriter(ExprMutator):
    """Applies rules to each dataflow block, until none matches; other bindings stay."""

    def __init__(self, rules: Sequence[ContextRule], mod: IRModule | None = None) -> None:
        super().__init__(mod)
        self.rules = rules

    def enter(self, node: Node) -> bool | None:
        """Rewrite a dataflow block as a whole."""
        if not isinstance(node, DataflowBlock):
            return super().enter(node)
        block = _Block(self, node)
        if not block.rewrite(self.rules):
            return super().enter(node)
        self.builder.begin_dataflow()
        for binding, rule in block.in_order():
            self._write_back(binding, rule)
        self.builder.end_dataflow(node.span)
        return False

    def _write_back(self, binding: Binding, rule: str | None) -> None:
        value = self._substitute(binding.value)
        self.original = binding
        if rule is None:
            self.write(binding, value)
            return
        normal = self._normal(value, binding.span)
        info = self._derive_struct_info(normal, binding.span)
        known = binding.var.struct_info
        if known is not None:
            check_fits(info, known, rule, binding, self.builder.context)
        self.changed = True
        if known is not None and structural_equal(info, known):
            self.keep(VarBinding.make(binding.var, normal, span=binding.span))
        else:
            self.retype(VarBinding.make(binding.var, normal, span=binding.span), normal)

    def bind_inside(
        self, expr: Expr, done: dict[int, Expr], added: Callable[[Var, Expr], None]
    ) -> Expr:
        """The expression over variables: calls that are operands are bound to new ones.

        `done` has those that are bound by now, by their identity.
        """
        pending = [expr]
        while True:
            node = pending[-1]
            inner = _operands(node)
            missing = [e for e in inner if id(e) not in done and not _is_leaf(e)]
            if missing:
                pending += reversed(missing)
                continue
            pending.pop()
            made = _with_operands(node, [done.get(id(e), e) for e in inner])
            if not pending:
                return made
            if id(node) not in done:
                if not isinstance(made, Tuple):
                    info = self._derive_struct_info(made, node.span)
                    var = DataflowVar.make(self.builder.get_unique_name("lv"), info)
                    added(var, made)
                    made = var
                done[id(node)] = made


def _is_leaf(expr: Expr) -> bool:
    return isinstance(expr, LeafExpr) and type(expr) is not Tuple


def _operands(expr: Expr) -> Sequence[Expr]:
    match expr:
        case Call(args=args):
            return args
        case Tuple(fields=fields):
            return fields
        case TupleGetItem(tuple_value=value):
            return (value,)
    return ()


def _with_operands(expr: Expr, operands: Sequence[Expr]) -> Expr:
    if all(a is b for a, b in zip(operands, _operands(expr))):
        return expr
    match expr:
        case Call():
            return expr.replace(args=tuple(operands))
        case Tuple():
            return expr.replace(fields=tuple(operands))
    return expr.replace(tuple_value=operands[0])


class _Block:
    """A dataflow block while it is rewritten."""

    def __init__(self, mutator: BlockRewriter, block: DataflowBlock) -> None:
        self.mutator = mutator
        self.bindings: dict[Var, Binding] = {b.var: b for b in block.bindings}
        self.graph = BlockGraph(block.bindings)
        # The rule that gave a variable its value.
        self.rewritten: dict[Var, str] = {}

    def rewrite(self, rules: Sequence[ContextRule]) -> bool:
        """Apply rules until none matches; True if anything changed."""
        for _ in range(MOST_ROUNDS):
            changed = [rule for rule in rules if self._round(rule)]
            if not changed:
                return bool(self.rewritten)
        name = next(reversed(self.rewritten)).name_hint
        raise endless(changed[0].name, name, quantity(MOST_ROUNDS, "round"))

    def _round(self, rule: ContextRule) -> bool:
        """Apply a rule wherever it matches, once; True if anything changed."""
        search = GraphSearch(rule.constraints, self.graph)
        changed = False
        for var in list(dict.fromkeys(self.graph.candidates(search.first_part))):
            found = search.at(var) if var in self.graph.operands else None
            if found is not None and self._apply(rule, as_variables(found)):
                changed = True
        return changed

    def _apply(self, rule: ContextRule, found: dict[DFPattern, Expr]) -> bool:
        with naming_rewriter(rule.name):
            given = rule.rewriter(dict(found), MappingProxyType(self.graph.values))
        if not isinstance(given, Mapping):
            raise rewrite_error(
                f"the rewriter of `{rule.name}` gives `{given!r}`, which is no mapping",
                help="return the new value of each variable: `{matchings[pattern]: value}`",
            )
        changes: dict[Var, Expr] = {}
        for var, value in given.items():
            binding = self.bindings.get(var) if isinstance(var, Var) else None
            if binding is None or var not in self.graph.operands:
                raise rewrite_error(
                    f"the rewriter of `{rule.name}` gives a value for `{var!r}`, which the block "
                    "does not bind",
                    help="the variables are those that the patterns of calls match",
                )
            made = require_expr(value, rule.name, binding)
            old = binding.value
            if made is not old and made is not var and not structural_equal(made, old):
                changes[var] = made
        if not changes or (rule.may_skip and self._depends_on_itself(changes)):
            return False
        # What several new values share is bound once, and one that is a part of others to its own.
        done: dict[int, Expr] = {}
        for var, made in changes.items():
            if not _is_leaf(made) and done.setdefault(id(made), var) is not var:
                changes[var] = done[id(made)]
        for var, made in changes.items():
            self._replace(var, made, rule.name, done)
        for expr in found.values():
            self._drop_unused(expr)
        return True

    def _depends_on_itself(self, changes: Mapping[Var, Expr]) -> bool:
        """True if what replaces variables needs one of them, through bindings that stay."""
        seen: set[Var] = set()
        todo = [var for made in changes.values() for var in mentioned(made)]
        while todo:
            var = todo.pop()
            if var in changes:
                return True
            if var not in seen and var in self.bindings:
                seen.add(var)
                todo += mentioned(self.bindings[var].value)
        return False

    def _replace(self, var: Var, made: Expr, rule: str, done: dict[int, Expr]) -> None:
        normal = self.mutator.bind_inside(
            made, done, lambda new, value: self._add(new, value, rule)
        )
        binding = self.bindings[var]
        self.graph.remove(var, binding.value)
        self._set(VarBinding.make(var, normal, span=binding.span), rule)

    def _add(self, var: Var, value: Expr, rule: str) -> None:
        self._set(VarBinding.make(var, value), rule)

    def _set(self, binding: Binding, rule: str) -> None:
        self.bindings[binding.var] = binding
        self.graph.add(binding.var, binding.value)
        self.rewritten[binding.var] = rule

    def _drop_unused(self, expr: Expr) -> None:
        """Drop the binding of a variable that nothing uses any more, and what only it used."""
        todo = [expr]
        while todo:
            var = todo.pop()
            if not isinstance(var, DataflowVar) or var not in self.bindings:
                continue
            binding = self.bindings[var]
            if self.graph.users.get(var) or isinstance(binding, MatchCast):
                continue
            del self.bindings[var]
            self.graph.forget(var, binding.value)
            todo += mentioned(binding.value)

    def in_order(self) -> list[tuple[Binding, str | None]]:
        """The bindings in an order in which each follows what it uses, each with its rule."""
        found = in_order(self.bindings)
        if isinstance(found, tuple):
            raise self._in_circle(*found)
        return [(binding, self.rewritten.get(binding.var)) for binding in found]

    def _in_circle(self, var: Var, other: Var) -> Exception:
        culprit = next(v for v in (var, other, *self.rewritten) if v in self.rewritten)
        return rewrite_error(
            f"the rewriter of `{self.rewritten[culprit]}` makes `{var.name_hint}` and "
            f"`{other.name_hint}` use each other",
            self.bindings[culprit],
            "a new value uses what does not depend on the variables that it replaces",
        )
