"""Products of matrices: tiles that stay in registers, over panels that lie as they are read.

A tile of the result has some rows and two vectors of columns. It is kept in registers.
Each step adds the outer product of a column of A and a row of B. A is read where it lies, one
element of each row at a time. B is copied before, into panels of as many columns as a tile has.
Behind its edge are zeros. A block of A stays in the second cache, a panel of B in the first. Tiles
at the edges of the result are computed whole, and copied as far as they reach.

Where a row of A has a known number of elements, a tile is a block of its own. Its axes are the
begins of its rows and the number of its steps. What differs between products is outside of it, so
that all products of a module share its code.

Each element is the sum of fused products in the order of the axis, in blocks of `DEPTH` steps. The
bound of its error is that of the plain sum: the sum of the products' sizes, times the number of
steps, times one unit in the last place. The same program gives the same bits each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from relaxscript.dtypes import DataType
from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.prim import (
    INT64,
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
    cast,
    const,
)
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import (
    Block,
    BlockRealize,
    Buffer,
    BufferRegion,
    BufferStore,
    DeclBuffer,
    IfThenElse,
    IterVar,
    LetStmt,
    Range,
    Stmt,
)
from relaxscript.semantics.shared_blocks import SHARED

from .loop_writing import as_variable, ceil, fused, in_row, loop, loop_or_once, number, with_memory
from .processor import Processor

__all__ = ["Product", "packing_loops", "tiled_loops"]

# Steps of the inner axis, rows of A and columns of B that are a block.
DEPTH, ROWS, COLUMNS = 1024, 96, 2048
# Rows of a tile.
MOST_ROWS = 8


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
        return cast(m, INT64), cast(self.b.shape[-1], INT64), cast(k, INT64)


class _Tile(NamedTuple):
    """The sizes of a tile: so many rows, by two vectors of so many columns."""

    rows: int
    lanes: int

    @property
    def columns(self) -> int:
        return 2 * self.lanes


def tile_for(processor: Processor, dtype: DataType) -> _Tile:
    """The largest tile that leaves registers for a row of B and an element of A.

    With more than so many rows the processor is no busier, and there is more code.
    """
    lanes = processor.lanes(dtype.itemsize)
    return _Tile(min((processor.vector_registers - 3) // 2, MOST_ROWS), lanes)


def tiled_loops(product: Product, processor: Processor, panels: Buffer | None = None) -> Stmt:
    """The statement that computes a product by tiles; `panels` are those of B where it has them."""
    return _TiledLoops(product, tile_for(processor, product.c.dtype), panels).all_blocks()


def packing_loops(product: Product, processor: Processor) -> tuple[Buffer, Stmt]:
    """A buffer for panels of all columns of B over all steps, and the loops that fill it.

    Both sizes of B are numbers.
    """
    _, n, k = product.sizes
    assert isinstance(n, IntImm)
    columns = tile_for(processor, product.c.dtype).columns
    whole, left = divmod(n.value, columns)
    panels = Buffer("b_panels", (ceil(n, columns), k, number(columns)), product.c.dtype)

    def nest(count: PrimExpr | int, body: Callable[[PrimExpr, PrimExpr], Stmt]) -> Stmt:
        return loop("p", k, lambda p: loop_or_once("j", count, lambda j: body(p, j)))

    def copied(jp: PrimExpr, p: PrimExpr, to: PrimExpr, at: PrimExpr) -> Stmt:
        value = BufferLoad(product.b, (*product.lead_b, p, at))
        return BufferStore(panels, value, (jp, p, to))

    def panel(jp: PrimExpr) -> Stmt:
        every = Ramp(number(0), number(1), columns)
        return loop("p", k, lambda p: copied(jp, p, every, every.replace(base=jp * columns)))

    def cleared(p: PrimExpr, j: PrimExpr) -> Stmt:
        return BufferStore(panels, const(0.0, panels.dtype), (number(whole), p, j + left))

    parts = [loop_or_once("jp", whole, panel)] if whole else []
    if left:
        last = nest(left, lambda p, j: copied(number(whole), p, j, j + whole * columns))
        parts += [last, nest(columns - left, cleared)]
    return panels, in_row(*parts)


class _Blocks(NamedTuple):
    """An axis as blocks of units: how many blocks there are, and how many units each has.

    `whole` is true if all units are of the full length, `exact` if all of the blocks are.
    """

    size: PrimExpr
    unit: int
    blocks: PrimExpr
    units: int
    whole: bool
    exact: bool

    def first(self, block: PrimExpr, index: PrimExpr) -> PrimExpr:
        """The begin of a unit."""
        return (block * self.units + index) * self.unit


def _blocks(size: PrimExpr, limit: int, unit: int) -> _Blocks:
    """The blocks of an axis, each at most so long, as even as they can be."""
    most = -(-limit // unit)
    if not isinstance(size, IntImm):
        return _Blocks(size, unit, ceil(size, most * unit), most, False, False)
    count = max(-(-size.value // unit), 1)
    blocks = -(-count // most)
    units = -(-count // blocks)
    exact = size.value > 0 and blocks * units == count
    return _Blocks(size, unit, number(blocks), units, size.value % unit == 0, exact)


class _TiledLoops:
    """The loops of one product, from the outside in."""

    def __init__(self, product: Product, tile: _Tile, panels: Buffer | None) -> None:
        self.product = product
        self.tile = tile
        self.m, self.n, self.k = product.sizes
        dtype = self.dtype = product.c.dtype
        self.vector = dtype.with_lanes(tile.lanes)
        self.rows = _blocks(self.m, ROWS, tile.rows)
        self.columns = _blocks(self.n, COLUMNS, tile.columns)
        self.steps = _blocks(self.k, DEPTH, 1)
        depth = self.depth = self.steps.units
        self.is_packed = panels is not None
        own = self._memory("b_panels", self.columns.units, depth, tile.columns)
        self.packed_b = panels or own
        self.acc = self._memory("tile", tile.rows, tile.columns)
        self.spilled = self._memory("spilled", tile.rows, tile.columns)
        # No tile goes beyond the edge; and each is put into the result once.
        self.is_whole = self.rows.whole and self.columns.whole
        self.is_put_once = isinstance(count := self.steps.blocks, IntImm) and count.value == 1
        a = product.a
        self.is_shared = isinstance(self.k, IntImm) and not a.strides and a.elem_offset is None
        self.flat_a = _flat(a, product.lead_a) if self.is_shared else a

    def _memory(self, name: str, *sizes: int) -> Buffer:
        return Buffer(name, tuple(map(number, sizes)), self.dtype)

    # ------------------------------------------------------------ blocks

    def all_blocks(self) -> Stmt:
        loops = loop_or_once("jc", self.columns.blocks, self.column_block)
        own = []
        if not self.is_packed:
            own.append(self.packed_b)
        if self.is_shared or not (self.is_whole and self.is_put_once):
            own.append(self.spilled)
        for buffer in own:
            loops = with_memory(buffer, loops)
        return DeclBuffer(self.flat_a, loops) if self.is_shared else loops

    def column_block(self, jc: PrimExpr) -> Stmt:
        count = self.steps.blocks
        if not isinstance(count, IntImm):
            # Where there are no steps, the sum is the zero that a tile begins with.
            count = Max(count, number(1))
        return loop_or_once("pc", count, lambda pc: self.depth_block(jc, pc))

    def depth_block(self, jc: PrimExpr, pc: PrimExpr) -> Stmt:
        blocks = loop_or_once("ic", self.rows.blocks, lambda ic: self.row_block(jc, pc, ic))
        return blocks if self.is_packed else in_row(self.pack_b(jc, pc), blocks)

    def row_block(self, jc: PrimExpr, pc: PrimExpr, ic: PrimExpr) -> Stmt:
        def tiles(j: PrimExpr, jp: PrimExpr) -> Stmt:
            # Panels of all columns are counted from the first column on, others from the block's.
            panel = jc * self.columns.units + jp if self.is_packed else jp

            flat = self.flat_panel(pc, panel)

            def one(i: PrimExpr, ip: PrimExpr) -> Stmt:
                if self.is_shared:
                    return in_row(self.shared_tile(pc, i, flat), self.put(pc, i, j))
                return self.one_tile(pc, i, j, panel)

            made = self.units_of(self.rows, ic, "i", one)
            return DeclBuffer(flat, made) if self.is_shared else made

        return self.units_of(self.columns, jc, "j", tiles)

    def units_of(
        self,
        axis: _Blocks,
        block: PrimExpr,
        name: str,
        body: Callable[[PrimExpr, PrimExpr], Stmt],
    ) -> Stmt:
        """A loop over the panels of a block; `body` is told where one begins."""

        def inside(index: PrimExpr) -> Stmt:
            def kept(first: PrimExpr) -> Stmt:
                made = body(first, index)
                return made if axis.exact else IfThenElse(first < axis.size, made)

            return as_variable(name, axis.first(block, index), kept)

        return loop_or_once(f"{name}p", axis.units, inside)

    def steps_of(self, pc: PrimExpr, body: Callable[[PrimExpr], Stmt]) -> Stmt:
        """A loop over the steps of a block of the inner axis."""
        return loop("p", self.count_of(pc), body)

    def count_of(self, pc: PrimExpr) -> PrimExpr:
        """The number of steps of a block of the inner axis."""
        if self.steps.exact:
            return number(self.depth)
        return Min(number(self.depth), self.k - pc * self.depth)

    # ------------------------------------------------------------ panels

    def pack_b(self, jc: PrimExpr, pc: PrimExpr) -> Stmt:
        def panel(j: PrimExpr, jp: PrimExpr) -> Stmt:
            return self.pack_panel(j, jp, pc * self.depth, lambda copy: self.steps_of(pc, copy))

        return self.units_of(self.columns, jc, "j", panel)

    def pack_panel(
        self,
        j: PrimExpr,
        jp: PrimExpr,
        first: PrimExpr,
        over_steps: Callable[[Callable[[PrimExpr], Stmt]], Stmt],
    ) -> Stmt:
        """One panel from a column and a step on; zeros are behind the edge."""

        def whole(p: PrimExpr) -> Stmt:
            at, to = (Ramp(x, number(1), self.tile.columns) for x in (j, number(0)))
            return BufferStore(self.packed_b, self.of_b(first + p, at), (jp, p, to))

        def part(p: PrimExpr) -> Stmt:
            def one(q: PrimExpr) -> Stmt:
                value = self._or_zero(j + q < self.n, self.of_b(first + p, j + q))
                return BufferStore(self.packed_b, value, (jp, p, q))

            return loop("q", self.tile.columns, one)

        copy = over_steps(whole)
        if self.columns.whole:
            return copy
        return IfThenElse(j + self.tile.columns <= self.n, copy, over_steps(part))

    def of_a(self, row: PrimExpr, step: PrimExpr) -> BufferLoad:
        return BufferLoad(self.product.a, (*self.product.lead_a, row, step))

    def of_b(self, step: PrimExpr, column: PrimExpr) -> BufferLoad:
        return BufferLoad(self.product.b, (*self.product.lead_b, step, column))

    def _or_zero(self, condition: PrimExpr, loaded: PrimExpr) -> PrimExpr:
        zero: PrimExpr = const(0.0, loaded.dtype.element)
        if loaded.dtype.lanes > 1:
            zero = Broadcast(zero, loaded.dtype.lanes)
        return Call(loaded.dtype, op_named("tir.if_then_else"), (condition, loaded, zero))

    def _lanes_from(self, first: PrimExpr) -> Ramp:
        return Ramp(first, number(1), self.tile.lanes)

    # ------------------------------------------------------------ tiles

    def flat_panel(self, pc: PrimExpr, panel: PrimExpr) -> Buffer:
        """The part of a panel of B that the steps of a block read, as a row of elements."""
        columns = self.tile.columns
        first = panel * self.packed_b.shape[1]
        if self.is_packed:
            first = first + pc * self.depth
        size = self.count_of(pc) * columns
        return Buffer("panel", (size,), self.dtype, self.packed_b.data, elem_offset=first * columns)

    def shared_tile(self, pc: PrimExpr, i: PrimExpr, panel: Buffer) -> Stmt:
        """The block that computes a tile into `spilled`, the same for all products."""
        zero = Broadcast(const(0.0, self.dtype), self.tile.lanes)
        count = Var.make("steps", INT64)
        begins = [Var.make(f"a{r}", INT64) for r in range(self.tile.rows)]

        def clear(r: PrimExpr, at: Ramp) -> Stmt:
            return BufferStore(self.acc, zero, (r, at))

        def spill(r: PrimExpr, at: Ramp) -> Stmt:
            return BufferStore(self.spilled, BufferLoad(self.acc, (r, at)), (r, at))

        def step(p: PrimExpr) -> Stmt:
            rows = [BufferLoad(self.flat_a, (begin + p,)) for begin in begins]
            return self.outer_product(rows, lambda at: BufferLoad(panel, (in_panel(p, at),)))

        def in_panel(p: PrimExpr, at: Ramp) -> Ramp:
            return at.replace(base=p * self.tile.columns + at.base)

        body = in_row(self.each_vector(clear), loop("p", count, step), self.each_vector(spill))
        flat_size = self.flat_a.shape[0]
        axes = [_axis(begin, flat_size) for begin in begins]
        block = Block(
            (*axes, _axis(count, number(self.depth + 1))),
            (_whole(self.flat_a), _whole(panel)), (_whole(self.spilled),), "tile", body,
            alloc_buffers=(self.acc,), annotations=Attrs({SHARED: True}),
        )  # fmt: skip

        def realized(rows: list[PrimExpr]) -> Stmt:
            begin = [row * self.k + pc * self.depth for row in rows]
            return BlockRealize((*begin, self.count_of(pc)), const(True), block)

        return self.over_rows(i, realized)

    def one_tile(self, pc: PrimExpr, i: PrimExpr, j: PrimExpr, jp: PrimExpr) -> Stmt:
        zero = Broadcast(const(0.0, self.dtype), self.tile.lanes)

        def clear(r: PrimExpr, at: Ramp) -> Stmt:
            return BufferStore(self.acc, zero, (r, at))

        def spill(r: PrimExpr, at: Ramp) -> Stmt:
            # Registers have no indices, so that parts of a tile go by way of memory.
            return BufferStore(self.spilled, BufferLoad(self.acc, (r, at)), (r, at))

        def put(r: PrimExpr, at: Ramp) -> Stmt:
            to = (*self.product.lead_c, i + r, at.replace(base=j + at.base))
            return BufferStore(self.product.c, BufferLoad(self.acc, (r, at)), to)

        products = self.over_rows(
            i, lambda rows: self.steps_of(pc, lambda p: self.step(p, pc, rows, jp))
        )
        sums = [self.each_vector(clear), products]
        if self.is_whole and self.is_put_once:
            return with_memory(self.acc, in_row(*sums, self.each_vector(put)))
        body = in_row(*sums, self.each_vector(spill), self.put(pc, i, j))
        return with_memory(self.acc, body)

    def each_vector(self, body: Callable[[PrimExpr, Ramp], Stmt]) -> Stmt:
        """A statement for each vector of a tile."""

        def of_row(r: PrimExpr) -> Stmt:
            return in_row(
                *(body(r, self._lanes_from(number(h * self.tile.lanes))) for h in range(2))
            )

        return loop("r", self.tile.rows, of_row, unroll=True)

    def over_rows(self, i: PrimExpr, body: Callable[[list[PrimExpr]], Stmt]) -> Stmt:
        """A statement that is told the rows of A for a tile: the last for all behind the edge."""
        rows = [i + r for r in range(self.tile.rows)]
        if self.rows.whole:
            return body(rows)
        names = [Var.make(f"i{r}", row.dtype) for r, row in enumerate(rows)]
        made = body([*names])
        for name, row in reversed([*zip(names, rows, strict=True)]):
            made = LetStmt(name, Min(row, self.m - 1), made)
        return made

    def step(self, p: PrimExpr, pc: PrimExpr, rows: list[PrimExpr], jp: PrimExpr) -> Stmt:
        """A step of a tile whose rows of A lie where its indices say."""
        q = pc * self.depth + p if self.is_packed else p
        column = [self.of_a(row, pc * self.depth + p) for row in rows]
        return self.outer_product(column, lambda at: BufferLoad(self.packed_b, (jp, q, at)))

    def outer_product(self, column: Sequence[PrimExpr], row: Callable[[Ramp], PrimExpr]) -> Stmt:
        """The outer product of a column of A and a row of B, added to the tile."""
        halves = [Var.make(f"b{h}", self.vector) for h in range(2)]
        places = [self._lanes_from(number(h * self.tile.lanes)) for h in range(2)]

        def added(r: int, element: PrimExpr) -> Stmt:
            a = Var.make("a", self.vector)
            sums = []
            for half, at in zip(halves, places, strict=True):
                to = number(r), at
                sums.append(BufferStore(self.acc, fused(a, half, BufferLoad(self.acc, to)), to))
            return LetStmt(a, Broadcast(element, self.tile.lanes), in_row(*sums))

        made = in_row(*(added(r, element) for r, element in enumerate(column)))
        for half, at in zip(reversed(halves), reversed(places), strict=True):
            made = LetStmt(half, row(at), made)
        return made

    def put(self, pc: PrimExpr, i: PrimExpr, j: PrimExpr) -> Stmt:
        """The tile as the result, or added to it; of one that is not whole what is inside."""

        c = self.product.c

        def element(row: PrimExpr, column: PrimExpr, *at: PrimExpr) -> Stmt:
            value: PrimExpr = BufferLoad(self.spilled, at)
            to = (*self.product.lead_c, row, column)
            if not isinstance(pc, IntImm):
                value = self._or_zero(pc > 0, BufferLoad(c, to)) + value
            return BufferStore(c, value, to)

        def vectors(r: PrimExpr) -> Stmt:
            halves = [
                element(i + r, self._lanes_from(j + h), r, self._lanes_from(number(h)))
                for h in (0, self.tile.lanes)
            ]
            return in_row(*halves)

        def elements(r: PrimExpr) -> Stmt:
            columns = Min(number(self.tile.columns), self.n - j)
            return loop("q", columns, lambda q: element(i + r, j + q, r, q))

        is_whole = And(i + self.tile.rows <= self.m, j + self.tile.columns <= self.n)
        whole = loop("r", self.tile.rows, vectors)
        if self.is_whole:
            return whole
        part = loop("r", Min(number(self.tile.rows), self.m - i), elements)
        return IfThenElse(is_whole, whole, part)


def _flat(buffer: Buffer, lead: Sequence[PrimExpr]) -> Buffer:
    """The matrix at some leading indices, as a row of elements."""
    *outer, m, k = buffer.shape
    size = m * k
    offset: PrimExpr = number(0)
    for index, extent in zip(lead, outer, strict=True):
        offset = offset * extent + index
    return Buffer("a_rows", (size,), buffer.dtype, buffer.data, elem_offset=offset * size)


def _axis(var: Var, extent: PrimExpr) -> IterVar:
    return IterVar(Range(number(0), extent), var, "opaque")


def _whole(buffer: Buffer) -> BufferRegion:
    return BufferRegion(buffer, tuple(Range(number(0), extent) for extent in buffer.shape))
