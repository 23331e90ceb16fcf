"""Operators that make tensors of one value, and the triangles of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType, converted
from relaxscript.errors import OperandError
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Call, Expr
from relaxscript.ir.struct_info import PrimStructInfo, StructInfo, TensorStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import follow
from relaxscript.opdef.operands import number_constant, wrong_kind
from relaxscript.opdef.operator import Operator, op
from relaxscript.opdef.parameters import (
    DType,
    Parameter,
    Scalar,
    ShapeLike,
    Tensor,
    Value,
    convert_attribute,
)
from relaxscript.opdef.shapes import dims_of, of_shape, require_dtype
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.opdef.traits import Trait

from .gradients import R, cast_like, constant

__all__ = ["full", "full_like", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like"]

_LIKE = TensorStructInfo.make(None, DataType("void"), None, -1)

_DTYPE = Parameter("dtype", "attribute", None, annotation="DType | None")


def _bind_fill_value(bound: dict[str, Any]) -> dict[str, Any]:
    """A Python number to fill with gets the dtype that is asked for; else float32 or int32."""
    value = bound["fill_value"]
    if type(value) not in (bool, int, float):
        return bound
    asked = convert_attribute(_DTYPE, bound["dtype"])
    dtype = asked or DataType({bool: "bool", int: "int32", float: "float32"}[type(value)])
    if dtype.is_integer and isinstance(value, float) and value.is_integer():
        value = int(value)
    if dtype.is_float and isinstance(value, bool):
        value = int(value)
    return {**bound, "fill_value": number_constant("fill_value", value, dtype)}


def _fill(shape: Any, value: Any, dtype: DataType | None) -> Any:
    wanted = value.dtype if dtype is None else dtype.numpy
    return np.full(tuple(shape), converted(value, wanted), wanted)


def _require_single(value: TensorStructInfo) -> None:
    dims = dims_of(value)
    if value.ndim not in (-1, 0) or dims not in (None, ()):
        raise OperandError(
            "fill_value",
            shape_fact(value, dims),
            message="a tensor is filled with one value, of rank 0",
            help="write `R.broadcast_to(fill_value, shape)`",
        )


@op(alike=(), traits={Trait.MIXED_FOLLOW})
def full(shape: ShapeLike, fill_value: Scalar, dtype: DType | None = None) -> Tensor:
    """A tensor of `shape` whose elements are all `fill_value`, a tensor of rank 0.

    Its dtype is `dtype`, or that of the value. A Python number is float32 or int32 unless
    `dtype` says otherwise.
    """
    filled: Tensor = _fill(shape, fill_value, dtype)
    return filled


full.prepare_rule(_bind_fill_value)


@full.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    shape, value = full.operand_infos(call, context)
    _require_single(value)
    dtype = full.attributes(call)["dtype"] or value.dtype
    return of_shape(call.args[0], shape, _LIKE.replace(dtype=dtype, vdevice=value.vdevice))


@full.compute()
def _(context: ComputeContext, shape: Any, fill_value: Any, dtype: DataType | None) -> te.Tensor:
    return topi.tensor.filled(context.shape, context.dtype, fill_value, "T_full")


@op(alike=(), traits={Trait.MIXED_FOLLOW})
def full_like(x: Tensor, fill_value: Scalar, dtype: DType | None = None) -> Tensor:
    """A tensor of the shape of `x` whose elements are all `fill_value`, a tensor of rank 0.

    Its dtype is `dtype`, or that of `x`.
    """
    filled: Tensor = _fill(x.shape, fill_value, dtype or DataType(x.dtype.name))
    return filled


@full_like.prepare_rule
def _(bound: dict[str, Any]) -> dict[str, Any]:
    return _bind_fill_value(bound)


@full_like.infer_rule
def _(
    context: InferContext,
    x: TensorStructInfo,
    fill_value: TensorStructInfo,
    dtype: DataType | None = None,
) -> StructInfo:
    _require_single(fill_value)
    return _with_dtype(x, dtype)


full_like.layout_rule(follow)


@full_like.compute()
def _(context: ComputeContext, x: Any, fill_value: Any, dtype: DataType | None) -> te.Tensor:
    return topi.tensor.filled(context.shape, context.dtype, fill_value, "T_full_like")


def _with_dtype(x: TensorStructInfo, dtype: DataType | None) -> StructInfo:
    if dtype is None or dtype is x.dtype:
        return x
    return TensorStructInfo.make(x.shape, dtype, x.vdevice, x.ndim)


@full.gradient
def _(context: GradientContext, shape: Expr, fill_value: Expr, dtype: Any) -> Gradients:
    return None, cast_like(R.sum(context.grad), fill_value)


@full_like.gradient
def _(context: GradientContext, x: Expr, fill_value: Expr, dtype: Any) -> Gradients:
    return *constant(context, x), cast_like(R.sum(context.grad), fill_value)


@op(traits={Trait.MIXED_FOLLOW})
def zeros(shape: ShapeLike, dtype: DType) -> Tensor:
    """A tensor of zeros (False, for bools)."""
    return np.zeros(tuple(shape), dtype.numpy)


@op(traits={Trait.MIXED_FOLLOW})
def ones(shape: ShapeLike, dtype: DType) -> Tensor:
    """A tensor of ones (True, for bools)."""
    return np.ones(tuple(shape), dtype.numpy)


@zeros.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    (shape,) = zeros.operand_infos(call, context)
    return of_shape(call.args[0], shape, _LIKE.replace(dtype=zeros.attributes(call)["dtype"]))


@ones.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    (shape,) = ones.operand_infos(call, context)
    return of_shape(call.args[0], shape, _LIKE.replace(dtype=ones.attributes(call)["dtype"]))


@op()
def zeros_like(x: Tensor, dtype: DType | None = None) -> Tensor:
    """A tensor of zeros of the shape of `x`, and of its dtype unless `dtype` names one."""
    return np.zeros(x.shape, x.dtype if dtype is None else dtype.numpy)


@op()
def ones_like(x: Tensor, dtype: DType | None = None) -> Tensor:
    """A tensor of ones of the shape of `x`, and of its dtype unless `dtype` names one."""
    return np.ones(x.shape, x.dtype if dtype is None else dtype.numpy)


def _like_rule(
    context: InferContext, x: TensorStructInfo, dtype: DataType | None = None
) -> StructInfo:
    return _with_dtype(x, dtype)


for _operator in (zeros_like, ones_like):
    _operator.infer_rule(_like_rule)
    _operator.layout_rule(follow)


def _compute_of_value(operator: Operator, value: Callable[[DataType], PrimExpr]) -> None:
    """Declare the compute of an operator whose elements are all `value` of their dtype."""

    @operator.compute()
    def rule(context: ComputeContext, given: Any, dtype: DataType | None) -> te.Tensor:
        name = f"T_{operator.__name__}"
        return topi.tensor.filled(context.shape, context.dtype, value(context.dtype), name)


_compute_of_value(zeros, lambda dtype: te.element.zero(dtype))
_compute_of_value(zeros_like, lambda dtype: te.element.zero(dtype))
_compute_of_value(ones, lambda dtype: te.element.one(dtype))
_compute_of_value(ones_like, lambda dtype: te.element.one(dtype))


# ---------------------------------------------------------------- triangles


@op()
def tril(x: Tensor, k: Value = 0) -> Tensor:
    """The matrices in the last two axes of `x` with zeros above their `k`-th diagonal.

    `k` is a scalar, 0 for the main diagonal, negative below it.
    """
    return np.tril(x, int(k or 0))


@op()
def triu(x: Tensor, k: Value = 0) -> Tensor:
    """The matrices in the last two axes of `x` with zeros below their `k`-th diagonal.

    `k` is a scalar, 0 for the main diagonal, negative below it.
    """
    return np.triu(x, int(k or 0))


def _triangle(
    context: InferContext, x: TensorStructInfo, k: StructInfo | None = None
) -> StructInfo:
    if k is not None and not isinstance(k, PrimStructInfo):
        raise wrong_kind("k", k, "prim")
    require_dtype("x", x.dtype, "any")
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    if rank in (0, 1):
        raise OperandError(
            "x", shape_fact(x, dims), message="only matrices have triangles", help="rank 2 or more"
        )
    return x


tril.infer_rule(_triangle)
triu.infer_rule(_triangle)


@tril.compute()
def _(context: ComputeContext, x: te.Tensor, k: PrimExpr | None) -> te.Tensor:
    lower: te.Tensor = topi.trilu(x, 0 if k is None else k, False)
    return lower


@triu.compute()
def _(context: ComputeContext, x: te.Tensor, k: PrimExpr | None) -> te.Tensor:
    upper: te.Tensor = topi.trilu(x, 0 if k is None else k, True)
    return upper


for _operator in (zeros, ones, zeros_like, ones_like):
    _operator.gradient(constant)


@tril.gradient
def _(context: GradientContext, x: Expr, k: Expr | None) -> Gradients:
    return R.tril(context.grad, k), None


@triu.gradient
def _(context: GradientContext, x: Expr, k: Expr | None) -> Gradients:
    return R.triu(context.grad, k), None
