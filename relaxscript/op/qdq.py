"""Numbers as whole multiples of a scale. Source: TVM `relax.quantize`, ONNX `QuantizeLinear`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir.prim import PrimExpr, Var, cast, const
from relaxscript.ir.relax import Expr
from relaxscript.ir.scalar_functions import FUNCTIONS
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import InferLayoutOutput, LayoutContext, Order, place_of
from relaxscript.opdef.operator import Operator, op
from relaxscript.opdef.parameters import DType, Tensor
from relaxscript.opdef.shapes import (
    axis_in,
    common_vdevice,
    dims_of,
    require_dtype,
    require_equal,
    require_result_dtype,
    same_dim,
)
from relaxscript.opdef.tensor_expressions import te, topi

from .gradients import R, cast_like, known_rank
from .numeric import accumulator
from .pieces import apply_elementwise

__all__ = ["dequantize", "quantize"]

_FLOAT64 = DataType("float64")


@op(alike=())
def quantize(
    data: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: int = -1,
    out_dtype: DType = "int8",  # type: ignore[assignment]
) -> Tensor:
    """`data / scale + zero_point`, rounded to even and held in the range of `out_dtype`; NaN is 0.

    A float of 8 bits keeps NaN and rounds once, to the nearest that it has. `scale` and
    `zero_point` are of rank 0, or have one element for each along `axis`.
    """
    wide = accumulator(data.dtype)
    parameters = _along(scale, axis, data.ndim), _along(zero_point, axis, data.ndim)
    if out_dtype.is_float:
        most = float(ml_dtypes.finfo(out_dtype.numpy).max)  # type: ignore[no-untyped-call]

        def small(x: Any, scale: Any, zero: Any) -> Any:
            return np.clip(x.astype(wide) / scale + zero, -most, most)

        return _combine(small, out_dtype, data, *parameters)
    limits = np.iinfo(out_dtype.numpy)

    def whole(x: Any, scale: Any, zero: Any) -> Any:
        found = np.rint(x.astype(wide) / scale) + zero
        # The greatest integer may be no float: what is beyond it is replaced behind the conversion.
        inside = np.where((found > limits.min) & (found < limits.max), found, 0)
        held = np.where(found >= limits.max, limits.max, inside.astype(out_dtype.numpy))
        return np.where(found <= limits.min, limits.min, held).astype(out_dtype.numpy)

    return _combine(whole, out_dtype, data, *parameters)


@op(alike=())
def dequantize(
    data: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    axis: int = -1,
    out_dtype: DType = "float32",  # type: ignore[assignment]
) -> Tensor:
    """`(data - zero_point) * scale`, in `out_dtype`.

    `scale` and `zero_point` are of rank 0, or have one element for each along `axis`.
    """

    def exact(x: Any, scale: Any, zero: Any) -> Any:
        wide = x.astype(np.float64) - zero.astype(np.float64)
        return wide * scale.astype(np.float64)

    parameters = _along(scale, axis, data.ndim), _along(zero_point, axis, data.ndim)
    return _combine(exact, out_dtype, data, *parameters)


def _combine(function: Callable[..., Any], out_dtype: DataType, *operands: Any) -> Tensor:
    found: Tensor = apply_elementwise(function, out_dtype.numpy, *operands)
    return found


def _along(parameter: Any, axis: int, rank: int) -> Any:
    """A parameter with its elements along an axis."""
    if not parameter.ndim:
        return parameter
    shape = [1] * rank
    shape[axis] = parameter.size
    return parameter.reshape(shape)


def _quantization_rule(operator: Operator, data_is: str, result_is: str) -> None:
    @operator.infer_rule
    def rule(
        context: InferContext,
        data: TensorStructInfo,
        scale: TensorStructInfo,
        zero_point: TensorStructInfo,
        axis: int,
        out_dtype: DataType,
    ) -> StructInfo:
        require_dtype("data", data.dtype, data_is)
        require_dtype("scale", scale.dtype, "float")
        require_dtype("zero_point", zero_point.dtype, "number")
        if not (out_dtype.is_float and out_dtype.bits == 8):
            require_result_dtype("out_dtype", out_dtype, result_is)
        parameters = {"scale": scale, "zero_point": zero_point}
        vdevice = common_vdevice({"data": data, **parameters})
        for name, info in parameters.items():
            _require_parameter(context, data, name, info, axis)
        return TensorStructInfo.make(data.shape, out_dtype, vdevice, data.ndim)


def _require_parameter(
    context: InferContext, data: TensorStructInfo, name: str, info: TensorStructInfo, axis: int
) -> None:
    dims, own = dims_of(data), dims_of(info)
    rank = info.ndim if own is None else len(own)
    if rank not in (-1, 0, 1):
        message = f"`{name}` is one number, or one for each along `axis`"
        raise OperandError(name, shape_fact(info, own), message=message)
    if rank != 1:
        return
    place = axis_in(axis, data.ndim if dims is None else len(dims), "axis", "data")
    if dims is None or own is None or same_dim(dims[place], own[0]):
        return
    fact = f"has {dim_text(own[0])} elements"
    also = {"data": f"has {dim_text(dims[place])} elements along axis {place}"}
    text = f"`{name}` has {dim_text(own[0])} elements, and `data` {dim_text(dims[place])}"
    require_equal(context, dims[place], own[0], OperandError(name, fact, also=also), text)


_quantization_rule(quantize, "float", "integer")
_quantization_rule(dequantize, "number", "float")


@quantize.layout_rule
@dequantize.layout_rule
def _(
    context: LayoutContext, data: Order, scale: Order, zero_point: Order, axis: int, **others: Any
) -> InferLayoutOutput:
    changed = {"axis": place_of(axis, data)} if data else {}
    return InferLayoutOutput((data, scale, zero_point), data, changed)


# ---------------------------------------------------------------- loops


@quantize.compute()
def _(
    context: ComputeContext, data: te.Tensor, scale: te.Tensor, zero_point: te.Tensor, axis: int,
    out_dtype: DataType,
) -> te.Tensor:  # fmt: skip
    wide = DataType(accumulator(data.dtype.numpy))

    def small(x: PrimExpr, scale: PrimExpr, zero: PrimExpr) -> PrimExpr:
        found = _promoted(te.element.add, _promoted(te.element.divide, cast(x, wide), scale), zero)
        most = const(float(ml_dtypes.finfo(out_dtype.numpy).max), found.dtype)  # type: ignore[no-untyped-call]
        return cast(te.element.clip(found, te.element.negative(most), most), out_dtype)

    def whole(x: PrimExpr, scale: PrimExpr, zero: PrimExpr) -> PrimExpr:
        quotient = FUNCTIONS["nearbyint"](_promoted(te.element.divide, cast(x, wide), scale))
        # NaN becomes 0, and what is beyond the integers the outermost of them.
        return cast(_promoted(te.element.add, quotient, zero), out_dtype)

    function = small if out_dtype.is_float else whole
    return _quantized(function, data, scale, zero_point, axis, "quantized")


@dequantize.compute()
def _(
    context: ComputeContext, data: te.Tensor, scale: te.Tensor, zero_point: te.Tensor, axis: int,
    out_dtype: DataType,
) -> te.Tensor:  # fmt: skip
    def exact(x: PrimExpr, scale: PrimExpr, zero: PrimExpr) -> PrimExpr:
        x, scale, zero = (cast(e, _FLOAT64) for e in (x, scale, zero))
        return cast((x - zero) * scale, out_dtype)

    return _quantized(exact, data, scale, zero_point, axis, "dequantized")


def _promoted(function: Callable[..., PrimExpr], a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """A function of two numbers in the dtype that numpy finds for both."""
    dtype = DataType(np.result_type(a.dtype.numpy, b.dtype.numpy))
    return function(cast(a, dtype), cast(b, dtype))


def _quantized(
    function: Callable[..., PrimExpr], data: te.Tensor, scale: te.Tensor, zero_point: te.Tensor,
    axis: int, name: str,
) -> te.Tensor:  # fmt: skip
    """The tensor of a function of the elements, and of their scales and zero points."""

    def at(*i: Var) -> PrimExpr:
        own = i[axis] if i else None
        parameters = (p[own] if p.ndim else p[()] for p in (scale, zero_point))
        return function(data[i], *parameters)

    names = [f"ax{n}" for n in range(data.ndim)]
    made: te.Tensor = te.compute(
        data.shape, at, name=name, tag=topi.tag.BROADCAST, varargs_names=names
    )
    return made


@dequantize.gradient
def _(
    context: GradientContext, data: Expr, scale: Expr, zero_point: Expr, axis: int,
    out_dtype: DataType,
) -> Gradients:  # fmt: skip
    grad, rank = context.grad, known_rank("data", data)
    others = [a for a in range(rank) if a != axis % max(rank, 1)]

    def along(parameter: Expr) -> Expr:
        """A parameter in the dtype of the result, with its elements along the axis."""
        made: Expr = cast_like(parameter, grad)
        is_row = known_rank("scale", parameter) == 1 and bool(others)
        return R.expand_dims(made, others) if is_row else made

    def total(each: Expr, parameter: Expr) -> Expr:
        """The gradient by a parameter, from that by each of its uses."""
        over = others if known_rank("scale", parameter) == 1 else None
        return cast_like(R.sum(each, over), parameter)

    by_data = grad * along(scale)
    apart = cast_like(data, grad) - along(zero_point)
    return cast_like(by_data, data), total(grad * apart, scale), total(-by_data, zero_point)


quantize.lacks("gradient", "its results are rounded")
