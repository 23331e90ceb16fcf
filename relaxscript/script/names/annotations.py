"""Annotations, `R.Tensor(...)` and its relatives: callables that give a StructInfo.

The same callables serve the parser, which gives them dimensions whose names it has resolved, and
plain Python: builder programs, and the annotations of decorated functions, which Python itself
evaluates before any decorator runs. A mistake in such an annotation must not stop Python with a
message of its own: the decorator is about to report it with its exact place. So on the error path
only, the caller's source is consulted (`in_annotation`).

Source: TVM `R.Tensor` and its relatives for parameters; spec "Defining Structural Information".
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable as AnyCallable, Mapping, Sequence
from types import FrameType
from typing import Any

import numpy as np

from relaxscript.arguments import ArgumentError, python_signature
from relaxscript.dtypes import DataType, is_dtype
from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean
from relaxscript.errors.user_frame import caller_frame, caller_span
from relaxscript.ir.module import VDevice, as_target
from relaxscript.ir.prim import PrimExpr, as_prim
from relaxscript.ir.relax import Expr, ShapeExpr, Var
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    empty_derive,
)
from relaxscript.ir.types import MOST_DIMENSIONS
from relaxscript.opdef.aliases import nearest_dtype
from relaxscript.opdef.parameters import DTYPES

__all__ = [
    "ANNOTATED_HELP",
    "Annotated",
    "AnnotationError",
    "AnnotationForm",
    "Callable",
    "Object",
    "Prim",
    "Shape",
    "Tensor",
    "Tuple",
    "as_struct_info",
    "in_annotation",
    "is_element",
    "struct_infos_by_name",
    "typed_arguments",
]  # fmt: skip

ANNOTATED_HELP = "write `R.Annotated[R.Shape, n, 4]` or `R.Annotated[R.Prim[R.i64], n]`"


class AnnotationError(Exception):
    """An annotation that says nothing sensible; `parameter` is the argument to blame, if one is.

    `fix` is what to write in its place, `code` the code of the diagnostic.
    """

    def __init__(
        self, message: str, parameter: str | None = None, help: str | None = None,
        fix: str | None = None, code: str = "RX0108",
    ) -> None:  # fmt: skip
        super().__init__(message)
        self.message = message
        self.parameter = parameter
        self.help = help
        self.fix = fix
        self.code = code


def in_annotation(frame: FrameType | None) -> bool:
    """True if a frame is evaluating an annotation of a decorated definition just now."""
    if frame is None:
        return False
    text = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    line = frame.f_lineno
    return any(
        annotation.lineno <= line <= (annotation.end_lineno or annotation.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.decorator_list
        for annotation in _annotations(node)
    )


def _annotations(node: ast.FunctionDef) -> list[ast.expr]:
    args = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    found = [a.annotation for a in args if a.annotation is not None]
    return [*found, node.returns] if node.returns is not None else found


class AnnotationForm:
    """A name such as `R.Tensor`: bare, called or subscripted it means a StructInfo of a `kind`.

    `build` makes the StructInfo of the call's arguments and raises `AnnotationError`. An argument
    is read by the role of the field of its name.
    """

    def __init__(
        self, name: str, kind: type[StructInfo], build: AnyCallable[..., StructInfo], doc: str,
        part: type[StructInfo] | None = None,
    ) -> None:  # fmt: skip
        self.name = name
        self.kind = kind
        # The kind that has the dimensions: its own, or that of its one part.
        self.sized = part or kind
        self.build = build
        taken = inspect.signature(build).parameters.values()
        self.variadic = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in taken)
        self.parameters = () if self.variadic else tuple(p.name for p in taken)
        self.signature = python_signature(f"R.{name}", inspect.signature(build))
        self.__doc__ = doc
        self.__name__ = name

    @property
    def __told__(self) -> str:
        """The words for it in messages where a StructInfo is expected."""
        return f"`{self!r}` itself; write `{self!r}()`"

    def __call__(self, *args: Any, **kwargs: Any) -> StructInfo:
        try:
            return self.bind(args, kwargs)
        except AnnotationError as error:
            if in_annotation(caller_frame()):
                return ObjectStructInfo()
            diagnostic = Diagnostic(error.code, error.message, caller_span(), help=error.help)
            raise DiagnosticError(diagnostic) from None

    def __getitem__(self, items: Any) -> StructInfo:
        args, kwargs = self.in_brackets(items if isinstance(items, tuple) else (items,))
        return self(*args, **kwargs)

    def in_brackets(self, items: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of the call that brackets around these items stand for."""
        match self.name:
            case "Shape":
                return (), shape_arguments("values", items)
            case "Callable" if len(items) == 2 and items[0] is ...:
                return (), {"ret": items[1]}
            case "Tensor" if items == ():
                return (items,), {}
            case "Tensor" if is_element(items[0]):
                return (), typed_arguments(items)
        return items, {}

    def __repr__(self) -> str:
        return f"R.{self.name}"

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.build)

    @property
    def bare(self) -> StructInfo:
        """The StructInfo of the name alone."""
        return self.bind((), {})

    def bind(self, args: Any, kwargs: dict[str, Any]) -> StructInfo:
        """The StructInfo for arguments; raises `AnnotationError`."""
        try:
            bound = self.signature.bind_given(args, kwargs)
        except ArgumentError as error:
            raise AnnotationError(error.message, error.keyword, error.help) from None
        return self.build(*args) if self.variadic else self.build(**bound)


