"""Parsing annotations: StructInfo as the user wrote it, with a place on every dimension.

    annotation = form | form "(" arguments ")" | form "[" arguments "]" | "None" | string
    dimension  = integer | name | string | arithmetic of dimensions

Annotations are read from the syntax tree, never from `__annotations__`. A string dimension names a
shape variable; in the annotation of a parameter it may introduce one.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from relaxscript.dtypes import DataType, is_dtype
from relaxscript.errors import did_you_mean
from relaxscript.ir.module import VDevice
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import ShapeExpr, Var
from relaxscript.ir.struct_info import (
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)  # fmt: skip
from relaxscript.script.names.annotations import (
    ANNOTATED_HELP,
    AnnotationError,
    AnnotationForm,
    Prim,
    Shape,
    Tensor,
    as_struct_info,
    is_element,
    struct_infos_by_name,
)

from .annotation_help import a_shape, name_of_dtype, reorder_arguments
from .argument_errors import argument_error
from .device_mesh import known_mesh
from .diagnostics import Failed, Failures
from .expression import parse_expr, parse_iterable
from .fixits import in_parentheses
from .relax_functions.context import RelaxContext
from .relax_functions.dimension import (
    as_dimension,
    parse_dimensions,
    parsed_string,
    string_dimension,
)
from .script_context import ItemUse
from .subscript_annotations import callable_call, prim_call, shape_call, typed_call

__all__ = [
    "annotation_argument", "form_call", "form_subscript", "gathered_annotations",
    "known_vdevice", "parse_annotation",
]  # fmt: skip

# What may be a sequence: other forms are annotations, or are read as such.
_COMPUTED = (
    ast.Attribute, ast.BinOp, ast.Call, ast.Dict, ast.DictComp, ast.GeneratorExp, ast.ListComp,
    ast.Name, ast.Subscript,
)  # fmt: skip


def parse_annotation(cx: RelaxContext, node: ast.expr) -> StructInfo:
    """The StructInfo that an annotation means; raises `Failed` after recording a mistake."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return parse_quoted(cx, node)
    shape = a_shape(node)
    if shape is not None:
        written = cx.written(node)
        raise cx.error(
            node, "RX0108", f"`{written}` is a shape, and no annotation",
            help=f"write `{shape}`", fix=shape,
        )  # fmt: skip
    value = parse_expr(cx, node)
    return struct_info_of(cx, value, node)


def struct_info_of(cx: RelaxContext, value: Any, node: ast.expr) -> StructInfo:
    """A value as an annotation, with the place of the annotation."""
    try:
        info = as_struct_info(value)
    except AnnotationError as error:
        raise no_annotation(cx, error, value, node) from None
    return info if info.span is not None else info.replace(span=cx.span(node))


def no_annotation(cx: RelaxContext, error: AnnotationError, value: Any, node: ast.expr) -> Failed:
    """Record a value that is no annotation; what has parts is called as it is written."""
    if not isinstance(node, ast.Call):
        return cx.error(node, "RX0108", error.message, help=error.help, fix=error.fix)
    written, fix = cx.written(node), error.fix
    help = error.help
    if re.match(r"T\.Buffer\b", written):
        fix = f"R.Tensor{written.removeprefix('T.Buffer')}"
        help = f"write `{fix}`"
    return cx.error(node, "RX0108", f"`{written}` is not an annotation", help=help, fix=fix)


def parse_quoted(cx: RelaxContext, node: ast.Constant) -> StructInfo:
    """An annotation in quotes, `x: "R.Tensor((n, 4))"`."""
    inner = parsed_string(cx, node)
    with cx.state(inside_string=node):
        return parse_annotation(cx, inner)


