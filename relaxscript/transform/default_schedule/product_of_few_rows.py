"""Products with few rows: each element of B is read once, and nothing is copied.

A row of the result is computed some vectors at a time, then one, then element by element. Each is
the sum of fused products in the order of the axis.
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
from relaxscript.ir.tir import Buffer, BufferStore, LetStmt, Stmt

from .loop_writing import fused, in_row, loop, number, with_memory
from .processor import Processor
from .tiled_product import Product

__all__ = ["loops_of_few_rows"]

# Vectors that are added up at once: half of the fewest registers.
AT_ONCE = 8


def loops_of_few_rows(product: Product, processor: Processor) -> Stmt:
    """The statement that computes a product row by row."""
    m, _, _ = product.sizes
    rows = _Rows(product, processor.lanes(product.c.dtype.itemsize))
    return with_memory(rows.sums, loop("i", m, rows.row))


class _Rows:
    """The loops of one row after the other."""

    def __init__(self, product: Product, lanes: int) -> None:
        self.product = product
        self.lanes = lanes
        self.dtype = product.c.dtype
        _, self.n, self.k = product.sizes
        self.sums = Buffer("sums", (number(AT_ONCE), number(lanes)), self.dtype)

    def row(self, i: Var) -> Stmt:
        wide = AT_ONCE * self.lanes
        many, left = _parts(self.n, wide)
        some, few = _parts(left, self.lanes)
        done = many * wide
        parts = [
            (many, lambda j: self.vectors(i, j * wide, AT_ONCE)),
            (some, lambda j: self.vectors(i, done + j * self.lanes, 1)),
            (few, lambda j: self.element(i, done + some * self.lanes + j)),
        ]
        none = [not (isinstance(count, IntImm) and count.value == 0) for count, _ in parts]
        return in_row(*(loop("j", *part) for part, kept in zip(parts, none) if kept))

    def vectors(self, i: Var, first: PrimExpr, count: int) -> Stmt:
        """So many vectors of a row of the result, from a column on."""
        zero = Broadcast(const(0.0, self.dtype), self.lanes)
        every = Ramp(number(0), number(1), self.lanes)

        def columns(v: Var) -> PrimExpr:
            return Ramp(first + v * self.lanes, number(1), self.lanes)

        def step(p: Var) -> Stmt:
            a = Var.make("a", self.dtype.with_lanes(self.lanes))

            def added(v: Var) -> Stmt:
                b = BufferLoad(self.product.b, (*self.product.lead_b, p, columns(v)))
                total = fused(a, b, BufferLoad(self.sums, (v, every)))
                return BufferStore(self.sums, total, (v, every))

            return LetStmt(a, Broadcast(self._of_a(i, p), self.lanes), self._each(count, added))

        def put(v: Var) -> Stmt:
            return self._store(i, columns(v), BufferLoad(self.sums, (v, every)))

        clear = self._each(count, lambda v: BufferStore(self.sums, zero, (v, every)))
        return in_row(clear, loop("p", self.k, step), self._each(count, put))

    def element(self, i: Var, column: PrimExpr) -> Stmt:
        """One element of the result."""
        at = number(0), number(0)

        def step(p: Var) -> Stmt:
            b = BufferLoad(self.product.b, (*self.product.lead_b, p, column))
            total = fused(self._of_a(i, p), b, BufferLoad(self.sums, at))
            return BufferStore(self.sums, total, at)

        clear = BufferStore(self.sums, const(0.0, self.dtype), at)
        put = self._store(i, column, BufferLoad(self.sums, at))
        return in_row(clear, loop("p", self.k, step), put)

    def _each(self, count: int, body: Callable[[Var], Stmt]) -> Stmt:
        return loop("v", count, body, unroll=True)

    def _of_a(self, i: Var, p: Var) -> PrimExpr:
        return BufferLoad(self.product.a, (*self.product.lead_a, i, p))

    def _store(self, i: Var, columns: PrimExpr, value: PrimExpr) -> Stmt:
        return BufferStore(self.product.c, value, (*self.product.lead_c, i, columns))


def _parts(size: PrimExpr, by: int) -> tuple[PrimExpr, PrimExpr]:
    """The number of whole parts of a size, and what is left over."""
    if isinstance(size, IntImm):
        return number(size.value // by), number(size.value % by)
    return FloorDiv(size, number(by)), FloorMod(size, number(by))
