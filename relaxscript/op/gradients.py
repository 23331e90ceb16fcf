"""Gradients that operators share: of functions of elements, and of what repeats or moves them.

Rules write operators as scripts do: `R.add`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.arith import YES, prove_equal
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError
from relaxscript.ir.prim import IntImm, PrimExpr, Var
from relaxscript.ir.relax import Constant, Expr, ShapeExpr, Tuple, TupleGetItem
from relaxscript.ir.struct_info import TensorStructInfo, TupleStructInfo
from relaxscript.opdef.gradient import GradientContext, Gradients, has_gradient
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf
from relaxscript.opdef.shapes import dims_of, product

from . import namespace

__all__ = [
    "R", "add_at", "broadcast_like", "cast_like", "collapse_like", "constant", "count_along",
    "dtype_of", "fields_of", "known_dims", "known_rank", "length_of", "number_elements",
    "numbers_below", "of_element", "of_elements", "reshape_like", "restore_axes", "shape_of",
    "undo_broadcast",
]  # fmt: skip

_Rule = Callable[..., Gradients]

# All operators, by their names in scripts. Rules are asked when all of them are defined; while the
# file of a rule is read, some are not.
R: Any = namespace


def of_element(derivative: Callable[..., Expr]) -> _Rule:
    """The gradient of a function of one tensor: `derivative(grad, x, out, **attributes)`."""

    def rule(context: GradientContext, x: Expr, **attributes: Any) -> Gradients:
        return (derivative(context.grad, x, context.out, **attributes),)

    return rule


def of_elements(derivatives: Callable[..., tuple[Expr, ...]]) -> _Rule:
    """The gradients of a function of tensors: `derivatives(grad, *operands, out)`.

    What an operand was repeated for is added up.
    """

    def rule(context: GradientContext, *operands: Expr) -> Gradients:
        found = derivatives(context.grad, *operands, context.out)
        return tuple(undo_broadcast(grad, x) for grad, x in zip(found, operands))

    return rule


def constant(context: GradientContext, *operands: Expr | None, **attributes: Any) -> Gradients:
    """The gradient of what is constant between its jumps: zeros."""
    return tuple(R.zeros_like(x) if x is not None and _is_float(x) else None for x in operands)


def _is_float(x: Expr) -> bool:
    info = struct_info_of_leaf(x)
    return isinstance(info, TensorStructInfo) and has_gradient(info)


def undo_broadcast(grad: Expr, x: Expr) -> Expr | None:
    """The sums of a gradient over the axes along which `x` was repeated; None for a scalar."""
    is_tensor = isinstance(struct_info_of_leaf(x), TensorStructInfo)
    return collapse_like(grad, x) if is_tensor else None


def collapse_like(grad: Expr, x: Expr) -> Expr:
    """The sums of a gradient over the axes along which a tensor was repeated."""
    given, wanted = struct_info_of_leaf(grad), struct_info_of_leaf(x)
    assert isinstance(given, TensorStructInfo)
    assert isinstance(wanted, TensorStructInfo)
    made: Expr
    if given.dims is not None and wanted.dims is not None:
        same = len(given.dims) == len(wanted.dims)
        if same and all(prove_equal(a, b) is YES for a, b in zip(given.dims, wanted.dims)):
            return grad
        made = R.collapse_sum_to(grad, wanted.shape)
    else:
        made = R.collapse_sum_like(grad, x)
    return made


def shape_of(x: Expr) -> Expr:
    """The shape of a tensor as an expression: its dimensions where they are known."""
    info = struct_info_of_leaf(x)
    if isinstance(info, TensorStructInfo) and info.shape is not None:
        return info.shape
    found: Expr = R.shape_of(x)
    return found


def known_dims(name: str, x: Expr) -> tuple[PrimExpr, ...]:
    """The dimensions of an operand; raises `OperandError` where they are not known."""
    info = struct_info_of_leaf(x)
    dims = dims_of(info) if isinstance(info, TensorStructInfo) else None
    if dims is None:
        raise _unknown(name, "shape")
    return dims


def known_rank(name: str, x: Expr) -> int:
    """The number of axes of an operand; raises `OperandError` where it is not known."""
    info = struct_info_of_leaf(x)
    rank = info.ndim if isinstance(info, TensorStructInfo) else -1
    if rank < 0:
        raise _unknown(name, "rank")
    return rank


def _unknown(name: str, what: str) -> OperandError:
    return OperandError(
        name,
        f"has a {what} that is not known",
        message=f"a gradient is written for operands of known {what}",
        help='say its shape first: `R.match_cast(x, R.Tensor(("n", "m")))`',
    )


def restore_axes(grad: Expr, x: Expr, axis: Sequence[int] | None, keepdims: bool) -> Expr:
    """A gradient of what is left of `x`, with axes of one element in place of those reduced."""
    if keepdims or axis is None or axis == ():
        return grad  # of rank 0, which is like any shape
    rank = known_rank("x", x)
    made: Expr = R.expand_dims(grad, sorted(a % rank for a in axis))
    return made


def broadcast_like(grad: Expr, x: Expr) -> Expr:
    """A gradient of what was added up, for each element of `x`."""
    made: Expr = R.broadcast_to(grad, shape_of(x))
    return made


def reshape_like(grad: Expr, x: Expr) -> Expr:
    """A gradient in the shape of `x`."""
    made: Expr = R.reshape(grad, shape_of(x))
    return made


def dtype_of(x: Expr) -> DataType:
    """The dtype of a tensor; void where it is not known."""
    info = struct_info_of_leaf(x)
    return info.dtype if isinstance(info, TensorStructInfo) else DataType("void")


def cast_like(x: Expr, other: Expr) -> Expr:
    """`x` in the dtype of another tensor."""
    wanted = dtype_of(other)
    made: Expr = x if wanted.is_void or wanted is dtype_of(x) else R.astype(x, wanted)
    return made


def count_along(x: Expr, axis: Sequence[int] | None) -> Any:
    """The number of elements along axes (all where None): a number, or a tensor of rank 0."""
    info = struct_info_of_leaf(x)
    dims = dims_of(info) if isinstance(info, TensorStructInfo) else None
    if dims is not None:
        along = product(dims if axis is None else [dims[a] for a in axis])
        if isinstance(along, IntImm):
            return float(along.value)
        count = length_of(along)
    elif axis is None:
        count = R.size(x)
    else:
        rank = known_rank("x", x)
        places = Constant.make(np.array([a % rank for a in axis], np.int64))
        count = R.prod(R.take(R.shape_to_tensor(R.shape_of(x)), places, 0))
    return R.astype(count, dtype_of(x))


def fields_of(tensors: Expr) -> tuple[Expr, ...]:
    """The fields of a tuple, which a variable may hold."""
    if isinstance(tensors, Tuple):
        return tensors.fields
    info = struct_info_of_leaf(tensors)
    assert isinstance(info, TupleStructInfo)
    return tuple(TupleGetItem.make(tensors, k) for k in range(len(info.fields)))


def add_at(grad: Expr, zeros: Expr, indices: Expr, axis: int) -> Expr:
    """The gradient by what is taken at `indices` along an axis, which `zeros` is like."""
    own, more = known_rank("x", zeros), known_rank("indices", indices)
    first = [axis, *(a for a in range(own) if a != axis)]
    # The axes of the indices in front, as those of what `R.index_put` puts.
    moved = [*range(axis, axis + more), *range(axis), *range(axis + more, own - 1 + more)]
    parts = R.permute_dims(grad, moved) if axis else grad
    found = R.index_put(R.permute_dims(zeros, first) if axis else zeros, [indices], parts, True)
    back = [first.index(a) for a in range(own)]
    made: Expr = R.permute_dims(found, back) if axis else found
    return made


def number_elements(x: Expr) -> Expr:
    """The elements of a tensor counted from 1 in row-major order."""
    made: Expr = reshape_like(R.cumsum(R.ones_like(x, "int64")), x)
    return made


def numbers_below(dim: PrimExpr) -> Expr:
    """The numbers from 0 on, as many as a dimension says; int64."""
    made: Expr
    if isinstance(dim, (IntImm, Var)):
        made = R.arange(dim)
    else:  # of other expressions it is not known that they are not below 0
        made = R.cumsum(R.ones([dim], "int64"), 0, exclusive=True)
    return made


def length_of(dim: PrimExpr) -> Expr:
    """A dimension as a tensor of rank 0; int64."""
    if isinstance(dim, IntImm):
        return Constant.make(np.array(dim.value, np.int64))
    made: Expr = R.reshape(R.shape_to_tensor(ShapeExpr.make((dim,))), ())
    return made