def form_call(cx: RelaxContext, form: AnnotationForm, node: ast.Call) -> StructInfo:
    """`R.Tensor((n, 4), "float32")`, each mistake blamed on its own argument."""
    if form.name == "Callable":
        # The dimensions of a function type are its own, and those around it.
        with cx.state(dims=dict(cx.dims), in_function_type=True), cx.new_dimensions():
            return _form_call(cx, form, node)
    outer, cx.unbound_code = cx.unbound_code, f"RX03{form.kind.unbound:02}"
    try:
        return _plain_tensor(cx, form, node) or _form_call(cx, form, node)
    finally:
        cx.unbound_code = outer


def _plain_tensor(cx: RelaxContext, form: AnnotationForm, node: ast.Call) -> StructInfo | None:
    """`R.Tensor((n, 4), "float32")`, which most annotations are, without detours."""
    if form is not Tensor or node.keywords or len(node.args) != 2:
        return None
    shape, dtype = node.args
    if type(shape) is not ast.Tuple or type(dtype) is not ast.Constant:
        return None
    if type(dtype.value) is not str or not is_dtype(dtype.value):
        return None
    element = DataType(dtype.value)
    if not element.in_relax or any(type(dim) is ast.Starred for dim in shape.elts):
        return None
    dims = tuple(parse_dimensions(cx, shape.elts))
    return TensorStructInfo.make(ShapeExpr.make(dims), element, None, len(dims), span=cx.span(node))


def _form_call(cx: RelaxContext, form: AnnotationForm, node: ast.Call) -> StructInfo:
    places: dict[str, ast.expr] = dict(zip(form.parameters, node.args))
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    failures = Failures()
    place = 0
    for argument in node.args:
        name = form.parameters[place] if place < len(form.parameters) else ""
        before = len(args)
        with failures:
            if not isinstance(argument, ast.Starred):
                args.append(form_argument(cx, form, name, argument))
            elif form.variadic:
                args += unpacked_annotations(cx, argument.value)
            else:
                args += parse_iterable(cx, argument.value)
        place += len(args) - before if isinstance(argument, ast.Starred) else 1
    for keyword in node.keywords:
        name = keyword.arg or ""
        places[name] = keyword.value
        with failures:
            if name and name not in form.parameters:
                unknown = next(form.signature.misfits((), [name]))
                raise argument_error(cx, unknown, node, code="RX0108")
            kwargs[name] = form_argument(cx, form, name, keyword.value)
    failures.settle()
    return _built(cx, form, args, kwargs, places, node)


def form_subscript(cx: RelaxContext, form: AnnotationForm, node: ast.Subscript) -> StructInfo:
    """`R.Tensor[R.f32, n, 4]`, or `R.Tensor[(n, 4), "float32"]`, the older spelling."""
    items = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    with cx.unquoted_dimensions():
        if form.name == "Annotated":
            return with_added(cx, node, items)
        return form_call(cx, form, subscript_as_call(cx, form, items, node))


def subscript_as_call(
    cx: RelaxContext, form: AnnotationForm, items: list[ast.expr], node: ast.Subscript
) -> ast.Call:
    """An annotation in brackets as the call that means the same."""
    known: ast.Call | None = None
    meant = name_of_dtype(items, node.value) if form.name == "Tensor" else None
    if meant is not None:
        message = "a dtype before dimensions is not in quotes"
        raise cx.error(items[0], "RX0108", message, help=f"write `{meant}`", fix=meant)
    match form.name, items:
        case "Tensor", [ast.Attribute() as first, *_] if is_element(parse_expr(cx, first)):
            known = typed_call(node, items, lambda part: value_of_name(cx, part))
        case "Tensor", [] | [ast.Constant(value=int()), *_]:
            items = [node.slice]
        case "Tensor", _ if all(is_dimension(cx, item) for item in items):
            items = [node.slice]  # a shape alone, as with numbers
        case "Shape", _:
            known = shape_call(node, items, lambda part: value_of_name(cx, part))
        case "Callable", _:
            known = callable_call(node, items)
    as_call = known or ast.Call(func=node.value, args=items, keywords=[])
    return ast.copy_location(as_call, node)


