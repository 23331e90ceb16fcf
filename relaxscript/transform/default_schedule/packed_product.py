"""Products whose second matrix may lie in memory as the schedule wants it.

Such a matrix is a constant. Its panels are filled by statements of their own at the begin of the
function, which `SplitLayoutRewritePreproc` takes out: then they are filled once. If its columns are
stored as rows, these statements exchange them.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from relaxscript.ir.prim import INT64, BufferLoad, IntImm, Min, PrimExpr, Ramp, Var, const
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import (
    Block,
    BlockRealize,
    Buffer,
    BufferRegion,
    BufferStore,
    IfThenElse,
    PrimFunc,
    Range,
    Stmt,
)

from .direct_product import TileShape, is_low, is_small, tile_of
from .loop_nests import Loop
from .loop_writing import in_loops, in_row, loop, number, with_memory
from .processor import Processor
from .tiled_product import Product, packing_loops, tiled_loops

__all__ = [
    "LAYOUT_FREE", "PREPROCESS", "Panels", "exchanged", "loops_of_panels", "may_be_exchanged",
    "panels_of",
]  # fmt: skip

# The attribute that lists the parameters of a function that may lie in memory in any way.
LAYOUT_FREE = "layout_free_buffers"
# The annotation of blocks that only bring such a parameter into another layout.
PREPROCESS = "meta_schedule_layout_rewrite_preproc"
# Panels of more bytes are filled ahead only if they are no larger than the matrix.
MOST_BYTES = 1 << 24
# With fewer rows these are computed one by one, without copies.
FEW = 4


class Panels(NamedTuple):
    """The panels of a matrix, and the block that fills them."""

    buffer: Buffer
    filled: Stmt


def panels_of(
    func: PrimFunc, product: Product, processor: Processor, given: Buffer | None = None
) -> Panels | None:
    """The panels for the second matrix, where it may lie in any way and panels are worth it.

    It is `given` with rows and columns exchanged, or as it is.
    """
    if given is None and (product.b not in _layout_free(func) or product.b.strides):
        return None
    if product.lead_b:
        return None
    m, n, k = product.sizes
    if not (isinstance(n, IntImm) and isinstance(k, IntImm)) or is_small(product):
        return None
    if is_low(product) or (isinstance(m, IntImm) and m.value <= FEW):
        return None
    buffer, loops = packing_loops(product, processor)
    size = prod(extent.value for extent in buffer.shape if isinstance(extent, IntImm))
    if size > max(n.value * k.value, MOST_BYTES // buffer.dtype.itemsize):
        return None
    if given is not None:
        loops = with_memory(product.b, in_row(_exchanging(given, product.b), loops))
    return _filled(given or product.b, buffer, loops)


def _filled(source: Buffer, buffer: Buffer, loops: Stmt) -> Panels:
    """The buffer into which these loops bring a matrix before the product."""
    block = Block(
        (), (_whole(source),), (_whole(buffer),), buffer.name, loops,
        annotations=Attrs({PREPROCESS: True}),
    )  # fmt: skip
    return Panels(buffer, BlockRealize((), const(True), block))


def may_be_exchanged(func: PrimFunc, given: Buffer) -> bool:
    """True if a matrix whose columns are stored as rows is exchanged before the run."""
    is_known = all(isinstance(size, IntImm) for size in given.shape)
    return given in _layout_free(func) and is_known


def exchanged(given: Buffer, matrix: Buffer) -> Panels:
    """The matrix that is `given` with rows and columns exchanged, and the block that fills it."""
    return _filled(given, matrix, _exchanging(given, matrix))


def _exchanging(given: Buffer, matrix: Buffer) -> Stmt:
    places = tuple(Var.make(f"i{axis}", INT64) for axis in range(len(matrix.shape)))
    *outer, step, column = places
    store = BufferStore(matrix, BufferLoad(given, (*outer, column, step)), places)
    return in_loops([Loop(*pair) for pair in zip(places, matrix.shape, strict=True)], store)


def _layout_free(func: PrimFunc) -> set[Buffer]:
    indices = () if func.attrs is None else func.attrs.get(LAYOUT_FREE, ())
    params = [func.params[int(i)] for i in indices if 0 <= int(i) < len(func.params)]
    return {func.buffer_map[param] for param in params if param in func.buffer_map}


def _whole(buffer: Buffer) -> BufferRegion:
    return BufferRegion(buffer, tuple(Range(number(0), extent) for extent in buffer.shape))


def loops_of_panels(product: Product, processor: Processor, panels: Buffer) -> Stmt:
    """The statement that computes a product by panels that are filled."""
    many = tiled_loops(product, processor, panels)
    rows = product.sizes[0]
    if isinstance(rows, IntImm):
        return many
    return IfThenElse(rows < const(FEW, rows.dtype), _row_by_row(product, processor, panels), many)


def _row_by_row(product: Product, processor: Processor, panels: Buffer) -> Stmt:
    """The loops that go through all panels for each row."""
    m, n, _ = product.sizes
    lanes = processor.lanes(product.c.dtype.itemsize)
    columns = 2 * lanes
    part = Buffer("part", (number(columns),), product.c.dtype)

    def put(row: PrimExpr, at: Ramp, total: PrimExpr) -> Stmt:
        return BufferStore(part, total, (at,))

    def one(i: PrimExpr) -> Stmt:
        def panel(jp: PrimExpr) -> Stmt:
            source = product._replace(b=panels, lead_b=(jp,))
            tile = tile_of(source, TileShape(1, 2, lanes), i, put)
            return in_row(tile, copied(i, jp * columns))

        return loop("jp", panels.shape[0], panel)

    def copied(i: PrimExpr, j: PrimExpr) -> Stmt:
        def element(q: PrimExpr) -> Stmt:
            to = (*product.lead_c, i, j + q)
            return BufferStore(product.c, BufferLoad(part, (q,)), to)

        def vector(h: PrimExpr) -> Stmt:
            at = [Ramp(first, number(1), lanes) for first in (j + h * lanes, h * lanes)]
            return BufferStore(product.c, BufferLoad(part, (at[1],)), (*product.lead_c, i, at[0]))

        whole = loop("h", 2, vector)
        assert isinstance(n, IntImm)
        if n.value % columns == 0:
            return whole
        rest = loop("q", Min(number(columns), n - j), element)
        return IfThenElse(j + columns <= n, whole, rest)

    return with_memory(part, loop("i", m, one))
