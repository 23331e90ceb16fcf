"""Operators that give a tensor another shape: `reshape`, `flatten`, `broadcast_to`.

The shape is a ShapeExpr or an expression that evaluates to a shape. Elements keep their row-major
order; results are new arrays, never views.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.arith import NO, prove_equal, simplify
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Call, Expr, ShapeExpr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.gradients import reshape_like, undo_broadcast
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact, shape_text
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.leaf_struct_info import struct_info_of_leaf
from relaxscript.opdef.operands import dimension
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import ShapeLike, Tensor
from relaxscript.opdef.shapes import (
    ONE,
    ZERO,
    dims_of,
    factors,
    of_shape,
    product,
    product_of,
    require_equal,
    require_spread,
    same_dim,
    same_dims,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import topi
from relaxscript.opdef.traits import Trait

__all__ = ["broadcast_to", "flatten", "reshape"]


# ---------------------------------------------------------------- reshape


@op(traits={Trait.VIEW, Trait.MIXED_FOLLOW})
def reshape(x: Tensor, shape: ShapeLike) -> Tensor:
    """The elements of `x`, in row-major order, in another shape of as many elements.

    One dimension may be given as -1: it is worked out when the call is built. A 0 is the dimension
    of `x` in its place, unless `x` has no elements.
    """
    return np.reshape(x, shape)


@reshape.prepare_rule
def _(bound: dict[str, Any]) -> dict[str, Any]:
    shape = bound["shape"]
    dims = shape.values if isinstance(shape, ShapeExpr) else shape
    if isinstance(dims, int) and not isinstance(dims, bool):
        dims = (dims,)
    if not isinstance(dims, (list, tuple)):
        return bound
    wanted = [dimension("shape", item) for item in dims]
    open_places = [index for index, dim in enumerate(wanted) if _is(dim, -1)]
    for dim in wanted:
        if isinstance(dim, prim.IntImm) and dim.value < -1:
            raise _bad_dimension(wanted, f"has the dimension {dim.value}")
    copied = _copied_dimensions(bound["x"], wanted)
    if not open_places and copied == wanted:
        return bound
    wanted = copied
    if not open_places:
        return {**bound, "shape": ShapeExpr.make(tuple(wanted))}
    if len(open_places) > 1:
        raise _bad_dimension(wanted, "has several dimensions that are -1")
    place = open_places[0]
    others = [*wanted[:place], *wanted[place + 1 :]]
    wanted[place] = _missing_dimension(bound["x"], others)
    return {**bound, "shape": ShapeExpr.make(tuple(wanted))}


def _copied_dimensions(x: Any, wanted: list[PrimExpr]) -> list[PrimExpr]:
    """A shape in which each 0 is the dimension of a tensor that has elements."""
    own = _dims_of_operand(x) if any(_is(dim, 0) for dim in wanted) else None
    if own is None or any(_is(dim, 0) for dim in own):
        return wanted
    return [
        own[place] if _is(dim, 0) and place < len(own) else dim for place, dim in enumerate(wanted)
    ]


def _is(dim: PrimExpr, value: int) -> bool:
    return isinstance(dim, prim.IntImm) and dim.value == value


def _bad_dimension(wanted: Sequence[PrimExpr], fact: str) -> OperandError:
    return OperandError(
        "shape",
        fact,
        message=f"`{shape_text(wanted)}` is not a shape to reshape to",
        code="RX0204",
        help="dimensions are at least 0; one of them may be -1, to be worked out",
    )


def _missing_dimension(x: Any, others: list[PrimExpr]) -> PrimExpr:
    """The dimension that makes up the elements of `x` with the others."""
    dims = _dims_of_operand(x)
    if dims is None:
        raise OperandError(
            "x",
            "has a shape that is not known",
            also={"shape": "leaves a dimension to be worked out"},
            help='say its shape first: `R.match_cast(x, R.Tensor(("n", "m")))`',
        )
    (constant, left), (parts, rest) = _cancel_common(dims, others)
    if not rest and parts and constant % parts == 0:
        return product_of(constant // parts, left)
    total, divisor = product_of(constant, left), product_of(parts, rest)
    remainder = simplify(prim.FloorMod.make(total, divisor)) if not _is(divisor, 0) else None
    if remainder is None or prove_equal(remainder, ZERO) is NO:
        raise OperandError(
            "x",
            f"has shape {shape_text(dims)}",
            also={
                "shape": f"has {dim_text(product(others))} elements for each of the open dimension"
            },
            message="no dimension makes up the elements of `x`",
        )
    return simplify(prim.FloorDiv.make(total, divisor))


def _dims_of_operand(x: Any) -> tuple[PrimExpr, ...] | None:
    if isinstance(x, (np.ndarray, np.generic)):
        return tuple(prim.as_prim(dim) for dim in x.shape)
    if isinstance(x, (bool, int, float)):
        return ()
    info = struct_info_of_leaf(x) if isinstance(x, Expr) else None
    return dims_of(info) if isinstance(info, TensorStructInfo) else None


_Product = tuple[int, list[PrimExpr]]


def _cancel_common(a: Sequence[PrimExpr], b: Sequence[PrimExpr]) -> tuple[_Product, _Product]:
    """Two products, a number and expressions each, without the expressions that are in both."""
    (constant, left), (parts, right) = factors(a), factors(b)
    rest: list[PrimExpr] = []
    for factor in right:
        if factor in left:  # compared by identity
            left.remove(factor)
        else:
            rest.append(factor)
    return (constant, left), (parts, rest)


@reshape.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    x, shape = reshape.operand_infos(call, context)
    old, new = dims_of(x), shape.values
    if old is not None and new is not None:
        if same_dims(old, new):
            return _same_info(x, new)
        _require_elements(context, x, old, new)
    elif x.shape is not None and x.shape is call.args[1]:
        return x  # type: ignore[no-any-return]
    return of_shape(call.args[1], shape, x)


@reshape.compute()
def _(context: ComputeContext, x: Any, shape: Any) -> Any:
    return topi.transform.reshaped(x, context.shape)


def _same_info(x: TensorStructInfo, dims: tuple[PrimExpr, ...]) -> TensorStructInfo:
    return x if x.dims is not None else tensor_of(dims, x.dtype, x.vdevice)


def _require_elements(
    context: InferContext,
    x: TensorStructInfo,
    old: tuple[PrimExpr, ...],
    new: tuple[PrimExpr, ...],
) -> None:
    (constant, left), (other, right) = _cancel_common(old, new)
    if constant == other and not left and not right:
        return
    before, after = product(old), product(new)
    error = OperandError(
        "x",
        f"has {dim_text(before)} elements, in shape {shape_text(old)}",
        also={"shape": f"has {dim_text(after)} elements, in shape {shape_text(new)}"},
        message="`R.reshape` keeps the number of elements",
    )
    text = f"`x` has {dim_text(before)} elements, the shape has {dim_text(after)}"
    require_equal(context, before, after, error, text)


@reshape.gradient
def _(context: GradientContext, x: Expr, shape: Expr) -> Gradients:
    return reshape_like(context.grad, x), None


# ---------------------------------------------------------------- flatten


@op(traits={Trait.VIEW, Trait.MIXED_FOLLOW})
def flatten(x: Tensor) -> Tensor:
    """All elements of `x` along one axis, in row-major order."""
    return np.reshape(x, -1)


@flatten.infer_rule
def _(context: InferContext, x: TensorStructInfo) -> StructInfo:
    dims = dims_of(x)
    rank = x.ndim if dims is None else len(dims)
    if rank == 1:
        return x
    if dims is None:
        return tensor_of((ONE,) if rank == 0 else None, x.dtype, x.vdevice, 1)
    return tensor_of((product(dims),), x.dtype, x.vdevice)


@flatten.compute()
def _(context: ComputeContext, x: Any) -> Any:
    return topi.transform.reshaped(x, context.shape, "T_flatten")


@flatten.gradient
def _(context: GradientContext, x: Expr) -> Gradients:
    return (reshape_like(context.grad, x),)


# ---------------------------------------------------------------- broadcast_to


@op(traits={Trait.MIXED_FOLLOW})
def broadcast_to(x: Tensor, shape: ShapeLike) -> Tensor:
    """`x` repeated along axes of one element, and along new axes in front, to have `shape`."""
    return np.broadcast_to(x, shape)


@broadcast_to.infer_call_rule
def _(context: InferContext, call: Call) -> StructInfo:
    x, shape = broadcast_to.operand_infos(call, context)
    old, new = dims_of(x), shape.values
    rank = x.ndim if old is None else len(old)
    if shape.ndim >= 0 and rank > shape.ndim:
        raise OperandError(
            "x",
            shape_fact(x, old),
            also={"shape": f"has {quantity(shape.ndim, 'dimension')}"},
            help="axes can be added in front, not taken away",
        )
    if old is not None and new is not None:
        if same_dims(old, new):
            return _same_info(x, new)
        error = OperandError(
            "x",
            shape_fact(x, old),
            also={"shape": f"is {shape_text(new)}"},
            help="each dimension of `x` must be 1, or that of the shape",
        )
        for a, b in zip(reversed(old), reversed(new)):
            require_spread(context, a, b, error)
    return of_shape(call.args[1], shape, x)


@broadcast_to.compute()
def _(context: ComputeContext, x: Any, shape: Any) -> Any:
    front = len(context.shape) - x.ndim

    def element(*i: Any) -> Any:
        return x[tuple(ZERO if same_dim(d, ONE) else k for d, k in zip(x.shape, i[front:]))]

    return topi.transform.injective(context.shape, element, "T_broadcast_to")


@broadcast_to.gradient
def _(context: GradientContext, x: Expr, shape: Expr) -> Gradients:
    return undo_broadcast(context.grad, x), None
