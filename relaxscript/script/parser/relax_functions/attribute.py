"""Syntax behind a value of the program: attributes, methods, and indices of any kind.

    attribute = value "." ("T" | "shape" | "dtype" | "ndim" | ...) | method "(" arguments ")"
    item      = tuple "[" integer | name "]" | shape "[" index "]" | tensor "[" index "]"

What is known while the script is parsed is a value of Python: `x.dtype` is a dtype, `x.ndim` a
number, `x.shape[0]` a dimension. What is not is a call of `R.inspect`.
"""

from __future__ import annotations

import ast
from typing import Any

from relaxscript.errors import did_you_mean, quantity
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import Call, Expr, GlobalVar, ShapeExpr, Tuple, TupleGetItem
from relaxscript.ir.struct_info import ShapeStructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.op import REGISTRY, Operator, inspect
from relaxscript.op.base import shape_of
from relaxscript.op.manipulate import permute_dims
from relaxscript.opdef.aliases import meant_operator
from relaxscript.script.parser import expression
from relaxscript.script.parser.captured_functions import adopt_member, macro_of_module
from relaxscript.script.parser.diagnostics import Failed
from relaxscript.script.parser.dimensions import Dim, Dims, known_dims
from relaxscript.script.parser.expression import parse_expr, python_attribute, python_item
from relaxscript.script.parser.module_context import ModuleName

from .context import RelaxContext
from .expression import as_leaf, build, compute
from .index import tensor_index
from .name import adopt_value, declare_function, global_var
from .named_fields import field_of_name

__all__ = [
    "Method", "attribute_of", "known_dimensions", "known_length", "method_call",
    "parse_attribute", "subscript_of",
]  # fmt: skip

# Methods under the names that numpy and torch give them.
_SYNONYMS = {
    "transpose": "permute_dims", "permute": "permute_dims", "view": "reshape", "dot": "matmul",
    "unsqueeze": "expand_dims", "pow": "power", "absolute": "abs", "clamp": "clip",
}  # fmt: skip
_ATTRIBUTES = "it has `shape`, `dtype`, `ndim`, `T`, and the operators of `R` as methods"
# What numpy and torch have and a program has not, and what is done here instead.
_LATER = "values are known when the program runs: return the tensor"
_UNCHANGED = "leave it out: values never change, and each is a new one"
_ADVICE = {
    **dict.fromkeys(("item", "numpy", "tolist", "data"), _LATER),
    **dict.fromkeys(("detach", "clone", "copy", "contiguous", "requires_grad_"), _UNCHANGED),
    **dict.fromkeys(("cpu", "cuda", "to"), "name a device: `R.to_vdevice(x, \"llvm:0\")`"),
    **{name: f'write `.astype("{dtype}")`' for name, dtype in (
        ("float", "float32"), ("double", "float64"), ("half", "float16"), ("long", "int64"),
        ("int", "int32"), ("bool", "bool"),
    )},
    "t": "write `.T`", "backward": "`R.grad` and gradients are made of a whole function",
}  # fmt: skip
_DTYPE_PARTS = {
    "type_code": inspect.tensor_dtype_code, "bits": inspect.tensor_dtype_bits,
    "lanes": inspect.tensor_dtype_lanes,
}  # fmt: skip
_OFFSETS = {
    "byte_offset": inspect.tensor_byte_offset, "elem_offset": inspect.tensor_elem_offset,
}  # fmt: skip


class Method:
    """An operator with its first operand, `x.astype`, before it is called."""

    def __init__(self, operator: Operator, owner: Expr, node: ast.expr) -> None:
        self.operator = operator
        self.owner = owner
        self.node = node


class _Strides:
    """`x.strides`, which is only ever indexed."""

    def __init__(self, owner: Expr) -> None:
        self.owner = owner


def parse_attribute(cx: RelaxContext, node: ast.Attribute) -> Any:
    part = _DTYPE_PARTS.get(node.attr)
    if part is not None and isinstance(node.value, ast.Attribute) and node.value.attr == "dtype":
        owner = parse_expr(cx, node.value.value)
        if isinstance(owner, Expr):
            return inspect_at_run_time(cx, part, [owner], node, node.value.value)
    return expression.parse_attribute(cx, node)


