"""More elements around a tensor. Source: TVM `relax.nn.pad`, numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxscript.arith import simplify
from relaxscript.dtypes import converted
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.op.gradients import R, add_at, dtype_of, known_dims, numbers_below
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import InferLayoutOutput, LayoutContext, Order
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Axes, Tensor
from relaxscript.opdef.shapes import dims_of, number, require_dtype, tensor_of
from relaxscript.opdef.tensor_expressions import te, topi

__all__ = ["pad"]

_MODES = {
    "constant": "constant",
    "reflect": "reflect",
    "replicate": "edge",
    "edge": "edge",
    "circular": "wrap",
}


@op("nn.pad")
def pad(
    data: Tensor, pad_width: Axes, pad_mode: str = "constant", pad_value: float = 0.0
) -> Tensor:
    """`data` with more elements before and behind, two numbers in `pad_width` for each axis.

    They are `pad_value` ("constant") or the elements in reverse without the first ("reflect"). Or
    they are the nearest element ("replicate", "edge") or those of the other end ("circular").
    """
    if not data.ndim:
        return data.copy()
    widths = [(pad_width[2 * i], pad_width[2 * i + 1]) for i in range(data.ndim)]
    if pad_mode == "constant":
        value = converted(np.asarray(pad_value), data.dtype)
        return np.pad(data, widths, constant_values=value)
    return np.pad(data, widths, mode=_MODES[pad_mode])  # type: ignore[call-overload, no-any-return]


@pad.compute()
def _(
    context: ComputeContext,
    data: te.Tensor,
    pad_width: tuple[int, ...],
    pad_mode: str = "constant",
    pad_value: float = 0.0,
) -> Any:
    before, behind = pad_width[::2], pad_width[1::2]
    if not data.ndim:
        return topi.identity(data)
    if pad_mode == "constant":
        return topi.nn.pad(data, before, behind, pad_value)
    padded = {"reflect": topi.nn.reflect_pad, "circular": topi.nn.circular_pad}
    return padded.get(pad_mode, topi.nn.replicate_pad)(data, before, behind)


@pad.layout_rule
def _(
    context: LayoutContext, data: Order, pad_width: tuple[int, ...], **others: Any
) -> InferLayoutOutput:
    moved = [width for axis in data for width in pad_width[2 * axis : 2 * axis + 2]]
    return InferLayoutOutput((data,), data, {"pad_width": tuple(moved)})


@pad.infer_rule
def _(
    context: InferContext,
    data: TensorStructInfo,
    pad_width: tuple[int, ...],
    pad_mode: str = "constant",
    pad_value: float = 0.0,
) -> StructInfo:
    require_dtype("data", data.dtype, "any")
    dims = dims_of(data)
    rank = data.ndim if dims is None else len(dims)
    if len(pad_width) % 2 or rank not in (-1, len(pad_width) // 2):
        raise OperandError(
            "pad_width",
            f"has {quantity(len(pad_width), 'number')}",
            also={"data": f"has rank {rank}"} if rank >= 0 else {},
            message="there are two for each axis, how many before and how many behind",
            code="RX0204",
        )
    if dims is None:
        return tensor_of(None, data.dtype, data.vdevice, len(pad_width) // 2)
    more = [before + behind for before, behind in zip(pad_width[::2], pad_width[1::2])]
    padded = [
        simplify(prim.Add.make(dim, number(width))) if width else dim
        for dim, width in zip(dims, more)
    ]
    return tensor_of(padded, data.dtype, data.vdevice)


@pad.attribute_rule
def _(pad_width: tuple[int, ...], pad_mode: str, pad_value: float) -> None:
    if pad_mode not in _MODES:
        listed = ", ".join(f'"{name}"' for name in _MODES)
        raise OperandError(
            "pad_mode", f"is {pad_mode!r}", message=f"it is one of {listed}", code="RX0204"
        )
    if any(width < 0 for width in pad_width):
        raise OperandError(
            "pad_width",
            f"is {list(pad_width)}",
            message="nothing is taken away by padding",
            code="RX0204",
            help="write `R.strided_slice`",
        )


@pad.gradient
def _(
    context: GradientContext, data: Expr, pad_width: Sequence[int], pad_mode: str, pad_value: float
) -> Gradients:
    dims, grad = known_dims("data", data), context.grad
    widths = list(zip(pad_width[::2], pad_width[1::2]))
    if pad_mode == "constant":
        begins = [before for before, _ in widths]
        ends = [simplify(prim.Add.make(dim, number(b))) for dim, b in zip(dims, begins)]
        return (R.strided_slice(grad, list(range(len(dims))), begins, ends, None, True),)
    # What pads an axis is taken of it.
    for axis, (dim, (before, behind)) in enumerate(zip(dims, widths)):
        if before or behind:
            padded = known_dims("data", grad)
            zeros = R.zeros([*padded[:axis], dim, *padded[axis + 1 :]], dtype_of(data))
            places = R.nn.pad(numbers_below(dim), [before, behind], pad_mode)
            grad = add_at(grad, zeros, places, axis)
    return (grad,)
