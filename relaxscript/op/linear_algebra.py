"""Matrix products."""

from __future__ import annotations

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Call, Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.composite import composite_op
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.mixed_precision import with_out_dtype
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import DType, Tensor
from relaxscript.opdef.shapes import (
    broadcast_dims,
    common_dtype,
    common_vdevice,
    dims_of,
    require_dtype,
    require_equal,
    same_dim,
    same_dims,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import te, topi
from relaxscript.opdef.traits import Trait

from .binary import add
from .gradients import R, cast_like, collapse_like, known_rank
from .manipulate import permute_dims
from .numeric import product_dtype

__all__ = ["linear", "matmul"]


@op(symbol="@", traits={Trait.MIXED_ALWAYS})
def matmul(x1: Tensor, x2: Tensor, out_dtype: DType | None = None) -> Tensor:
    """The matrix product of the last two axes; the axes before them broadcast.

    An operand of rank 1 is a row on the left and a column on the right. That axis is absent in the
    result, as in `numpy.matmul`. With `out_dtype` the products are added up in that dtype.
    Without it, floats of 16 bits or fewer are added up in float32 and rounded once.
    """
    dtype = x1.dtype if out_dtype is None else out_dtype.numpy
    inner = product_dtype(dtype)
    if inner is dtype and out_dtype is None:
        product: Tensor = np.matmul(x1, x2)
        return product
    product = np.matmul(x1.astype(inner, copy=False), x2.astype(inner, copy=False))
    return np.asarray(product).astype(dtype, copy=False)


@matmul.compute(sums=2)
def _(
    context: ComputeContext, x1: te.Tensor, x2: te.Tensor, out_dtype: DataType | None = None
) -> te.Tensor:
    inner = DataType(product_dtype(context.dtype.numpy))
    return topi.linear_algebra.rounded(
        topi.linear_algebra.matrix_product(context.shape, x1, x2, dtype=inner), context.dtype
    )


matmul.mixed_precision_rule(with_out_dtype)


@matmul.infer_rule
def _(
    context: InferContext,
    x1: TensorStructInfo,
    x2: TensorStructInfo,
    out_dtype: DataType | None = None,
) -> StructInfo:
    dtype = x1.dtype
    if dtype is not x2.dtype and out_dtype is None:
        dtype = common_dtype({"x1": x1, "x2": x2})
    require_dtype("x1", x1.dtype, "number")
    require_dtype("x2", x2.dtype, "number")
    vdevice = x1.vdevice
    if vdevice is not x2.vdevice:
        vdevice = common_vdevice({"x1": x1, "x2": x2})
    dims = _product_dims(context, x1, x2)
    rank = _product_rank(x1, x2)
    return tensor_of(dims, out_dtype or dtype, vdevice, rank)


def _product_dims(
    context: InferContext, x1: TensorStructInfo, x2: TensorStructInfo
) -> tuple[PrimExpr, ...] | None:
    a, b = dims_of(x1), dims_of(x2)
    for name, info, dims in (("x1", x1, a), ("x2", x2, b)):
        if info.ndim == 0 or dims == ():
            raise OperandError(
                name,
                "has rank 0",
                message="`R.matmul` multiplies matrices, not scalars",
                help="write `R.multiply(x1, x2)`",
            )
    if a is None or b is None:
        return None
    rows = b[0] if len(b) == 1 else b[-2]
    if not same_dim(a[-1], rows):
        _require_inner(context, a, b, rows)
    batch = _batch(context, x1, x2, a, b)
    left = a[-2:-1]
    right = b[-1:] if len(b) > 1 else ()
    return None if batch is None else (*batch, *left, *right)


def _require_inner(
    context: InferContext,
    a: tuple[PrimExpr, ...],
    b: tuple[PrimExpr, ...],
    rows: PrimExpr,
) -> None:
    row = "elements" if len(b) == 1 else "rows"
    column = "elements" if len(a) == 1 else "columns"
    axis = "only" if len(b) == 1 else "last-but-one"
    error = OperandError(
        "x2",
        f"has {dim_text(rows)} {row}",
        also={"x1": f"has {dim_text(a[-1])} {column}"},
        message="`R.matmul` cannot multiply these operands",
        help=f"the last axis of `x1` must equal the {axis} axis of `x2`",
        dims={"x2": rows},
    )
    text = f"`x1` has {dim_text(a[-1])} {column}, `x2` has {dim_text(rows)} {row}"
    require_equal(context, a[-1], rows, error, text)


def _batch(
    context: InferContext,
    x1: TensorStructInfo,
    x2: TensorStructInfo,
    a: tuple[PrimExpr, ...],
    b: tuple[PrimExpr, ...],
) -> tuple[PrimExpr, ...] | None:
    left, right = a[:-2], b[:-2]
    if same_dims(left, right):
        return left
    error = OperandError(
        "x2",
        shape_fact(x2, b),
        also={"x1": shape_fact(x1, a)},
        message="`R.matmul` cannot multiply these operands",
        help="the axes before the last two are compared from the right: equal, or one of them 1",
    )
    return broadcast_dims(context, left, right, error)


def _product_rank(x1: TensorStructInfo, x2: TensorStructInfo) -> int:
    left, right = x1.ndim, x2.ndim
    if left < 0 or right < 0:
        return -1
    return max(left, right, 2) - (left == 1) - (right == 1)


@matmul.gradient
def _(context: GradientContext, x1: Expr, x2: Expr, out_dtype: DataType | None) -> Gradients:
    grad, row, column = context.grad, known_rank("x1", x1) == 1, known_rank("x2", x2) == 1
    left = cast_like(R.expand_dims(x1, 0) if row else x1, grad)
    right = cast_like(R.expand_dims(x2, 1) if column else x2, grad)
    grad = R.expand_dims(grad, -1) if column else grad
    grad = R.expand_dims(grad, -2) if row else grad
    by_left = collapse_like(R.matmul(grad, _transposed(right)), left)
    by_right = collapse_like(R.matmul(_transposed(left), grad), right)
    return (
        cast_like(R.squeeze(by_left, 0) if row else by_left, x1),
        cast_like(R.squeeze(by_right, 1) if column else by_right, x2),
    )


def _transposed(x: Expr) -> Expr:
    """Matrices with rows and columns exchanged."""
    rank = known_rank("x", x)
    made: Expr = R.permute_dims(x, [*range(rank - 2), rank - 1, rank - 2])
    return made


@composite_op()
def linear(
    data: Tensor, weight: Tensor, bias: Tensor | None = None, out_dtype: DType | None = None
) -> Expr:
    """`data @ weight.T + bias`: a layer whose weight is stored as (features out, features in).

    Stands for `R.matmul`, `R.permute_dims` and `R.add`; a weight of rank 1 is not transposed.
    """
    product: Call = matmul.build((data, permute_dims.build((weight,))), {"out_dtype": out_dtype})
    return product if bias is None else add.build((product, bias))
