"""Forms of the RFC and of the older specification, read as what they are called today.

    R.match_shape(x, (n, m))                     R.match_cast(x, R.Tensor((n, m)))
    R.call_tir(f, [x], (n, m), dtype="float32")  R.call_tir(cls.f, [x], R.Tensor((n, m), "float32"))
    R.call_dps_packed("f", (x,), output_shape=(n,), output_dtype="float32")

The RFC knows no purity. A function in its spelling without `pure=` is impure where it calls
packed functions outside of dataflow blocks; inside of them its `R.call_packed` is pure.

Source: the Relax RFC (2022), sections D0 and D1.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from relaxscript.errors import nearest
from relaxscript.ir.relax import Expr, ShapeExpr, Var
from relaxscript.ir.struct_info import ShapeStructInfo, StructInfo, TensorStructInfo
from relaxscript.op import CompositeOp, Operator, Trait
from relaxscript.op.calls import call_dps_packed
from relaxscript.script.names.annotations import Object, Tensor
from relaxscript.script.names.relax_forms import MatchCastValue
from relaxscript.script.parser.expression import parse_expr

from .context import RelaxContext
from .dimension import parse_dimensions
from .expression import as_leaf, expr_of

__all__ = [
    "annotate_packed_call",
    "calls_packed",
    "has_legacy_calls",
    "is_destination_passing",
    "match_shape_call",
    "modernize",
    "of_known_shape",
]  # fmt: skip

_LEGACY_WORD = re.compile("outputs|match_shape|call_tir|call_dps_packed")
_SHAPES, _DTYPES = ("output_shape", "shape"), ("dtype", "output_dtype")


def has_legacy_calls(cx: RelaxContext, node: ast.FunctionDef) -> bool:
    """True if a function has calls in spellings that only the RFC has."""
    # Looking through a tree costs half as much as reading it; most functions have no such word.
    first, last = node.lineno, node.end_lineno or node.lineno
    lines = enumerate(cx.source.lines[first - 1 : last], first)
    named = {number for number, line in lines if _LEGACY_WORD.search(line)}
    return bool(named) and any(
        _is_legacy_call(n)
        for n in ast.walk(node)
        if isinstance(n, ast.Call) and (n.func.end_lineno in named)
    )


def match_shape_call(cx: RelaxContext, node: ast.Call) -> MatchCastValue:
    """`R.match_shape(value, dims)`: names that mean nothing yet are new dimensions."""
    given = dict(zip(("value", "shape"), node.args))
    given.update({k.arg: k.value for k in node.keywords if k.arg is not None})
    shape = given.get("shape")
    if set(given) != {"value", "shape"} or not isinstance(shape, (ast.Tuple, ast.List)):
        raise cx.error(
            node, "RX0103", "`R.match_shape` takes a value and its dimensions",
            help="write `R.match_shape(x, (n, m))`",
        )  # fmt: skip
    value = expr_of(cx, parse_expr(cx, given["value"]), given["value"])
    leaf = as_leaf(cx, value, given["value"])
    with cx.new_dimensions(), cx.unquoted_dimensions():
        dims = ShapeExpr.make(tuple(parse_dimensions(cx, shape.elts)), span=cx.span(shape))
    return MatchCastValue(leaf, _of_that_shape(cx, leaf, dims, given["value"]))


def _of_that_shape(cx: RelaxContext, value: Expr, dims: ShapeExpr, node: ast.expr) -> StructInfo:
    match cx.builder.struct_info(value):
        case TensorStructInfo(dtype=dtype, vdevice=vdevice):
            return TensorStructInfo.make(dims, dtype, vdevice, len(dims.values))
        case ShapeStructInfo():
            return ShapeStructInfo.make(dims.values, len(dims.values))
        case info:
            written = ast.unparse(node)
            raise cx.error(
                node, "RX0201", f"`{written}` is {info.noun}, which has no shape",
                help=f"say what it is: `R.match_cast({written}, R.Tensor((n, m)))`",
            )  # fmt: skip


def annotate_packed_call(cx: RelaxContext, node: ast.Call) -> ast.Call:
    """A call of a packed function whose result is what its variable is said to be."""
    if any(keyword.arg in ("sinfo_args", "ty_args") for keyword in node.keywords):
        return node
    match cx.current:
        case ast.AnnAssign(annotation=annotation, value=value) if value is node:
            info = annotation
        case _:
            info = ast.copy_location(ast.Constant(Object), node)  # type: ignore[arg-type]
    keywords = [*node.keywords, ast.keyword("sinfo_args", info)]
    return ast.copy_location(ast.Call(node.func, node.args, keywords), node)


def modernize(
    cx: RelaxContext, operator: Operator | CompositeOp, node: ast.Call
) -> tuple[Operator | CompositeOp, ast.Call]:
    """A call of a function by its destination, and its operator, in today's form."""
    if not is_destination_passing(operator):
        return operator, node
    today = _rewrite(cx, operator, node)
    if today is not node and _is_packed(cx, node):
        operator = call_dps_packed
    return operator, today


