"""Parts of programs as scripts: an expression, a binding, a StructInfo, statements, a scalar.

    part        = { declaration } ( annotation | scalar | { statement } [ expression ] )
    declaration = name "=" "T.int64()" | name ":" annotation | name "=" "T.Buffer(...)"

What is free in a part is declared before it, as in its script. A part is Relax where it speaks of
`R`, else TIR; it is read as the body of a function whose parameters are what is declared.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from relaxscript.errors import Source
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimType, Var
from relaxscript.ir.relax import Expr, SeqExpr, Tuple
from relaxscript.script import ir as ir_names, relax as relax_names, tir as tir_names
from relaxscript.script.names import tir_statements
from relaxscript.script.names.annotations import AnnotationForm
from relaxscript.script.names.relax_forms import MatchCastValue
from relaxscript.script.names.tir_types import ScalarType, StmtForm
from relaxscript.script.names.tir_values import builder_argument
from relaxscript.script.source.plain_names import literal
from relaxscript.tir_builder import describe, in_root
from relaxscript.tir_builder.operands import range_between

from .annotation import parse_annotation
from .diagnostics import UNKNOWN, Failed
from .expression import parse_expr
from .module_context import ModuleContext
from .prim_funcs.body import parse_suite
from .prim_funcs.buffer import BufferSyntax, make_buffer
from .prim_funcs.context import TirContext
from .prim_funcs.effect import is_effect
from .prim_funcs.language import tir_context
from .prim_funcs.signature import collect_declarations
from .prim_funcs.table_statement import check_values
from .relax_functions.context import Header
from .relax_functions.function import bind_parameters, parse_function
from .relax_functions.language import relax_context
from .relax_functions.signature import parse_parameters, prelude
from .script_context import ScriptContext

__all__ = ["is_part", "part_of"]

_NAMESPACES = (ir_names, relax_names, tir_names)


def is_part(source: Source, body: Sequence[ast.stmt], known: Mapping[str, Any]) -> bool:
    """True if statements define nothing and are a part of a program; `known` are their names."""
    if any(isinstance(node, ast.ClassDef) for node in body):
        return False
    # A function is one of a part where something is declared before it.
    defines = any(isinstance(node, ast.FunctionDef) for node in body)
    if defines and not any(map(_declares, body)):
        return False
    speaks = _mentions(body, known, _NAMESPACES) or _refers(body)
    return speaks and not all(_names_a_value(source, node, known) for node in body)


def _declares(node: ast.stmt) -> bool:
    """True if a statement is `x: R.Tensor((2,), "float32")`, without a value."""
    return isinstance(node, ast.AnnAssign) and node.value is None


def _names_a_value(source: Source, node: ast.stmt, known: Mapping[str, Any]) -> bool:
    """True if a statement is `N = 64`, which means nothing by itself."""
    if not isinstance(node, ast.Assign) or isinstance(node.targets[0], ast.Subscript):
        return False
    calls = isinstance(node.value, ast.Call) and _mentions([node], known, (relax_names,))
    value = literal(source, node.value, [known])
    return not calls or not (value is UNKNOWN or isinstance(value, MatchCastValue))


def part_of(cx: ScriptContext, body: Sequence[ast.stmt], known: Mapping[str, Any]) -> Node | None:
    """The node of statements that are a part of a program; None when mistakes were recorded."""
    before = len(cx.reporter.diagnostics)
    is_relax = _mentions(body, known, (relax_names,)) or _refers(body)
    try:
        made = _relax_part(cx, body) if is_relax else _tir_part(cx, body)
    except Failed:
        return None
    return None if cx.reporter.failed_since(before) else made


def _mentions(
    body: Iterable[ast.stmt], known: Mapping[str, Any], namespaces: Sequence[Any]
) -> bool:  # fmt: skip
    """True if one of these namespaces is named in statements."""
    names = {node.id for root in body for node in ast.walk(root) if isinstance(node, ast.Name)}
    return any(known.get(name) is namespace for name in names for namespace in namespaces)


def _refers(body: Iterable[ast.AST]) -> bool:
    """True if statements mention the constants that a script holds as data."""
    nodes = (node for root in body for node in ast.walk(root))
    return any(isinstance(node, ast.Name) and node.id == "metadata" for node in nodes)


# ---------------------------------------------------------------- Relax


def _relax_part(around: ScriptContext, body: Sequence[ast.stmt]) -> Node | None:
    cx = relax_context(around, ModuleContext())
    declared = [node for node in body if isinstance(node, ast.AnnAssign) and node.value is None]
    rest = [node for node in body if not _declares(node)]
    value = None
    if rest and isinstance(rest[-1], ast.Expr):
        value = rest[-1].value
        rest.pop()
    function = _function(declared, rest, value, body[-1])
    cx.reporter.reading = (cx.source, function)
    cx.definition = function
    prelude(cx, rest)
    cx.unknown_dims.update(cx.dims.values())  # their values come from elsewhere
    params = parse_parameters(cx, function)
    header = Header("part", params, None, pure=False, unknown=frozenset(cx.unknown_parameters))
    if value is not None and _is_annotation(value):
        bind_parameters(cx, header)
        return parse_annotation(cx, value)
    made = parse_function(cx, function, header)
    return None if made is None else _unwrap(made.body, value)


def _function(
    declared: Sequence[ast.AnnAssign], rest: Sequence[ast.stmt], value: ast.expr | None,
    at: ast.stmt,
) -> ast.FunctionDef:  # fmt: skip
    """A function of what is declared that returns the value, or nothing where there is none."""
    empty = ast.copy_location(ast.Tuple([], ast.Load()), at)
    returned = ast.copy_location(ast.Return(empty if value is None else value), at)
    args = [
        ast.copy_location(ast.arg(node.target.id, node.annotation), node)
        for node in declared
        if isinstance(node.target, ast.Name)
    ]
    arguments = ast.arguments([], args, None, [], [], None, [])
    made = ast.FunctionDef("part", arguments, [*rest, returned], [], None)
    return ast.copy_location(made, at)


def _is_annotation(node: ast.expr) -> bool:
    """True if an expression is a StructInfo: `R.Object`, `R.Tensor(...)`, `R.Shape[n, 4]`."""
    while isinstance(node, (ast.Call, ast.Subscript)):
        node = node.func if isinstance(node, ast.Call) else node.value
    attr = node.attr if isinstance(node, ast.Attribute) else ""
    return isinstance(getattr(relax_names, attr, None), AnnotationForm)


def _unwrap(body: Expr, value: ast.expr | None) -> Node:
    """The part that became the body of a function."""
    if not isinstance(body, SeqExpr):
        return body
    if not body.blocks:
        return body.body
    only = body.blocks[0] if len(body.blocks) == 1 else None
    binding = only.bindings[0] if only is not None and len(only.bindings) == 1 else None
    if value is None and isinstance(body.body, Tuple):
        return binding or only or body
    # A call is bound to a variable that nobody wrote, before it is returned.
    if binding is not None and body.body is binding.var and not isinstance(value, ast.Name):
        return binding.value
    return body


# ---------------------------------------------------------------- TIR


def _tir_part(around: ScriptContext, body: Sequence[ast.stmt]) -> Node | None:
    """The statements, or what is after declarations: a scalar, a region, a type."""
    cx = tir_context(around.source, around.environment, around.reporter, ModuleContext())
    cx.check_well_formed = False
    *before, last = body
    collect_declarations(cx, body)
    value = last.value if isinstance(last, ast.Expr) else None
    if (
        value is None
        or _is_effect(cx, value)
        or not all(isinstance(node, ast.Assign) for node in before)
    ):
        made = parse_suite(cx, body)
        return in_root(cx.builder, made) if cx.builder.root.alloc_buffers else made
    parse_suite(cx, before)
    return _small_part(cx, value)


def _is_effect(cx: TirContext, node: ast.expr) -> bool:
    """True if an expression is a statement, such as `T.evaluate(...)`."""
    callee = parse_expr(cx, node.func) if isinstance(node, ast.Call) else None
    return is_effect(callee)


def _small_part(cx: TirContext, node: ast.expr) -> Node:
    """The node of an expression by itself."""
    value = parse_expr(cx, node)
    match value:
        case BufferSyntax():
            return make_buffer(cx, "buffer", value, cx.span(node))
        case StmtForm() if value.maker is tir_statements.Range:
            low, high = builder_argument("", value)
            check_values(cx, (low, high), node)
            with cx.builder_at(node):
                return range_between(low, high, ("value", "value"), cx.span(node))
        case ScalarType():
            return PrimType.make(value.dtype)
        case Var(name="", type_annotation=Node() as pointer):
            return pointer
        case Node():
            return value
    raise cx.error(
        node, "RX0104", f"this is {describe(value)}, and no part of a program",
        help="write a scalar, a region, a type or statements",
    )  # fmt: skip
