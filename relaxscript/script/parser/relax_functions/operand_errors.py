"""Blame in Relax: operands that do not go together, each fact at its operand and where it began.

Rules of operators know their operands by the names of parameters only; here these names become
places in the user's source and the user's own words.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any

from relaxscript.builder import left_to_devices, undecided
from relaxscript.dtypes import is_dtype
from relaxscript.errors import Diagnostic, Edit, Label, OperandError, Remark, Span
from relaxscript.ir.relax import Call, Expr, GlobalVar, Var
from relaxscript.ir.struct_info import StructInfo
from relaxscript.op import REGISTRY
from relaxscript.script.parser import suggestions as naming
from relaxscript.script.parser.annotation import parse_annotation
from relaxscript.script.parser.decorators import script_decorators
from relaxscript.script.parser.diagnostics import Failed, with_user_names
from relaxscript.script.parser.fixits import add_argument
from relaxscript.script.parser.match_cast_fix import MatchCastFix

from .context import RelaxContext

__all__ = [
    "explain",
    "is_prim_func",
    "label_declaration",
    "note_deferred_checks",
    "operand_error",
    "operand_nodes",
    "operator_of",
    "with_cast",
]  # fmt: skip


def note_deferred_checks(
    cx: RelaxContext,
    node: ast.AST,
    declared: ast.expr | None = None,
    callee: Any = None,
    value: Expr | None = None,
) -> None:
    """Record a warning for each thing that could not be decided while `node` was typed.

    `declared` is the annotation that it was compared with, `callee` what Python called there,
    `value` what the node means.
    """
    deferred_checks = cx.builder.deferred_checks
    if not deferred_checks:
        return
    operator = operator_of(cx, value)
    places = _operand_places(cx, operator, node) if callee is None else {}
    said: dict[Span | None, tuple[Diagnostic, bool | None, bool]] = {}
    for deferred in deferred_checks:
        if cx.module.global_infos.get("vdevice") and left_to_devices(deferred):
            continue
        checked = deferred.relation != "never"
        strict = cx.strict if checked else False
        fits = deferred.relation == "fits"
        whole = deferred.operand in ("the value", "the result")
        at = places.get(deferred.operand, node) if fits else node
        warning = undecided(deferred, cx.source.span(at))
        if fits and (whole or deferred.operand in places):
            written = declared if whole else None
            warning = label_declaration(cx, warning, written)
            warning = with_cast(cx, warning, deferred.b, at, written)
        if deferred.error is not None and callee is None:
            warning = _with_facts(cx, warning, deferred.error, places)
        first = said.get(warning.span)
        if first is None:
            said[warning.span] = _of_all_axes(cx, warning, places), strict, checked
            continue
        # One warning for an expression.
        known = first[0]
        if warning.message not in known.notes:
            notes = (*known.notes, warning.message)
            said[warning.span] = replace(known, notes=notes), *first[1:]
    for warning, strict, checked in said.values():
        cx.reporter.record_undecided(warning, strict, checked)
    deferred_checks.clear()


def _of_all_axes(
    cx: RelaxContext, warning: Diagnostic, places: Mapping[str, ast.expr]
) -> Diagnostic:
    """`.T` turns all axes; of a stack of matrices only the last two were meant."""
    for at in places.values():
        match at:
            case ast.Attribute(value=owner, attr="T"):
                var = _variable(cx, owner)
                rank = getattr(var.struct_info, "ndim", -1) if var is not None else -1
                if rank > 2:
                    axes = ", ".join(map(str, (*range(rank - 2), rank - 1, rank - 2)))
                    written = f"R.permute_dims({cx.written(owner)}, ({axes}))"
                    help = f"`.T` turns all axes; write `{written}` to turn the last two"
                    return replace(warning, help=help)
    return warning


def _with_facts(
    cx: RelaxContext, warning: Diagnostic, error: OperandError, nodes: dict[str, ast.expr]
) -> Diagnostic:
    """A warning with the facts about its operands, each at its place and where it began."""
    _restore_places(cx, error, nodes)
    spans = {name: cx.source.span(at) for name, at in nodes.items()}
    said = error.diagnostic("", None, spans)
    written = _short_words(cx, nodes)
    message = warning.message
    for name in error.facts:
        message = message.replace(f"`{name}`", f"`{written.get(name, name)}`")
    warning = replace(
        warning, message=message, labels=said.labels, notes=said.notes, help=said.help
    )
    return with_user_names(_with_origins(cx, warning, error, nodes), written)


def with_cast(
    cx: RelaxContext, found: Diagnostic, wanted: object, at: ast.AST, declared: ast.expr | None
) -> Diagnostic:
    """The finding that a value may not fit, with the cast that makes sure that it does.

    Without a StructInfo `wanted` no cast can; `declared` is how the script has written it.
    """
    if not isinstance(wanted, StructInfo) or not isinstance(at, ast.expr):
        return found
    text = wanted if declared is None else cx.source.span(declared).text
    known = [v for v in cx.dims.values() if cx.is_bound(v)]
    taken = {*cx.names, *cx.dims, *cx.environment.names()}
    settling = MatchCastFix(cx.source, cx.environment)
    help, fix = settling.with_cast(at, text, known, taken, cx.current)
    return replace(found, help=help or found.help, fix=fix)


def label_declaration(
    cx: RelaxContext, diagnostic: Diagnostic, node: ast.expr | None
) -> Diagnostic:
    """Shows the declaration that a value does not fit."""
    span = None if node is None else cx.source.span(node)
    if span is None:
        return diagnostic
    labels = (*diagnostic.labels, Label(span, "declared here"))
    return replace(diagnostic, labels=labels)


def operand_error(
    cx: RelaxContext, error: OperandError, node: ast.AST, expr: Expr | None, callee: Any = None
) -> Failed:
    """Operands that do not go together, each fact at its operand and where it got it."""
    for other in error.others:
        operand_error(cx, other, node, expr, callee)
    call = node if isinstance(node, ast.Call) else None
    callee = callee or operator_of(cx, expr)
    nodes = _operand_places(cx, callee, node)
    places = {name: cx.source.span(at) for name, at in nodes.items()}
    name = ast.unparse(call.func) if call is not None else _infix_text(node)
    at = cx.source.span(call.func if call and error.operand == "callee" else node)
    _restore_places(cx, error, nodes)
    _of_a_text(cx, error, nodes, callee)
    error.callee = error.callee or name
    diagnostic = error.diagnostic(name, at, places)
    blamed = nodes.get(error.operand)
    if blamed is not None:
        diagnostic = with_cast(cx, diagnostic, error.cast, blamed, None)
    var = _variable(cx, blamed)
    place = cx.unannotated_at.get(var.name_hint) if var is not None else None
    if place is not None and diagnostic.code == "RX0201" and error.wanted == "a tensor":
        annotated = f"{place.text}: R.Tensor"
        help, fix = f"say what it is: `{annotated}`", (Edit(place, annotated),)
        diagnostic = replace(diagnostic, help=help, fix=fix)
    if diagnostic.code in ("RX0401", "RX0402"):
        diagnostic = with_ways_out(cx, diagnostic, expr, node)
    written = _short_words(cx, nodes)
    return cx.report(with_user_names(_with_origins(cx, diagnostic, error, nodes), written))


def _short_words(cx: RelaxContext, nodes: Mapping[str, ast.expr]) -> dict[str, str]:
    """The code of each operand, where that is short enough to be its name in a sentence."""
    return {
        name: text
        for name, at in nodes.items()
        if len(text := cx.written(at)) < 40 and not isinstance(at, ast.Constant)
    }


def with_ways_out(
    cx: RelaxContext, diagnostic: Diagnostic, expr: Expr | None, node: ast.AST
) -> Diagnostic:
    """A mistake with the ways out for an impure call where none is allowed."""
    call = node if isinstance(node, ast.Call) else None
    callee = expr.op if isinstance(expr, Call) else None
    if isinstance(callee, GlobalVar) and call is not None and is_prim_func(cx, callee.name_hint):
        given = ", ".join(cx.written(a) for a in call.args)
        inside = f"({given},)" if len(call.args) == 1 else f"({given})"
        written = cx.written(call.func)
        help = f"write `R.call_tir({written}, {inside}, out_sinfo=R.Tensor(...))`"
        return replace(diagnostic, help=f"{help}, whose results are new tensors")
    if diagnostic.code == "RX0401":
        return replace(diagnostic, fix=impure(cx))
    return diagnostic


def is_prim_func(cx: RelaxContext, name: str) -> bool:
    """True if a function of the module is a PrimFunc."""
    return name in cx.module.prim_funcs


def impure(cx: RelaxContext) -> tuple[Edit, ...]:
    """The decorator of the function that is being read, with `pure=False`."""
    if cx.definition is None:
        return ()
    decorators = script_decorators(cx.definition, cx.environment)
    if len(decorators) != 1 or decorators[0].kind != "function":
        return ()
    decorator = decorators[0].node
    if decorator is None:
        return ()
    for option in getattr(decorator, "keywords", ()):
        if option.arg == "pure":
            return (Edit(cx.source.span(option.value), "False"),)
    return (add_argument(cx.source, decorator, "pure=False"),)


def _of_a_text(
    cx: RelaxContext, error: OperandError, nodes: Mapping[str, ast.expr], callee: Any
) -> None:
    """A string as an operand is called one; `"float32"` was meant as the dtype."""
    node = nodes.get(error.operand)
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return
    if error.code != "RX0201" or error.wanted is None:
        return
    error.said = "is a string"
    error.help = None
    if is_dtype(node.value) and "dtype" in [p.name for p in getattr(callee, "parameters", ())]:
        error.help = f'write `dtype="{node.value}"`'
        error.fix = {error.operand: "dtype={}"}


def _restore_places(cx: RelaxContext, error: OperandError, nodes: dict[str, ast.expr]) -> None:
    """Give dimensions of annotations that were not read again the places in these."""
    for name, dim in error.dims.items():
        var = _variable(cx, nodes.get(name))
        written = cx.annotated.get(var) if var is not None else None
        dims = getattr(var.struct_info, "dims", None) if var is not None else None
        if written is None or not dims:
            continue
        again = getattr(parse_annotation(cx, written), "dims", None) or ()
        error.dims[name] = next((b for a, b in zip(dims, again) if a is dim), dim)


def explain(
    cx: RelaxContext, diagnostic: Diagnostic, outer: ast.Attribute | ast.Call
) -> Diagnostic:
    """A name that means nothing, said by what follows it."""
    diagnostic = naming.explain(cx, diagnostic, outer)
    match outer:
        case ast.Call(func=ast.Attribute(value=owner, attr="transpose" | "swapaxes"), args=args):
            tensor = args[0] if len(args) == 3 else owner
            axes = [a for a in args if a is not tensor]
            return _explain_swap(cx, diagnostic, outer, tensor, axes)
    return diagnostic


def _explain_swap(
    cx: RelaxContext, diagnostic: Diagnostic, node: ast.Call, tensor: ast.expr,
    axes: list[ast.expr],
) -> Diagnostic:  # fmt: skip
    """`transpose(x, 1, 2)` of other libraries swaps two axes; ours takes all of them."""
    var = _variable(cx, tensor)
    rank = getattr(var.struct_info, "ndim", -1) if var is not None else -1
    swapped = [axis_of(axis, rank) for axis in axes]
    if diagnostic.code != "RX0102" or len(swapped) != 2:
        return diagnostic
    help, fix = "`R.permute_dims` takes all axes in their new order", None
    first, second = swapped
    if first is not None and second is not None:
        order = list(range(rank))
        order[first], order[second] = second, first
        fix = f"R.permute_dims({cx.written(tensor)}, ({', '.join(map(str, order))}))"
        help = f"write `{fix}`"
    span = cx.span(node)
    edits = () if fix is None or span is None else (Edit(span, fix),)
    return replace(diagnostic, help=help, fix=edits)


def _variable(cx: RelaxContext, node: ast.expr | None) -> Var | None:
    found = cx.names.get(node.id) if isinstance(node, ast.Name) else None
    return found if isinstance(found, Var) else None


def operator_of(cx: RelaxContext, expr: Expr | None) -> Any:
    if isinstance(expr, Call):
        return REGISTRY.get(getattr(expr.op, "name", ""))
    return None


def _operand_places(cx: RelaxContext, callee: Any, node: ast.AST) -> dict[str, ast.expr]:
    if isinstance(callee, str):
        callee = None
    parameters = [p.name for p in getattr(callee, "parameters", ())]
    if not isinstance(node, ast.Call):
        operands = operand_nodes(node)
        return dict(zip(parameters or ("x1", "x2"), operands))
    places: dict[str, ast.expr] = dict(zip(parameters, node.args))
    if callee is None or not parameters:
        # Behind what is unpacked, nobody knows which argument is which.
        plain = takewhile(lambda a: not isinstance(a, ast.Starred), node.args)
        places = {f"argument {i}": a for i, a in enumerate(plain, 1)}
        places.update(zip(_names_of(callee), node.args))
    for index, parameter in enumerate(getattr(callee, "parameters", ())):
        if parameter.kind == "rest":  # `*args`: each argument has a name of its own
            places.pop(parameter.name, None)
            rest = enumerate(node.args[index:])
            places.update({f"{parameter.name}[{i}]": a for i, a in rest})
    places.update({k.arg: k.value for k in node.keywords if k.arg is not None})
    for name, at in list(places.items()):
        if isinstance(at, (ast.Tuple, ast.List)):
            places.update({f"{name}[{i}]": field for i, field in enumerate(at.elts)})
    return places


def _with_origins(
    cx: RelaxContext, diagnostic: Diagnostic, error: OperandError, nodes: dict[str, ast.expr]
) -> Diagnostic:
    """Adds, for operands that are variables, the place where each fact became true."""
    labels = list(diagnostic.labels)
    for name, fact in error.facts.items():
        node = nodes.get(name)
        if name in error.dims and getattr(error.dims[name], "span", None) is not None:
            continue
        var = _variable(cx, node)
        if var is not None and isinstance(node, ast.Name):
            written = cx.annotated.get(var)
            info_span = getattr(var.struct_info, "span", None)
            at = info_span or var.span if written is None else cx.source.span(written)
            if at is not None and at not in [label.span for label in labels]:
                says = f": {fact}" if isinstance(fact, Remark) else f" {fact} here"
                labels.append(Label(at, f"`{node.id}`{says}"))
    return replace(diagnostic, labels=tuple(labels))


def axis_of(node: ast.expr, rank: int) -> int | None:
    """The axis that a whole number names, counted from 0; None for anything else."""
    try:
        axis = ast.literal_eval(node)
    except ValueError:
        return None
    return axis % rank if isinstance(axis, int) and -rank <= axis < rank else None


def _names_of(callee: Any) -> list[str]:
    return [p.name for p in getattr(callee, "parameters", ())]


def operand_nodes(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.BoolOp(values=[left, right]):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Compare(left=left, comparators=[right]):
            return [left, right]
    return []


def _infix_text(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.expr) else "this"
