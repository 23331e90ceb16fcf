"""Products of matrices. Source: TVM `topi.matmul`, numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.arith import NO, format_expr, prove_equal
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.te import reduction
from relaxscript.te.compute import compute, reduce_axis
from relaxscript.te.tensor import Tensor

from .broadcast import broadcast_shapes, repeated
from .elementwise import cast
from .operands import topi_function

__all__ = ["matmul"]

MATMUL = "matmul"


def rounded(tensor: Tensor, dtype: DataType) -> Tensor:
    """A tensor in another dtype, or itself: the last step of a sum in a wider one."""
    return tensor if tensor.dtype is dtype else cast(tensor, dtype)


@topi_function
def matmul(a: Tensor, b: Tensor, transp_a: bool = False, transp_b: bool = False) -> Any:
    """The products of matrices, of which either may be transposed.

    Axes before the last two broadcast; a tensor of rank 1 is a row on the left, a column on the
    right. Raises `OperandError` for sizes that do not go together.
    """
    shape = product_shape("topi.matmul", a, b, transp_a, transp_b)
    return matrix_product(
        shape, a, b, transp_a, transp_b, name="T_matmul", names=("i", "j"), tag=MATMUL
    )


def product_shape(
    callee: str, a: Tensor, b: Tensor, transpose_a: bool, transpose_b: bool
) -> list[PrimExpr]:
    """The shape of a product; raises `OperandError` for operands that do not go together."""
    for name, tensor in (("a", a), ("b", b)):
        if not tensor.ndim:
            raise OperandError(
                name, "has rank 0", code="RX0203", message=f"`{callee}` multiplies matrices"
            )
    inner, rows = a.shape[_axis(a, -1, transpose_a)], b.shape[_axis(b, -2, transpose_b)]
    if prove_equal(inner, rows) is NO:
        raise OperandError(
            "b", f"has {format_expr(rows)}", also={"a": f"has {format_expr(inner)}"}, code="RX0203",
            message=f"`{callee}` sums over {format_expr(inner)} elements of one tensor and "
            f"{format_expr(rows)} of the other",
        )  # fmt: skip
    shape = broadcast_shapes(callee, [a.shape[:-2], b.shape[:-2]], [a.name, b.name])
    shape += [a.shape[_axis(a, -2, transpose_a)]] if a.ndim > 1 else []
    return shape + ([b.shape[_axis(b, -1, transpose_b)]] if b.ndim > 1 else [])


def _axis(tensor: Tensor, axis: int, transposed: bool) -> int:
    """An axis of a matrix, -2 or -1, before it is transposed; a vector has one."""
    if tensor.ndim == 1:
        return -1
    return -3 - axis if transposed else axis


def matrix_product(
    shape: Sequence[PrimExpr], a: Tensor, b: Tensor, transpose_a: bool = False,
    transpose_b: bool = False, *, dtype: DataType | None = None, name: str = MATMUL,
    names: Sequence[str] = (), tag: str = "",
) -> Any:  # fmt: skip
    """The tensor of a known shape that is a product; sums have `dtype` where it is given."""
    k = reduce_axis((0, a.shape[_axis(a, -1, transpose_a)]), name="k")
    count = len(shape) - (a.ndim > 1) - (b.ndim > 1)

    def at(tensor: Tensor, indices: Sequence[Any], own: list[Any], transposed: bool) -> PrimExpr:
        batch = indices[count - (tensor.ndim - 2) : count] if tensor.ndim > 2 else ()
        outer = shape[count - len(batch) : count]
        places = [repeated(i, s, d) for i, s, d in zip(batch, tensor.shape, outer)]
        e = tensor[(*places, *(own[::-1] if transposed and tensor.ndim > 1 else own))]
        return e if dtype is None else prim.cast(e, dtype)

    def element(*indices: Any) -> Any:
        left = [indices[count], k] if a.ndim > 1 else [k]
        right = [k, indices[-1]] if b.ndim > 1 else [k]
        product = at(a, indices, left, transpose_a) * at(b, indices, right, transpose_b)
        return reduction.sum(product, axis=k)

    return compute(
        shape,
        element,
        name=name,
        tag=tag,
        varargs_names=names if len(names) == len(shape) else None,
    )
