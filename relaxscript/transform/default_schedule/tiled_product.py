"""Products of matrices: tiles that stay in registers, over panels that lie as they are read.

A tile of the result has some rows and two vectors of columns. It is kept in registers.
Each step adds the outer product of a column of A and a row of B. Both are copied before: A into
panels of as many rows as a tile has, B into panels of as many columns. Behind their edges are
zeros. A block of A stays in the second cache, a panel of B in the first. Tiles at the edges of the
result are computed whole, and copied as far as they reach.

Each element is the sum of fused products in the order of the axis, in blocks of `DEPTH` steps. The
bound of its error is that of the plain sum: the sum of the products' sizes, times the number of
steps, times one unit in the last place. The same program gives the same bits each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from relaxscript.dtypes import DataType
from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.prim import (
    EQ,
    And,
    Broadcast,
    BufferLoad,
    Call,
    IntImm,
    Max,
    Min,
    PrimExpr,
    Ramp,
    Var,
    const,
)
from relaxscript.ir.tir import (
    Buffer,
    BufferStore,
    IfThenElse,
    LetStmt,
    Stmt,
)

from .loop_writing import ceil, fused, in_row, loop, number, with_memory
from .processor import Processor

__all__ = ["Product", "tiled_loops"]

# Steps of the inner axis, rows of A and columns of B that are copied at a time.
DEPTH, ROWS, COLUMNS = 384, 96, 1536


class Product(NamedTuple):
    """`c[..., i, j] = sum over k of a[..., i, k] * b[..., k, j]`, for given leading indices."""

    a: Buffer
    b: Buffer
    c: Buffer
    lead_a: tuple[PrimExpr, ...] = ()
    lead_b: tuple[PrimExpr, ...] = ()
    lead_c: tuple[PrimExpr, ...] = ()

    @property
    def sizes(self) -> tuple[PrimExpr, PrimExpr, PrimExpr]:
        """The numbers of rows, of columns, and of steps."""
        *_, m, k = self.a.shape
        return m, self.b.shape[-1], k


class _Tile(NamedTuple):
    """The sizes of a tile: so many rows, by two vectors of so many columns."""

    rows: int
    lanes: int

    @property
    def columns(self) -> int:
        return 2 * self.lanes


def tile_for(processor: Processor, dtype: DataType) -> _Tile:
    """The largest tile that leaves registers for a row of B and an element of A."""
    lanes = processor.lanes(dtype.itemsize)
    return _Tile((processor.vector_registers - 3) // 2, lanes)


def tiled_loops(product: Product, processor: Processor) -> Stmt:
    """The statement that computes a product by tiles."""
    return _TiledLoops(product, tile_for(processor, product.c.dtype)).all_blocks()


class _TiledLoops:
    """The loops of one product, from the outside in."""

    def __init__(self, product: Product, tile: _Tile) -> None:
        self.product = product
        self.tile = tile
        self.m, self.n, self.k = product.sizes
        dtype = self.dtype = product.c.dtype
        self.vector = dtype.with_lanes(tile.lanes)
        self.depth = self._at_most(self.k, DEPTH, 1)
        self.row_panels = self._at_most(self.m, ROWS, tile.rows)
        self.column_panels = self._at_most(self.n, COLUMNS, tile.columns)
        self.packed_a = self._memory("a_panels", self.row_panels, self.depth, tile.rows)
        self.packed_b = self._memory("b_panels", self.column_panels, self.depth, tile.columns)
        self.acc = self._memory("tile", tile.rows, tile.columns)
        self.spilled = self._memory("spilled", tile.rows, tile.columns)

    def _memory(self, name: str, *sizes: int) -> Buffer:
        return Buffer(name, tuple(map(number, sizes)), self.dtype)

    def _at_most(self, size: PrimExpr, limit: int, unit: int) -> int:
        """The number of units that are copied at a time."""
        limit = size.value if isinstance(size, IntImm) and size.value < limit else limit
        return max(-(-limit // unit), 1)

    # ------------------------------------------------------------ blocks

    def all_blocks(self) -> Stmt:
        columns = self.column_panels * self.tile.columns
        loops = loop("jc", ceil(self.n, columns), self.column_block)
        for buffer in (self.packed_a, self.packed_b, self.spilled):
            loops = with_memory(buffer, loops)
        return loops

    def column_block(self, jc: Var) -> Stmt:
        count = ceil(self.k, self.depth)
        if not isinstance(count, IntImm):
            # Where there are no steps, the sum is the zero that a tile begins with.
            count = Max(count, number(1))
        return loop("pc", count, lambda pc: self.depth_block(jc, pc))

    def depth_block(self, jc: Var, pc: Var) -> Stmt:
        rows = self.row_panels * self.tile.rows
        blocks = loop("ic", ceil(self.m, rows), lambda ic: self.row_block(jc, pc, ic))
        return in_row(self.pack_b(jc, pc), blocks)

    def row_block(self, jc: Var, pc: Var, ic: Var) -> Stmt:
        def tiles(j: PrimExpr, jp: Var) -> Stmt:
            return self.rows_of(ic, "ip", lambda i, ip: self.one_tile(pc, i, ip, j, jp))

        return in_row(self.pack_a(pc, ic), self.columns_of(jc, "jp", tiles))

    def rows_of(self, ic: Var, name: str, body: Callable[[PrimExpr, Var], Stmt]) -> Stmt:
        """A loop over the panels of a block of rows; `body` is told where one begins."""

        def inside(ip: Var) -> Stmt:
            first = (ic * self.row_panels + ip) * self.tile.rows
            return IfThenElse(first < self.m, body(first, ip))

        return loop(name, self.row_panels, inside)

    def columns_of(self, jc: Var, name: str, body: Callable[[PrimExpr, Var], Stmt]) -> Stmt:
        def inside(jp: Var) -> Stmt:
            first = (jc * self.column_panels + jp) * self.tile.columns
            return IfThenElse(first < self.n, body(first, jp))

        return loop(name, self.column_panels, inside)

    def steps_of(self, pc: Var, body: Callable[[Var], Stmt]) -> Stmt:
        """A loop over the steps of a block of the inner axis."""
        if isinstance(self.k, IntImm) and self.k.value <= self.depth:
            return loop("p", self.k, body)
        left = self.k - pc * self.depth
        return loop("p", Min(number(self.depth), left), body)

    # ------------------------------------------------------------ panels

    def pack_a(self, pc: Var, ic: Var) -> Stmt:
        def panel(i: PrimExpr, ip: Var) -> Stmt:
            def one(r: Var) -> Stmt:
                def copied(p: Var) -> Stmt:
                    loaded = self.of_a(i + r, pc * self.depth + p)
                    return BufferStore(self.packed_a, loaded, (ip, p, r))

                def cleared(p: Var) -> Stmt:
                    return BufferStore(self.packed_a, const(0.0, self.dtype), (ip, p, r))

                steps = self.steps_of(pc, copied), self.steps_of(pc, cleared)
                return IfThenElse(i + r < self.m, *steps)

            return loop("r", self.tile.rows, one)

        return self.rows_of(ic, "ip", panel)

    def pack_b(self, jc: Var, pc: Var) -> Stmt:
        def panel(j: PrimExpr, jp: Var) -> Stmt:
            def whole(p: Var) -> Stmt:
                halves = []
                for half in range(2):
                    at = self._lanes_from(j + half * self.tile.lanes)
                    value = self.of_b(pc * self.depth + p, at)
                    to = (jp, p, self._lanes_from(number(half * self.tile.lanes)))
                    halves.append(BufferStore(self.packed_b, value, to))
                return in_row(*halves)

            def part(p: Var) -> Stmt:
                def one(q: Var) -> Stmt:
                    loaded = self.of_b(pc * self.depth + p, j + q)
                    value = self._or_zero(j + q < self.n, loaded)
                    return BufferStore(self.packed_b, value, (jp, p, q))

                return loop("q", self.tile.columns, one)

            return IfThenElse(
                j + self.tile.columns <= self.n, self.steps_of(pc, whole), self.steps_of(pc, part)
            )

        return self.columns_of(jc, "jp", panel)

    def of_a(self, row: PrimExpr, step: PrimExpr) -> BufferLoad:
        return BufferLoad(self.product.a, (*self.product.lead_a, row, step))

    def of_b(self, step: PrimExpr, column: PrimExpr) -> BufferLoad:
        return BufferLoad(self.product.b, (*self.product.lead_b, step, column))

    def _or_zero(self, condition: PrimExpr, loaded: PrimExpr) -> PrimExpr:
        zero = const(0.0, loaded.dtype)
        return Call(loaded.dtype, op_named("tir.if_then_else"), (condition, loaded, zero))

    def _lanes_from(self, first: PrimExpr) -> Ramp:
        return Ramp(first, number(1), self.tile.lanes)

    # ------------------------------------------------------------ tiles

    def one_tile(self, pc: Var, i: PrimExpr, ip: Var, j: PrimExpr, jp: Var) -> Stmt:
        zero = Broadcast(const(0.0, self.dtype), self.tile.lanes)

        def clear(r: Var, at: Ramp, half: int) -> Stmt:
            return BufferStore(self.acc, zero, (r, at))

        def spill(r: Var, at: Ramp, half: int) -> Stmt:
            # Registers have no indices, so that results go by way of memory.
            return BufferStore(self.spilled, BufferLoad(self.acc, (r, at)), (r, at))

        is_whole = And(i + self.tile.rows <= self.m, j + self.tile.columns <= self.n)
        body = in_row(
            self.each_vector(clear),
            self.steps_of(pc, lambda p: self.step(p, ip, jp)),
            self.each_vector(spill),
            IfThenElse(is_whole, self.put(pc, i, j, True), self.put(pc, i, j, False)),
        )
        return with_memory(self.acc, body)

    def each_vector(self, body: Callable[[Var, Ramp, int], Stmt]) -> Stmt:
        """A statement for each vector of a tile."""

        def of_row(r: Var) -> Stmt:
            return in_row(
                *(body(r, self._lanes_from(number(h * self.tile.lanes)), h) for h in range(2))
            )

        return loop("r", self.tile.rows, of_row, unroll=True)

    def step(self, p: Var, ip: Var, jp: Var) -> Stmt:
        """The outer product of a column of A and a row of B, added to the tile."""
        halves = [Var.make(f"b{h}", self.vector) for h in range(2)]

        def added(r: Var, at: Ramp, half: int) -> Stmt:
            a = Broadcast(BufferLoad(self.packed_a, (ip, p, r)), self.tile.lanes)
            old = BufferLoad(self.acc, (r, at))
            return BufferStore(self.acc, fused(a, halves[half], old), (r, at))

        made = self.each_vector(added)
        for half in (1, 0):
            at = self._lanes_from(number(half * self.tile.lanes))
            made = LetStmt(halves[half], BufferLoad(self.packed_b, (jp, p, at)), made)
        return made

    def put(self, pc: Var, i: PrimExpr, j: PrimExpr, whole: bool) -> Stmt:
        """The tile as the result, or added to it; of one that is not whole what is inside."""

        c = self.product.c

        def element(add: bool, row: PrimExpr, column: PrimExpr, *at: PrimExpr) -> Stmt:
            value: PrimExpr = BufferLoad(self.spilled, at)
            to = (*self.product.lead_c, row, column)
            return BufferStore(c, BufferLoad(c, to) + value if add else value, to)

        def rows(add: bool) -> Stmt:
            def vectors(r: Var) -> Stmt:
                halves = [
                    element(add, i + r, self._lanes_from(j + h), r, self._lanes_from(number(h)))
                    for h in (0, self.tile.lanes)
                ]
                return in_row(*halves)

            def elements(r: Var) -> Stmt:
                columns = Min(number(self.tile.columns), self.n - j)
                return loop("q", columns, lambda q: element(add, i + r, j + q, r, q))

            if whole:
                return loop("r", self.tile.rows, vectors)
            return loop("r", Min(number(self.tile.rows), self.m - i), elements)

        if isinstance(self.k, IntImm) and self.k.value <= self.depth:
            return rows(False)
        return IfThenElse(EQ(pc, number(0)), rows(False), rows(True))
