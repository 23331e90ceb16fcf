"""Elements of tensors combined over axes.

Sums and products of floats are computed in a wider dtype and rounded once; those of integers wrap
around. What is combined is visited in row-major order.

Source: TVM `topi.reduction`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from relaxscript.arith import YES, prove_equal
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr, cast, const
from relaxscript.ir.tir import IterVar
from relaxscript.te import reduction as rules
from relaxscript.te.compute import compute, reduce_axis, shape_of
from relaxscript.te.tensor import Tensor
from relaxscript.tir_builder import describe

from .broadcast import is_one
from .operands import topi_function
from .places import place_of_extreme
from .tag import COMM_REDUCE, COMM_REDUCE_IDX

__all__ = ["all", "any", "argmax", "argmin", "collapse_sum", "max", "min", "prod", "sum"]

# What is combined: a reduction over some axes, by the indices of an element.
Combine = Callable[[Sequence[PrimExpr], Sequence[IterVar]], Any]


def accumulator(dtype: DataType) -> DataType:
    """The dtype in which to add up values of `dtype`: for floats a wider one."""
    if not dtype.is_float:
        return dtype
    return DataType("float32" if dtype.bits <= 16 else "float64")


def axes_of(callee: str, data: Tensor, axis: Any) -> tuple[int, ...]:
    """The axes of a tensor that are named, all for None, counted from 0 and in order.

    Raises `OperandError` for one that is not there, and for what is no axis.
    """
    if axis is None:
        return tuple(range(data.ndim))
    named = axis if isinstance(axis, (tuple, list)) else (axis,)
    for place in named:
        if not hasattr(place, "__index__"):
            raise OperandError(
                "axis", f"is {describe(place)}", code="RX0502",
                message=f"an axis is a whole number, this is {describe(place)}",
            )  # fmt: skip
        if not -data.ndim <= place < data.ndim:
            raise OperandError(
                "axis", f"is {place}", code="RX0503",
                message=f"`{callee}` cannot find axis {place}: "
                f"the tensor `{data.name}` has {quantity(data.ndim, 'axis')}",
            )  # fmt: skip
    return tuple(sorted({place % data.ndim for place in named}))


def reduced(
    dims: Sequence[PrimExpr], axes: Collection[int], keepdims: bool, combine: Combine, name: str,
    tag: str = COMM_REDUCE,
) -> Any:  # fmt: skip
    """The tensor that is left of a shape where what is along some axes is combined."""
    over = {
        axis: reduce_axis((const(0, dims[axis].dtype), dims[axis]), f"k{axis}")
        for axis in sorted(axes)
    }
    kept = [axis for axis in range(len(dims)) if keepdims or axis not in over]
    shape = [const(1, dims[axis].dtype) if axis in over else dims[axis] for axis in kept]
    # Over no axis each element is combined with nothing.
    visited = list(over.values()) or [reduce_axis((0, 1), "k")]

    def element(*indices: PrimExpr) -> Any:
        own = dict(zip(kept, indices))
        places = [over[axis].var if axis in over else own[axis] for axis in range(len(dims))]
        return combine(places, visited)

    names = [f"ax{axis}" for axis in range(len(shape))]
    return compute(tuple(shape), element, name=name, tag=tag, varargs_names=names)


def rounded(tensor: Tensor, dtype: DataType) -> Tensor:
    """The elements of a tensor as those of another dtype."""
    if tensor.dtype is dtype:
        return tensor
    names = [f"ax{axis}" for axis in range(tensor.ndim)]
    made: Tensor = compute(
        tensor.shape, lambda *i: cast(tensor[i], dtype), name="T_cast", tag="elemwise",
        varargs_names=names,
    )  # fmt: skip
    return made


def _reduction(name: str, rule: Callable[..., Any], doc: str) -> Callable[..., Any]:
    @topi_function
    def reduction(data: Tensor, axis: Any = None, keepdims: bool = False) -> Tensor:
        axes = axes_of(f"topi.{name}", data, axis)
        wide = accumulator(data.dtype) if name in ("sum", "prod") else data.dtype
        made = reduced(
            data.shape, axes, keepdims,
            lambda at, over: rule(cast(data[tuple(at)], wide), axis=over), f"{data.op.name}_red",
        )  # fmt: skip
        return rounded(made, data.dtype)

    reduction.__name__ = reduction.__qualname__ = name
    reduction.__doc__ = doc
    return reduction


def _extreme(name: str, largest: bool, doc: str) -> Callable[..., Any]:
    @topi_function
    def place(
        data: Tensor, axis: Any = None, keepdims: bool = False, select_last_index: bool = False
    ) -> Tensor:
        axes = axes_of(f"topi.{name}", data, axis)
        rule = place_of_extreme(data.dtype, largest, select_last_index)

        # Places are counted in row-major order along all the axes together.
        def combine(at: Sequence[PrimExpr], over: Sequence[IterVar]) -> Any:
            number = const(0, "int64")
            for axis in axes:
                index = cast(at[axis], number.dtype)
                number = index if axis == axes[0] else number * data.shape[axis] + index
            return rule((number, data[tuple(at)]), axis=over)

        found = reduced(
            data.shape, axes, keepdims, combine, f"{data.op.name}_red_temp", COMM_REDUCE_IDX
        )
        names = [f"ax{axis}" for axis in range(found[0].ndim)]
        made: Tensor = compute(
            found[0].shape, lambda *i: found[0][i], name=f"{data.op.name}_red",
            tag=COMM_REDUCE_IDX, varargs_names=names,
        )  # fmt: skip
        return made

    place.__name__ = place.__qualname__ = name
    place.__doc__ = doc
    return place


sum = _reduction("sum", rules.sum, "The sums along `axis`, of all elements where None.")
prod = _reduction("prod", rules.prod, "The products along `axis`, of all elements where None.")
max = _reduction("max", rules.max, "The largest elements along `axis`; NaN if there is one.")
min = _reduction("min", rules.min, "The smallest elements along `axis`; NaN if there is one.")
all = _reduction("all", rules.all, "Whether all elements along `axis` hold.")
any = _reduction("any", rules.any, "Whether one of the elements along `axis` holds.")
argmax = _extreme(
    "argmax", True,
    "The places of the largest elements along `axis`, int64: the first, or the last, of several. "
    "NaN counts as the largest; -1 is the place of nothing.",
)  # fmt: skip
argmin = _extreme(
    "argmin", False,
    "The places of the smallest elements along `axis`, int64: the first, or the last, of several. "
    "NaN counts as the smallest; -1 is the place of nothing.",
)  # fmt: skip


@topi_function
def collapse_sum(data: Tensor, target_shape: Sequence[Any]) -> Tensor:
    """The sums over the axes along which a tensor of `target_shape` is repeated to be like `data`.

    Axes are compared from the right; raises `OperandError` where there are too many. Where a size
    is known to be neither 1 nor that of `data`, there is no such sum.
    """
    shape = shape_of(target_shape)
    front = data.ndim - len(shape)
    if front < 0:
        raise OperandError(
            "target_shape", f"has {quantity(len(shape), 'axis')}",
            also={"data": f"has {data.ndim}"}, code="RX0203",
            message="`topi.collapse_sum` gives a tensor of at most as many axes as it takes",
        )  # fmt: skip
    over = [reduce_axis((0, size), f"k{axis}") for axis, size in enumerate(data.shape[:front])]
    # How many elements become one, along each axis that is left.
    inner = [_repeated(size, own) for size, own in zip(shape, data.shape[front:])]
    along = {
        axis: reduce_axis((0, count), f"k{axis}")
        for axis, count in enumerate(inner, front)
        if not is_one(count)
    }
    wide = accumulator(data.dtype)

    def element(*indices: PrimExpr) -> Any:
        own = (i + along[axis].var if axis in along else i for axis, i in enumerate(indices, front))
        places = (*(axis.var for axis in over), *own)
        visited = [*over, *along.values()] or [reduce_axis((0, 1), "k")]
        return rules.sum(cast(data[places], wide), axis=visited)

    names = [f"ax{axis}" for axis in range(len(shape))]
    made = compute(shape, element, name=f"{data.op.name}_red", tag=COMM_REDUCE, varargs_names=names)
    return rounded(made, data.dtype)


def _repeated(size: PrimExpr, own: PrimExpr) -> PrimExpr:
    """The number of elements along an axis of `own` that become one of an axis of `size`."""
    one = const(1, own.dtype)
    if is_one(size):
        return own
    if prove_equal(size, own) is YES:
        return one
    return prim.Select.make(prim.EQ.make(*prim.alike(size, one)), own, one)