def attribute_of(cx: RelaxContext, owner: Any, node: ast.Attribute) -> Any:
    """The attribute behind a dot, by the value before it."""
    match owner:
        case ModuleName():
            macro = macro_of_module(cx.module, node.attr)
            return global_var(cx, node) if macro is None else macro
        case IRModule():
            return declare_function(cx, adopt_member(cx, cx.module, owner, node.attr, node))
        case Expr():
            found = value_attribute(cx, owner, node)
        case PrimExpr() if not hasattr(owner, node.attr):
            written = ast.unparse(node.value)
            message = f"`{written}` is a dimension and has no attribute `{node.attr}`"
            raise cx.error(node, "RX0102", message)
        case _:
            found = python_attribute(cx, owner, node)
    return adopt_value(cx, found, node.attr, node)


def inspect_at_run_time(
    cx: RelaxContext, operator: Operator, given: list[Any], node: ast.expr, owner: ast.expr
) -> Expr:
    """A property that only the running program knows of a tensor."""
    first = as_leaf(cx, given[0], owner)
    _of_tensor(cx, first, node, owner)
    return build(cx, operator, [first, *given[1:]], node)


def _of_tensor(cx: RelaxContext, value: Expr, node: ast.expr, owner: ast.expr) -> TensorStructInfo:
    """The StructInfo of a tensor; raises `Failed` after recording that it is none."""
    info = cx.builder.struct_info(value)
    if isinstance(info, TensorStructInfo):
        return info
    written = ast.unparse(owner)
    raise cx.error(
        node, "RX0102", f"`{written}` is {info.noun}, and only a tensor has this",
        help=f"check it first: `R.match_cast({written}, R.Tensor(...))`",
    )  # fmt: skip


def value_attribute(cx: RelaxContext, owner: Expr, node: ast.Attribute) -> Any:
    # A function of the same name as an attribute comes second: `x.shape` is no operator.
    if node.attr in ("T", "shape", "dtype", "ndim", "strides") or node.attr in _OFFSETS:
        return _tensor_attribute(cx, owner, node)
    if node.attr in ("struct_info", "struct_info_"):
        return cx.builder.struct_info(as_leaf(cx, owner, node.value))
    operator = _method(cx, node.attr)
    if operator is not None:
        return Method(operator, as_leaf(cx, owner, node.value), node.value)
    written = ast.unparse(node.value)
    methods = [name.rpartition(".")[2] for name in REGISTRY]
    near = cx.near(node.attr, [*methods, *_SYNONYMS, "shape", "dtype", "ndim"])
    near = meant_operator(node.attr) or near
    advice = _ADVICE.get(node.attr)
    raise cx.error(
        node, "RX0102", f"`{written}` has no attribute `{node.attr}`",
        help=advice or did_you_mean(near and f"{written}.{near}", _ATTRIBUTES),
        fix=f"{written}.{near}" if near and advice is None else None,
    )  # fmt: skip


def _method(cx: RelaxContext, name: str) -> Operator | None:
    """The operator that a method calls: one whose first operand is a tensor."""
    found = _SYNONYMS.get(name, name)
    for full in (f"relax.{found}", f"relax.nn.{found}"):
        operator = REGISTRY.get(full)
        first = operator.parameters[:1] if operator else ()
        if any(parameter.wants in ("tensor", "scalar") for parameter in first):
            return operator
    return None


def _tensor_attribute(cx: RelaxContext, owner: Expr, node: ast.Attribute) -> Any:
    leaf = as_leaf(cx, owner, node.value)
    info = _of_tensor(cx, leaf, node, node.value)
    match node.attr:
        case "T":
            return build(cx, permute_dims, [leaf], node)
        case "shape" if info.dims is not None:
            return known_dims(info.dims)
        case "shape":
            return build(cx, shape_of, [leaf], node)
        case "dtype" if not info.dtype.is_void:
            return info.dtype
        case "ndim" if info.ndim >= 0:
            return Dim(info.ndim)
        case "ndim":
            return inspect_at_run_time(cx, inspect.tensor_ndim, [leaf], node, node.value)
        case "strides":
            return _Strides(leaf)
        case "dtype":
            written = ast.unparse(node.value)
            raise cx.error(
                node, "RX0102", f"the dtype of `{written}` is not known",
                help=f'check it first: `R.match_cast({written}, R.Tensor(dtype="float32"))`',
            )  # fmt: skip
    return inspect_at_run_time(cx, _OFFSETS[node.attr], [leaf], node, node.value)


