"""Running sums and products.

Each element is computed from the one before it, so that a scan takes one pass along its axis.

Source: TVM `topi.scan`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.ir.prim import BufferLoad, PrimExpr, cast, const
from relaxscript.ir.scalar_functions import if_then_else
from relaxscript.ir.tir import Buffer, Stmt
from relaxscript.te.compute import dtype_of, extern
from relaxscript.te.tensor import Tensor
from relaxscript.tir_builder import TIRBuilder

from .operands import require_dtype, topi_function
from .reduction import accumulator, axes_of, rounded

__all__ = ["cumprod", "cumsum"]

Combine = Callable[[PrimExpr, PrimExpr], PrimExpr]


def _scan(name: str, combine: Combine, identity: int, doc: str) -> Callable[..., Any]:
    @topi_function
    def scan(
        data: Tensor, axis: int | None = None, dtype: Any = None, exclusive: bool | None = None
    ) -> Tensor:
        wanted = dtype_of(dtype) if dtype else data.dtype
        require_dtype(f"topi.{name}", "dtype" if dtype else "data", wanted, "number")
        (along,) = (None,) if axis is None else axes_of(f"topi.{name}", data, axis)
        loops = _Loops(data, along, wanted, combine, identity)
        write = loops.exclusive if exclusive else loops.inclusive
        made = extern(
            loops.shape, [data], lambda ins, outs: write(*ins, *outs), f"{name}_generic",
            accumulator(wanted), tag="cum_op",
        )  # fmt: skip
        return rounded(made, wanted)

    scan.__name__ = scan.__qualname__ = name
    scan.__doc__ = doc
    return scan


class _Loops:
    """The statements of one scan, along an axis or over all elements in row-major order."""

    def __init__(
        self, data: Tensor, axis: int | None, dtype: DataType, combine: Combine, identity: int
    ) -> None:
        self.data = data
        self.axis = axis
        self.dtype = dtype
        self.combine = combine
        self.identity = const(identity, accumulator(dtype))
        self.shape = data.shape if axis is not None else (self._count(),)

    def _count(self) -> PrimExpr:
        count = const(1, self.data.shape[0].dtype if self.data.shape else "int64")
        for size in self.data.shape:
            count = cast(size, count.dtype) * count
        return count

    def inclusive(self, source: Buffer, target: Buffer) -> Stmt:
        """Each element is combined with all before it."""
        tb = TIRBuilder()
        with self._visit(tb) as indices:
            number, at = self._place(indices)
            e = self._element(source, indices)
            before = self.combine(BufferLoad.make(target, at(number - 1)), e)
            tb.store(target, at(number), if_then_else(number > 0, before, e))
        return tb.body()

    def exclusive(self, source: Buffer, target: Buffer) -> Stmt:
        """Each element is what those before it combine to."""
        tb = TIRBuilder()
        with self._visit(tb) as indices:
            number, at = self._place(indices)
            e = self._element(source, indices)
            with tb.if_(number.equal(0)), tb.then():
                tb.store(target, at(number), self.identity)
            with tb.if_(number + 1 < self.shape[self.axis or 0]), tb.then():
                before = self.combine(BufferLoad.make(target, at(number)), e)
                tb.store(target, at(number + 1), if_then_else(number > 0, before, e))
        return tb.body()

    def _visit(self, tb: TIRBuilder) -> Any:
        names = [f"i{axis}" for axis in range(max(self.data.ndim, 1))]
        return tb.grid(*(self.data.shape or (1,)), names=names)

    def _element(self, source: Buffer, indices: Sequence[PrimExpr]) -> PrimExpr:
        e = BufferLoad.make(source, tuple(indices[: self.data.ndim]))
        return cast(cast(e, self.dtype), self.identity.dtype)

    def _place(self, indices: Sequence[PrimExpr]) -> tuple[PrimExpr, Callable[[Any], Any]]:
        """The number of an element along the scan, and the indices of any with another number."""
        axis = self.axis
        if axis is not None:
            return indices[axis], lambda k: (*indices[:axis], k, *indices[axis + 1 :])
        number = indices[0]
        for index, size in zip(indices[1:], self.data.shape[1:]):
            number = number * cast(size, number.dtype) + cast(index, number.dtype)
        return number, lambda k: (k,)


cumsum = _scan(
    "cumsum", lambda a, b: a + b, 0,
    "The sums of all elements up to each along `axis`, of all in their order where None.\n\n"
    "`exclusive` leaves the element itself out; the result is of `dtype`.",
)  # fmt: skip
cumprod = _scan(
    "cumprod", lambda a, b: a * b, 1,
    "The products of all elements up to each along `axis`, of all in their order where None.\n\n"
    "`exclusive` leaves the element itself out; the result is of `dtype`.",
)  # fmt: skip
