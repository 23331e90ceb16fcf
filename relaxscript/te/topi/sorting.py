"""Elements in order along an axis, by merging rows that are in order already.

Equal elements keep their order; NaN counts as the largest.

Source: TVM `topi.sort` (`sort`, `argsort`, `topk`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.arith import simplify
from relaxscript.dtypes import DataType
from relaxscript.errors import OperandError, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.scalar_functions import if_then_else
from relaxscript.ir.tir import Buffer, Stmt
from relaxscript.te.compute import dtype_of, extern
from relaxscript.te.element import equal, load, minimum
from relaxscript.te.tensor import Tensor
from relaxscript.tir_builder import TIRBuilder, make_buffer

from .operands import IndexTensor, topi_function
from .searching import is_less
from .transform import axis_in, injective, number

__all__ = ["argsort", "sort", "topk"]


class _Row:
    """A row of a tensor, along an axis, and its places in an order that becomes sorted.

    Runs of places that are in order are merged by two, from `order` into `scratch` and back. Each
    time they are twice as long, until one is the whole row.
    """

    def __init__(
        self, tb: TIRBuilder, data: Buffer, order: Buffer, scratch: Buffer, along: int,
        indices: Sequence[PrimExpr], descends: bool,
    ) -> None:  # fmt: skip
        self.tb, self.data, self.order, self.scratch = tb, data, order, scratch
        self.along, self.indices, self.descends = along, indices, descends

    def at(self, place: Any) -> tuple[Any, ...]:
        """The indices of an element of the row."""
        return (*self.indices[: self.along], place, *self.indices[self.along :])

    def comes_before(self, a: PrimExpr, b: PrimExpr) -> PrimExpr:
        """True if the element at one place of the order belongs before that at another."""
        x, y = (load(self.data, *self.at(load(self.order, *self.at(k)))) for k in (a, b))
        return is_less(y, x) if self.descends else is_less(x, y)

    def sort(self, length: PrimExpr) -> None:
        """Bring the first places into order."""
        tb = self.tb
        width = tb.decl_buffer(make_buffer("width", (1,), prim.INT64), needs_memory=True)
        cursors = tb.decl_buffer(make_buffer("cursors", (2,), prim.INT64), needs_memory=True)
        tb.store(width, [0], number(1))
        with tb.while_(load(width, 0) < length):
            with tb.serial(length) as k:
                self.merge(k, length, load(width, 0), cursors)
            with tb.serial(length) as k:
                tb.store(self.order, self.at(k), load(self.scratch, *self.at(k)))
            tb.store(width, [0], load(width, 0) * 2)

    def merge(self, k: PrimExpr, length: PrimExpr, width: PrimExpr, cursors: Buffer) -> None:
        """Write the place that is at `k` when two runs of a width have become one."""
        tb = self.tb
        start = tb.let("start", k // (width * 2) * (width * 2))
        middle = tb.let("middle", minimum(start + width, length))
        end = tb.let("end", minimum(start + width * 2, length))
        with tb.if_(equal(k, start)), tb.then():
            tb.store(cursors, [0], start)
            tb.store(cursors, [1], middle)
        left, right = (tb.let(name, load(cursors, n)) for n, name in enumerate(("left", "right")))
        # Of equal elements the left one comes first. Where one run is used up, nothing is compared.
        compared = if_then_else(left < middle, self.comes_before(right, left), prim.const(True))
        with tb.if_(if_then_else(right < end, compared, prim.const(False))):
            for way, cursor, place in ((tb.then, 1, right), (tb.else_, 0, left)):
                with way():
                    tb.store(self.scratch, self.at(k), load(self.order, *self.at(place)))
                    tb.store(cursors, [cursor], place + 1)


def order_along(
    data: Tensor, along: int, descends: bool, valid_count: Tensor | None = None
) -> Tensor:
    """The places along an axis, as int64, that sort the elements."""

    def statements(ins: Sequence[Buffer], outs: Sequence[Buffer]) -> Stmt:
        tb = TIRBuilder(rooted=False)

        def sort(i: tuple[PrimExpr, ...]) -> None:
            row = _Row(tb, ins[0], outs[0], outs[1], along, i, descends)
            with tb.serial(data.shape[along]) as k:
                tb.store(outs[0], row.at(k), prim.cast(k, prim.INT64))
            length = data.shape[along] if valid_count is None else load(ins[1], *i)
            row.sort(prim.cast(length, prim.INT64))

        others = [size for axis, size in enumerate(data.shape) if axis != along]
        if others:
            with tb.grid(*others) as i:
                sort(tuple(i))
        else:
            sort(())
        return tb.body()

    given = [data] if valid_count is None else [data, valid_count]
    dtypes = ["int64", "int64"]
    order: Tensor = extern(
        [data.shape, data.shape], given, statements, name="argsort", dtype=dtypes
    )[0]
    return order


def at_order(data: Tensor, order: Tensor, along: int, dims: Any, name: str) -> Tensor:
    """The elements of a tensor by their order along an axis, as many as `dims` says."""

    def element(*i: Any) -> Any:
        return data[(*i[:along], order[i], *i[along + 1 :])]

    return injective(dims, element, name)


def as_indices(order: Tensor, dtype: DataType, dims: Any, name: str) -> Tensor:
    """The first places of an order as indices of a dtype."""
    return injective(dims, lambda *i: prim.cast(order[i], dtype), name)


@topi_function
def sort(data: Tensor, axis: int = -1, is_ascend: bool | int = 1) -> Tensor:
    """The elements along an axis in ascending order, or in descending order."""
    along = axis_in("topi.sort", axis, data.ndim)
    return at_order(data, order_along(data, along, not is_ascend), along, data.shape, "T_sort")


@topi_function
def argsort(
    data: Tensor, valid_count: IndexTensor | None = None, axis: int = -1, is_ascend: bool | int = 1,
    dtype: str = "float32",
) -> Tensor:  # fmt: skip
    """The indices along an axis that sort the elements, as numbers of `dtype`.

    `valid_count` has for each row how many of its first elements are sorted; others stay where
    they are.
    """
    along = axis_in("topi.argsort", axis, data.ndim)
    if valid_count is not None and valid_count.ndim != data.ndim - 1:
        raise OperandError(
            "valid_count", f"has {quantity(valid_count.ndim, 'axis')}", code="RX0203",
            also={"data": f"has {data.ndim}"},
            message="`topi.argsort` takes a number for each row: all axes but the one to sort",
        )  # fmt: skip
    order = order_along(data, along, not is_ascend, valid_count)
    return as_indices(order, dtype_of(dtype), data.shape, "T_argsort")


@topi_function
def topk(
    data: Tensor, k: Any = 1, axis: int = -1, ret_type: str = "both", is_ascend: bool | int = False,
    dtype: str = "int64",
) -> Any:  # fmt: skip
    """The `k` largest elements along an axis in order, or the smallest; all where `k` is below 1.

    `ret_type` says what of them: "values", "indices" in `dtype`, or "both".
    """
    along = axis_in("topi.topk", axis, data.ndim)
    if ret_type not in ("both", "values", "indices"):
        raise OperandError(
            "ret_type", f"is {ret_type!r}", code="RX0204",
            message='`topi.topk` gives "both", "values" or "indices"',
        )  # fmt: skip
    count = data.shape[along]
    if not isinstance(k, int) or k >= 1:
        count = simplify(minimum(count, k))
    dims = (*data.shape[:along], count, *data.shape[along + 1 :])
    order = order_along(data, along, not is_ascend)
    made = []
    if ret_type != "indices":
        made.append(at_order(data, order, along, dims, "T_topk_values"))
    if ret_type != "values":
        made.append(as_indices(order, dtype_of(dtype), dims, "T_topk_indices"))
    return made if ret_type == "both" else made[0]
