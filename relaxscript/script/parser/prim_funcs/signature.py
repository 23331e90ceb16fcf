"""Signatures of PrimFuncs: parameters, buffers, and the shape variables that they share.

    parameter   = name ":" ( buffer | "T.handle" | "T.int64" ... )
    buffer      = "T.Buffer(" shape "," dtype ... ")" | "T.Buffer[T.f32," { dimension "," } "]"
    declaration = name "=" "T.int64()" { in the body }      (the same variable as in a string "n")

Declarations of the body are collected before the parameters are read, so both mean one variable.
Every dimension keeps its place in the annotation.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from relaxscript.dtypes import DataType, is_dtype
from relaxscript.errors import did_you_mean
from relaxscript.ir import prim
from relaxscript.ir.prim import HANDLE
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.tir import Buffer
from relaxscript.script.names import relax_typed
from relaxscript.script.names.tir_types import BufferForm, HandleType, ScalarType, StmtForm
from relaxscript.script.names.tir_values import BUFFER_PARAMETERS, PARAMETER_HELP
from relaxscript.script.parser.diagnostics import UNKNOWN, Failed
from relaxscript.script.parser.expression import parse_expr
from relaxscript.script.parser.fixits import defaults_of, leave_out_default
from relaxscript.script.parser.python_call import parse_call

from .buffer import (
    BUFFER_MAKERS,
    BufferSyntax,
    introduce_dimensions,
    make_buffer,
    parse_buffer_syntax,
    parse_string_as_expr,
)
from .context import TirContext
from .scalar import item_of

__all__ = ["collect_declarations", "parse_parameters"]

PYTHON_TYPES = {"int": "T.int64", "float": "T.float32", "bool": "T.bool"}
# What dtypes are called in brackets: `T.Buffer[T.f32, 64]`.
SHORT_NAMES = {getattr(relax_typed, name): name for name in relax_typed.DTYPES}


def collect_declarations(cx: TirContext, body: Sequence[ast.stmt]) -> None:
    """Collect `n = T.int64()` from the outermost statements of a body."""
    for target, value in declaring_assignments(cx, body):
        var = declared_var(cx, target, value)
        if var is not None and target.id not in cx.declared:
            cx.declared[target.id] = (var, target)
            cx.names[target.id] = var
            cx.fixed[var] = "a shape variable"


def declaring_assignments(
    cx: TirContext, body: Sequence[ast.stmt]
) -> Iterator[tuple[ast.Name, ast.Call]]:
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name() as target], value=ast.Call() as value):
                yield target, value
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                for name, item in zip(names, values):
                    if isinstance(name, ast.Name) and isinstance(item, ast.Call):
                        yield name, item


def declared_var(cx: TirContext, target: ast.Name, value: ast.Call) -> prim.Var | None:
    """The variable that a statement declares, or None for statements of another kind."""
    match value.func:
        case ast.Attribute(value=ast.Name(id=base), attr=attr) if base not in cx.names:
            if not (is_dtype(attr) or attr in ("var", "Var", "SizeVar", "ptr", "Ptr")):
                return None
        case _:
            return None
    if is_dtype(attr) and (value.args or attr == "handle"):
        return None
    try:
        made = parse_call(cx, value)
    except Failed:
        cx.names[target.id] = UNKNOWN
        return None
    if not isinstance(made, prim.Var) or made.dtype.kind == "handle":
        return None
    return made.replace(name=target.id, span=cx.span(target))


def parse_parameters(cx: TirContext, node: ast.FunctionDef) -> None:
    """All parameters: scalars first, so that dimensions can name them wherever they are."""
    cx.definition = node
    cx.reporter.reading = (cx.source, node)
    refuse_other_parameters(cx, node.args)
    args = [*node.args.posonlyargs, *node.args.args]
    found = [parse_annotation_of(cx, arg) for arg in args]
    scalars = {
        arg.arg: scalar_parameter(cx, arg, value)
        for arg, value in zip(args, found)
        if isinstance(value, (ScalarType, prim.Var))
    }
    for value in found:
        if isinstance(value, BufferSyntax):
            introduce_dimensions(cx, value)
    for arg, value in zip(args, found):
        add_parameter(cx, arg, value, scalars.get(arg.arg))


def add_parameter(cx: TirContext, arg: ast.arg, value: Any, scalar: prim.Var | None) -> None:
    """Add one parameter to the signature; one that failed stays unknown."""
    span = cx.source.name_span(arg)
    param: prim.Var | Buffer | None = scalar
    if isinstance(value, BufferSyntax):
        with suppress(Failed):
            param = make_buffer(cx, arg.arg, value, span)
    cx.names[arg.arg] = UNKNOWN if param is None else param
    if param is not None:
        cx.builder.span = span
        cx.builder.add_param(param)


def scalar_parameter(cx: TirContext, arg: ast.arg, value: ScalarType | prim.Var) -> prim.Var:
    span = cx.source.name_span(arg)
    known = cx.declared.get(arg.arg)
    if isinstance(value, prim.Var):
        var = value.replace(name=arg.arg, span=span)
    elif known is not None and known[0].dtype is value.dtype:
        var = known[0]
    else:
        var = prim.Var.make(arg.arg, value.dtype, span=span)
    cx.names[arg.arg] = var
    cx.fixed[var] = "a parameter"
    return var


def refuse_other_parameters(cx: TirContext, args: ast.arguments) -> None:
    for extra, stars in ((args.vararg, "*"), (args.kwarg, "**")):
        if extra is not None:
            cx.error(extra, "RX0104", f"a PrimFunc has no `{stars}{extra.arg}`",
                       help="name each parameter")  # fmt: skip
    for keyword_only in args.kwonlyargs:
        cx.error(keyword_only, "RX0104", f"`{keyword_only.arg}` cannot be keyword-only")
    for arg, default in defaults_of(args):
        edits = [] if arg.annotation is None else [leave_out_default(cx.source, arg, default)]
        cx.error(default, "RX0104", "a parameter of a PrimFunc has no default value",
                   help="pass the value at every call", edits=edits)  # fmt: skip


def parse_annotation_of(cx: TirContext, arg: ast.arg) -> Any:
    """The declaration of a parameter: a buffer, a type of scalars, a pointer, or None."""
    if arg.annotation is None:
        matched = arg.arg in matched_parameters(cx)
        whole = f"{arg.arg}: T.handle"
        cx.error(arg, "RX0108", f"the parameter `{arg.arg}` has no annotation",
                   help=f"write `{whole}`" if matched else PARAMETER_HELP,
                   fix=whole if matched else None)  # fmt: skip
        return None
    try:
        return parse_annotation(cx, arg.annotation)
    except Failed:
        return None


def matched_parameters(cx: TirContext) -> set[str]:
    """The parameters of this function that `T.match_buffer` gives a shape."""
    found: set[str] = set()
    for node in ast.walk(cx.definition) if cx.definition is not None else ():
        match node:
            case ast.Call(func=ast.Attribute(attr="match_buffer"), args=[ast.Name(id=name), *_]):
                found.add(name)
    return found


def parse_annotation(cx: TirContext, node: ast.expr) -> Any:
    match node:
        case ast.Constant(value=str(text)):
            return parse_quoted_annotation(cx, node, text)
        case ast.Call(func=func):
            callee = parse_expr(cx, func)
            if isinstance(callee, BufferForm) or id(callee) in BUFFER_MAKERS:
                return parse_buffer_syntax(cx, callee, node)
            value = cx.language.call_value(cx, callee, node)
        case ast.Subscript(value=base, slice=inner):
            callee = parse_expr(cx, base)
            if isinstance(callee, BufferForm):
                return parse_bracketed_buffer(cx, callee, node)
            value = item_of(cx, callee, parse_expr(cx, inner), node)
        case ast.Name(id=("int" | "float" | "bool") as name) if name not in cx.names:
            raise cx.error(
                node, "RX0108", f"`{name}` does not say how many bits the scalar has",
                help=f"write `{PYTHON_TYPES[name]}`", fix=PYTHON_TYPES[name],
            )  # fmt: skip
        case _:
            value = parse_expr(cx, node)
    return parameter_type(cx, value, node)


def parameter_type(cx: TirContext, value: Any, node: ast.expr) -> Any:
    """A value as an annotation of a parameter."""
    match value:
        case HandleType():
            return prim.Var.make("", HANDLE)
        case ScalarType() if not value.dtype.is_void:
            return value
        case prim.Var() if value.dtype.kind == "handle" and not value.name:
            return value
        case prim.Var() if not value.name:
            return ScalarType(value.dtype)
        case BufferForm():
            raise cx.error(node, "RX0108", "a buffer needs a shape", help=PARAMETER_HELP)
        case DataType():
            raise cx.error(
                node, "RX0108", f"`{cx.written(node)}` is what a buffer or tensor holds",
                help=f"write `T.{value}`, a scalar", fix=f"T.{value}",
            )  # fmt: skip
        case StmtForm() if isinstance(value.maker, BufferForm):
            return captured_buffer(cx, value, node)
    written = cx.written(node)
    instead = written.replace("R.Tensor", "T.Buffer", 1)
    known = isinstance(value, TensorStructInfo) and instead != written
    raise cx.error(
        node, "RX0108", f"`{written}` is not the type of a parameter of a PrimFunc",
        help=f"write `{instead}`" if known else PARAMETER_HELP,
        fix=instead if known and value.dims is not None else None,
    )  # fmt: skip


def captured_buffer(cx: TirContext, form: StmtForm, node: ast.expr) -> BufferSyntax:
    """An annotation that Python evaluated before: `x: Image` with `Image = T.Buffer(...)`."""
    values = {k: v for k, v in form.arguments.items() if k != "args"}
    values = {**dict(zip(BUFFER_PARAMETERS, form.arguments["args"])), **values}
    return BufferSyntax.of_values(form.maker, values, node)


def parse_quoted_annotation(cx: TirContext, node: ast.Constant, text: str) -> Any:
    """An annotation in quotes."""
    inner = parse_string_as_expr(cx, node, text)
    outer, cx.inside_string = cx.inside_string, node
    try:
        return parse_annotation(cx, inner)
    finally:
        cx.inside_string = outer


def parse_bracketed_buffer(cx: TirContext, callee: BufferForm, node: ast.Subscript) -> BufferSyntax:
    """`T.Buffer[T.f32, n, 64]`, or `T.Buffer[(64,), "float32"]`, the older spelling."""
    inner = node.slice
    args = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if args and is_element(cx, args[0]):
        return BufferSyntax(callee, typed_arguments(cx, args, node), cx.inside_string or node)
    check_older_spelling(cx, args, node)
    call = ast.copy_location(ast.Call(node.value, list(args), []), node)
    return parse_buffer_syntax(cx, callee, call)


def is_element(cx: TirContext, node: ast.expr) -> bool:
    """True if this is `T.f32`, with which the form begins that type checkers read."""
    if isinstance(node, ast.Attribute):
        return isinstance(parse_expr(cx, node), (DataType, ScalarType))
    if not isinstance(node, ast.Name) or node.id in cx.names:
        return False
    found = cx.environment.value_of(node.id)
    if found is None and node.id in SHORT_NAMES.values():
        meant = f"T.{node.id}"
        raise cx.error(
            node, "RX0101", f"`{node.id}` is not defined", help=did_you_mean(meant),
            fix=meant,
        )  # fmt: skip
    return isinstance(found, (DataType, ScalarType))


def typed_arguments(
    cx: TirContext, items: list[ast.expr], node: ast.Subscript
) -> dict[str, ast.expr]:
    """The arguments in `T.Buffer[T.f32, n, 64]`: the dtype, then dimensions or one tuple."""
    dtype, *dims = items
    unknown = next((d for d in dims if _is_ellipsis(d)), None if dims else node)
    if unknown is not None:
        written = cx.written(dtype)
        raise cx.error(
            unknown, "RX0108", "a buffer needs a shape",
            help=f"write `T.Buffer[{written}, n, 64]`, of a single element "
            f"`T.Buffer[{written}, ()]`",
        )  # fmt: skip
    if len(dims) == 1 and isinstance(dims[0], ast.Tuple):
        return {"shape": dims[0], "dtype": dtype}
    shape = ast.copy_location(ast.Tuple(dims, ast.Load()), node.slice)
    return {"shape": shape, "dtype": dtype}


def check_older_spelling(cx: TirContext, args: list[ast.expr], node: ast.Subscript) -> None:
    """Refuse what is neither `T.Buffer[T.f32, n, 64]` nor `T.Buffer[(n, 64), "float32"]`."""
    match args:
        case [ast.Constant(value=str(text)) as first, *_] if is_dtype(text):
            short = SHORT_NAMES.get(text)
            raise cx.error(
                first, "RX0108", f'"{text}" is a dtype, where a shape comes first',
                help=f"write `T.{short}` for it" if short else PARAMETER_HELP,
                fix=f"T.{short}" if short and len(args) > 1 else None,
            )  # fmt: skip
        case [_, ast.Constant(value=int())] | [_, _, ast.Constant(value=int()), *_]:
            dims = ", ".join(cx.written(arg) for arg in args)
            raise cx.error(
                node.slice, "RX0108", "dimensions in brackets follow a dtype",
                help=f"write `T.Buffer[T.f32, {dims}]`", fix=f"T.f32, {dims}",
            )  # fmt: skip


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