def is_element(value: Any) -> bool:
    """True if a value is `R.f32` or `R.Any`, what tensors hold in `R.Tensor[R.f32, n, 4]`."""
    return isinstance(value, DataType) or value is Object


def typed_arguments(items: Sequence[Any]) -> dict[str, Any]:
    """The arguments of `R.Tensor` that `R.Tensor[R.f32, n, 4]` gives.

    One tuple is the shape; `...` or nothing leaves it unknown. A virtual device may come last.
    """
    element, *dims = items
    arguments = {} if element is Object else {"dtype": element}
    if dims and (isinstance(dims[-1], VDevice) or (isinstance(dims[-1], str) and ":" in dims[-1])):
        arguments["vdevice"] = dims.pop()
    if dims and not (len(dims) == 1 and dims[0] is ...):
        arguments.update(shape_arguments("shape", dims))
    return arguments


def shape_arguments(name: str, dims: Sequence[Any]) -> dict[str, Any]:
    """The argument that dimensions in brackets are; `None` for each says how many there are."""
    if dims and all(dim is None for dim in dims):
        return {"ndim": len(dims)}
    whole = len(dims) == 1 and isinstance(dims[0], (tuple, list, Expr))
    return {name: dims[0] if whole else tuple(dims)}


def as_struct_info(value: Any) -> StructInfo:
    """A StructInfo from what people write for one; None is unit."""
    match value:
        case StructInfo():
            return value
        case AnnotationForm():
            return value.bare
        case None:
            return TupleStructInfo(())
        case tuple() | list():
            return TupleStructInfo(tuple(as_struct_info(v) for v in value))
    meant = _MEANT.get(value) if isinstance(value, type) else None
    name = _describe_value(value).removeprefix("T.")
    if meant is None and name in DTYPES:
        meant = f'R.Prim("{name}")'
    help = f"write `{meant}`" if meant else 'write for example `R.Tensor((2, 3), "float32")`'
    raise AnnotationError(f"`{_describe_value(value)}` is not an annotation", None, help, meant)


def struct_infos_by_name(mapping: Mapping[str, Any]) -> dict[str, StructInfo]:
    """The annotations of a mapping from names to annotations, or to arrays, which are not read."""
    shape_of = getattr(mapping, "shape", None)  # weights in files know it without the array
    found: dict[str, StructInfo] = {}
    for name in mapping:
        if not isinstance(name, str):
            message = f"the names of a tuple's fields are strings, not `{_describe_value(name)}`"
            raise AnnotationError(message)
        try:
            if callable(shape_of):
                found[name] = _tensor_like(shape_of(name), mapping.dtype(name))  # type: ignore[attr-defined]
                continue
            value = mapping[name]
            has_both = hasattr(value, "shape") and hasattr(value, "dtype")
            is_array = has_both and not isinstance(value, StructInfo)
            found[name] = (
                _tensor_like(value.shape, value.dtype) if is_array else as_struct_info(value)
            )
        except AnnotationError as error:
            message = f"the field `{name}`: {error.message}"
            raise AnnotationError(message, None, error.help, code=error.code) from None
    return found


