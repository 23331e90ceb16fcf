"""Control flow of Relax: `if` at run time, and what Python decides while the script is parsed.

    branch = "if" expression ":" body "else" ":" body     (the last statement binds the result)
    loop   = "for" targets "in" sequence ":" body         (over values known now: written out)

A condition that is a value of Python chooses now, as Python's own `if` does.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from typing import Any

from relaxscript.errors import Edit, OperandError, Span
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr, If, LeafExpr, SeqExpr, Tuple
from relaxscript.ir.struct_info import TupleStructInfo
from relaxscript.script.relax_forms import prim_value

from .assigned import assigned_names, assigned_targets, last_targets
from .base import UNKNOWN, Failed
from .blame import in_the_users_words
from .corrections import add_else, return_after
from .dimensions import is_number
from .relax_binding import RelaxBindings

__all__ = ["RelaxControl"]


class _LeaveLoop(Exception):
    """`break`: the steps that are left are not written out."""


class _NextStep(Exception):
    """`continue`: the rest of the step is not written out."""


class RelaxControl(RelaxBindings, ABC):
    """Branches and loops; the statements inside are the derived class's."""

    unrolling = False

    @abstractmethod
    def statement(self, node: ast.stmt) -> None:
        """One statement; raises `Failed` after recording a mistake."""

    @abstractmethod
    def statements(self, body: Iterable[ast.stmt]) -> None:
        """Every statement; one that fails leaves the names it assigns unknown."""

    @abstractmethod
    def body_span(self, body: Sequence[ast.stmt]) -> Span | None:
        """From the first statement to the last."""

    # statement = "for" targets "in" sequence ":" body
    def loop(self, node: ast.For) -> None:
        """`for` over values known now: each step is written out, as Python would run it."""
        items = self.host_iterable(node.iter, "gone through by `for`")
        outer, self.unrolling = self.unrolling, True
        outputs = self.outputs
        inside = {t for ts in last_targets(node.body).values() for t in ts}
        breaks = any(isinstance(inner, ast.Break) for inner in ast.walk(node))
        try:
            for index, item in enumerate(items):
                self.count_step(node.iter)
                final = breaks or index == len(items) - 1
                self.outputs = outputs if final else outputs - inside
                self.step(node, item)
            self.outputs = outputs
            self.statements_in_place(node.orelse)
        except _LeaveLoop:
            return
        finally:
            self.outputs, self.unrolling = outputs, outer

    def step(self, node: ast.For, item: Any) -> None:
        """One step of a loop; after a mistake the others would only repeat it."""
        before = len(self.reporter.diagnostics)
        self.bind_step(node.target, item, node.iter)
        with suppress(_NextStep):
            self.statements(node.body)
        if any(d.severity == "error" for d in self.reporter.diagnostics[before:]):
            raise Failed

    def bind_step(self, target: ast.expr, item: Any, node: ast.expr) -> None:
        """The names of one step; they keep their values after the loop, as in Python."""
        match target:
            case ast.Name(id=name):
                self.bind_name(name, self.kept(item, node))
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for inner, part in zip(targets, self.parts_of_item(target, item, len(targets))):
                    self.bind_step(inner, part, node)
            case _:
                raise self.error(target, "RX0104", "only names can be bound by `for`")

    def leave_step(self, node: ast.Break | ast.Continue) -> None:
        """`break` and `continue` of a loop that is being written out."""
        word = "break" if isinstance(node, ast.Break) else "continue"
        if not self.unrolling:
            raise self.error(
                node, "RX0104", f"`{word}` cannot stand here",
                help="a loop is left by a condition that is known while the script is parsed",
            )  # fmt: skip
        raise _LeaveLoop if word == "break" else _NextStep

    def conditional(self, node: ast.IfExp) -> Any:
        test = self.value(node.test)
        if not isinstance(test, Node):
            return self.value(node.body if test else node.orelse)
        parts = ", ".join(self.written(part) for part in (node.test, node.body, node.orelse))
        raise self.error(
            node, "RX0104",
            "`if` in an expression chooses while the script is parsed, and "
            f"`{self.written(node.test)}` is known only later",
            help=f"write an `if` statement, or `R.where({parts})`", fix=f"R.where({parts})",
        )  # fmt: skip

    # statement = "if" expression ":" branch "else" ":" branch
    def branch(self, node: ast.If) -> None:
        try:
            condition = self.value(node.test)
        except Failed:
            self.examine(node)
            raise
        if isinstance(node.test, ast.Constant) and isinstance(condition, bool) and node.orelse:
            # Written out, it is the program's: its branches are scopes (spec "Variable Scoping").
            condition = prim_value(condition)
        if not isinstance(condition, (Expr, PrimExpr)):
            # A Python value is known now: Python's own `if`, decided while parsing.
            self.statements_in_place(node.body if condition else node.orelse)
            return
        if self.check_well_formed and self.builder.current_block_is_dataflow():
            raise self.error(
                node.test, "RX0307", "`if` cannot stand in a dataflow block",
                help="close the block with `R.output(...)` first, or use `R.where`",
            )  # fmt: skip
        cond = self.leaf(self.expr_of(condition, node.test), node.test)
        try:
            self.builder.check_condition(cond)
        except OperandError as error:
            span = self.source.span(node.test)
            diagnostic = error.diagnostic("if", span, {"condition": span})
            written = {"condition": ast.unparse(node.test)}
            self.report(in_the_users_words(diagnostic, written))
            self.examine(node)
            raise Failed from None
        self.branches(node, cond)

    def examine(self, node: ast.If, cond: Expr | None = None) -> None:
        """Report what is wrong in the branches of an `if` that cannot be made."""
        if self.builder.current_block_is_dataflow():
            return
        for body, taken in ((node.body, True), (node.orelse, False)):
            if body and not isinstance(body[-1], ast.Return):
                known = (
                    self.builder.context.branch(cond, taken) if cond is not None else nullcontext()
                )
                with known:
                    self.examine_branch(body)

    def examine_branch(self, body: list[ast.stmt]) -> None:
        """Report what is wrong in a branch; what it binds is forgotten."""
        dims, unrolling = dict(self.dims), self.unrolling
        self.unrolling = False
        self.builder.begin_scope()
        try:
            with self.scope():
                self.statements(body)
        finally:
            self.dims, self.unrolling = dims, unrolling
            self.builder.end_scope()

    def statements_in_place(self, body: list[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def branches(self, node: ast.If, cond: Expr) -> None:
        if not node.orelse:
            self.examine(node, cond)
            raise self.missing_else(node)
        edits = return_after(self.source, node, self.unused_name("result"))
        if edits:
            raise self.returns(node.body[-1], edits, [(node.orelse[-1], "returns as well")])
        with self.builder.context.branch(cond, True):
            true_name, true_branch = self.one_branch(node.body)
        with self.builder.context.branch(cond, False):
            false_name, false_branch = self.one_branch(node.orelse)
        if true_branch is None or false_branch is None:
            raise Failed
        if true_name != false_name:
            raise self.error(
                node.orelse[-1], "RX0106", "the branches bind different names at their ends",
                labels=[
                    (node.body[-1], f"binds `{true_name}`"),
                    (node.orelse[-1], f"binds `{false_name}`"),
                ],
                help="the last statement of both branches binds the name that is used afterwards",
            )  # fmt: skip
        span = self.source.span(node)
        choice = If.make(cond, true_branch, false_branch, self.source.span(node.test), span=span)
        if ends_in_effect(node.body):
            self.builder.bind(choice, "_", self.keyword_span(node))
            return
        target = assigned_targets(node.body[-1])[0]
        outlives = target in self.outputs
        var = self.builder.bind(choice, true_name, self.source.span(target), outlives=outlives)
        self.bind_name(true_name, var)
        self.last_bound = true_name

    def missing_else(self, node: ast.If) -> Failed:
        """Record an `if` without `else`; a name that was bound before keeps its value there."""
        names = assigned_names(node.body[-1])
        name = names[0] if names else "y"
        kept = isinstance(self.names.get(name), Expr)
        value = name if kept else "..."
        return self.error(
            node.test, "RX0106", "this `if` has no `else`",
            help=f"both ways must bind a value: add `else:` with `{name} = {value}`",
            edits=[add_else(self.source, node, name)] if kept else [],
        )  # fmt: skip

    def unused_name(self, wanted: str) -> str:
        name, number = wanted, 1
        while name in self.names:
            name, number = f"{wanted}_{number}", number + 1
        return name

    def keyword_span(self, node: ast.If) -> Span | None:
        """The condition of an `if`, which is where a missing `else` is shown."""
        return self.source.span(node.test)

    # branch = { statement }
    def one_branch(self, body: list[ast.stmt]) -> tuple[str, SeqExpr | None]:
        """The name that the last statement binds, and the branch; None after a mistake."""
        if self.returns_early(body):
            return "", None
        names = ["_"] if ends_in_effect(body) else assigned_names(body[-1])
        if len(names) != 1:
            self.error(
                body[-1], "RX0106", "a branch ends with the binding of one name",
                help="bind the value of the branch in its last statement: `y = ...`",
            )  # fmt: skip
            return "", None
        name = names[0]
        before = len(self.reporter.diagnostics)
        dims, unrolling = dict(self.dims), self.unrolling
        self.unrolling = False
        self.builder.begin_scope()
        try:
            with self.scope():
                if ends_in_effect(body):
                    self.statements(body)
                    result: Expr | None = self.last_effect()
                else:
                    self.statements(body[:-1])
                    result = self.branch_result(body[-1], name)
        except Failed:
            result = None
        finally:
            self.dims, self.unrolling = dims, unrolling
        failed = any(d.severity == "error" for d in self.reporter.diagnostics[before:])
        if result is None or failed:
            self.builder.end_scope()
            return name, None
        return name, self.builder.end_scope(result, self.body_span(body))

    def last_effect(self) -> Expr:
        """The unit that the last call for its effect gives; a new one where it gives something."""
        last = self.builder.last_binding
        info = None if last is None else last.var.struct_info
        if last is not None and isinstance(info, TupleStructInfo) and not info.fields:
            return last.var
        return Tuple.make(())

    def returns_early(self, body: list[ast.stmt]) -> bool:
        """Whether a branch returns, which only the end of a function may do."""
        at = next((s for s in body if isinstance(s, ast.Return)), None)
        if at is None:
            return False
        self.returns(at)
        return True

    def returns(
        self, node: ast.stmt, edits: Sequence[Edit] = (),
        labels: Sequence[tuple[ast.AST, str]] = (),
    ) -> Failed:  # fmt: skip
        """Record a `return` in a branch."""
        return self.error(
            node, "RX0105", "a branch cannot return from the function", labels=labels, edits=edits,
            help="bind the value in both branches, and return it after the `if`",
        )  # fmt: skip

    def branch_result(self, last: ast.stmt, name: str) -> Expr:
        """The value of a branch: what its last statement binds; a leaf stands for itself."""
        match last:
            case ast.Assign(targets=[ast.Name()], value=value):
                found = self.value(value)
                if is_number(found):
                    found = self.constant_of(found, value)
                if isinstance(found, (tuple, PrimExpr)):
                    found = self.expr_of(found, value)
                if isinstance(found, Expr) and self.is_leaf(found):
                    return found
                self.bind(
                    ast.copy_location(ast.Name(name, ast.Store()), last.targets[0]), found, value
                )
            case _:
                self.statement(last)
        bound = self.names.get(name)
        if isinstance(bound, Expr):
            return bound
        if bound is UNKNOWN:
            raise Failed
        raise self.error(
            last, "RX0106", f"`{name}` is a value of Python, and a branch gives one of the program"
        )

    def is_leaf(self, expr: Expr) -> bool:
        """Whether an expression can be the value of a branch without a binding."""
        if isinstance(expr, Tuple):
            return all(self.is_leaf(field) for field in expr.fields)
        return isinstance(expr, LeafExpr)


def ends_in_effect(body: Sequence[ast.stmt]) -> bool:
    """Whether the last statement of a branch is a call for its effect: the branch gives unit."""
    match body[-1]:
        case ast.Expr(value=ast.Call()):
            return True
        case ast.If(body=true_body, orelse=[_, *_] as false_body):
            return ends_in_effect(true_body) and ends_in_effect(false_body)
    return False
