"""Control flow of Relax: `if` at run time, and what Python decides while the script is parsed.

    branch = "if" expression ":" body "else" ":" body     (the last statement binds the result)
    loop   = "for" targets "in" sequence ":" body         (over values known now: written out)

A condition that is a value of Python chooses now, as Python's own `if` does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

from relaxscript.errors import Edit, OperandError
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr, If, LeafExpr, SeqExpr, Tuple
from relaxscript.ir.struct_info import TupleStructInfo
from relaxscript.script.names.relax_forms import prim_value
from relaxscript.script.parser.compile_time import LoopExit, bind_item, count_step
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed, with_user_names
from relaxscript.script.parser.dimensions import is_number
from relaxscript.script.parser.expression import parse_expr, parse_iterable
from relaxscript.script.parser.fixits import add_else, return_after
from relaxscript.script.parser.script_context import ItemUse
from relaxscript.script.source.bound_names import assigned_names, assigned_targets, last_targets

from .binding import bind, constant_of, keep
from .body import parse_in_place, parse_stmts, span_of_body
from .context import RelaxContext
from .expression import as_leaf, expr_of

__all__ = ["leave_step", "parse_conditional", "parse_for", "parse_if"]


# statement = "for" targets "in" sequence ":" body
def parse_for(cx: RelaxContext, node: ast.For) -> None:
    """`for` over values known now: each step is written out, as Python would run it."""
    items = parse_iterable(cx, node.iter, ItemUse.LOOP)
    outputs = cx.outputs
    inside = {t for ts in last_targets(node.body).values() for t in ts}
    breaks = any(isinstance(inner, ast.Break) for inner in ast.walk(node))
    with cx.state(outputs=outputs, unrolling=True):
        try:
            for index, item in enumerate(items):
                count_step(cx, node.iter)
                final = breaks or index == len(items) - 1
                cx.outputs = outputs if final else outputs - inside
                step(cx, node, item)
            cx.outputs = outputs
            parse_in_place(cx, node.orelse)
        except LoopExit as end:
            if not end.leaves:
                raise


def step(cx: RelaxContext, node: ast.For, item: Any) -> None:
    """One step of a loop; after a mistake the others would only repeat it."""
    before = len(cx.reporter.diagnostics)
    # The names keep their values after the loop, as in Python.
    bind_item(
        cx, node.target, item, lambda name, part: cx.bind_name(name, keep(cx, part, node.iter))
    )
    try:
        parse_stmts(cx, node.body)
    except LoopExit as end:
        if end.leaves:
            raise
    if cx.reporter.failed_since(before):
        raise Failed


def leave_step(cx: RelaxContext, node: ast.Break | ast.Continue) -> None:
    """`break` and `continue` of a loop that is being written out."""
    word = "break" if isinstance(node, ast.Break) else "continue"
    if not cx.unrolling:
        raise cx.error(
            node, "RX0104", f"`{word}` is not allowed here",
            help="a loop is left by a condition that is known while the script is parsed",
        )  # fmt: skip
    raise LoopExit(word == "break")


def parse_conditional(cx: RelaxContext, node: ast.IfExp) -> Any:
    test = parse_expr(cx, node.test)
    if not isinstance(test, Node):
        return parse_expr(cx, node.body if test else node.orelse)
    parts = ", ".join(cx.written(part) for part in (node.test, node.body, node.orelse))
    raise cx.error(
        node, "RX0104",
        "`if` in an expression chooses while the script is parsed, and "
        f"`{cx.written(node.test)}` is known only later",
        help=f"write an `if` statement, or `R.where({parts})`", fix=f"R.where({parts})",
    )  # fmt: skip


# statement = "if" expression ":" branch "else" ":" branch
def parse_if(cx: RelaxContext, node: ast.If) -> None:
    try:
        condition = parse_expr(cx, node.test)
    except Failed:
        examine(cx, node)
        raise
    if isinstance(node.test, ast.Constant) and isinstance(condition, bool) and node.orelse:
        # Written out, it is the program's: its branches are scopes (spec "Variable Scoping").
        condition = prim_value(condition)
    if not isinstance(condition, (Expr, PrimExpr)):
        # A Python value is known now: Python's own `if`, decided while parsing.
        parse_in_place(cx, node.body if condition else node.orelse)
        return
    if cx.check_well_formed and cx.builder.current_block_is_dataflow():
        raise cx.error(
            node.test, "RX0307", "`if` is not allowed in a dataflow block",
            help="close the block with `R.output(...)` first, or use `R.where`",
        )  # fmt: skip
    cond = as_leaf(cx, expr_of(cx, condition, node.test), node.test)
    try:
        cx.builder.check_condition(cond)
    except OperandError as error:
        span = cx.source.span(node.test)
        diagnostic = error.diagnostic("if", span, {"condition": span})
        written = {"condition": ast.unparse(node.test)}
        cx.report(with_user_names(diagnostic, written))
        examine(cx, node)
        raise Failed from None
    branches(cx, node, cond)


def examine(cx: RelaxContext, node: ast.If, cond: Expr | None = None) -> None:
    """Report what is wrong in the branches of an `if` that cannot be made."""
    if cx.builder.current_block_is_dataflow():
        return
    for body, taken in ((node.body, True), (node.orelse, False)):
        if body and not isinstance(body[-1], ast.Return):
            known = cx.builder.context.branch(cond, taken) if cond is not None else nullcontext()
            with known:
                cx.builder.begin_scope()
                try:
                    with inside_branch(cx):
                        parse_stmts(cx, body)
                finally:
                    cx.builder.end_scope()


@contextmanager
def inside_branch(cx: RelaxContext) -> Iterator[None]:
    """A scope for names and dimensions; no loop around it goes on inside."""
    with cx.state(dims=dict(cx.dims), unrolling=False), cx.scope():
        yield


def branches(cx: RelaxContext, node: ast.If, cond: Expr) -> None:
    if not node.orelse:
        examine(cx, node, cond)
        raise missing_else(cx, node)
    edits = return_after(cx.source, node, unused_name(cx, "result"))
    if edits:
        raise returns(cx, node.body[-1], edits, [(node.orelse[-1], "returns as well")])
    with cx.builder.context.branch(cond, True):
        true_name, true_branch = one_branch(cx, node.body)
    with cx.builder.context.branch(cond, False):
        false_name, false_branch = one_branch(cx, node.orelse)
    if true_branch is None or false_branch is None:
        raise Failed
    if true_name != false_name:
        raise cx.error(
            node.orelse[-1], "RX0106", "the branches bind different names at their ends",
            labels=[
                (node.body[-1], f"binds `{true_name}`"),
                (node.orelse[-1], f"binds `{false_name}`"),
            ],
            help="the last statement of both branches binds the name that is used afterwards",
        )  # fmt: skip
    span, test_span = cx.source.span(node), cx.source.span(node.test)
    choice = If.make(cond, true_branch, false_branch, test_span, span=span)
    if ends_in_effect(node.body):
        cx.builder.bind(choice, "_", test_span)
        return
    target = assigned_targets(node.body[-1])[0]
    outlives = target in cx.outputs
    var = cx.builder.bind(choice, true_name, cx.source.span(target), outlives=outlives)
    cx.bind_name(true_name, var)
    cx.last_bound = true_name


def missing_else(cx: RelaxContext, node: ast.If) -> Failed:
    """Record an `if` without `else`; a name that was bound before keeps its value there."""
    names = assigned_names(node.body[-1])
    name = names[0] if names else "y"
    kept = isinstance(cx.names.get(name), Expr)
    value = name if kept else "..."
    return cx.error(
        node.test, "RX0106", "this `if` has no `else`",
        help=f"both ways must bind a value: add `else:` with `{name} = {value}`",
        edits=[add_else(cx.source, node, name)] if kept else [],
    )  # fmt: skip


def unused_name(cx: RelaxContext, wanted: str) -> str:
    name, number = wanted, 1
    while name in cx.names:
        name, number = f"{wanted}_{number}", number + 1
    return name


# branch = { statement }
def one_branch(cx: RelaxContext, body: list[ast.stmt]) -> tuple[str, SeqExpr | None]:
    """The name that the last statement binds, and the branch; None after a mistake."""
    early = next((s for s in body if isinstance(s, ast.Return)), None)
    if early is not None:
        returns(cx, early)
        return "", None
    names = ["_"] if ends_in_effect(body) else assigned_names(body[-1])
    if len(names) != 1:
        cx.error(
            body[-1], "RX0106", "a branch ends with the binding of one name",
            help="bind the value of the branch in its last statement: `y = ...`",
        )  # fmt: skip
        return "", None
    name = names[0]
    before = len(cx.reporter.diagnostics)
    cx.builder.begin_scope()
    result: Expr | None = None
    with suppress(Failed), inside_branch(cx):
        if ends_in_effect(body):
            parse_stmts(cx, body)
            result = last_effect(cx)
        else:
            parse_stmts(cx, body[:-1])
            result = branch_result(cx, body[-1], name)
    if result is None or cx.reporter.failed_since(before):
        cx.builder.end_scope()
        return name, None
    return name, cx.builder.end_scope(result, span_of_body(cx, body))


def last_effect(cx: RelaxContext) -> Expr:
    """The unit that the last call for its effect gives; a new one where it gives something."""
    last = cx.builder.current_scope.last_binding
    info = None if last is None else last.var.struct_info
    if last is not None and isinstance(info, TupleStructInfo) and not info.fields:
        return last.var
    return Tuple.make(())


def returns(
    cx: RelaxContext, node: ast.stmt, edits: Sequence[Edit] = (),
    labels: Sequence[tuple[ast.AST, str]] = (),
) -> Failed:  # fmt: skip
    """Record a `return` in a branch."""
    return cx.error(
        node, "RX0105", "a branch cannot return from the function", labels=labels, edits=edits,
        help="bind the value in both branches, and return it after the `if`",
    )  # fmt: skip


def branch_result(cx: RelaxContext, last: ast.stmt, name: str) -> Expr:
    """The value of a branch: what its last statement binds; a leaf stands for itself."""
    match last:
        case ast.Assign(targets=[ast.Name()], value=value):
            found = parse_expr(cx, value)
            if is_number(found):
                found = constant_of(cx, found, value)
            if isinstance(found, (tuple, PrimExpr)):
                found = expr_of(cx, found, value)
            if isinstance(found, Expr) and is_leaf(cx, found):
                return found
            bind(cx, ast.copy_location(ast.Name(name, ast.Store()), last.targets[0]), found, value)
        case _:
            cx.language.parse_stmt(cx, last)
    bound = cx.names.get(name)
    if isinstance(bound, Expr):
        return bound
    if bound is UNKNOWN:
        raise Failed
    raise cx.error(
        last, "RX0106", f"`{name}` is a value of Python, and a branch gives one of the program"
    )


def is_leaf(cx: RelaxContext, expr: Expr) -> bool:
    """True if an expression can be the value of a branch without a binding."""
    if isinstance(expr, Tuple):
        return all(is_leaf(cx, field) for field in expr.fields)
    return isinstance(expr, LeafExpr)


def ends_in_effect(body: Sequence[ast.stmt]) -> bool:
    """True if the last statement of a branch is a call for its effect: the branch gives unit."""
    match body[-1]:
        case ast.Expr(value=ast.Call()):
            return True
        case ast.If(body=true_body, orelse=[_, *_] as false_body):
            return ends_in_effect(true_body) and ends_in_effect(false_body)
    return False
