"""Meta-programming in PrimFuncs: macros are expanded, captured functions join the module.

statement = macro "(" arguments ")"               (the statements of the macro take its place)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import quantity
from relaxscript.ir import prim
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.tir import PrimFunc, SeqStmt, Stmt
from relaxscript.script.parser.argument_errors import bind_arguments
from relaxscript.script.parser.diagnostics import Failed
from relaxscript.script.parser.macro import (
    Macro,
    Returned,
    check_depth,
    define_macro,
    inside_macro,
    wrong_language,
)
from relaxscript.script.parser.python_call import parse_arguments
from relaxscript.tir_builder import Opener, sequence_of

from .assign import macro_argument
from .body import parse_statements, unsupported_statement
from .call import call_function
from .context import TirContext

__all__ = ["call_adopted", "expand_macro", "parse_inner_definition"]


def call_adopted(cx: TirContext, callee: GlobalVar, node: ast.Call) -> Any:
    """A call of a function that was taken in: its parameters and its result are known."""
    function = cx.module.adopted[callee.name_hint]
    written = cx.written(node.func)
    if not isinstance(function, PrimFunc):
        raise cx.error(node.func, "RX0103", f"`{written}` is no PrimFunc")
    call = call_function(cx, callee, node)
    if not isinstance(call, prim.Call) or len(call.args) != len(function.params):
        takes = quantity(len(function.params), "argument")
        raise cx.error(node, "RX0103", f"`{written}` takes {takes}, not {len(node.args)}")
    match function.ret_type:
        case None:
            dtype = DataType("void")
        case prim.PrimType(dtype=returned):
            dtype = returned
        case _:
            dtype = prim.HANDLE
    return prim.Call.make(dtype, callee, call.args, span=call.span)


def parse_inner_definition(cx: TirContext, node: ast.FunctionDef) -> None:
    if not define_macro(cx, node, cx.names):
        raise unsupported_statement(cx, node)


def expand_macro(cx: TirContext, macro: Macro, held: tuple[Any, ...], node: ast.Call) -> None:
    """Put the statements of a macro in the place of a use of it."""
    if macro.kind != "tir_macro":
        raise wrong_language(cx, macro, node)
    if node is not cx.as_statement:
        raise cx.error(
            node, "RX0105", f"the macro `{macro.name}` stands for statements and has no value",
            help=f"write `{cx.written(node)}` in a line of its own",
            labels=[(macro.span, "defined here")],
        )  # fmt: skip
    args, kwargs = parse_arguments(cx, node)
    args = [*held, *(macro_argument(value) for value in args)]
    kwargs = {name: macro_argument(value) for name, value in kwargs.items()}
    check_depth(cx, macro, node)
    values = bind_arguments(cx, macro.signature, node, args, kwargs, defined=macro.span)
    add_statements(cx, statements_of(cx, macro, node, values), node)


def statements_of(
    cx: TirContext, macro: Macro, node: ast.Call, values: dict[str, Any]
) -> list[Stmt | Opener]:
    """The statements that a macro stands for."""
    names = {} if macro.hygienic else cx.names
    declared = {} if macro.hygienic else dict(cx.declared)
    state = {
        "names": {**names, **values},
        "gone": {},
        "declared": dict(declared),
        "macro_depth": cx.depth,
        "macro_arguments": frozenset(values),
        "as_statement": None,
    }
    axes = len(cx.builder.innermost.iter_vars)
    follows = bool(cx.builder.items)
    before = len(cx.reporter.diagnostics)
    made: list[Stmt | Opener] = []
    around, cx.builder.items = cx.builder.items, made
    with inside_macro(cx, macro, node, state):
        try:
            with suppress(Returned):
                parse_statements(cx, macro.node.body)
        finally:
            cx.builder.items = around
        new = {key: known for key, known in cx.declared.items() if known not in declared.values()}
    for name, known in new.items():
        cx.declared[f"{name}'{len(cx.declared)}"] = known
    if follows and len(cx.builder.innermost.iter_vars) > axes:
        raise cx.error(node, "RX0504", "the axes of a block come before its statements",
                         help="move this line to the beginning of the block")  # fmt: skip
    if cx.reporter.failed_since(before):
        raise Failed
    return made


def add_statements(cx: TirContext, made: Sequence[Stmt | Opener], node: ast.Call) -> None:
    """Statements of a macro; what they open ends with the macro."""
    if all(isinstance(item, Stmt) for item in made):
        cx.builder.items.extend(made)
        return
    whole = sequence_of(made)
    cx.builder.items.extend(whole.seq if isinstance(whole, SeqStmt) else [whole])