def with_added(cx: RelaxContext, node: ast.Subscript, items: list[ast.expr]) -> StructInfo:
    """`R.Annotated[R.Shape, n, 4]`, `R.Annotated[R.Prim[R.i64], n]`."""
    if len(items) < 2:
        raise cx.error(node, "RX0108", f"`{ast.unparse(node)}` adds nothing", help=ANNOTATED_HELP)
    base, *more = items
    match parse_annotation(cx, base):
        case ShapeStructInfo(values=None, ndim=-1):
            return form_call(
                cx, Shape, shape_call(node, more, lambda part: value_of_name(cx, part))
            )
        case PrimStructInfo(value=None, dtype=dtype) if len(more) == 1:
            return form_call(cx, Prim, prim_call(node, dtype, more[0]))
    message = f"this cannot be added to `{ast.unparse(base)}`"
    raise cx.error(more[0], "RX0108", message, help=ANNOTATED_HELP)


def is_dimension(cx: RelaxContext, node: ast.expr) -> bool:
    """True for a number, the name of a dimension, and arithmetic."""
    match node:
        case ast.Constant(value=bool()):
            return False
        case ast.Constant(value=int()) | ast.BinOp():
            return True
        case ast.Constant(value=str(text)):
            return text.isidentifier() and not is_dtype(text)
    return isinstance(value_of_name(cx, node), (int, PrimExpr))


def value_of_name(cx: RelaxContext, node: ast.expr) -> Any:
    """The value of a name, None where it has no value or it is no name."""
    if not isinstance(node, ast.Name):
        return None
    found = cx.names.get(node.id)
    return cx.environment.value_of(node.id) if found is None else found


def _built(
    cx: RelaxContext, form: AnnotationForm, args: list[Any], kwargs: dict[str, Any],
    places: dict[str, ast.expr], node: ast.expr,
) -> StructInfo:  # fmt: skip
    try:
        info = form.bind(args, kwargs)
    except AnnotationError as error:
        better = reorder_arguments(cx.source, form, node)
        if better is not None and cx.inside_string is None:
            at, message, help, edits = better
            raise cx.error(at, error.code, message, help=help, edits=edits) from None
        at = places.get(error.parameter or "", node)
        fix = error.fix
        if fix is not None and fix.startswith("(") and in_parentheses(cx.source, at):
            fix = fix[1:-1]
        raise cx.error(at, error.code, error.message, help=error.help, fix=fix) from None
    if isinstance(info, TensorStructInfo) and info.vdevice is not None:
        given = kwargs.get("vdevice") or args[form.parameters.index("vdevice")]
        place = places.get("vdevice", node)
        info = info.replace(vdevice=known_vdevice(cx, given, info.vdevice, place))
    return info.replace(span=cx.span(node))


def known_vdevice(cx: RelaxContext, given: Any, asked: VDevice, node: ast.expr) -> VDevice:
    """The module's virtual device that is asked for; `given` is how.

    A function on its own has no module whose devices strings could name. Devices that are written
    out in it are those of the module that it will belong to.
    """
    if cx.module.is_absent and isinstance(given, VDevice):
        return given
    known = cx.module.vdevice(asked)
    if known is None and cx.check_well_formed:
        raise unknown_vdevice(cx, asked, node)
    return known or asked


def unknown_vdevice(cx: RelaxContext, asked: VDevice, node: ast.expr) -> Failed:
    """Record criterion 24: a virtual device is one of the module's own."""
    if cx.module.infos_are_broken:
        return Failed()
    shown = str(node.value) if isinstance(node, ast.Constant) else asked.short
    message, help = f"the module has no virtual device `{shown}`", cx.module.devices(asked)
    similar = cx.module.similar_vdevice(asked)
    fix = f'"{similar.short}"' if similar and isinstance(node, ast.Constant) else None
    help = did_you_mean(fix, help)
    if cx.module.is_absent:
        message = f"`{shown}` names a virtual device of a module, and there is none"
        help = f'write it out: `I.vdevice("{asked.target.kind}", {asked.vdevice_id})`'
    return cx.error(node, "RX0324", message, help=help, fix=fix)


