"""Dataflow blocks: `with R.dataflow():`, and what leaves one.

block = { statement } "R.output(" names ")"
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from itertools import chain, count
from typing import Any

from relaxscript.script.names.relax_forms import dataflow
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed
from relaxscript.script.parser.expression import parse_expr
from relaxscript.script.parser.fixits import leave_out_name
from relaxscript.script.source.bound_names import assigned_names, last_targets, names_inside

from .body import parse_stmts
from .context import DataflowLocal, RelaxContext
from .result import parse_return

__all__ = ["parse_with", "stray_output"]


def parse_with(cx: RelaxContext, node: ast.With, block: ast.expr, name: ast.expr | None) -> None:
    """A dataflow block, which is all that `with` opens in Relax."""
    opened = parse_expr(cx, block.func if isinstance(block, ast.Call) else block)
    if opened is not dataflow:
        raise cx.error(block, "RX0104", "only `with R.dataflow():` has a meaning in Relax")
    inside = cx.builder.current_block_is_dataflow()
    if inside and cx.expanding and len(cx.scopes) == 1 and isinstance(block, ast.Call):
        # A macro that is used in a dataflow block has no block of its own: it is part of this one.
        merge_block(cx, node)
        return
    if not isinstance(block, ast.Call):
        written = f"{ast.unparse(block)}()"
        raise cx.error(
            block, "RX0104", "a dataflow block is opened by a call", help=f"write `{written}`",
            fix=written,
        )  # fmt: skip
    if name is not None:
        raise cx.error(
            name, "RX0104", "a dataflow block has no name",
            help=f"leave it out: `with {ast.unparse(block)}:`",
            edits=[leave_out_name(cx.source, block, name)],
        )  # fmt: skip
    if inside:
        raise cx.error(
            block, "RX0104", "a dataflow block is not allowed inside another",
            help="leave the inner `with` out: its statements belong to the block around it",
        )  # fmt: skip
    parse_dataflow(cx, node)


# block = { statement } "R.output(" names ")"
def parse_dataflow(cx: RelaxContext, node: ast.With) -> None:
    left = node.body[-1] if isinstance(node.body[-1], ast.Return) else None
    if cx.expanding:
        left = None  # said of the statement itself
    body, output = split_output(cx, node.body if left is None else node.body[:-1])
    last = last_targets(body)
    before = len(cx.reporter.diagnostics)
    names = output_names(cx, output, body, last)
    if left is not None and left.value is not None and output is None:
        body, names, left = parse_block_return(cx, body, left, left.value)
        last = last_targets(body)
    outputs = {t for name in names for t in last.get(name, ())}
    cx.builder.begin_dataflow()
    try:
        with cx.state(outputs=outputs, leaving=set(names), unrolling=False), cx.scope():
            parse_stmts(cx, body)
            kept = {name: cx.names.get(name, UNKNOWN) for name in names}
            inside = list(cx.scopes[-1])
    finally:
        cx.builder.end_dataflow(cx.source.span(node))
    # Where the outputs themselves are wrong, nobody knows what was to leave the block.
    known = not failed_outputs(cx, body, output, before)
    for name, earlier in inside:
        if name not in kept and earlier is cx and known:
            cx.dataflow_locals[name] = DataflowLocal(names, node, output)
        elif name not in kept and earlier is cx:
            cx.bind_name(name, UNKNOWN)
    for name, value in kept.items():
        cx.bind_name(name, value)
    if left is not None:
        parse_return(cx, left, left.value)


def merge_block(cx: RelaxContext, node: ast.With) -> None:
    """The statements of a dataflow block, in the one that is open."""
    body, output = split_output(cx, node.body)
    names = output_names(cx, output, body, last_targets(body))
    with cx.scope():
        parse_stmts(cx, body)
        kept = {name: cx.names.get(name, UNKNOWN) for name in names}
    for name, value in kept.items():
        cx.bind_name(name, value)


def parse_block_return(
    cx: RelaxContext, body: list[ast.stmt], last: ast.Return, value: ast.expr
) -> tuple[list[ast.stmt], list[str], ast.Return]:
    """`return y` at the end of a block: `R.output(y)`, and `return y` behind the block."""
    parts = list(value.elts) if isinstance(value, ast.Tuple) else [value]
    if all(isinstance(part, (ast.Name, ast.Constant)) for part in parts):
        bound = {name for statement in body for name in assigned_names(statement)}
        used = [part.id for part in parts if isinstance(part, ast.Name) and part.id in bound]
        return body, list(dict.fromkeys(used)), last
    known = {*cx.names, *(name for statement in body for name in names_inside(statement))}
    name = next(n for n in map("gv{}".format, chain([""], count(1))) if n not in known)
    target = ast.copy_location(ast.Name(name, ast.Store()), value)
    computed = ast.copy_location(ast.Assign([target], value), last)
    use = ast.copy_location(ast.Name(name, ast.Load()), value)
    return [*body, computed], [name], ast.copy_location(ast.Return(use), last)


def failed_outputs(
    cx: RelaxContext, body: list[ast.stmt], output: ast.Call | None, before: int
) -> bool:
    """True if a mistake was found in `R.output`, or in what is in its place."""
    last = body[-1] if body and isinstance(body[-1], ast.Expr) else None
    closing = output or last
    if closing is None:
        return False
    at = cx.span(closing)
    found = [d.span for d in cx.reporter.diagnostics[before:] if d.severity == "error"]
    return any(span is not None and at.contains(span) for span in found)


def split_output(cx: RelaxContext, body: list[ast.stmt]) -> tuple[list[ast.stmt], ast.Call | None]:
    """The statements of a dataflow block and the `R.output` that closes it."""
    match body[-1:]:
        case [ast.Expr(value=ast.Call(func=ast.Attribute(attr="output" | "outputs")) as call)]:
            return body[:-1], call
    return body, None


def stray_output(cx: RelaxContext, call: ast.Call) -> Failed:
    """Record an `R.output` that does not close a dataflow block."""
    written = ast.unparse(call.func)
    if cx.builder.current_block_is_dataflow():
        help = "write it as the last statement of the block, with all names that leave it"
    else:
        help = "write it as the last statement of `with R.dataflow():`"
    message = f"`{written}` belongs at the end of a dataflow block"
    return cx.error(call, "RX0107", message, help=help)


def output_names(
    cx: RelaxContext, output: ast.Call | None, body: list[ast.stmt], last: Mapping[str, Any]
) -> list[str]:
    """The names that leave a dataflow block; those that it binds are functions and `last`."""
    if output is None:
        return []
    bound = {statement.name for statement in body if isinstance(statement, ast.FunctionDef)}
    bound.update(last)
    names: list[str] = []
    for argument in output.args:
        if isinstance(argument, ast.Name) and argument.id in bound:
            names.append(argument.id)
        elif isinstance(argument, ast.Name):
            not_an_output(cx, argument, bound)
        else:
            quoted = isinstance(argument, ast.Constant) and argument.value in bound
            cx.error(
                argument, "RX0104", "`R.output` takes names that the block bound",
                help="write the name without quotes" if quoted else None,
                fix=str(argument.value) if quoted else None,  # type: ignore[attr-defined]
            )  # fmt: skip
    return names


def not_an_output(cx: RelaxContext, node: ast.Name, bound: set[str]) -> None:
    if node.id in cx.names:
        cx.error(
            node, "RX0107", f"`{node.id}` is not bound in this dataflow block",
            help="what was bound before is visible after the block anyway",
        )  # fmt: skip
        return
    with cx.state(names={**cx.names, **dict.fromkeys(bound)}):
        cx.language.undefined(cx, node)
