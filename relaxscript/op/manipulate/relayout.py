"""Elements moved to other indices. Source: TVM `relax.layout_transform`, `tir.IndexMap`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.arith import format_expr, index_bounds, places_of, simplify
from relaxscript.dtypes import converted
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr, TupleGetItem
from relaxscript.ir.struct_info import PrimStructInfo, StructInfo, TensorStructInfo
from relaxscript.ir.tir import Buffer, Stmt
from relaxscript.ir.tir_compute import IndexMap
from relaxscript.ir.walk import substitute
from relaxscript.op.gradients import R, dtype_of, number_elements, reshape_like
from relaxscript.op.pieces import PIECE
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import shape_fact
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.operands import wrong_kind
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Axes, Indices, Tensor, Value
from relaxscript.opdef.shapes import (
    ZERO,
    dims_of,
    number,
    obviously_inside,
    require_dtype,
    require_inside,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import te
from relaxscript.opdef.traits import Trait
from relaxscript.tir_builder import TIRBuilder

__all__ = ["layout_transform"]

# The least and the largest value of an index.
_Bounds = tuple[PrimExpr, PrimExpr]


@op(traits={Trait.MIXED_FOLLOW})
def layout_transform(
    x: Tensor,
    index_map: Indices,
    pad_value: Value | None = None,
    axis_separators: Axes | None = None,
    input_axis_separators: Axes | None = None,
) -> Tensor:
    """`x` with its elements elsewhere: `index_map` gives the new indices of each by its own.

    `lambda i, j: (i // 16, j, i % 16)` packs 16 rows. Where the result has an element that is none
    of `x`, it is `pad_value`, or 0. The separators, which say how axes are laid out in memory,
    change no element.
    """
    sizes = [number(size) for size in x.shape]
    shape = [int(simplify(size)) for size in _sizes(_ranges(index_map, sizes))]  # type: ignore[call-overload]
    padding = 0 if pad_value is None else getattr(pad_value, "value", pad_value)
    result: Tensor = np.full(shape, converted(np.asarray(padding), x.dtype), x.dtype)
    rows = len(x) if x.ndim else 1
    # The indices of a few rows at a time: those of all would be larger than the tensor.
    step = max(PIECE * rows // max(x.size, 1), 1)
    for start in range(0, rows, step):
        part = x[start : start + step] if x.ndim else x
        result[places_of(index_map, part.shape, start)] = part
    return result


@layout_transform.prepare_rule
def _(bound: dict[str, Any]) -> dict[str, Any]:
    """No separators at all are none."""
    names = ("axis_separators", "input_axis_separators")
    return {
        k: None if k in names and isinstance(v, (list, tuple)) and not v else v
        for k, v in bound.items()
    }


@layout_transform.attribute_rule
def _(index_map: IndexMap, **separators: Any) -> None:
    # What can be said of indices does not depend on the shape.
    _ranges(index_map, [number(1)] * len(index_map.initial_indices))


def _ranges(index_map: IndexMap, dims: Sequence[PrimExpr]) -> list[_Bounds]:
    """The least and the largest value of each new index, by the dimensions of the operand."""
    last = [simplify(prim.Sub.make(dim, prim.const(1, dim.dtype))) for dim in dims]
    own = {v: (ZERO, high) for v, high in zip(index_map.initial_indices, last)}
    return [index_bounds(e, own) for e in index_map.final_indices]


def _sizes(ranges: Sequence[_Bounds]) -> list[PrimExpr]:
    """The dimensions of the result, by the ranges of its indices."""
    return [simplify(prim.Add.make(high, prim.const(1, high.dtype))) for _, high in ranges]


def _require_from_0(context: InferContext, index_map: IndexMap, ranges: Sequence[_Bounds]) -> None:
    """Refuse new indices below 0; defer what depends on the dimensions."""
    for e, (low, _) in zip(index_map.final_indices, ranges):
        if obviously_inside(ZERO, low):
            continue
        written = format_expr(e)
        error = OperandError(
            "index_map", f"has the index `{written}`, which begins at {format_expr(low)}",
            message="the indices of an index map count from 0", code="RX0204",
        )  # fmt: skip
        text = f"the index `{written}` of `index_map` is not below 0"
        require_inside(context, ZERO, low, error, text)


# ---------------------------------------------------------------- rules


@layout_transform.infer_rule
def _(
    context: InferContext,
    x: TensorStructInfo,
    pad_value: StructInfo | None,
    index_map: IndexMap,
    **separators: Any,
) -> StructInfo:
    require_dtype("x", x.dtype, "any")
    if pad_value is not None and not isinstance(pad_value, PrimStructInfo):
        raise wrong_kind("pad_value", pad_value, "prim")
    dims = dims_of(x)
    rank, taken = x.ndim if dims is None else len(dims), len(index_map.initial_indices)
    if rank not in (-1, taken):
        raise OperandError(
            "index_map", f"takes {quantity(taken, 'index', 'indices')}", code="RX0204",
            also={"x": shape_fact(x, dims)}, message="there is an index for each axis of `x`",
        )  # fmt: skip
    if dims is None:
        return tensor_of(None, x.dtype, x.vdevice, len(index_map.final_indices))
    ranges = _ranges(index_map, dims)
    _require_from_0(context, index_map, ranges)
    return tensor_of(_sizes(ranges), x.dtype, x.vdevice)


@layout_transform.compute()
def _(
    context: ComputeContext, x: Any, pad_value: Any, index_map: IndexMap, **separators: Any
) -> Any:
    padding = (
        prim.const(0, x.dtype) if pad_value is None else te.element.converted(pad_value, x.dtype)
    )

    def statements(ins: Sequence[Buffer], outs: Sequence[Buffer]) -> Stmt:
        tb = TIRBuilder(rooted=False)

        def move(i: Sequence[PrimExpr]) -> None:
            own = {v: prim.cast(k, v.dtype) for v, k in zip(index_map.initial_indices, i)}
            at = [substitute(e, own) for e in index_map.final_indices]
            tb.store(outs[0], at, te.element.load(ins[0], *i))

        with tb.grid(*context.shape) as at:
            tb.store(outs[0], at, padding)
        if x.ndim:
            with tb.grid(*x.shape) as i:
                move(tuple(i))
        else:
            move(())
        return tb.body()

    return te.extern(context.shape, [x], statements, name="te_layout_transform", dtype=x.dtype)


@layout_transform.gradient
def _(
    context: GradientContext,
    x: Expr,
    pad_value: Expr | None,
    index_map: IndexMap,
    **separators: Any,
) -> Gradients:
    # Where the number of an element comes to, there is what it gets. Padding has the number 0.
    numbers = R.flatten(R.layout_transform(number_elements(x), index_map))
    places = R.concat([R.zeros([1], dtype_of(x)), R.flatten(R.zeros_like(x))])
    found = R.index_put(places, [numbers], R.flatten(context.grad), True)
    return reshape_like(TupleGetItem.make(R.split(found, [1]), 1), x), None
