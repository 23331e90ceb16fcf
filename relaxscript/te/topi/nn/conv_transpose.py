"""Transposed convolutions: each element spread over a window, what overlaps added up.

An element of the result looks for the elements whose windows cover it, so that nothing is written
twice. Source: TVM `topi.nn.conv2d_transpose_nchw` and those like it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.arith import simplify
from relaxscript.dtypes import DataType
from relaxscript.ir import prim, tir_functions
from relaxscript.ir.prim import PrimExpr
from relaxscript.te import reduction
from relaxscript.te.compute import reduce_axis
from relaxscript.te.tensor import Tensor
from relaxscript.te.topi.layouts import arranged, unpack

from .convolution import LOOPS, SUMMED, Orders
from .windows import Windows


def spread(
    data: Tensor, weight: Tensor, windows: Windows, groups: int, orders: Orders,
    shape: Sequence[PrimExpr], dtype: DataType,
) -> Any:  # fmt: skip
    """The transposed convolution of a known shape, whose sums are of `dtype`.

    `orders` are those of the data, of the weight and of the result.
    """
    data, of_data = unpack(data, orders[0])
    weight, of_weight = unpack(weight, orders[1])
    inputs, outputs, *kernel = of_weight.sizes(weight.shape)
    sizes = of_data.sizes(data.shape)[2:]
    letters = orders[2].letters
    share = simplify(inputs // groups)
    rc = reduce_axis((0, share), name="rc")
    taps = [reduce_axis((0, n), name=SUMMED[c]) for n, c in zip(kernel, letters[2:])]

    def element(n: PrimExpr, f: PrimExpr, *places: PrimExpr) -> Any:
        channel: PrimExpr = rc.var
        if groups > 1:
            channel = simplify(f // outputs * share + rc.var)
            f = simplify(f % outputs)
        at, conditions = [], []
        for axis, (place, tap) in enumerate(zip(places, taps)):
            source, covers = _source(place, tap.var, sizes[axis], windows, axis)
            at.append(source)
            conditions += covers
        x = data[tuple(of_data.spread([n, channel, *at]))]
        k = weight[tuple(of_weight.spread([channel, f, *(tap.var for tap in taps)]))]
        product = prim.cast(x, dtype) * prim.cast(k, dtype)
        covered = tir_functions.all(*conditions)
        return reduction.sum(product, axis=[rc, *taps], where=covered)

    name = f"{'group_' if groups > 1 else ''}conv{len(kernel)}d_transpose_{orders[0].text.lower()}"
    return arranged(orders[2], shape, element, name, LOOPS)


def _source(
    place: PrimExpr, tap: PrimExpr, size: PrimExpr, windows: Windows, axis: int
) -> tuple[PrimExpr, list[PrimExpr]]:
    """The element whose window has `place` at `tap`, and the conditions that there is one."""
    stride, step, before = windows.strides[axis], windows.dilation[axis], windows.before[axis]
    zero = prim.const(0, place.dtype)
    first = simplify(place + before - tap * step)
    if stride == 1:
        return first, [prim.GE(first, zero), prim.LT(first, size)]
    source = first // stride
    whole = prim.EQ(first % stride, zero)
    return source, [prim.GE(first, zero), whole, prim.LT(source, size)]