def method_arguments(cx: RelaxContext, method: Method, node: ast.Call) -> list[ast.expr]:
    """`x.reshape(2, 3)` as `x.reshape((2, 3))`: the one shape or list of axes, spread out."""
    parameters = method.operator.parameters[1:]
    sole = len(parameters) == 1 or all(p.keyword_only for p in parameters[1:])
    first = parameters[0] if parameters else None
    spread = first is not None and (first.kind == "shape" or first.annotation.startswith("Axes"))
    plain = not any(isinstance(a, (ast.Tuple, ast.List, ast.Starred)) for a in node.args)
    if not (sole and spread and plain and node.args):
        return node.args
    if len(node.args) == 1 and not isinstance(node.args[0], (ast.Constant, ast.UnaryOp)):
        return node.args
    whole = ast.copy_location(ast.Tuple(elts=node.args, ctx=ast.Load()), node.args[0])
    last = node.args[-1]
    whole.end_lineno, whole.end_col_offset = last.end_lineno, last.end_col_offset
    return [whole]


# ---- items


def subscript_of(cx: RelaxContext, owner: Any, index: Any, node: ast.Subscript) -> Any:
    """`owner[index]`, by what is indexed."""
    if isinstance(owner, IRModule):
        name = index.name_hint if isinstance(index, GlobalVar) else str(index)
        return declare_function(cx, adopt_member(cx, cx.module, owner, name, node))
    return adopt_value(cx, _item_of_value(cx, owner, index, node), "", node)


def _item_of_value(cx: RelaxContext, owner: Any, index: Any, node: ast.Subscript) -> Any:
    match owner:
        case PrimExpr():
            written = ast.unparse(node.value)
            raise cx.error(node, "RX0208", f"`{written}` is a dimension and cannot be indexed")
        case Dims():
            return shape_item(cx, owner, index, node)
        case _Strides():
            return inspect_at_run_time(
                cx, inspect.tensor_stride_i, [owner.owner, index], node, node.value
            )
        case Call(op=shape_of.op):
            return _dimension_of(cx, owner, index, node)
        case Expr():
            return _item(cx, owner, index, node)
        case tuple() | list() if any(_is_unbound(item) for item in owner):
            # What is not chosen is computed as well.
            items = [compute(cx, i, node.value) if _is_unbound(i) else i for i in owner]
            owner = items if isinstance(owner, list) else tuple(items)
    return python_item(cx, owner, index, node)


def _item(cx: RelaxContext, owner: Expr, index: Any, node: ast.Subscript) -> Any:
    """An item of a tuple, a shape or a tensor."""
    if isinstance(owner, Tuple) and isinstance(index, int) and -len(owner) <= index < len(owner):
        return as_leaf(cx, owner, node.value).fields[index]  # type: ignore[attr-defined]
    leaf = as_leaf(cx, owner, node.value)
    info = cx.builder.struct_info(leaf)
    match info:
        case TensorStructInfo():
            return tensor_index(cx, leaf, info, index, node)
        case TupleStructInfo():
            return tuple_field(cx, leaf, info, index, node)
        case ShapeStructInfo():
            if info.values is None:
                raise _no_dimensions(cx, node)
            return shape_item(cx, known_dims(info.values), index, node)
    written, what = ast.unparse(node.value), info.noun
    raise cx.error(
        node, "RX0208", f"`{written}` is {what}, and only a tuple can be indexed",
        help=f"check it first: `R.match_cast({written}, R.Tuple(...))`",
    )  # fmt: skip


