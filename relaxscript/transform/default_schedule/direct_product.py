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

from relaxscript.arith import YES, prove_equal
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

__all__ = ["LOW", "TileShape", "direct_loops", "is_low", "is_small", "tile_of"]

# The elements of B, or its columns or steps where the others are not known, up to which it, or a
# strip of it, stays near.
NEAR, NARROW = 16 * 1024, 128
# The vectors of a tile where columns are not known: with fewer columns there are no vectors.
NARROW_TILE = 2
# With fewer rows copies of the second matrix cost more than they gain.
LOW = 12
# Fused products that are under way at once, and the most sums that an element is made of.
BUSY, MOST_SUMS = 8, 4
# Rows of a product that has more than are known.
MANY = 1 << 12


def is_small(product: Product) -> bool:
    """True if the second matrix, or a strip of it, stays near while it is read again and again."""
    _, n, k = product.sizes
    if isinstance(n, IntImm):
        return n.value * k.value <= NEAR if isinstance(k, IntImm) else n.value <= NARROW
    return isinstance(k, IntImm) and k.value <= NARROW


def is_low(product: Product) -> bool:
    """True if there are too few rows for copies."""
    m, n, _ = product.sizes
    return isinstance(n, IntImm) and isinstance(m, IntImm) and m.value < LOW


def direct_loops(product: Product, processor: Processor) -> Stmt:
    """The statement that computes a product; of columns that are known there are four at least."""
    m, n, _ = product.sizes
    lanes = processor.lanes(product.c.dtype.itemsize)
    columns = n.value if isinstance(n, IntImm) else MANY
    while lanes > columns:
        lanes //= 2
    most = None if isinstance(n, IntImm) else NARROW_TILE

    def tiles(rows: int) -> _DirectLoops:
        shape = best_shape(rows, columns, lanes, processor.vector_registers, most)
        return _DirectLoops(product, shape)

    many = tiles(m.value if isinstance(m, IntImm) else MANY)
    made, least = many.all_tiles(), many.columns
    # Where there are as many rows as columns, there are enough of both.
    is_square = many.shape.rows <= least and prove_equal(m, n) is YES
    if not isinstance(m, IntImm) and many.shape.rows > 1 and not is_square:
        row = tiles(1)
        made = IfThenElse(m < many.shape.rows, row.all_tiles(), made)
        least = max(least, row.columns)
    if isinstance(n, IntImm):
        return made
    return IfThenElse(n < least, _each_element(product), made)


def _each_element(product: Product) -> Stmt:
    """The loops for what has too few columns for vectors."""
    a, b, c, *leads = product
    m, n, k = product.sizes
    acc = Buffer("sum", (number(1),), c.dtype)

    def element(i: PrimExpr, j: PrimExpr) -> Stmt:
        def step(p: PrimExpr) -> Stmt:
            factors = BufferLoad(a, (*leads[0], i, p)), BufferLoad(b, (*leads[1], p, j))
            return BufferStore(acc, fused(*factors, BufferLoad(acc, at)), at)

        at = (number(0),)
        return in_row(
            BufferStore(acc, const(0.0, c.dtype), at),
            loop("p", k, step),
            BufferStore(c, BufferLoad(acc, at), (*leads[2], i, j)),
        )

    return with_memory(acc, loop("i", m, lambda i: loop("j", n, lambda j: element(i, j))))


class TileShape(NamedTuple):
    """The shape of a tile: so many rows of so many vectors of so many lanes."""

    rows: int
    vectors: int
    lanes: int


def best_shape(m: int, n: int, lanes: int, registers: int, most: int | None = None) -> TileShape:
    """The shape for which a processor with so many registers takes the least time.

    It has at most so many vectors.
    """

    def cost(shape: TileShape) -> tuple[float, int]:
        rows, vectors, _ = shape
        tiles = -(-m // rows) * -(-n // (vectors * lanes))
        # Two fused products or loads a cycle; each takes four cycles until its sum goes on.
        step = max(rows * vectors, rows + vectors, BUSY) / 2
        return tiles * step, rows * vectors

    vectors = -(-n // lanes)
    return min(_shapes(m, min(vectors, most or vectors), lanes, registers), key=cost)


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
        self.columns = shape.vectors * shape.lanes
        if isinstance(self.n, IntImm):
            self.columns = min(self.n.value, self.columns)
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