def form_argument(cx: RelaxContext, form: AnnotationForm, name: str, node: ast.expr) -> Any:
    """An argument of a form: shapes and scalar values hold dimensions, others are values."""
    unknown = isinstance(node, ast.Name) and node.id == "_"
    sizes = form.sized.sizes_role
    dimensions = sizes is not None and name == sizes.name and not sizes.one_scalar
    if name == "shape" and unknown and (cx.names_dims or "_" not in cx.names):
        return None  # the older spelling of an unknown shape, `R.Tensor[_, "float32"]`
    if dimensions and isinstance(node, (ast.Tuple, ast.List)):
        return parse_dimensions(cx, node.elts)
    if name == "value" and isinstance(node, ast.Constant) and isinstance(node.value, str):
        return string_dimension(cx, node, whole=False)
    if form.variadic or any(name == part.name for part in form.kind.part_roles):
        return annotation_argument(cx, node)
    value = parse_expr(cx, node)
    if name == "device_mesh":
        return known_mesh(cx, value, node)
    return _shape_value(cx, value, node) if dimensions else value


def _shape_value(cx: RelaxContext, value: Any, node: ast.expr) -> Any:
    if isinstance(value, (tuple, list)):
        return [as_dimension(cx, v, node) for v in value]
    if isinstance(value, Var) and not isinstance(value.struct_info, ShapeStructInfo):
        raise cx.error(
            node, "RX0314", "only a shape is allowed here",
            labels=[(node, f"is `{value.struct_info!r}`")],
        )  # fmt: skip
    return value


# ---- several annotations at once, and `*` before them


def annotation_argument(cx: RelaxContext, node: ast.expr) -> Any:
    """Annotations inside annotations: one, or several in a tuple or list."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return parse_annotations(cx, node.elts)
    if isinstance(node, _COMPUTED):
        value = parse_expr(cx, node)
        if isinstance(value, Mapping):
            return fields_by_name(cx, value, node)
        if isinstance(value, (tuple, list)):
            return [struct_info_of(cx, item, node) for item in value]
        return struct_info_of(cx, value, node)
    return parse_annotation(cx, node)


def fields_by_name(
    cx: RelaxContext, mapping: Mapping[str, Any], node: ast.expr
) -> list[StructInfo]:
    """The annotations of a mapping; the script may call the fields by its names."""
    try:
        infos = struct_infos_by_name(mapping)
    except AnnotationError as error:
        raise cx.error(node, error.code, error.message, help=error.help) from None
    cx.names_of_fields[node] = tuple(infos)
    return list(infos.values())


def parse_annotations(cx: RelaxContext, nodes: list[ast.expr]) -> list[StructInfo]:
    """Annotations in order, with those that `*` unpacks."""
    found: list[StructInfo] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            found += unpacked_annotations(cx, node.value)
        else:
            found.append(parse_annotation(cx, node))
    return found


def unpacked_annotations(cx: RelaxContext, node: ast.expr) -> list[StructInfo]:
    """The annotations that `*` unpacks: of a sequence, or of a tuple's annotation."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return parse_annotations(cx, node.elts)
    value = parse_expr(cx, node)
    if isinstance(value, TupleStructInfo):
        return list(value.fields)
    items = cx.language.items_of(cx, value, node, ItemUse.UNPACKING)
    return [struct_info_of(cx, item, node) for item in items]


def gathered_annotations(cx: RelaxContext, node: ast.expr) -> list[StructInfo] | None:
    """The annotations of `*ws`, each of a parameter; None where their number is not known."""
    if isinstance(node, ast.Starred):
        return unpacked_annotations(cx, node.value)
    found = annotation_argument(cx, node)
    return found if isinstance(found, list) else None
