"""Relax functions: their beginning and end, and functions inside them.

    function  = decorators "def" name "(" parameters ")" ["->" annotation] ":" body
    body      = { statement } "return" expression

Shape variables are named by string dimensions or `n = T.int64()`. The printer's methods of the same
names are the inverse of these.
"""

from __future__ import annotations

import ast

from relaxscript.analysis.derive import alpha_rename
from relaxscript.analysis.inplace_use import uses_after_write, writer_name
from relaxscript.ir.relax import DataflowVar, Function, Var
from relaxscript.ir.struct_info import ObjectStructInfo
from relaxscript.ir.walk import free_vars
from relaxscript.script.parser.decorators import read_options, script_decorators
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed
from relaxscript.script.parser.fixits import end_with
from relaxscript.script.parser.macro import define_macro

from .body import parse_stmts, span_of_body
from .context import Header, RelaxContext
from .signature import parse_header

__all__ = ["bind_parameters", "parse_function", "parse_local_function"]


# function = header body
def parse_function(cx: RelaxContext, node: ast.FunctionDef, header: Header) -> Function | None:
    """The function; None when mistakes were recorded."""
    if not parse_body(cx, node, header):
        return None
    function = finish(cx, node, header)
    return None if reuses(cx, function) else function


# body = { statement } "return" expression
def parse_body(cx: RelaxContext, node: ast.FunctionDef, header: Header) -> bool:
    """Begin a function and read its statements; False when mistakes were recorded."""
    bind_parameters(cx, header)
    cx.returned = cx.has_result = False
    cx.declared = header
    cx.function_name = cx.function_name or header.name
    cx.builder.begin_function(header.name, header.params, header.pure, header.attrs)
    before = len(cx.reporter.diagnostics)
    parse_stmts(cx, node.body)
    failed = cx.reporter.failed_since(before)
    if not cx.returned and not failed:
        last = cx.last_bound
        cx.error(
            cx.source.name_span(node), "RX0105",
            f"the function `{node.name}` does not return anything",
            help=f"end the function with `return {last or '...'}`",
            edits=[end_with(cx.source, node, f"return {last}")] if last in cx.names else [],
        )  # fmt: skip
    return not failed and not header.failed and cx.has_result


def reuses(cx: RelaxContext, function: Function) -> bool:
    """Record every use of what a call has written into."""
    found = uses_after_write(function) if cx.builder.writes_in_place else []
    for var, _, span, call in found:
        writer = writer_name(call)
        written = var.name_hint if span is None or var.name_hint in span.text else span.text
        cx.error(
            span, "RX0403", f"`{written}` is used after `{writer}` wrote into it",
            labels=[(call.span, "writes into it")],
            help="use what the call gives; it is the same tensor",
        )  # fmt: skip
    return bool(found)


def bind_parameters(cx: RelaxContext, header: Header) -> None:
    """Parameters by their names; one whose annotation failed is unknown."""
    for param in header.params:
        cx.bind_name(param.name_hint, UNKNOWN if param.name_hint in header.unknown else param)
    for name, value in header.gathered.items():
        cx.bind_name(name, value)


def finish(cx: RelaxContext, node: ast.FunctionDef, header: Header) -> Function:
    """Close the function, whose result was compared with what was declared."""
    return cx.builder.end_function(
        header.ret, span=cx.source.span(node), body_span=span_of_body(cx, node.body),
        ret_span=None if node.returns is None else cx.source.span(node.returns), checked=True,
    )  # fmt: skip


def hide_dataflow_variables(cx: RelaxContext) -> None:
    """Criterion 11: a function does not capture variables of the dataflow block around it."""
    if not cx.check_well_formed:
        return
    inside = [name for name, v in cx.names.items() if isinstance(v, DataflowVar)]
    cx.hidden = {*cx.hidden, *inside}
    for name in inside:
        cx.bind_name(name, None)
        del cx.names[name]


def closure_body(cx: RelaxContext, node: ast.FunctionDef, header: Header, itself: Var) -> Function:
    inner = cx.state(
        outputs=set(), leaving=set(), unrolling=False, dims={**cx.dims, **header.introduced},
        hidden=cx.hidden, returned=False, has_result=False, declared=header,
        enclosing=[*cx.enclosing, itself],
    )  # fmt: skip
    with inner, cx.scope():
        hide_dataflow_variables(cx)
        cx.bind_name(node.name, itself)
        if header.ret is None and node.returns is None and cx.check_well_formed:
            del cx.names[node.name]
            cx.undeclared[node.name] = itself.span
        try:
            if parse_body(cx, node, header):
                return finish(cx, node, header)
            cx.builder.abandon_function()
            raise Failed
        finally:
            cx.undeclared.pop(node.name, None)


def parse_local_function(cx: RelaxContext, node: ast.FunctionDef) -> None:
    """A closure; it sees the names around it, and itself when its result is declared."""
    if define_macro(cx, node, cx.names, cx.dims):
        return
    decorators = script_decorators(node, cx.environment)
    if any(decorator.kind == "prim_func" for decorator in decorators):
        raise cx.error(
            cx.source.name_span(node), "RX0104",
            "a PrimFunc is not allowed inside a Relax function",
            help="put it beside the function, in the class under `@I.ir_module`",
        )  # fmt: skip
    options = read_options(cx, decorators[0] if decorators else None)
    header = parse_header(cx, node, options, local=True)
    # Its body calls it with variables of their own, not with those of the call that runs.
    type_inside = header.type_with(header.ret or ObjectStructInfo())
    known = alpha_rename(type_inside, {*header.introduced.values()})
    inside = cx.builder.current_block_is_dataflow() and node.name not in cx.leaving
    kind: type[Var] = DataflowVar if inside else Var
    itself = kind.make(node.name, known, span=cx.source.name_span(node))
    function = closure_body(cx, node, header, itself)
    info = cx.builder.struct_info(function)
    # What calls itself unchecked is known as it was known inside.
    known_inside = header.ret is not None or (
        not cx.check_well_formed and itself in free_vars(function)
    )
    var = itself if known_inside else kind.make(node.name, info, span=itself.span)
    cx.builder.emit_function(var, function)
    cx.bind_name(node.name, var)
    cx.last_bound = node.name
