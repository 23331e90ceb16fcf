"""Products with few rows: the second matrix is read once, from its begin to its end.

Some rows of B at a time are multiplied with elements of A and added to the result. That stays in
the nearest cache. So memory is read in a few streams, as fast as it can be. What is left over of
the steps follows one by one. Columns behind the last vector do as well.

Each element is the sum of fused products in the order of the axis.
"""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.ir.prim import (
    Broadcast,
    BufferLoad,
    FloorDiv,
    FloorMod,
    IntImm,
    PrimExpr,
    Ramp,
    Var,
    const,
)
from relaxscript.ir.tir import BufferStore, LetStmt, Stmt

from .loop_writing import fused, in_row, loop, loop_or_once, number
from .processor import Processor
from .tiled_product import Product

__all__ = ["loops_of_few_rows"]

# Rows of B that are read at once: more streams would meet in the same places of a cache.
STREAMS = 4


def loops_of_few_rows(product: Product, processor: Processor) -> Stmt:
    """The statement that computes a product of few rows."""
    m, _, _ = product.sizes
    lanes = processor.lanes(product.c.dtype.itemsize)
    if isinstance(m, IntImm):
        return _Rows(product, lanes, m.value).from_row(number(0))
    return loop("i", m, _Rows(product, lanes, 1).from_row)


class _Rows:
    """The loops of some rows of the result."""

    def __init__(self, product: Product, lanes: int, rows: int) -> None:
        self.product = product
        self.lanes = lanes
        self.rows = rows
        self.dtype = product.c.dtype
        _, self.n, self.k = product.sizes

    def from_row(self, i: PrimExpr) -> Stmt:
        """The statement for as many rows as there are, from one on."""
        many, left = _parts(self.k, STREAMS)
        done = many * STREAMS
        return _in_row(
            self._columns(lambda at: self._clear(i, at)),
            _unless_none("p", many, lambda p: self._steps(i, p * STREAMS, STREAMS)),
            _unless_none("p", left, lambda p: self._steps(i, done + p, 1)),
        )

    def _columns(self, body: Callable[[PrimExpr], Stmt]) -> Stmt | None:
        """Statements for all columns: vectors of them, and the last ones."""
        vectors, left = _parts(self.n, self.lanes)
        done = vectors * self.lanes
        every = Ramp(number(0), number(1), self.lanes)
        made = [
            _unless_none("j", vectors, lambda j: body(every.replace(base=j * self.lanes))),
            _unless_none("j", left, lambda j: body(done + j)),
        ]
        return _in_row(*made)

    def _clear(self, i: PrimExpr, at: PrimExpr) -> Stmt:
        zero: PrimExpr = const(0.0, self.dtype)
        if at.dtype.lanes > 1:
            zero = Broadcast(zero, at.dtype.lanes)
        return in_row(*(self._store(i + r, at, zero) for r in range(self.rows)))

    def _steps(self, i: PrimExpr, first: PrimExpr, count: int) -> Stmt:
        """The products of so many steps, added to all columns."""
        factors = [
            [Var.make(f"a{r}{s}", self.dtype) for s in range(count)] for r in range(self.rows)
        ]
        made = self._columns(lambda at: self._products(i, first, at, factors))
        assert made is not None
        for r, row in enumerate(factors):
            for s, factor in enumerate(row):
                loaded = (*self.product.lead_a, i + r, first + s)
                made = LetStmt(factor, BufferLoad(self.product.a, loaded), made)
        return made

    def _products(
        self, i: PrimExpr, first: PrimExpr, at: PrimExpr, factors: list[list[Var]]
    ) -> Stmt:
        lanes = at.dtype.lanes
        dtype = self.dtype.with_lanes(lanes)
        elements = [Var.make(f"b{s}", dtype) for s in range(len(factors[0]))]
        stores = []
        for r, row in enumerate(factors):
            total: PrimExpr = BufferLoad(self.product.c, (*self.product.lead_c, i + r, at))
            for factor, element in zip(row, elements, strict=True):
                a = factor if lanes == 1 else Broadcast(factor, lanes)
                total = fused(a, element, total)
            stores.append(self._store(i + r, at, total))
        made = in_row(*stores)
        for s, element in reversed([*enumerate(elements)]):
            loaded = (*self.product.lead_b, first + s, at)
            made = LetStmt(element, BufferLoad(self.product.b, loaded), made)
        return made

    def _store(self, row: PrimExpr, columns: PrimExpr, value: PrimExpr) -> Stmt:
        return BufferStore(self.product.c, value, (*self.product.lead_c, row, columns))


def _in_row(*statements: Stmt | None) -> Stmt:
    return in_row(*(s for s in statements if s is not None))


def _unless_none(name: str, count: PrimExpr, body: Callable[[PrimExpr], Stmt]) -> Stmt | None:
    """A loop, unless it is known to have no iteration."""
    if isinstance(count, IntImm) and count.value == 0:
        return None
    return loop_or_once(name, count, body)


def _parts(size: PrimExpr, by: int) -> tuple[PrimExpr, PrimExpr]:
    """The number of whole parts of a size, and what is left over."""
    if isinstance(size, IntImm):
        return number(size.value // by), number(size.value % by)
    return FloorDiv(size, number(by)), FloorMod(size, number(by))
