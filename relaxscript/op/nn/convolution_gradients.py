"""Gradients of convolutions, which are convolutions again. Source: TVM's of `relax.nn.conv2d`.

The gradient by the data is a transposed convolution with the same weight. That by the weight is a
convolution of the data with the gradient of the result, over their batches.
"""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.arith import YES, prove_equal, simplify
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import Expr
from relaxscript.op.gradients import R, known_dims, numbers_below
from relaxscript.opdef.shapes import number

from .layouts import permuted
from .windows import Windows

__all__ = ["by_weight", "convolve", "spread_back"]


def convolve(data: Expr, weight: Expr, w: Windows, groups: int) -> Expr:
    """The convolution of tensors in plain layouts."""
    operator = getattr(R.nn, f"conv{len(w.strides)}d")
    made: Expr = operator(data, weight, w.strides, (*w.before, *w.after), w.dilation, groups)
    return made


def spread_back(
    grad: Expr, weight: Expr, w: Windows, wanted: Sequence[PrimExpr], groups: int
) -> Expr:
    """The gradient by data whose spatial dimensions are `wanted`; all layouts are plain."""
    sizes, kernel = known_dims("out", grad)[2:], known_dims("weight", weight)[2:]
    after, more, open_axes = [], [], []
    for axis, (size, k, dim) in enumerate(zip(sizes, kernel, wanted)):
        stride = w.strides[axis]
        steps = prim.Mul.make(prim.Sub.make(size, number(1)), number(stride))
        reach = prim.Mul.make(prim.Sub.make(k, number(1)), number(w.dilation[axis]))
        last = prim.Sub.make(prim.Add.make(steps, reach), number(w.before[axis] - 1))
        # The elements behind the last that is wanted; below 0 those that no window reaches.
        further = simplify(prim.Sub.make(last, dim))
        if isinstance(further, IntImm):
            after.append(max(further.value, 0))
            more.append(max(-further.value, 0))
        else:
            after.append(0)
            more.append(stride - 1)
            open_axes.append(axis)
    operator = getattr(R.nn, f"conv{len(wanted)}d_transpose")
    found: Expr = operator(grad, weight, w.strides, (*w.before, *after), more, w.dilation, groups)
    for axis in open_axes:
        found = R.take(found, numbers_below(wanted[axis]), axis + 2)
    return found


def by_weight(data: Expr, grad: Expr, w: Windows, wanted: Sequence[PrimExpr], groups: int) -> Expr:
    """The gradient by a weight whose spatial dimensions are `wanted`; all layouts are plain."""
    x, swapped = _batches_as_channels(data, groups), [1, 0, *range(2, 2 + len(wanted))]
    turned = w._replace(strides=w.dilation, dilation=w.strides)
    found = permuted(convolve(x, permuted(grad, swapped), turned, groups), swapped)
    for axis, (size, dim) in enumerate(zip(known_dims("weight", found)[2:], wanted), 2):
        # Windows that the weight does not have: the data ends between two strides.
        if prove_equal(size, dim) is not YES:
            found = R.take(found, numbers_below(dim), axis)
    return found


def _batches_as_channels(data: Expr, groups: int) -> Expr:
    """(N, C, ...) as (C / groups, groups * N, ...)."""
    batch, channels, *spatial = known_dims("data", data)
    if groups == 1:
        return permuted(data, [1, 0, *range(2, 2 + len(spatial))])
    share = simplify(prim.FloorDiv.make(channels, number(groups)))
    apart = R.reshape(data, [batch, groups, share, *spatial])
    moved = R.permute_dims(apart, [2, 1, 0, *range(3, 3 + len(spatial))])
    many = simplify(prim.Mul.make(batch, number(groups)))
    made: Expr = R.reshape(moved, [share, many, *spatial])
    return made
