"""Products of matrices with the weights of a layer. Source: TVM `topi.nn.dense`."""

from __future__ import annotations

from typing import Any

from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.te.compute import compute, dtype_of, shape_of
from relaxscript.te.tensor import Tensor
from relaxscript.te.topi.linear_algebra import MATMUL, matrix_product, product_shape
from relaxscript.te.topi.operands import topi_function
from relaxscript.te.topi.tag import BROADCAST

__all__ = ["batch_matmul", "dense", "matmul"]


@topi_function
def matmul(
    tensor_a: Tensor, tensor_b: Tensor, bias: Tensor | None = None, out_dtype: Any = None,
    transpose_a: bool = False, transpose_b: bool = False,
) -> Any:  # fmt: skip
    """The product of two matrices, of which either may be transposed, and `bias` for each column.

    Sums are of `out_dtype`, or of the dtype of `tensor_a`. Raises `OperandError` for sizes that do
    not go together.
    """
    return _layer("topi.nn.matmul", tensor_a, tensor_b, bias, out_dtype, transpose_a, transpose_b)


@topi_function
def dense(
    data: Tensor, weight: Tensor, bias: Tensor | None = None, out_dtype: Any = None
) -> Any:  # fmt: skip
    """`data` times a weight of the shape (features out, features in), and `bias` for each feature.

    Sums are of `out_dtype`, or of the dtype of `data`. Raises `OperandError` for sizes that do not
    go together.
    """
    return _layer("topi.nn.dense", data, weight, bias, out_dtype, False, True)


def _layer(
    callee: str, a: Tensor, b: Tensor, bias: Tensor | None, out_dtype: Any, transpose_a: bool,
    transpose_b: bool,
) -> Any:  # fmt: skip
    for name, tensor in (("first", a), ("second", b)):
        if tensor.ndim != 2:
            raise OperandError(
                name, f"has rank {tensor.ndim}", code="RX0203",
                message=f"`{callee}` multiplies two matrices",
            )  # fmt: skip
    shape = product_shape(callee, a, b, transpose_a, transpose_b)
    dtype = a.dtype if out_dtype is None else dtype_of(out_dtype, "out_dtype")
    made = matrix_product(
        shape, a, b, transpose_a, transpose_b, dtype=dtype, names=("i", "j"),
        name=f"T_matmul_{_way(transpose_a)}{_way(transpose_b)}",
        tag=MATMUL if transpose_a or not transpose_b else "dense",
    )  # fmt: skip
    if bias is None:
        return made
    return compute(
        shape, lambda i, j: made[i, j] + prim.cast(bias[j], dtype), name="T_add", tag=BROADCAST
    )


def _way(transposed: bool) -> str:
    return "T" if transposed else "N"


@topi_function
def batch_matmul(
    tensor_a: Tensor, tensor_b: Tensor, oshape: Any = None, out_dtype: Any = None,
    transpose_a: bool = False, transpose_b: bool = True,
) -> Any:  # fmt: skip
    """The products of matrices, one for each element of the first axis; of one tensor it may be 1.

    The second tensor is transposed where nothing else is said. `oshape` is the shape of the result
    where it is known. Raises `OperandError` for sizes that do not go together.
    """
    for name, tensor in (("tensor_a", tensor_a), ("tensor_b", tensor_b)):
        if tensor.ndim != 3:
            raise OperandError(
                name, f"has rank {tensor.ndim}", code="RX0203",
                message="`topi.nn.batch_matmul` multiplies a matrix for each element of a batch",
            )  # fmt: skip
    callee = "topi.nn.batch_matmul"
    dtype = tensor_a.dtype if out_dtype is None else dtype_of(out_dtype, "out_dtype")
    shape = product_shape(callee, tensor_a, tensor_b, transpose_a, transpose_b)
    return matrix_product(
        shape if oshape is None else shape_of(oshape), tensor_a, tensor_b, transpose_a, transpose_b,
        dtype=dtype, names=("b", "i", "j"),
        name=f"T_batch_matmul_{_way(transpose_a)}{_way(transpose_b)}", tag="batch_matmul",
    )  # fmt: skip
