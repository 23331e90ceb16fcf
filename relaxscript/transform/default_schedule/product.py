"""Products of matrices by tiles, and what is computed of each element of their results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.arith import YES, prove_equal
from relaxscript.ir.prim import (
    INT64,
    Add,
    BufferLoad,
    FloatImm,
    IntImm,
    Mul,
    PrimExpr,
    Var,
    cast,
    const,
)
from relaxscript.ir.tir import (
    Block,
    BlockRealize,
    Buffer,
    BufferStore,
    DeclBuffer,
    For,
    ForKind,
    IfThenElse,
    IterVar,
    PrimFunc,
    Range,
    Stmt,
)
from relaxscript.ir.walk import walk
from relaxscript.transform.prim_func.lower_blocks import is_true
from relaxscript.transform.prim_func.memory_access import has_noalias

from .direct_product import direct_loops, is_low, is_small
from .elementwise import results_by_vectors
from .in_place import place_in_result, with_buffer_in_place
from .loop_nests import nest_of, nests_of_parts, parts_of
from .loop_writing import in_row, with_memory
from .packed_product import Panels, exchanged, loops_of_panels, may_be_exchanged, panels_of
from .processor import Processor
from .product_of_few_rows import loops_of_few_rows
from .tiled_product import Product, tiled_loops

__all__ = ["product", "transposed_rows"]

# With so few rows a matrix is best read once; with fewer columns nothing is gained by vectors.
FEWEST = 4


def product(func: PrimFunc, processor: Processor) -> PrimFunc | None:
    """The function with its product by tiles; None where it does not begin with one.

        for i, j, k in T.grid(m, n, 64):              for tiles of rows and columns:
            with T.block("matmul"):                       for k in range(64):
                ...                                →          tile = fma(A, b_panels, tile)
                C[i, j] = C[i, j] + A[i, k] * B[k, j]     C[...] = tile
        for i, j in T.grid(m, n):                     for i, j in T.grid(m, n // 8):
            D[i, j] = T.tanh(C[i, j])                     D[i, T.Ramp(j * 8, 1, 8)] = T.tanh(...)

    The matrices are of float32 or float64. Behind it there are nests of each element. Panels of a
    matrix that the attribute `layout_free_buffers` lists are filled first, by a block of its own.
    Of such a matrix columns may be stored as rows: `B[j, k]`. That block exchanges them.
    The product lies in the result, where one follows that is computed of each element alone.
    """
    parts = parts_of(func)
    if parts is None or not has_noalias(func):
        return None
    # A sum over what may be no steps at all begins with a nest of its own.
    cleared = _cleared(parts.parts[0])
    first, *others = parts.parts if cleared is None else parts.parts[1:] or parts.parts
    found = _matched(first, cleared)
    if found is None or not _is_worth_it(found):
        return None
    if found.exchanged is not None and not may_be_exchanged(func, found.exchanged):
        return None
    a, b, c = found.product[:3]
    if not {a, b}.isdisjoint(parts.own):
        return None
    behind = nests_of_parts((x for x in parts.own if x is not c), others)
    if behind is None or any(nest.store.buffer is c for nest in behind.nests):
        return None
    results = None
    place = place_in_result(behind, c) if c in parts.own else None
    if place is not None:
        results = results_by_vectors(func, with_buffer_in_place(behind, c, place), processor)
    if place is None or results is None:
        place, results = c, results_by_vectors(func, behind, processor)
    if results is None:
        return None
    return func.replace(body=_whole(func, found.stored_in(place), results, parts.own, processor))


def transposed_rows(func: PrimFunc) -> PrimExpr | None:
    """The rows of a product by a matrix whose columns are stored as rows; None for others."""
    parts = parts_of(func)
    if parts is None or not has_noalias(func):
        return None
    cleared = _cleared(parts.parts[0])
    found = _matched(
        (parts.parts if cleared is None else parts.parts[1:] or parts.parts)[0], cleared
    )
    if found is None or found.exchanged is None:
        return None
    return found.product.sizes[0] if found.rows is None else found.rows


def _whole(
    func: PrimFunc,
    found: _Contraction,
    results: list[Stmt],
    own: tuple[Buffer, ...],
    processor: Processor,
) -> Stmt:
    """The product, what follows it, and the memory that they need."""
    panels = panels_of(func, found.product, processor, found.exchanged)
    body = in_row(found.loops(processor, panels), *results)
    if found.product.c in own:
        body = with_memory(found.product.c, body)
    if panels is None and found.exchanged is not None:
        panels = exchanged(found.exchanged, found.product.b)
    if panels is not None:
        body = with_memory(panels.buffer, in_row(panels.filled, body))
    return body


def _is_worth_it(found: _Contraction) -> bool:
    rows, columns, _ = found.product.sizes
    if isinstance(rows, IntImm) and not rows.value:
        return False
    return not (isinstance(columns, IntImm) and columns.value < FEWEST)


class _Contraction(NamedTuple):
    """A product for each point of some axes; with `rows`, all of them are one with so many rows.

    Where columns of the second matrix are stored as rows, `exchanged` is as which it is given.
    """

    product: Product
    axes: tuple[tuple[Var, PrimExpr], ...]
    rows: PrimExpr | None
    exchanged: Buffer | None = None

    def stored_in(self, c: Buffer) -> _Contraction:
        return self._replace(product=self.product._replace(c=c))

    def loops(self, processor: Processor, panels: Panels | None) -> Stmt:
        if self.rows is None:
            made = _loops(self.product, processor, panels)
            for var, extent in reversed(self.axes):
                made = For(var, const(0, var.dtype), extent, ForKind.SERIAL, made)
            return made
        a, b, c = self.product[:3]
        views = [x.replace(shape=(self.rows, x.shape[-1]), axis_separators=()) for x in (a, c)]
        made = _loops(Product(views[0], b, views[1]), processor, panels)
        for view in views:
            made = DeclBuffer(view, made)
        return made


def _cleared(stmt: Stmt) -> Buffer | None:
    """The buffer of which a nest makes all elements zero."""
    nest = nest_of(stmt)
    if nest is None or not nest.is_of_each_element:
        return None
    extents = {loop.var: loop.extent for loop in nest.loops}
    store = nest.store
    is_zero = isinstance(store.value, FloatImm) and store.value.value == 0
    whole = is_zero and _goes_through(BufferLoad(store.buffer, store.indices), extents)
    return store.buffer if whole else None


def _loops(found: Product, processor: Processor, panels: Panels | None) -> Stmt:
    """The loops for as many rows as there are: few, by tiles of copies, or without copies."""
    if panels is not None:
        return loops_of_panels(found, processor, panels.buffer)
    rows, _, _ = found.sizes
    if is_small(found):
        return direct_loops(found, processor)
    if isinstance(rows, IntImm):
        if rows.value <= FEWEST:
            return loops_of_few_rows(found, processor)
        return (direct_loops if is_low(found) else tiled_loops)(found, processor)
    few, many = (write(found, processor) for write in (loops_of_few_rows, tiled_loops))
    return IfThenElse(rows < const(FEWEST, rows.dtype), few, many)


def _matched(stmt: Stmt, cleared: Buffer | None) -> _Contraction | None:
    """The product that a nest is, each axis of which goes through a whole axis of each buffer.

    Its block begins with zero, or what it adds to is cleared before.
    """
    block = _block_of(stmt) or _block_of_loops(stmt)
    if block is None or len(block.iter_vars) < 3:
        return None
    *spatial, last = block.iter_vars
    if last.iter_type != "reduce" or any(axis.iter_type != "spatial" for axis in spatial):
        return None
    indices = tuple(axis.var for axis in spatial)
    found = _factors(block, indices, cleared)
    if found is None:
        return None
    c, a, b = found
    *lead, i, j = indices
    if a.indices[-2:] != (i, last.var) or {*b.indices[-2:]} != {last.var, j}:
        return None
    inner = {i, j, last.var}
    leads = a.indices[:-2], b.indices[:-2]
    extents = {axis.var: axis.dom.extent for axis in block.iter_vars if axis.dom is not None}
    if any(node in inner for index in (*leads[0], *leads[1]) for node in walk(index)):
        return None
    if not all(_goes_through(load, extents) for load in (BufferLoad(c, indices), a, b)):
        return None
    axes = tuple((axis, extents[axis]) for axis in lead)
    whole = Product(a.buffer, b.buffer, c, *leads, tuple(lead))
    given = None
    if b.indices[-1] is last.var:
        given = b.buffer
        *outer, columns, steps = given.shape
        whole = whole._replace(b=Buffer("b_rows", (*outer, steps, columns), given.dtype))
    if leads[1] or not axes:
        return _Contraction(whole, axes, None, given)
    if a.indices[:-2] != tuple(lead):
        return None
    return _Contraction(whole, axes, _rows(a.buffer), given)


def _rows(a: Buffer) -> PrimExpr:
    rows: PrimExpr = IntImm(INT64, 1)
    for extent in (cast(extent, INT64) for extent in a.shape[:-1]):
        if isinstance(rows, IntImm) and isinstance(extent, IntImm):
            rows = IntImm(INT64, rows.value * extent.value)
        else:
            rows = extent if isinstance(rows, IntImm) and rows.value == 1 else Mul(rows, extent)
    return rows


def _goes_through(load: BufferLoad, extents: dict[Var, PrimExpr]) -> bool:
    """True if each index of an element is an axis as long as that of the buffer, or a number."""
    if load.buffer.strides or load.buffer.elem_offset is not None:
        return False
    for index, extent in zip(load.indices, load.buffer.shape, strict=True):
        match index:
            case Var():
                if index not in extents or prove_equal(extents[index], extent) is not YES:
                    return False
            case IntImm(value=value):
                if not (isinstance(extent, IntImm) and 0 <= value < extent.value):
                    return False
            case _:
                return False
    return True


def _block_of(stmt: Stmt) -> Block | None:
    """The block in loops, each of which is the value of one of its axes, in their order."""
    loops: list[For] = []
    while isinstance(stmt, For):
        if stmt.kind != ForKind.SERIAL or stmt.annotations:
            return None
        loops.append(stmt)
        stmt = stmt.body
    if not isinstance(stmt, BlockRealize) or not is_true(stmt.predicate):
        return None
    block = stmt.block
    if block.alloc_buffers or block.match_buffers or len(loops) != len(block.iter_vars):
        return None
    rows = zip(loops, stmt.iter_values, block.iter_vars, strict=True)
    fits = all(value is loop.loop_var and _is_domain(loop, axis) for loop, value, axis in rows)
    return block if fits else None


def _block_of_loops(stmt: Stmt) -> Block | None:
    """The block that a store in loops is: those by which it is indexed are not reduced."""
    nest = nest_of(stmt)
    if nest is None:
        return None
    used = {node for index in nest.store.indices for node in walk(index)}
    axes = [
        IterVar(
            Range(const(0, loop.var.dtype), loop.extent), loop.var,
            "spatial" if loop.var in used else "reduce",
        )
        for loop in nest.loops
    ]  # fmt: skip
    if any(axis.var.dtype is not INT64 for axis in axes):
        return None
    return Block(tuple(axes), (), (), nest.store.buffer.name, nest.store)


def _is_domain(loop: For, axis: IterVar) -> bool:
    """True if a loop goes through the domain of an axis from 0 on."""
    dom = axis.dom
    if dom is None or axis.var.dtype is not INT64:
        return False
    starts = all(isinstance(e, IntImm) and e.value == 0 for e in (loop.min, dom.min))
    return starts and prove_equal(loop.extent, dom.extent) is YES


def _factors(
    block: Block, indices: Sequence[Var], cleared: Buffer | None
) -> tuple[Buffer, BufferLoad, BufferLoad] | None:
    """The result and the factors of a block that adds up products from zero."""
    match block.body:
        case (
            BufferStore(
                value=Add(BufferLoad() as old, Mul(BufferLoad() as a, BufferLoad() as b)),
                predicate=None,
            ) as body
        ):
            if not _begins_with_zero(block.init, body.buffer, indices, cleared):
                return None
            stores = (body, old)
            same = all(x.buffer is body.buffer and _are(x.indices, indices) for x in stores)
            dtype = body.buffer.dtype
            plain = dtype in ("float32", "float64") and a.dtype == b.dtype == dtype
            if same and plain and body.buffer not in (a.buffer, b.buffer):
                return body.buffer, a, b
    return None


def _begins_with_zero(
    init: Stmt | None, buffer: Buffer, indices: Sequence[Var], cleared: Buffer | None
) -> bool:
    match init:
        case None:
            return buffer is cleared
        case BufferStore(value=FloatImm(value=0.0), predicate=None):
            return cleared is None and init.buffer is buffer and _are(init.indices, indices)
    return False


def _are(indices: Sequence[PrimExpr], variables: Sequence[Var]) -> bool:
    pairs = zip(indices, variables)
    return len(indices) == len(variables) and all(a is b for a, b in pairs)
