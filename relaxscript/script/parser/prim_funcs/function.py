"""PrimFuncs: the signature, the body, and what is checked of the whole.

    function = "def" name "(" parameters ")" ["->" type] ":" { statement }

The statements are in `statement.py`; the printer's functions of the same names are the inverse.
"""

from __future__ import annotations

import ast
from functools import partial

from relaxscript.errors import Diagnostic, Source
from relaxscript.ir.prim import PrimType
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.tir import Block, PrimFunc
from relaxscript.ir.walk import free_vars
from relaxscript.ir.written_size import MOST_PARTS, size_when_written
from relaxscript.script.parser.diagnostics import Failed
from relaxscript.script.parser.environment import Environment
from relaxscript.script.parser.expression import key_of
from relaxscript.script.parser.module_context import ModuleContext
from relaxscript.script.parser.reporter import Reporter
from relaxscript.tir_builder.index_bounds import out_of_bounds_indices

from .assign import scalar_type
from .axis_kinds import doubtful_blocks
from .body import check_realized, parse_statements
from .context import TirContext
from .language import tir_context
from .memory import check_memory
from .signature import collect_declarations, parse_parameters
from .thread import check_launched

__all__ = ["parse_prim_func"]


def parse_prim_func(
    source: Source, node: ast.FunctionDef, environment: Environment, reporter: Reporter, *,
    private: bool, global_vars: dict[str, GlobalVar] | None, module_name: str = "",
    module: ModuleContext | None = None, check_well_formed: bool = True,
) -> PrimFunc | None:  # fmt: skip
    """The PrimFunc that a definition means; None when mistakes were recorded.

    `global_vars` are the functions of the module around it, `module_name` is its class. Without
    `check_well_formed`, what it uses need not have a value or memory.
    """
    before = len(reporter.diagnostics)
    cx = tir_context(source, environment, reporter, module or ModuleContext())
    cx.global_vars, cx.module_name = global_vars, module_name
    cx.check_well_formed = check_well_formed
    function = parse_function(cx, node, private)
    return None if reporter.failed_since(before) else function


# function = "def" name "(" parameters ")" ["->" type] ":" { statement }
def parse_function(cx: TirContext, node: ast.FunctionDef, private: bool = False) -> PrimFunc | None:
    """The function; None when mistakes were recorded."""
    before = len(cx.reporter.diagnostics)
    collect_declarations(cx, node.body)
    parse_parameters(cx, node)
    if node.returns is not None:
        parse_return_annotation(cx, node.returns)
    parse_statements(cx, node.body)
    check_realized(cx)
    if private and "global_symbol" in cx.builder.attrs:
        refuse_symbol(cx, node)
    if cx.reporter.failed_since(before):
        return None
    builder = cx.builder
    own = (cx.global_vars or {}).get(node.name)
    builder.name = node.name if own is None else own.name_hint
    builder.private, builder.rooted = private, not _is_rootless(node)
    builder.span = cx.source.name_span(node)
    function = builder.finish()
    if size_when_written(function.body) > MOST_PARTS:
        message = f"`{node.name}` has more than {MOST_PARTS:,} parts when it is written out"
        help = "bind what it uses again and again to a variable: `v: T.int64 = ...`"
        cx.error(node, "RX0104", message, help=help)
        return None
    if not cx.check_well_formed:
        return function
    check_declared(cx, function)
    check_launched(cx, function)
    check_memory(cx)
    for doubt in doubtful_blocks(function, cx.axis_places, partial(declares_reads, cx)):
        cx.report(doubt)
    refuse_indices(cx, function)
    return function


def refuse_symbol(cx: TirContext, node: ast.FunctionDef) -> None:
    """Report that a private function has a symbol to be called by."""
    places = (key_of(inner, "global_symbol") for inner in ast.walk(node))
    cx.error(
        next((place for place in places if place is not None), node), "RX0313",
        f"`{node.name}` is private and has a global symbol",
        help="leave out `private=True`, or the attribute `global_symbol`",
    )  # fmt: skip


def refuse_indices(cx: TirContext, function: PrimFunc) -> None:
    """Report indices that leave their buffers whenever the function is run."""
    for outside in out_of_bounds_indices(function, cx.index_places):
        cx.report(outside)


def declares_reads(cx: TirContext, block: Block) -> bool:
    """True if the script itself says what a block reads."""
    return not cx.builder.derived.get(block, (False, False))[0]


def parse_return_annotation(cx: TirContext, node: ast.expr) -> None:
    """The type of what the function returns."""
    try:
        if isinstance(node, ast.Constant) and node.value is None:
            return
        cx.builder.ret_type = PrimType.make(scalar_type(cx, node).dtype)
    except Failed:
        return


def check_declared(cx: TirContext, function: PrimFunc) -> None:
    """Every declared variable that is used gets its value from some shape or parameter."""
    if not cx.declared and not cx.captured:
        return
    free = set(free_vars(function))
    places = {var: var.span for var, _ in cx.declared.values()}
    for var, place in {**places, **cx.captured}.items():
        if var in free:
            name = var.name
            message = f"`{name}` has no value: no shape gives it one"
            help = f'make it a whole dimension of a shape: `T.Buffer(("{name}",), ...)`'
            cx.report(Diagnostic("RX0109", message, place, help=help))


def _is_rootless(node: ast.FunctionDef) -> bool:
    """True if the decorator says `s_tir=False`: the body is as written, with no root block."""
    return any(
        word.arg == "s_tir" and isinstance(word.value, ast.Constant) and word.value.value is False
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
        for word in decorator.keywords
    )