def _tensor_like(shape: Any, dtype: Any) -> StructInfo:
    """The annotation of arrays of any library: `torch.float32` says its dtype as well."""
    name = str(getattr(dtype, "name", dtype)).rpartition(".")[2]
    return _tensor(tuple(shape), name)


# What a type of Python may have meant in the place of an annotation.
_MEANT: dict[type, str] = {
    bool: 'R.Prim("bool")', int: 'R.Prim("int64")', float: 'R.Prim("float64")', str: "R.Object",
    np.ndarray: "R.Tensor", tuple: "R.Object", list: "R.Object", object: "R.Object",
}  # fmt: skip


def _describe_value(value: Any) -> str:
    name = getattr(value, "__name__", None)
    return name if isinstance(name, str) else repr(value)


def _dtype(value: Any, parameter: str = "dtype") -> DataType:
    if value == "":  # as TVM writes a dtype that is not known
        return DataType("void")
    if isinstance(value, str) and is_dtype(value):
        dtype = DataType(value)
        if dtype.in_relax:
            return dtype
        message = f'Relax has no dtype "{value}"'
        raise AnnotationError(message, parameter, *_dtype_help(value), code="RX0320")
    if isinstance(value, str):
        raise AnnotationError(f'"{value}" is not a dtype', parameter, *_dtype_help(value))
    if isinstance(value, type) or hasattr(value, "dtype") or hasattr(value, "itemsize"):
        name = getattr(np.dtype(value) if isinstance(value, type) else value, "name", "")
        if is_dtype(name):
            return _dtype(str(name), parameter)
    raise AnnotationError(
        f"`{_describe_value(value)}` is not a dtype", parameter, 'write for example `"float32"`'
    )


def _dtype_help(value: str) -> tuple[str, str | None]:
    """The help for a misspelt dtype, and what to write in its place."""
    near = nearest_dtype(value, DTYPES)
    if near is None:
        return "known are " + ", ".join(DTYPES), None
    return did_you_mean(near, quote='"'), f'"{near}"'


def _dims(shape: Any, parameter: str) -> tuple[PrimExpr, ...]:
    dims = TensorStructInfo(shape, DataType("void")).dims if _has_names(shape) else None
    if dims is not None:
        return dims
    return tuple(_dim(value, parameter) for value in shape)


def _has_names(shape: Any) -> bool:
    return any(isinstance(v, str) and v.isidentifier() for v in shape) and not any(
        isinstance(v, DataType) or (isinstance(v, str) and not v.isidentifier()) for v in shape
    )


def _dim(value: Any, parameter: str) -> PrimExpr:
    if isinstance(value, str) and not isinstance(value, DataType):
        # Python evaluates the annotation of a decorated function; the parser reads it again.
        from relaxscript.ir.prim import Var as PrimVar

        return PrimVar(value, DataType("int64"))
    try:
        dim = as_prim(value)
    except TypeError:
        raise AnnotationError(
            f"`{_describe_value(value)}` is not a dimension", parameter,
            'a dimension is a whole number, a name such as "n", or arithmetic of these',
        ) from None  # fmt: skip
    if not dim.dtype.is_integer:
        raise AnnotationError(
            f"`{_describe_value(value)}` is not a whole number of elements", parameter
        )
    if isinstance(value, int) and value < 0:
        raise AnnotationError(f"a dimension cannot be negative, this is {value}", parameter)
    return dim


