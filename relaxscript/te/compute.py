"""Making tensors: those that are given, and those that are computed element by element.

    A = te.placeholder((n, 64), name="A")
    k = te.reduce_axis((0, 64), name="k")
    B = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="B")

Source: TVM `te.operation`.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, did_you_mean, nearest
from relaxscript.errors.user_frame import report_as
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, SizeVar, Var, alike
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import Buffer, Evaluate, IterVar, Range, Stmt
from relaxscript.ir.tir_compute import Reduce
from relaxscript.ir.walk import walk
from relaxscript.tir_builder import describe, make_buffer

from .tensor import (
    ComputeOp,
    ExternOp,
    PlaceholderOp,
    Tensor,
    as_element,
    tensors_in,
)

# The names that are suggested for one that is none.
DTYPES = (
    "float32", "float16", "float64", "bfloat16", "int32", "int64", "int8", "int16", "uint8",
    "uint16", "uint32", "uint64", "bool",
)  # fmt: skip
# What there is for conditions, as for numbers of one bit.
OF_CONDITIONS = frozenset({prim.Add, prim.Mul, prim.Min, prim.Max})

__all__ = [
    "compute", "dtype_of", "extern", "placeholder", "reduce_axis", "shape_of", "size_var",
    "tag_scope", "thread_axis", "var",
]  # fmt: skip


@report_as("te")
def var(name: str = "tindex", dtype: str = "int32") -> Var:
    """A new variable of a scalar, a dimension for example."""
    return Var.make(name, dtype_of(dtype))


@report_as("te")
def size_var(name: str = "size", dtype: str = "int32") -> SizeVar:
    """A new variable of a dimension, which is not negative."""
    return SizeVar.make(name, dtype_of(dtype))


def dtype_of(dtype: Any, operand: str = "dtype") -> DataType:
    """A dtype by its name; raises `OperandError`, which blames `operand`, for what is none."""
    try:
        return DataType(dtype)
    except (TypeError, ValueError):
        near = nearest(str(dtype), DTYPES)
        raise OperandError(
            operand, f"is {dtype!r}", code="RX0502", message=f"{dtype!r} is not a dtype",
            help=did_you_mean(near, 'write for example `"float32"`', '"'),
        ) from None  # fmt: skip


def _check_function(value: Any, example: str) -> None:
    """Refuse what cannot be called where a function is needed."""
    if not callable(value):
        raise OperandError(
            "fcompute", f"is {describe(value)}", code="RX0103",
            message="what a tensor holds is said by a function", help=f"write `{example}`",
        )  # fmt: skip


@report_as("te")
def placeholder(shape: Any, dtype: Any = None, name: str = "placeholder") -> Tensor:
    """A tensor that is given. `dtype` is float32 where it is not said.

    Raises `OperandError` for a shape that is none.
    """
    element = dtype_of("float32" if dtype is None else dtype)
    return PlaceholderOp(name, "", Attrs(), [(shape_of(shape), element)]).output(0)


def shape_of(shape: Any) -> tuple[PrimExpr, ...]:
    """Dimensions as whole numbers of at least 0; a single one needs no tuple."""
    given = shape if isinstance(shape, (tuple, list)) else (shape,)
    found = []
    for axis, size in enumerate(given):
        try:
            e = as_element(size)
        except OperandError as error:
            raise _no_dimension(axis, error.said) from None
        if not e.dtype.is_integer or e.dtype.lanes != 1:
            raise _no_dimension(axis, f"is {e.dtype}")
        _check_is_known(f"shape[{axis}]", e)
        if isinstance(e, prim.IntImm) and e.value < 0:
            raise OperandError(
                f"shape[{axis}]", f"is {e.value}", code="RX0502",
                message=f"a dimension is not negative, and axis {axis} is {e.value}",
            )  # fmt: skip
        found.append(e)
    return tuple(found)


def _check_is_known(part: str, e: PrimExpr) -> None:
    """Refuse a size that is an element of a tensor: loops and memory are made before it is read."""
    read = next(tensors_in(e), None)
    if read is not None:
        raise OperandError(
            part, f"is an element of `{read.name}`", code="RX0502",
            message=f"a size is known before any element of `{read.name}` is read",
            help='make it of dimensions, or of a variable: `te.var("n", "int64")`',
        )  # fmt: skip


def _no_dimension(axis: int, fact: str) -> OperandError:
    return OperandError(
        f"shape[{axis}]", fact, code="RX0502",
        message=f"a dimension is an integer, and axis {axis} {fact}",
    )  # fmt: skip


@report_as("te")
def reduce_axis(dom: Any, name: str = "rv", thread_tag: str = "") -> IterVar:
    """An axis over which a `compute` reduces: its domain `(begin, end)`, and its name.

    Raises `OperandError` for what is no domain.
    """
    domain = _domain(dom)
    return IterVar(domain, Var.make(name, domain.extent.dtype), "reduce", thread_tag)


def thread_axis(dom: Any = None, tag: str = "", name: str = "") -> IterVar:
    """An axis that is the number of a thread; its domain may be left open."""
    if isinstance(dom, str):
        dom, tag = None, dom
    domain = None if dom is None else _domain(dom)
    dtype = prim.INT32 if domain is None else domain.extent.dtype
    return IterVar(domain, Var.make(name or tag, dtype), "ThreadIndex", tag)


def _domain(dom: Any) -> Range:
    if isinstance(dom, Range):
        return dom
    if not isinstance(dom, (tuple, list)) or len(dom) != 2:
        raise OperandError(
            "dom", "is no pair", code="RX0103",
            message="the domain of an axis is where it begins and where it ends",
            help="write `te.reduce_axis((0, n))`",
        )  # fmt: skip
    ends = _shape_ends(dom)
    # A plain number takes the dtype of the other end.
    low, high = alike(*(given if isinstance(given, int) else e for given, e in zip(dom, ends)))
    return Range(low, high)


def _shape_ends(dom: Sequence[Any]) -> list[PrimExpr]:
    ends = [as_element(e) for e in dom]
    for number, e in enumerate(ends):
        if not e.dtype.is_integer:
            raise OperandError(
                f"dom[{number}]", f"is {e.dtype}", code="RX0502",
                message=f"an axis goes over integers, and one end of its domain is {e.dtype}",
            )  # fmt: skip
        _check_is_known(f"dom[{number}]", e)
    return ends


# The tag of what is computed in a `tag_scope` of this thread.
_TAGS = threading.local()


@contextmanager
def tag_scope(tag: str) -> Iterator[None]:
    """Inside, what `te.compute` and `te.extern` make has this tag; it decorates functions, too."""
    outer = getattr(_TAGS, "current", "")
    _TAGS.current = tag
    try:
        yield
    finally:
        _TAGS.current = outer


def _tag_of(tag: str) -> str:
    """The tag that is said, or that of the scope around."""
    return tag or getattr(_TAGS, "current", "")


@report_as("te")
def compute(
    shape: Any,
    fcompute: Callable[..., Any],
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> Any:
    """The tensor whose element at some indices is `fcompute` of them.

    `fcompute` takes an index for each axis, by names that the loops get, or any number of them
    (`*i`, which `varargs_names` names). Where it gives several values, or a reduction of several
    together, a tensor for each is returned. Raises `OperandError`.
    """
    dims = shape_of(shape)
    _check_function(fcompute, "te.compute((n,), lambda i: A[i] + 1)")
    names = _axis_names(fcompute, len(dims), varargs_names)
    axes = tuple(
        IterVar(Range(prim.const(0, dim.dtype), dim), Var(axis, dim.dtype), "spatial")
        for axis, dim in zip(names, dims)
    )
    made = fcompute(*(axis.var for axis in axes))
    body = tuple(map(as_element, made)) if isinstance(made, (tuple, list)) else (as_element(made),)
    _check_body(name, body)
    result = ComputeOp(name, _tag_of(tag), Attrs(attrs or {}), axes, body, dims)
    return result.output(0) if len(body) == 1 else list(result.outputs)


def _axis_names(
    fcompute: Callable[..., Any], ndim: int, varargs_names: Sequence[str] | None
) -> list[str]:
    """A name for each axis: those of the parameters, and numbered ones for any number of them."""
    plain, rest = [], False
    for p in inspect.signature(fcompute).parameters.values():
        rest |= p.kind is p.VAR_POSITIONAL
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            plain.append(p)
    needed = [p for p in plain if p.default is p.empty]
    if ndim < len(needed) or (ndim > len(plain) and not rest):
        number = f"{ndim} {'axis' if ndim == 1 else 'axes'}"
        takes = f"{len(needed)} {'index' if len(needed) == 1 else 'indices'}"
        raise OperandError(
            "fcompute", f"takes {takes}", also={"shape": f"has {number}"}, code="RX0503",
            message=f"the shape has {number}, and the function takes {takes}",
        )  # fmt: skip
    names = [p.name for p in plain[:ndim]]
    if rest:
        further = ndim - len(names)
        names += list(varargs_names or (f"i{k}" for k in range(len(names), ndim)))[:further]
    return names


def _check_body(name: str, body: tuple[PrimExpr, ...]) -> None:
    """Refuse reductions inside of expressions, and arithmetic that there is not."""
    if not body:
        raise OperandError(
            "fcompute", "gives nothing", code="RX0501",
            message="an element of a tensor is a scalar, and there is none",
        )  # fmt: skip
    whole = [e for e in body if isinstance(e, Reduce)]
    inner = False
    for node in (e for b in body for e in walk(b)):
        inner |= isinstance(node, Reduce) and not any(node is e for e in whole)
        if isinstance(node, prim.Binary) and node.dtype.is_bool and type(node) not in OF_CONDITIONS:
            raise OperandError(
                "fcompute", f"is a `{type(node).__name__}` of bool", code="RX0502",
                message=f"there is no `T.{type(node).__name__}` of conditions, of which the "
                f"elements of `{name}` are computed",
                help='convert them first: `x[i].astype("int32")`',
            )  # fmt: skip
    mixed = whole and (len(whole) < len(body) or any(not _same(e, whole[0]) for e in whole))
    if inner or mixed:
        raise OperandError(
            "fcompute", "reduces inside of an expression", code="RX0501",
            message=f"the elements of `{name}` are either one reduction or an expression without",
            help="compute the reduction as a tensor of its own, and read its elements",
        )  # fmt: skip


def _same(a: Reduce, b: Reduce) -> bool:
    """True for two values of one reduction."""
    return a.combiner is b.combiner and a.source is b.source and a.axis is b.axis


@report_as("te")
def extern(
    shape: Any,
    inputs: Sequence[Tensor] | Tensor,
    fcompute: Callable[..., Any],
    name: str = "extern",
    dtype: Any = None,
    in_buffers: Any = None,
    out_buffers: Any = None,
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """Tensors that statements write: `fcompute(ins, outs)` gives them, over buffers.

    `shape` is that of the result, or a list with one for each of several. `dtype` is that of the
    inputs where it is not said. A call (of a packed function, for example) is a statement, too.
    Raises `OperandError`.
    """
    _check_function(fcompute, "te.extern(shape, [A], lambda ins, outs: ...)")
    inputs = [inputs] if isinstance(inputs, Tensor) else inputs
    several = isinstance(shape, list) and all(isinstance(s, (tuple, list)) for s in shape)
    shapes = [shape_of(s) for s in (shape if several else [shape])]
    sources = _given_buffers(in_buffers) or [_buffer_like(t) for t in inputs]
    results = _given_buffers(out_buffers)
    if not results:
        dtypes = _dtypes(dtype, inputs, len(shapes))
        results = [make_buffer(name, s, d) for s, d in zip(shapes, dtypes)]
    body = fcompute(list(sources), list(results))
    if isinstance(body, PrimExpr):
        body = Evaluate.make(body)
    if not isinstance(body, Stmt):
        raise OperandError(
            "fcompute", f"gives {type(body).__name__}", code="RX0501",
            message="the function of `te.extern` gives statements, or one call",
        )  # fmt: skip
    made = ExternOp(
        name, _tag_of(tag), Attrs(attrs or {}), tuple(inputs), tuple(sources), tuple(results), body
    )
    return list(made.outputs) if several and len(shapes) > 1 else made.output(0)


def _given_buffers(buffers: Any) -> list[Buffer]:
    if buffers is None:
        return []
    return list(buffers) if isinstance(buffers, (tuple, list)) else [buffers]


def _buffer_like(tensor: Tensor) -> Buffer:
    return make_buffer(tensor.op.name, tensor.shape, tensor.dtype)


def _dtypes(dtype: Any, inputs: Sequence[Tensor], count: int) -> list[DataType]:
    """The dtypes of the results, from what is said or from inputs of one dtype."""
    if isinstance(dtype, (tuple, list)):
        return [dtype_of(d) for d in dtype]
    if dtype is not None:
        return [dtype_of(dtype)] * count
    known = {t.dtype for t in inputs}
    if len(known) != 1:
        raise OperandError(
            "dtype", "is not given", code="RX0103",
            message="the inputs say no one dtype for the results of `te.extern`",
            help='give it: `dtype="float32"`',
        )  # fmt: skip
    return [known.pop()] * count
