"""Tensors that follow from a few numbers: ranges and identity matrices. Source: numpy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.arith import simplify
from relaxscript.dtypes import DataType, converted
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import FloatImm, IntImm, PrimExpr
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import DeferredCheck, InferContext
from relaxscript.opdef.format import shape_fact
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import DType, Tensor, Value
from relaxscript.opdef.prim_operands import integer_in, require_integer, require_prim
from relaxscript.opdef.shapes import ZERO, dims_of, number, tensor_of
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.opdef.traits import Trait
from relaxscript.runtime.values import prim_value

from .gradients import constant

__all__ = ["arange", "eye", "eye_like", "hamming_window"]

_INT64 = DataType("int64")
_FLOAT32 = DataType("float32")
_INT64_MAX = (1 << 63) - 1


# ---------------------------------------------------------------- ranges


@op(traits={Trait.MIXED_FOLLOW})
def arange(
    start: Value, end: Value | None = None, step: Value = 1, dtype: DType | None = None
) -> Tensor:
    """The numbers from `start` up to `end`, which is left out, in steps of `step`.

    With one number they go from 0 up to it. Without `dtype` they are int64 where all are integers,
    else float32.
    """
    bounds: list[Any] = [prim_value(bound) or 0 for bound in (start, end, step)]
    first, last, by = bounds
    whole = all(isinstance(bound, int) for bound in (first, last, by))
    element = dtype or (_INT64 if whole else _FLOAT32)
    steps = np.arange(_count(first, last, by), dtype=np.int64 if whole else np.float64)
    found: Tensor = converted(np.asarray(first + by * steps), element.numpy)
    return found


def _count(first: Any, last: Any, by: Any) -> int:
    """The number of elements of a range."""
    if isinstance(first, int) and isinstance(last, int) and isinstance(by, int):
        return int(max(-((first - last) // by), 0))
    return int(max(math.ceil((last - first) / by), 0))


@arange.prepare_rule
def _(bound: dict[str, Any]) -> dict[str, Any]:
    if bound["end"] is None:
        return {**bound, "start": 0, "end": bound["start"]}
    return bound


@arange.infer_rule
def _(
    context: InferContext,
    start: StructInfo,
    end: StructInfo,
    step: StructInfo,
    dtype: DataType | None = None,
) -> StructInfo:
    bounds = [require_prim(n, i) for n, i in (("start", start), ("end", end), ("step", step))]
    for name, info in zip(("start", "end", "step"), bounds):
        if not (info.dtype.is_integer or info.dtype.is_float):
            fact = f"is a scalar of {info.dtype}"
            raise OperandError(
                name, fact, message="a range goes from number to number", code="RX0202"
            )
    whole = all(info.dtype.is_integer for info in bounds)
    element = dtype or (_INT64 if whole else _FLOAT32)
    length = _length([info.value for info in bounds], whole)
    return tensor_of(None if length is None else (length,), element, None, 1)


def _length(bounds: Sequence[PrimExpr | None], whole: bool) -> PrimExpr | None:
    first, last, by = bounds
    if isinstance(by, (IntImm, FloatImm)) and by.value == 0:
        raise OperandError("step", "is 0", message="a step of 0 leads nowhere", code="RX0204")
    if all(isinstance(bound, (IntImm, FloatImm)) for bound in bounds):
        values = [bound.value for bound in bounds]  # type: ignore[union-attr]
        for name, value in zip(("start", "end", "step"), values):
            if not math.isfinite(value):
                message = "a range goes from number to number"
                raise OperandError(name, f"is {value}", message=message, code="RX0204")
        count = _count(*values)
        if count > _INT64_MAX:
            message = "a dimension is an int64, and the range has more elements"
            raise OperandError("end", f"is {values[1]}", message=message, code="RX0204")
        return number(count)
    if not whole or first is None or last is None or not isinstance(by, IntImm):
        return None
    if any(isinstance(bound, IntImm) and bound.value > _INT64_MAX for bound in bounds):
        return None  # sizes are computed in int64
    low, high = (first, last) if by.value > 0 else (last, first)
    distance: PrimExpr = prim.Max.make(prim.Sub.make(_wide(high), _wide(low)), ZERO)
    if abs(by.value) != 1:
        raised = prim.Add.make(distance, number(abs(by.value) - 1))
        distance = prim.FloorDiv.make(raised, number(abs(by.value)))
    return simplify(distance)


def _wide(value: PrimExpr) -> PrimExpr:
    if isinstance(value, IntImm):
        return number(value.value)
    return value if value.dtype is _INT64 else prim.Cast.make(_INT64, value)


@arange.compute()
def _(
    context: ComputeContext, start: PrimExpr, end: PrimExpr, step: PrimExpr, dtype: DataType | None
) -> te.Tensor:
    # A range that ends at a float has floats, even where it starts at an integer.
    whole = end.dtype.is_integer
    first = start if whole else te.element.converted(start, DataType("float64"))
    return topi.tensor.sequence(context.shape, first, step, context.dtype, "T_arange")


# ---------------------------------------------------------------- identity matrices


@op(traits={Trait.MIXED_FOLLOW})
def eye(n: Value, m: Value | None = None, k: Value = 0, dtype: DType = "float32") -> Tensor:  # type: ignore[assignment]
    """The matrix of `n` rows and `m` columns (as many where None) with ones on its `k`-th diagonal.

    `k` is 0 for the main diagonal, positive above it.
    """
    return np.eye(integer_in(n), integer_in(m), integer_in(k), dtype=dtype.numpy)


@eye.prepare_rule
def _(bound: dict[str, Any]) -> dict[str, Any]:
    return {**bound, "m": bound["n"] if bound["m"] is None else bound["m"]}


@eye.infer_rule
def _(
    context: InferContext, n: StructInfo, m: StructInfo, k: StructInfo, dtype: DataType
) -> StructInfo:
    dims = []
    for name, info in (("n", n), ("m", m)):
        size = require_integer(name, info, "the size of a matrix")
        if isinstance(size, IntImm) and size.value < 0:
            raise OperandError(
                name,
                f"is {size.value}",
                message="a tensor has no dimension below 0",
                code="RX0204",
            )
        if not isinstance(size, (IntImm, prim.Var)):  # a shape variable is never negative
            text = f"`{name}` is below 0"
            least = ZERO if size is None else _wide(size)  # of a value nothing else is known
            context.require(DeferredCheck(name, ZERO, least, "inside", text))
        dims.append(None if size is None else _wide(size))
    require_integer("k", k, "the number of a diagonal")
    known = [dim for dim in dims if dim is not None]
    return tensor_of(known if len(known) == 2 else None, dtype, None, 2)


@eye.compute()
def _(context: ComputeContext, n: PrimExpr, m: PrimExpr, k: PrimExpr, dtype: DataType) -> te.Tensor:
    return topi.tensor.diagonal(context.shape, k, context.dtype, "T_eye")


@op()
def eye_like(x: Tensor, k: Value = 0, dtype: DType | None = None) -> Tensor:
    """A matrix of the shape of `x` with ones on its `k`-th diagonal, 0 elsewhere.

    Its dtype is that of `x` unless `dtype` names one.
    """
    element = x.dtype if dtype is None else dtype.numpy
    rows, columns = x.shape
    return np.eye(rows, columns, integer_in(k), dtype=element)


@eye_like.infer_rule
def _(
    context: InferContext, x: TensorStructInfo, k: StructInfo, dtype: DataType | None = None
) -> StructInfo:
    require_integer("k", k, "the number of a diagonal")
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    if rank not in (-1, 2):
        raise OperandError("x", shape_fact(x, dims), message="only a matrix has a diagonal")
    return tensor_of(dims, dtype or x.dtype, x.vdevice, 2)


@eye_like.compute()
def _(context: ComputeContext, x: te.Tensor, k: PrimExpr, dtype: DataType | None) -> te.Tensor:
    return topi.tensor.diagonal(context.shape, k, context.dtype, "T_eye_like")


for _operator in (arange, eye):
    _operator.lacks("gradient", "no tensor is among its operands")


eye_like.gradient(constant)


# ---------------------------------------------------------------- windows


@op()
def hamming_window(
    window_size: Value, periodic: bool, alpha: float, beta: float, dtype: DType
) -> Tensor:
    """The Hamming window `alpha - beta * cos(2 * pi * i / n)` of `window_size` numbers.

    `n` is `window_size` where the window is `periodic`, else one less. A window of one number is 1.
    Computed in float64 and rounded once. Source: TVM `relax.hamming_window`, torch.
    """
    size = integer_in(window_size)
    if size == 1:
        return np.ones(1, dtype.numpy)
    steps = np.arange(size, dtype=np.float64) / max(size if periodic else size - 1, 1)
    found: Tensor = converted(alpha - beta * np.cos(2 * np.pi * steps), dtype.numpy)
    return found


@hamming_window.infer_rule
def _(
    context: InferContext,
    window_size: StructInfo,
    periodic: bool,
    alpha: float,
    beta: float,
    dtype: DataType,
) -> StructInfo:
    size = require_integer("window_size", window_size, "the size of a window")
    if isinstance(size, IntImm) and size.value < 0:
        message = "a window has no fewer than 0 numbers"
        raise OperandError("window_size", f"is {size.value}", message=message, code="RX0204")
    length = None if size is None else simplify(prim.Max.make(_wide(size), ZERO))
    return tensor_of(None if length is None else (length,), dtype, None, 1)


def _window_terms(
    window_size: Any, periodic: bool, alpha: float, beta: float, dtype: DataType
) -> Any:
    """The sizes of what is subtracted from each other."""
    return np.full(integer_in(window_size), abs(alpha) + abs(beta))


@hamming_window.compute(ulp=1, sums=2, terms=_window_terms)
def _(
    context: ComputeContext, window_size: PrimExpr, periodic: bool, alpha: float, beta: float,
    dtype: DataType,
) -> te.Tensor:  # fmt: skip
    double = DataType("float64")
    size = te.element.converted(window_size, double)
    period = te.element.maximum(size if periodic else size - 1.0, prim.const(1.0, double))

    def at(ax0: PrimExpr) -> PrimExpr:
        step = te.element.converted(ax0, double) / period
        found = float(alpha) - FUNCTIONS["cos"](step * (2 * math.pi)) * float(beta)
        whole = te.element.select(size <= 1.0, prim.const(1.0, double), found)
        return te.element.converted(whole, dtype)

    made: te.Tensor = te.compute(context.shape, at, name="T_hamming_window")
    return made


@hamming_window.attribute_rule
def _(dtype: DataType, **others: object) -> None:
    if not dtype.is_float:
        message = "a window is of floats"
        raise OperandError("dtype", f"is {dtype}", message=message, code="RX0202")


hamming_window.lacks("gradient", "no tensor is among its operands")
