"""Gradients of poolings: each window gives its share back to its elements.

The elements of all windows are taken of the data along one axis after the other. Each spatial axis
becomes two, the windows and the places in them; what is given back is added up where it was taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relaxscript.arith import simplify
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import Constant, Expr
from relaxscript.op.gradients import R, add_at, dtype_of, known_dims, length_of, numbers_below
from relaxscript.opdef.shapes import number

from .windows import Windows

__all__ = ["by_largest", "by_mean", "by_windows_of_one_size"]


def by_largest(
    grad: Expr, x: Expr, out: Expr, kernel: Sequence[int], w: Windows, ceil: bool, padded: bool
) -> Expr:
    """The gradient goes to the largest element of each window; several share it."""
    axes = len(kernel)
    widths = [0, 0, 0, 0]
    for before, behind in zip(w.before, _behind(w, ceil)):
        widths += [before, behind]
    found = R.nn.pad(x, widths, "constant", float("-inf")) if any(widths) else x
    places = _places(out, kernel, w)
    for axis, along in enumerate(places):
        found = R.take(found, along, 2 + 2 * axis)
    inner = [3 + 2 * axis for axis in range(axes)]
    chosen = R.equal(found, R.expand_dims(out, inner))
    share = R.expand_dims(grad, inner) / R.sum(R.astype(chosen, dtype_of(x)), inner, True)
    return _give_back(R.where(chosen, share, 0.0), x, places, w, ceil)


def by_mean(
    grad: Expr, x: Expr, out: Expr, kernel: Sequence[int], w: Windows, ceil: bool, padded: bool
) -> Expr:
    """The gradient by each element is the same for all in a window."""
    sizes = known_dims("out", out)[2:]
    places = _places(out, kernel, w)
    for axis, along in enumerate(places):
        size = length_of(known_dims("data", x)[axis + 2])
        first, last = w.before[axis], size + w.before[axis]
        if padded:  # what pads the tensor counts, what only rounds the number of windows up not
            first, last = 0, last + w.after[axis]
        inside = R.logical_and(R.greater_equal(along, first), R.less(along, last))
        counts = R.maximum(R.sum(R.astype(inside, dtype_of(x)), -1), 1.0)
        others = [k for k in range(2 + len(sizes)) if k != axis + 2]
        grad = grad / R.expand_dims(counts, others)
    inner = [3 + 2 * axis for axis in range(len(kernel))]
    pairs = [dim for size, k in zip(sizes, kernel) for dim in (size, k)]
    shape = [*known_dims("out", out)[:2], *pairs]
    each = R.broadcast_to(R.expand_dims(grad, inner), shape)
    return _give_back(each, x, places, w, ceil)


def _behind(w: Windows, ceil: bool) -> tuple[int, ...]:
    """The elements behind the data that windows may reach; more where they only begin inside."""
    return tuple(a + (s - 1 if ceil else 0) for a, s in zip(w.after, w.strides))


def _places(out: Expr, kernel: Sequence[int], w: Windows) -> list[Expr]:
    """For each axis the places of all windows in the padded data: (windows, places in one)."""
    found: list[Expr] = []
    for axis, (size, length) in enumerate(zip(known_dims("out", out)[2:], kernel)):
        inside = np.arange(length, dtype=np.int64) * w.dilation[axis]
        if isinstance(size, IntImm):
            first = np.arange(size.value, dtype=np.int64)[:, None] * w.strides[axis]
            found.append(Constant.make(first + inside))
        else:
            begins = R.expand_dims(numbers_below(size) * w.strides[axis], 1)
            found.append(begins + Constant.make(inside))
    return found


def _give_back(each: Expr, x: Expr, places: Sequence[Expr], w: Windows, ceil: bool) -> Expr:
    """The sums, for each element of the data, of what it is given as one of all windows."""
    batch, sizes = known_dims("data", x)[:2], known_dims("data", x)[2:]
    behind = _behind(w, ceil)
    wide = [
        simplify(prim.Add.make(size, number(b + a))) for size, b, a in zip(sizes, w.before, behind)
    ]
    windows = [known_dims("data", along) for along in places]
    for axis in reversed(range(len(places))):
        left = [dim for pair in windows[:axis] for dim in pair]
        zeros = R.zeros([*batch, *left, *wide[axis:]], dtype_of(x))
        each = add_at(each, zeros, places[axis], 2 + 2 * axis)
    if not any((*w.before, *behind)):
        return each
    axes = list(range(2, 2 + len(places)))
    ends = [simplify(prim.Add.make(size, number(b))) for size, b in zip(sizes, w.before)]
    made: Expr = R.strided_slice(each, axes, list(w.before), ends, None, True)
    return made


def by_windows_of_one_size(grad: Expr, x: Expr, counts: Sequence[int]) -> Expr:
    """The gradient of means over as many windows as `counts` says, all of about one size."""
    axes = range(2, 2 + len(counts))
    rank = 2 + len(counts)
    for axis, count in zip(axes, counts):
        order = [*(a for a in range(rank) if a != axis), axis]
        shares = _shares(known_dims("data", x)[axis], count, x)
        spread = R.matmul(R.permute_dims(grad, order), shares)
        grad = R.permute_dims(spread, [order.index(a) for a in range(rank)])
    return grad


def _shares(size: PrimExpr, count: int, x: Expr) -> Expr:
    """The share of each element in the mean of each window: (windows, elements)."""
    length = length_of(size)
    numbers = Constant.make(np.arange(count, dtype=np.int64)[:, None])
    first = R.floor_divide(numbers * length, count)
    last = R.floor_divide((numbers + 1) * length + (count - 1), count)
    places = numbers_below(size)
    inside = R.logical_and(R.greater_equal(places, first), R.less(places, last))
    shares: Expr = R.astype(inside, dtype_of(x)) / R.astype(last - first, dtype_of(x))
    return shares
