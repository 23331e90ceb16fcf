"""Small products: tiles in registers that read both matrices where they lie.

A tile has some rows and some vectors of columns. How many is chosen for the sizes of the product.
Where a tile would go beyond the edge, it begins earlier: some elements are computed twice, with the
same bits. So there is one piece of code for all tiles.

Each element is the sum of fused products in the order of the axis. A tile may have too few vectors
to keep the processor busy. Then its elements are sums of several such sums, each of every so many
steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product as pairs
from typing import NamedTuple

from relaxscript.ir.prim import Broadcast, BufferLoad, IntImm, Min, PrimExpr, Ramp, Var, const
from relaxscript.ir.tir import Buffer, BufferStore, IfThenElse, LetStmt, Stmt

from .loop_writing import (
    as_variable,
    ceil,
    fused,
    in_row,
    loop,
    loop_or_once,
    number,
    with_memory,
)
from .processor import Processor
from .tiled_product import Product

__all__ = ["TileShape", "direct_loops", "is_low", "is_small", "tile_of"]

# The elements of B, or its columns where the steps are not known, up to which it stays near.
NEAR, NARROW = 16 * 1024, 128
# With fewer rows copies of the second matrix cost more than they gain.
LOW = 12
# Fused products that are under way at once, and the most sums that an element is made of.
BUSY, MOST_SUMS = 8, 4
# Rows of a product that has more than are known.
MANY = 1 << 12


def is_small(product: Product) -> bool:
    """True if the second matrix stays in the nearest caches while it is read again and again."""
    _, n, k = product.sizes
    if not isinstance(n, IntImm):
        return False
    return n.value * k.value <= NEAR if isinstance(k, IntImm) else n.value <= NARROW


def is_low(product: Product) -> bool:
    """True if there are too few rows for copies."""
    m, n, _ = product.sizes
    return isinstance(n, IntImm) and isinstance(m, IntImm) and m.value < LOW


def direct_loops(product: Product, processor: Processor) -> Stmt:
    """The statement that computes a product whose columns are known, four at least."""
    m, n, _ = product.sizes
    assert isinstance(n, IntImm)
    lanes = processor.lanes(product.c.dtype.itemsize)
    while lanes > n.value:
        lanes //= 2
    if isinstance(m, IntImm):
        shape = best_shape(m.value, n.value, lanes, processor.vector_registers)
        return _DirectLoops(product, shape).all_tiles()
    shape = best_shape(MANY, n.value, lanes, processor.vector_registers)
    many = _DirectLoops(product, shape).all_tiles()
    if shape.rows == 1:
        return many
    row = best_shape(1, n.value, lanes, processor.vector_registers)
    return IfThenElse(m < shape.rows, _DirectLoops(product, row).all_tiles(), many)


class TileShape(NamedTuple):
    """The shape of a tile: so many rows of so many vectors of so many lanes."""

    rows: int
    vectors: int
    lanes: int


def best_shape(m: int, n: int, lanes: int, registers: int) -> TileShape:
    """The shape for which a processor with so many registers takes the least time."""

    def cost(shape: TileShape) -> tuple[float, int]:
        rows, vectors, _ = shape
        tiles = -(-m // rows) * -(-n // (vectors * lanes))
        # Two fused products or loads a cycle; each takes four cycles until its sum goes on.
        step = max(rows * vectors, rows + vectors, BUSY) / 2
        return tiles * step, rows * vectors

    return min(_shapes(m, -(-n // lanes), lanes, registers), key=cost)


def _shapes(m: int, vectors: int, lanes: int, registers: int) -> Iterator[TileShape]:
    """The shapes whose sums, with a row of B and an element of A, fit into the registers.

    What is used by one row only need not be in a register.
    """
    for r, v in pairs(range(1, min(max(m, 1), registers) + 1), range(1, vectors + 1)):
        if r * v + (v if r > 1 else 0) + 1 <= registers:
            yield TileShape(r, v, lanes)


Put = Callable[[PrimExpr, Ramp, PrimExpr], Stmt]


def tile_of(product: Product, shape: TileShape, i: PrimExpr, put: Put) -> Stmt:
    """The statement that computes a tile at a row; `put` is told where each vector belongs."""
    loops = _DirectLoops(product, shape, put)
    return with_memory(loops.acc, loops.tile(i, number(0)))


class _DirectLoops:
    """The loops of one product, from the outside in."""

    def __init__(self, product: Product, shape: TileShape, put: Put | None = None) -> None:
        self.product = product
        self.put = put or self._store
        self.shape = shape
        self.m, self.n, self.k = product.sizes
        assert isinstance(self.n, IntImm)
        self.columns = min(self.n.value, shape.vectors * shape.lanes)
        dtype = self.dtype = product.c.dtype
        self.vector = dtype.with_lanes(shape.lanes)
        self.sums = self._sums()
        rows = shape.rows * self.sums
        self.acc = Buffer("sums", tuple(map(number, (rows, shape.vectors, shape.lanes))), dtype)

    def _sums(self) -> int:
        """The number of sums that an element is made of."""
        sums = 1
        while (
            isinstance(self.k, IntImm)
            and sums < MOST_SUMS
            and 2 * sums * self.shape.rows * self.shape.vectors <= BUSY
            and 4 * sums <= self.k.value
        ):
            sums *= 2
        return sums

    # ------------------------------------------------------------ tiles

    def all_tiles(self) -> Stmt:
        def rows(j: PrimExpr) -> Stmt:
            return self._each_part("i", self.m, self.shape.rows, lambda i: self.tile(i, j))

        return with_memory(self.acc, self._each_part("j", self.n, self.columns, rows))

    def _each_part(
        self, name: str, size: PrimExpr, length: int, body: Callable[[PrimExpr], Stmt]
    ) -> Stmt:
        """A loop over parts of one length; the last one ends where the axis does."""

        def part(index: PrimExpr) -> Stmt:
            first = index * length
            if not isinstance(size, IntImm) and length > 1:
                first = Min(first, size - length)
            elif isinstance(size, IntImm) and size.value % length and size.value > length:
                first = Min(first, number(size.value - length))
            return as_variable(name, first, body)

        return loop_or_once(f"{name}t", ceil(size, length), part)

    def tile(self, i: PrimExpr, j: PrimExpr) -> Stmt:
        zero = Broadcast(const(0.0, self.dtype), self.shape.lanes)

        def clear(r: PrimExpr, v: int) -> Stmt:
            return BufferStore(self.acc, zero, self._at(r, v))

        def put(r: PrimExpr, v: int) -> Stmt:
            return self.put(i + r, self._of(j, v), self._total(r, v))

        rows = self.shape.rows
        steps = self._steps(i, j)
        return in_row(self._each(rows * self.sums, clear), *steps, self._each(rows, put))

    def _store(self, row: PrimExpr, columns: Ramp, total: PrimExpr) -> Stmt:
        return BufferStore(self.product.c, total, (*self.product.lead_c, row, columns))

    def _steps(self, i: PrimExpr, j: PrimExpr) -> list[Stmt]:
        """The loop over the steps, several sums at a time, and those that are left over."""
        count, left = self.k, 0
        if isinstance(count, IntImm) and self.sums > 1:
            count, left = number(count.value // self.sums), count.value % self.sums

        def some(p: Var) -> Stmt:
            first = p * self.sums
            return in_row(*(self.step(first + s, s, i, j) for s in range(self.sums)))

        parts = [loop("p", count, some)]
        if left:
            first = self.k - left
            parts += [self.step(first + s, s, i, j) for s in range(left)]
        return parts

    def step(self, p: PrimExpr, chain: int, i: PrimExpr, j: PrimExpr) -> Stmt:
        """The outer product of a column of A and a row of B, added to one of the sums."""
        a, b, _, lead_a, lead_b, _ = self.product
        row = [Var.make(f"b{v}", self.vector) for v in range(self.shape.vectors)]

        def added(r: PrimExpr) -> Stmt:
            factor = Var.make("a", self.vector)
            at = [self._at(r + chain * self.shape.rows, v) for v in range(self.shape.vectors)]
            stores = [
                BufferStore(self.acc, fused(factor, x, BufferLoad(self.acc, to)), to)
                for x, to in zip(row, at, strict=True)
            ]
            loaded = Broadcast(BufferLoad(a, (*lead_a, i + r, p)), self.shape.lanes)
            return LetStmt(factor, loaded, in_row(*stores))

        made = loop("r", self.shape.rows, added, unroll=True)
        for v in reversed(range(self.shape.vectors)):
            made = LetStmt(row[v], BufferLoad(b, (*lead_b, p, self._of(j, v))), made)
        return made

    def _total(self, r: PrimExpr, v: int) -> PrimExpr:
        """The sum of the sums of a vector, by halves."""
        rows = self.shape.rows
        parts: list[PrimExpr] = [
            BufferLoad(self.acc, self._at(r + s * rows, v)) for s in range(self.sums)
        ]
        while len(parts) > 1:
            parts = [x + y for x, y in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]

    # ------------------------------------------------------------ vectors

    def _each(self, rows: int, body: Callable[[PrimExpr, int], Stmt]) -> Stmt:
        def of_row(r: PrimExpr) -> Stmt:
            return in_row(*(body(r, v) for v in range(self.shape.vectors)))

        return loop("r", rows, of_row, unroll=True)

    def _at(self, r: PrimExpr, v: int) -> tuple[PrimExpr, PrimExpr, PrimExpr]:
        return r, number(v), Ramp(number(0), number(1), self.shape.lanes)

    def _of(self, j: PrimExpr, v: int) -> Ramp:
        """The columns of a vector; the last one ends where the tile does."""
        first = min(v * self.shape.lanes, self.columns - self.shape.lanes)
        return Ramp(j + first, number(1), self.shape.lanes)
