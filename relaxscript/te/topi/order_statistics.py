"""Elements in the middle of an order. Source: PyTorch `median`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.ir.prim import INT64, IntImm, PrimExpr, cast, const
from relaxscript.ir.scalar_functions import FUNCTIONS, if_then_else
from relaxscript.te import reduction as rules
from relaxscript.te.element import select
from relaxscript.te.tensor import Tensor

from .operands import require_dtype, topi_function
from .reduction import axes_of, reduced
from .sorting import order_along
from .transform import injective, reshape, size_of

__all__ = ["median"]


@topi_function
def median(data: Tensor, axis: int | None = None, keepdims: bool = False) -> Any:
    """The element in the middle of the order of all elements; of two in the middle the lower one.

    With `axis`, a list: the elements in the middle along it, and their indices (int64). NaN if
    there is one. Of nothing it is NaN, 0 for integers, and the index -1.
    """
    axes = axes_of("topi.median", data, axis)
    require_dtype("topi.median", "data", data.dtype, "number")
    if axis is None:
        flat = reshape(data, [size_of(data.shape)])
        ones = [const(1, size.dtype) for size in data.shape]
        return _element_at(flat, _middle(flat, 0), 0, ones if keepdims else [], None)
    (along,) = axes
    indices = _middle(data, along)
    one = [const(1, data.shape[along].dtype)] if keepdims else []
    dims = [*data.shape[:along], *one, *data.shape[along + 1 :]]
    places = injective(dims, lambda *i: indices[_outside(i, along, keepdims)], "T_median_indices")
    return [_element_at(data, indices, along, dims, keepdims), places]


def _outside(i: Sequence[PrimExpr], along: int, keepdims: bool) -> tuple[PrimExpr, ...]:
    """The indices along the other axes."""
    return (*i[:along], *i[along + 1 :]) if keepdims else tuple(i)


def _middle(data: Tensor, along: int) -> Tensor:
    """The index of the element in the middle along an axis, for each row of the other axes."""
    order = order_along(data, along, False)
    size = cast(data.shape[along], INT64)
    missing = None
    if data.dtype.is_float:
        missing = reduced(
            data.shape, (along,), False,
            lambda at, over: rules.sum(
                cast(FUNCTIONS["isnan"](data[tuple(at)]), INT64), axis=over
            ),
            f"{data.op.name}_nan",
        )  # fmt: skip

    def place(*i: PrimExpr) -> PrimExpr:
        number = (size - 1) // 2
        if missing is not None:
            # What is missing comes last.
            number = select(missing[i] > 0, size - missing[i], number)
        at = cast(number, data.shape[along].dtype)
        return _unless_empty(size, lambda: order[(*i[:along], at, *i[along:])], const(-1, INT64))

    others = [*data.shape[:along], *data.shape[along + 1 :]]
    return injective(others, place, "T_median_places")


def _unless_empty(size: PrimExpr, element: Callable[[], PrimExpr], nothing: PrimExpr) -> PrimExpr:
    if isinstance(size, IntImm):
        return element() if size.value else nothing
    return if_then_else(size > 0, element(), nothing)


def _element_at(
    data: Tensor, indices: Tensor, along: int, dims: Sequence[PrimExpr], keepdims: bool | None
) -> Tensor:
    """The elements at indices; where `keepdims` is None there is one."""
    nothing = const(float("nan") if data.dtype.is_float else 0, data.dtype)

    def element(*i: PrimExpr) -> PrimExpr:
        own = () if keepdims is None else _outside(i, along, keepdims)
        index = cast(indices[own], data.shape[along].dtype)
        found = (*own[:along], index, *own[along:])
        return _unless_empty(data.shape[along], lambda: data[found], nothing)

    return injective(dims, element, "T_median")