def _dimension_of(cx: RelaxContext, owner: Call, index: Any, node: ast.Subscript) -> Any:
    """An item of `x.shape` that is not known now: asked of the tensor, without its shape."""
    if isinstance(index, int) and not isinstance(index, bool):
        return inspect_at_run_time(
            cx, inspect.tensor_shape_i, [owner.args[0], index], node, node.value
        )
    raise _no_dimensions(cx, node)


def known_dimensions(cx: RelaxContext, value: Expr) -> Dims | None:
    """The dimensions of a shape as far as they are known: numbers, and expressions."""
    info = cx.builder.struct_info(value)
    values = info.values if isinstance(info, ShapeStructInfo) else None
    return None if values is None else known_dims(values)


def _no_dimensions(cx: RelaxContext, node: ast.Subscript) -> Failed:
    written = ast.unparse(node.value)
    return cx.error(
        node, "RX0208", f"the dimensions of `{written}` are not known",
        help=f"name them first: `R.match_cast({written}, R.Shape([n, m]))`",
    )  # fmt: skip


def shape_item(cx: RelaxContext, dims: Dims, index: Any, node: ast.Subscript) -> Any:
    """A dimension of a shape that is known, or several of them."""
    if isinstance(index, slice):
        with cx.at(node):
            return dims[index]
    if isinstance(index, IntImm):
        index = index.value
    _check_index(cx, index, len(dims), ("shape", "dimension"), node)
    return dims[index]


def _check_index(
    cx: RelaxContext, index: Any, count: int, words: tuple[str, str], node: ast.Subscript
) -> None:
    """Refuse what is no whole number that names a part; `words` are for the whole and a part."""
    whole, part = words
    if not isinstance(index, int) or isinstance(index, bool):
        message = f"the index of a {whole} is a whole number written out"
        raise cx.error(node.slice, "RX0208", message)
    if not -count <= index < count:
        raise cx.error(
            node.slice, "RX0208", f"the {whole} has no {part} {index}",
            labels=[(node.value, f"has {quantity(count, part)}")],
        )  # fmt: skip


def tuple_field(
    cx: RelaxContext, owner: Expr, info: TupleStructInfo, index: Any, node: ast.Subscript
) -> Any:
    """`t[i]` of a tuple with a constant index; `t[a:b]` is a tuple of Python."""
    count = len(info.fields)
    span = cx.source.span(node)
    if isinstance(index, slice):
        with cx.at(node.slice):
            chosen = range(count)[index]
        return tuple(TupleGetItem.make(owner, i, span, span=span) for i in chosen)
    if isinstance(index, str):
        index = field_of_name(cx, owner, index, node)
    _check_index(cx, index, count, ("tuple", "field"), node)
    return TupleGetItem.make(owner, index % count, cx.source.span(node.value), span=span)


def known_length(cx: RelaxContext, value: Expr) -> int | PrimExpr | None:
    """`len(value)` as far as it is known: fields, dimensions, or the first dimension."""
    if isinstance(value, (Tuple, ShapeExpr)):
        return Dim(len(value.fields if isinstance(value, Tuple) else value.values))
    match cx.builder.struct_info(value):
        case TupleStructInfo(fields=fields):
            return Dim(len(fields))
        case ShapeStructInfo(ndim=ndim) if ndim >= 0:
            return Dim(ndim)
        case TensorStructInfo() as info if info.dims:
            first: Dim | PrimExpr = known_dims(info.dims)[0]
            return first
    return None


def _is_unbound(value: Any) -> bool:
    if isinstance(value, (tuple, Tuple)):
        return any(_is_unbound(item) for item in value)
    return isinstance(value, Call)


def method_call(cx: RelaxContext, method: Method, node: ast.Call) -> ast.Call:
    """`x.astype(...)` as the call of its operator.

    The operand was evaluated with the method: it is in the call as it is.
    """
    owner = ast.copy_location(ast.Constant(method.owner), method.node)  # type: ignore[arg-type]
    given = method_arguments(cx, method, node)
    call = ast.Call(func=node.func, args=[owner, *given], keywords=node.keywords)
    return ast.copy_location(call, node)
