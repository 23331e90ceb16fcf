"""Bindings of Relax: assignments of every form, and calls for their effect.

binding = names "=" expression | name ":" annotation "=" expression | name op "=" expression | call
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.ir.prim import PrimExpr, const as scalar
from relaxscript.ir.relax import (
    Call,
    Constant,
    Expr,
    GlobalVar,
    PrimValue,
    ShapeExpr,
    Tuple,
    TupleGetItem,
)
from relaxscript.ir.struct_info import (
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.ir.tir import PrimFunc
from relaxscript.script.names.relax_forms import MatchCastValue, const
from relaxscript.script.names.tir_types import ScalarType
from relaxscript.script.parser.annotation import parse_annotation
from relaxscript.script.parser.annotation_cache import recall, remember
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed, Failures
from relaxscript.script.parser.dimensions import Dim, Dims
from relaxscript.script.parser.expression import parse_expr, python_items
from relaxscript.script.parser.fixits import between
from relaxscript.script.parser.module_context import ModuleName
from relaxscript.script.parser.script_context import ItemUse
from relaxscript.sinfo import definable_shape_vars

from .attribute import known_dimensions
from .body import forget_dimensions
from .call import check_dimensions_bound
from .context import RelaxContext
from .dimension import as_dimension
from .expression import as_leaf, expr_of
from .item_assignment import call_instead
from .operand_errors import label_declaration, note_deferred_checks, operand_error, with_cast
from .signature import is_bare_tuple, shape_declaration

__all__ = [
    "bind", "constant_of", "items_of", "keep", "no_name", "normal", "parse_annotated",
    "parse_assign", "parse_assign_all", "parse_effect",
]  # fmt: skip


# statement = name "=" expression
def parse_assign(cx: RelaxContext, target: ast.Name, value: ast.expr) -> None:
    declared = shape_declaration(cx, target.id, value)
    if declared is not None:
        cx.bind_name(target.id, declared)
        return
    found = parse_expr(cx, value)
    if isinstance(found, ScalarType) and target.id in cx.dims:
        written = cx.written(value)
        raise cx.error(
            value, "RX0109", f"`{written}` is a type, and `{target.id}` a variable of it",
            help=f"write `{written}()`", fix=f"{written}()",
        )  # fmt: skip
    bind(cx, target, found, value)


# statement = targets "=" expression
def parse_assign_all(cx: RelaxContext, targets: Sequence[ast.expr], value: ast.expr) -> None:
    """Unpacking, and several targets: each is assigned the same value, as in Python."""
    if _declares_several(cx, targets, value):
        return
    found = parse_expr(cx, value)
    if len(targets) > 1 and isinstance(found, Expr):
        found = as_leaf(cx, found, value)
    for target in targets:
        assign_to(cx, target, found, value)


def _declares_several(cx: RelaxContext, targets: Sequence[ast.expr], value: ast.expr) -> bool:
    match targets, value:
        case [ast.Tuple(elts=names)], ast.Tuple(elts=values) if len(names) == len(values):
            pairs = [(n.id, v) for n, v in zip(names, values) if isinstance(n, ast.Name)]
            declared = {name: shape_declaration(cx, name, v) for name, v in pairs}
            if not declared or len(pairs) < len(names) or None in declared.values():
                return False
            for name, var in declared.items():
                cx.bind_name(name, var)
            return True
    return False


def assign_to(cx: RelaxContext, target: ast.expr, value: Any, node: ast.expr) -> None:
    match target:
        case ast.Name():
            bind(cx, target, value, node)
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            unpack(cx, target, targets, value, node)
        case _:
            raise no_name(cx, target, node)


def no_name(cx: RelaxContext, target: ast.expr, value: ast.expr | None = None) -> Failed:
    """Record an assignment to a part of a value, and the call that gives what is meant."""
    help = "bind the new value to a name"
    match target:
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            parts = index.elts if isinstance(index, ast.Tuple) else [index]
            places = all(isinstance(p, (ast.Slice, ast.Constant, ast.UnaryOp)) for p in parts)
            known = "R.slice_scatter" if places else "R.where`, `R.index_put"
            help = f"bind a new value: `{name} = ...`, made by `{known}`"
            call = value and call_instead(cx.names, name, index, value)
            help = f"bind a new value: `{name} = {call}`" if call else help
    return cx.error(
        target, "RX0104", "only names can be assigned in Relax, values never change", help=help
    )


def unpack(
    cx: RelaxContext, target: ast.expr, targets: Sequence[ast.expr], value: Any, node: ast.expr
) -> None:
    """`a, b = t`: one binding for each field."""
    starred = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
    if isinstance(value, Expr):
        count = -1 if starred else len(targets)
        parts: list[Any] = parts_of_tuple(cx, value, node, count, target)
    elif isinstance(value, (tuple, list)):
        parts = list(value)
    else:
        raise cx.error(node, "RX0208", f"`{ast.unparse(node)}` cannot be unpacked")
    if starred:
        parts, targets = gather_rest(cx, parts, targets, starred[0], target, node)
    if len(parts) != len(targets):
        raise wrong_count(cx, target, node, len(targets), len(parts))
    check_distinct(cx, targets)
    for part, name in zip(parts, targets):
        assign_to(cx, name, part, node)


def gather_rest(
    cx: RelaxContext, parts: list[Any], targets: Sequence[ast.expr], star: int, target: ast.expr,
    node: ast.expr,
) -> tuple[list[Any], list[ast.expr]]:  # fmt: skip
    """`a, *rest = t`: the fields that the other names leave become one tuple."""
    after = len(targets) - star - 1
    if len(parts) < star + after:
        raise wrong_count(cx, target, node, star + after, len(parts))
    rest = tuple(parts[star : len(parts) - after])
    plain = [t.value if isinstance(t, ast.Starred) else t for t in targets]
    return [*parts[:star], rest, *parts[len(parts) - after :]], plain


def check_distinct(cx: RelaxContext, targets: Sequence[ast.expr]) -> None:
    """One unpacking binds each name once."""
    seen: set[str] = set()
    for target in targets:
        if isinstance(target, ast.Name) and target.id in seen and target.id != "_":
            raise cx.error(
                target, "RX0302", f"`{target.id}` is bound twice by one unpacking",
                help="give each field a name of its own, or `_`",
            )  # fmt: skip
        seen.add(getattr(target, "id", ""))


def wrong_count(
    cx: RelaxContext, target: ast.AST, node: ast.AST, names: int, fields: int
) -> Failed:
    has = quantity(fields, "field")
    take = f"{quantity(names, 'name')} cannot take {has}"
    return cx.error(target, "RX0208", take, labels=[(node, f"has {has}")])


def parts_of_tuple(
    cx: RelaxContext, value: Expr, node: ast.expr, count: int, target: ast.expr
) -> list[Any]:
    if isinstance(value, Tuple):
        return list(value.fields)
    dims = known_dimensions(cx, value)
    if dims is not None:
        return list(dims)
    leaf = as_leaf(cx, value, node)
    if isinstance(leaf, Tuple):
        return list(leaf.fields)
    match cx.builder.struct_info(leaf):
        case TupleStructInfo(fields):
            if count not in (-1, len(fields)):
                raise wrong_count(cx, target, node, count, len(fields))
            span = cx.source.span(node)
            return [TupleGetItem.make(leaf, i, span, span=span) for i in range(len(fields))]
        case info:
            raise cx.error(
                node, "RX0208", f"`{ast.unparse(node)}` is not a tuple",
                labels=[(node, f"is `{info!r}`")],
                help="a tensor is taken apart by `R.split`, or by indices",
            )  # fmt: skip


# statement = name ":" annotation "=" expression
def parse_annotated(
    cx: RelaxContext, node: ast.AnnAssign, target: ast.Name, annotation: ast.expr,
    value: ast.expr | None,
) -> None:  # fmt: skip
    if value is None:
        raise cx.error(
            node, "RX0104", f"`{target.id}` is annotated but not given a value",
            help=f"write `{target.id}: {cx.source.span(annotation).text} = ...`",
        )  # fmt: skip
    likely = recall(cx, annotation)
    if likely is not None:
        bind_recalled(cx, target, annotation, value, likely)
        return
    # The value comes first: a match_cast in it may bind dimensions of the annotation.
    found, failures = None, Failures()
    with failures:
        found = parse_expr(cx, value)
    if failures.last is not None:
        forget_dimensions(cx, value)
    elif is_bare_tuple(cx, annotation):
        found = normal(cx, expr_of(cx, found, value), value)
        if isinstance(cx.builder.struct_info(found), TupleStructInfo):
            bind(cx, target, found, value)
            return
    info = _declared_beside(cx, found, annotation)
    failures.settle()
    bind(cx, target, found, value, info, annotation)


def normal(cx: RelaxContext, expr: Expr, node: ast.expr) -> Expr:
    """An expression over leaves, of which it is known what it is."""
    try:
        made = cx.builder.normal(expr)
        cx.builder.struct_info(made)
    except OperandError as error:
        raise operand_error(cx, error, node, expr) from None
    return made


def _declared_beside(cx: RelaxContext, value: Any, annotation: ast.expr) -> StructInfo:
    """The annotation of a value; it may name the dimensions that a match_cast binds."""
    if not isinstance(value, MatchCastValue):
        info = parse_annotation(cx, annotation)
        remember(cx, annotation, info)
        return info
    with cx.unbound_dimensions():
        info = parse_annotation(cx, annotation)
    check_dimensions_bound(cx, info, annotation, set(definable_shape_vars(value.struct_info)))
    return info


def bind_recalled(
    cx: RelaxContext, target: ast.Name, annotation: ast.expr, node: ast.expr, likely: StructInfo
) -> None:
    """A binding whose annotation came before: it means `likely`, but for its places.

    As a rule that is what is known of the value, and the annotation need not be read again.
    """
    value = parse_expr(cx, node)
    if not isinstance(value, Expr):
        info = _declared_beside(cx, value, annotation)
        bind(cx, target, value, node, info, annotation)
        return
    read = partial(parse_annotation, cx, annotation)
    bind_value(cx, target, value, node, read, annotation, likely)
    cx.annotated[cx.names[target.id]] = annotation


def bind(
    cx: RelaxContext, target: ast.Name, value: Any, node: ast.expr,
    annotation: StructInfo | None = None, annotation_node: ast.expr | None = None,
) -> None:  # fmt: skip
    """Bind a name: values of the program to a variable, Python values in the parser only."""
    name = target.id
    if value.__class__ is Call and annotation is None:
        # What nearly every statement binds; below are all other values.
        bind_value(cx, target, value, node, None, None)
        return
    if annotation is None and _is_adopted_prim_func(cx, value):
        cx.bind_name(name, value)
        return
    if annotation is not None and not isinstance(value, Expr):
        value = as_declared(cx, value, annotation, node)
    match value:
        case MatchCastValue():
            bind_match_cast(cx, target, value, node, annotation, annotation_node)
            return
        case PrimExpr() | Dim() | Dims() | ModuleName() if annotation is None:
            cx.bind_name(name, value)
            return
        case bool() | int() | float() | np.generic():
            value = constant_of(cx, value, node)
        case Expr() | tuple():
            value = expr_of(cx, value, node)
        case _ if annotation is None:
            # A list belongs to the parser; what is in it is computed here, once.
            cx.bind_name(name, keep(cx, value, node))
            return
        case _:
            value = expr_of(cx, value, node)
    bind_value(cx, target, value, node, annotation, annotation_node)


def _is_adopted_prim_func(cx: RelaxContext, value: Any) -> bool:
    """Another name for a PrimFunc is no value of the program: it is called by `R.call_tir` only."""
    return isinstance(value, GlobalVar) and isinstance(
        cx.module.adopted.get(value.name_hint), PrimFunc
    )


def bind_value(
    cx: RelaxContext, target: ast.Name, value: Expr, node: ast.expr,
    annotation: StructInfo | Callable[[], StructInfo] | None,
    annotation_node: ast.expr | None, likely: StructInfo | None = None,
) -> None:  # fmt: skip
    """Bind a name to a variable of the program."""
    span = cx.source.span(target)
    outlives = target in cx.outputs
    try:
        var = cx.builder.bind(value, target.id, span, annotation, outlives, likely)
    except OperandError as error:
        raise binding_error(cx, error, node, value, annotation_node) from None
    finally:
        if cx.builder.deferred_checks:
            note_deferred_checks(cx, node, annotation_node, value=value)
    cx.bind_name(target.id, var)
    cx.last_bound = target.id


def items_of(cx: RelaxContext, value: Any, node: ast.expr, use: ItemUse) -> list[Any]:
    if not isinstance(value, Expr):
        return python_items(cx, value, node, use)
    dims = known_dimensions(cx, value)
    if dims is not None:
        return list(dims)
    leaf = as_leaf(cx, value, node)
    info = cx.builder.struct_info(leaf)
    if isinstance(info, TupleStructInfo):
        return [as_leaf(cx, part, node) for part in parts_of_tuple(cx, leaf, node, -1, node)]
    raise cx.error(
        node, "RX0104", f"`{ast.unparse(node)}` is {info.noun}, which cannot be {use.value}",
        help="only a tuple and values known while the script is parsed can be",
    )  # fmt: skip


def keep(cx: RelaxContext, value: Any, node: ast.expr) -> Any:
    """A value of the program as a leaf; lists item by item, other Python values as they are."""
    if isinstance(value, list):
        return [keep(cx, v, node) for v in value]
    if isinstance(value, (Expr, MatchCastValue)):
        return as_leaf(cx, expr_of(cx, value, node), node)
    return value


def as_declared(cx: RelaxContext, value: Any, annotation: StructInfo, node: ast.expr) -> Any:
    """`k: R.Prim("int64") = 3`, `s: R.Shape = (n, 4)`: Python values as what they are to be."""
    number = isinstance(value, (int, float)) and (
        isinstance(value, bool) == (getattr(annotation, "dtype", "") == "bool")
    )
    span = cx.source.span(node)
    match annotation:
        case PrimStructInfo(dtype=dtype) if number and _holds(dtype, value):
            return PrimValue.make(scalar(value, dtype), span=span)
        case TensorStructInfo(dtype=dtype) if number and _holds(dtype, value):
            return const(value, dtype).replace(span=span)
        case ShapeStructInfo() if isinstance(value, (tuple, list)):
            if any(isinstance(v, (Expr, float, str)) for v in value):
                return value
            dims = [as_dimension(cx, v, node) for v in value]
            return ShapeExpr.make(tuple(dims), span=span)
    return value


def constant_of(cx: RelaxContext, value: Any, node: ast.expr) -> Constant:
    """A Python number as a tensor: int32, float32 or bool, as R.const."""
    try:
        constant = const(value)
    except ValueError as error:
        help = f'write `R.const({value}, "int64")`' if abs(value) < 2**63 else None
        raise cx.error(node, "RX0201", str(error), help=help) from None
    return constant.replace(span=cx.source.span(node))


def binding_error(
    cx: RelaxContext, error: OperandError, node: ast.expr, value: Expr, annotation: ast.expr | None
) -> Failed:
    if error.operand != "the value":
        return operand_error(cx, error, node, value)
    places = {"the value": cx.source.span(node)}
    diagnostic = error.diagnostic("", cx.source.span(node), places)
    diagnostic = label_declaration(cx, diagnostic, annotation)
    return cx.report(with_cast(cx, diagnostic, error.cast, node, annotation))


def bind_match_cast(
    cx: RelaxContext, target: ast.Name, cast: MatchCastValue, node: ast.expr,
    annotation: StructInfo | None = None, annotation_node: ast.expr | None = None,
) -> None:  # fmt: skip
    """Bind a name to what was cast; an annotation that it surely fits wins (rule 11.3.4)."""
    value = as_leaf(cx, expr_of(cx, cast.value, node), node)
    outlives = target in cx.outputs
    span = cx.source.span(target)
    try:
        var = cx.builder.bind_match_cast(
            value, cast.struct_info, target.id, span, outlives, cx.source.span(node),
            annotation,
        )  # fmt: skip
    except OperandError as error:
        raise binding_error(cx, error, node, value, annotation_node) from None
    finally:
        note_deferred_checks(cx, node)
    cx.bind_name(target.id, var)
    cx.last_bound = target.id


# statement = call
def parse_effect(cx: RelaxContext, node: ast.expr) -> None:
    """A call for its effect: its value must be unit."""
    match node:
        case ast.Compare(left=ast.Name() as name, ops=[ast.Eq()], comparators=[right]):
            if name.id not in cx.names:
                raise refuse_comparison(cx, name, right)
    value = parse_expr(cx, node)
    if value is None or not isinstance(value, (Expr, MatchCastValue)):
        return
    if isinstance(value, MatchCastValue):
        target = ast.copy_location(ast.Name("_", ast.Store()), node)
        bind_match_cast(cx, target, value, node)
        return
    try:
        var = cx.builder.bind(value, "_", cx.source.span(node))
    except OperandError as error:
        raise operand_error(cx, error, node, value) from None
    finally:
        note_deferred_checks(cx, node, value=value)
    match var.struct_info:
        case TupleStructInfo(fields=()) | ObjectStructInfo():
            return
    raise cx.error(
        node, "RX0104", "the value of this expression is not used", help="bind it: `y = ...`"
    )


def refuse_comparison(cx: RelaxContext, name: ast.Name, right: ast.expr) -> Failed:
    """`y == x` in a line of its own, where `y` is to be bound."""
    failed = cx.error(
        name, "RX0101", f"`{name.id}` is not defined", help="to bind it, write `=`",
        edits=[between(cx.source, name, right, " = ")],
    )  # fmt: skip
    cx.bind_name(name.id, UNKNOWN)
    return failed


def _holds(dtype: DataType, value: float) -> bool:
    """True if a dtype holds a Python number exactly as it is written."""
    if dtype.is_void or (isinstance(value, float) and not dtype.is_float):
        return False
    if not dtype.is_integer:
        return True
    limits = np.iinfo(dtype.numpy)
    return bool(limits.min <= value <= limits.max)