def _shape(shape: Any, parameter: str) -> Expr | None:
    match shape:
        case None:
            return None
        case ShapeExpr() | Var():
            return shape
        case tuple() | list():
            return ShapeExpr.make(_dims(shape, parameter))
    text = _describe_value(shape)
    if isinstance(shape, (int, PrimExpr)):
        written = text if isinstance(shape, int) else getattr(shape, "name", "n")
        raise AnnotationError(
            "a shape is a tuple, this is a single number", parameter,
            f"write `({written},)`", f"({written},)",
        )  # fmt: skip
    raise AnnotationError(f"`{text}` is not a shape", parameter, "write a tuple such as `(2, 3)`")


def _vdevice(value: Any) -> VDevice | None:
    match value:
        case None | VDevice():
            return value
        case str():
            kind, _, rest = value.partition(":")
            index, _, scope = rest.partition(":")
            if index and not index.isdigit():
                raise AnnotationError(
                    f'"{value}" is not a virtual device', "vdevice", 'write "kind:index"'
                )
            kind = "llvm" if kind == "cpu" else kind
            return VDevice(as_target(kind), int(index or 0), scope or "global")
    raise AnnotationError(f"`{_describe_value(value)}` is not a virtual device", "vdevice")


def _rank(ndim: Any) -> int:
    if isinstance(ndim, int) and not isinstance(ndim, bool) and ndim >= -1:
        if ndim > MOST_DIMENSIONS:
            message = f"a tensor has at most {MOST_DIMENSIONS:,} dimensions"
            raise AnnotationError(message, "ndim", "leave `ndim` out where the rank is unknown")
        return ndim
    raise AnnotationError(
        f"`{_describe_value(ndim)}` is not a rank", "ndim", "a rank is a whole number"
    )


def _check_rank(rank: int, shape: Expr | None) -> int:
    """The rank that is given, which the shape must have where its own is known."""
    if isinstance(shape, ShapeExpr):
        known = len(shape.values)
    else:
        known = getattr(getattr(shape, "struct_info", None), "ndim", -1)
    if -1 in (rank, known) or rank == known:
        return rank
    message = f"ndim is {rank}, but the shape has {known} dimensions"
    help = f"leave `ndim` out, or write `ndim={known}`"
    raise AnnotationError(message, "ndim", help, str(known), code="RX0310")


def _tensor(
    shape: Any = None, dtype: Any = None, vdevice: Any = None, ndim: Any = -1
) -> StructInfo:
    if isinstance(shape, str):
        if dtype is not None:
            written = f'("{shape}",)'
            raise AnnotationError(
                f'"{shape}" is not a shape', "shape", f"write `{written}`", written
            )
        shape, dtype = None, shape
    where = _shape(shape, "shape")
    element = DataType("void") if dtype is None else _dtype(dtype)
    rank = _check_rank(_rank(ndim), where)
    return TensorStructInfo(where, element, _vdevice(vdevice), rank)


def _shape_info(values: Any = None, ndim: Any = -1) -> StructInfo:
    where = _shape(values, "values")
    return ShapeStructInfo(getattr(where, "values", None), _check_rank(_rank(ndim), where))


def _prim(dtype: Any = None, value: Any = None) -> StructInfo:
    if dtype is not None and not isinstance(dtype, str) and value is None:
        dtype, value = None, dtype
    if dtype is None and value is None:
        raise AnnotationError("`R.Prim` needs a dtype or a value", None, 'write `R.Prim("int64")`')
    if isinstance(value, str):
        value = _dim(value, "value")
    try:
        known = None if value is None else as_prim(value)
    except TypeError:
        message = f"`{_describe_value(value)}` is not the value of a scalar"
        raise AnnotationError(
            message, "value", "a value is a number, a name or arithmetic"
        ) from None
    if dtype in ("handle", "void"):
        raise AnnotationError(
            f'a scalar is a number, not "{dtype}"', "dtype", 'write for example `"int64"`',
            code="RX0319",
        )  # fmt: skip
    element = known.dtype if dtype is None and known is not None else _dtype(dtype)
    if known is not None and known.dtype is not element:
        known = _convert_value(value, known, element)
    return PrimStructInfo.make(element, known)