def is_destination_passing(operator: Operator | CompositeOp) -> bool:
    """True if an operator calls a function that writes its results into what it is given."""
    return isinstance(operator, Operator) and Trait.DESTINATION_PASSING in operator.traits


def _is_packed(cx: RelaxContext, node: ast.Call) -> bool:
    """True if the name of what is called can only be that of a packed function."""
    match node.args[:1]:
        case [ast.Constant(value=str(name))]:
            known = cx.module.global_vars
            return name not in known and nearest(name, known) is None
    return False


def of_known_shape(cx: RelaxContext, value: Any) -> Any:
    """A result whose shape a variable holds, with the dimensions where they are known."""
    match value:
        case list():
            return [of_known_shape(cx, item) for item in value]
        case TensorStructInfo(shape=Var() as held):
            bound = cx.builder.lookup_binding(held)
            info = cx.builder.struct_info(bound if isinstance(bound, ShapeExpr) else held)
            dims = info.values if isinstance(info, ShapeStructInfo) else None
            if dims is not None:
                return value.replace(shape=ShapeExpr.make(dims), ndim=len(dims))
    return value


def _rewrite(cx: RelaxContext, operator: Operator | CompositeOp, node: ast.Call) -> ast.Call:
    """The call with its callee and result written in today's form."""
    args = list(node.args)
    keywords = {k.arg: k.value for k in node.keywords}
    dtype = next((keywords[name] for name in _DTYPES if name in keywords), None)
    shape = next((keywords[name] for name in _SHAPES if name in keywords), None)
    if dtype is None or (shape is None and len(args) < 3):
        return node
    if args and operator is not call_dps_packed:
        args[0] = _qualify(cx, args[0])
    if shape is None:
        shape = args.pop(2)
    result = _describe(cx, shape, dtype)
    rest = [k for k in node.keywords if k.arg not in (*_SHAPES, *_DTYPES)]
    today = ast.Call(node.func, [*args[:2], result, *args[2:]], rest)
    return ast.copy_location(today, node)


def _qualify(cx: RelaxContext, callee: ast.expr) -> ast.expr:
    """`f`, or `"f"`, as `cls.f`, where the module has a function of that name."""
    match callee:
        case ast.Name(id=name) if name in cx.names:
            return callee
        case ast.Name(id=name) | ast.Constant(value=str(name)) if name in cx.module.global_vars:
            owner = ast.copy_location(ast.Name(cx.module.name, ast.Load()), callee)
            return ast.copy_location(ast.Attribute(owner, name, ast.Load()), callee)
    return callee


def _describe(cx: RelaxContext, shape: ast.expr, dtype: ast.expr) -> ast.expr:
    """`R.Tensor(shape, dtype)`; a list of shapes with a list of dtypes gives several."""
    match shape, dtype:
        case (
            ast.List(elts=shapes) | ast.Tuple(elts=shapes),
            ast.List(elts=dtypes) | ast.Tuple(elts=dtypes),
        ) if len(shapes) == len(dtypes):
            each = [_describe(cx, s, d) for s, d in zip(shapes, dtypes)]
            return ast.copy_location(ast.List(each, ast.Load()), shape)
    form = ast.copy_location(ast.Constant(Tensor), shape)  # type: ignore[arg-type]
    return ast.copy_location(ast.Call(form, [shape, dtype], []), shape)


def _is_legacy_call(call: ast.Call) -> bool:
    match call.func:
        case ast.Attribute(attr="outputs" | "match_shape"):
            return True
        case ast.Attribute(attr="call_tir" | "call_dps_packed"):
            return any(keyword.arg in _DTYPES for keyword in call.keywords)
    return False


def calls_packed(body: Sequence[ast.stmt]) -> bool:
    """True if packed functions are called outside of dataflow blocks."""
    pending: list[ast.AST] = [s for s in body if not isinstance(s, ast.With)]
    while pending:
        match pending.pop():
            case ast.Call(func=ast.Attribute(attr="call_packed")):
                return True
            case node:
                inner = ast.iter_child_nodes(node)
                pending += [n for n in inner if not isinstance(n, (ast.With, ast.FunctionDef))]
    return False