def _convert_value(value: Any, known: PrimExpr, element: DataType) -> PrimExpr:
    from relaxscript.ir.prim import const

    if isinstance(value, (int, float)) and (element.is_float or not isinstance(value, float)):
        return const(value, element)
    message = f"the value is {known.dtype}, the scalar {element}"
    raise AnnotationError(message, "value", "give the value alone", code="RX0322")


def _object() -> StructInfo:
    return ObjectStructInfo()


def _tuple(*fields: Any) -> StructInfo:
    if len(fields) == 1 and isinstance(fields[0], Mapping):
        return TupleStructInfo(tuple(struct_infos_by_name(fields[0]).values()))
    if len(fields) == 1 and isinstance(fields[0], (list, tuple)):
        fields = tuple(fields[0])
    return TupleStructInfo(tuple(as_struct_info(f) for f in fields))


def _callable(
    params: Any = None, ret: Any = None, purity: Any = None, derive_func: Any = None
) -> StructInfo:
    result = ObjectStructInfo() if ret is None and params is None else as_struct_info(ret)
    if params is None:
        derive = derive_func or (empty_derive if ret is None else None)
        return FuncStructInfo(None, result, bool(purity), derive)
    if derive_func is not None:
        message = "a function has `params` or `derive_func`, not both"
        raise AnnotationError(message, "derive_func", "leave one of them out", code="RX0317")
    given = params if isinstance(params, (list, tuple)) else (params,)
    infos = tuple(as_struct_info(p) for p in given)
    return FuncStructInfo(infos, result, True if purity is None else bool(purity))


def _refine(base: Any = None, *more: Any) -> StructInfo:
    info = None if base is None else as_struct_info(base)
    match info:
        case ShapeStructInfo(values=None, ndim=-1) if more:
            return Shape.bind((), shape_arguments("values", more))
        case PrimStructInfo(value=None, dtype=dtype) if len(more) == 1:
            return _prim(dtype, more[0])
    what = "adds nothing" if not more else f"cannot add this to `{info!r}`"
    raise AnnotationError(f"`R.Annotated` {what}", None, ANNOTATED_HELP)


Tensor = AnnotationForm(
    "Tensor", TensorStructInfo, _tensor,
    """A tensor: `R.Tensor((n, 4), "float32")`; what is left out is unknown.

    `R.Tensor[R.f32, n, 4]` is the same in the form that type checkers read; `None` for each
    dimension tells only how many there are, and a virtual device may come last.
    """,
)  # fmt: skip
Shape = AnnotationForm(
    "Shape", ShapeStructInfo, _shape_info,
    """A shape: `R.Shape([n, 4])`, `R.Shape[n, 4]`, `R.Shape(ndim=2)`.

    `R.Annotated[R.Shape, n, 4]` is the same in the form that type checkers read.
    """,
)  # fmt: skip
Prim = AnnotationForm(
    "Prim", PrimStructInfo, _prim, """A scalar: `R.Prim("int64")`, `R.Prim(value=n)`."""
)
Object = AnnotationForm("Object", ObjectStructInfo, _object, """Any value.""")
Tuple = AnnotationForm(
    "Tuple",
    TupleStructInfo,
    _tuple,
    """A tuple: `R.Tuple(R.Tensor((2,), "float32"), R.Shape)`.

    Weights by name are one parameter, `params: R.Tuple(weights)`: the values of the mapping are
    annotations, or arrays. `params["fc1.weight"]` is a field; the names are the attribute
    `param_names` of the function.
    """,
)
Callable = AnnotationForm(
    "Callable", FuncStructInfo, _callable,
    """A function: `R.Callable((R.Tensor,), R.Tensor)`; without parameters, a PackedFunc.

    `R.Callable[[R.Shape], R.Object]` and `R.Callable[..., R.Object]` are what type checkers read.
    """,
)  # fmt: skip


Annotated = AnnotationForm(
    "Annotated", StructInfo, _refine,
    """What checkers know, and then what they cannot: dimensions of a shape, the value of a scalar.

    `R.Annotated[R.Shape, n, 4]` is `R.Shape((n, 4))`, and `R.Annotated[R.Prim[R.i64], n]` is
    `R.Prim("int64", n)`.
    """,
)  # fmt: skip
