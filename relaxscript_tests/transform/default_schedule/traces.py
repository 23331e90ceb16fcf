"""The schedules of rules as traces: steps of `tir.Schedule` that arrange the same loops.

Both are brought to one normal form and compared there. It is what the passes of `tir.transform`
leave: blocks are statements, buffers have one dimension, vectorized loops are vectors, indices are
simple, and then canonical. Variables are their values, and buffers are declared around everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.arith import YES, prove_equal, simplify
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import BufferLoad, Call, IntImm, PrimExpr, Ramp, StringImm, Var
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.tir import (
    Buffer,
    BufferStore,
    DeclBuffer,
    For,
    ForKind,
    LetStmt,
    PrimFunc,
    SeqStmt,
)
from relaxscript.ir.walk import walk
from relaxscript.tir import Schedule
from relaxscript.tir.stmt_functor import ir_transform, substitute
from relaxscript.tir.transform import (
    CompactBufferAllocation,
    ConvertBlocksToOpaque,
    FlattenBuffer,
    LowerOpaqueBlock,
    PlanAndUpdateBufferAllocationLocation,
    RemoveNoOp,
    Simplify,
    UnrollLoop,
    VectorizeLoop,
)
from relaxscript.transform import Sequential
from relaxscript.transform.default_schedule.processor import Processor

LOWERED = Sequential([
    PlanAndUpdateBufferAllocationLocation(), ConvertBlocksToOpaque(), CompactBufferAllocation(),
    LowerOpaqueBlock(), FlattenBuffer(), Simplify(), VectorizeLoop(), Simplify(), RemoveNoOp(),
])  # fmt: skip


def normal_form(func: PrimFunc) -> PrimFunc:
    """A function as it is compared: see above."""
    lowered = LOWERED(IRModule({"main": func}))["main"]
    body = ir_transform(lowered.body, None, _without_variable, ["tir.LetStmt"])
    declared: dict[Var, Buffer] = {}

    def step(node: Any) -> Any:
        if isinstance(node, DeclBuffer) and node.buffer.data in outside:
            return node.body
        if isinstance(node, (BufferLoad, BufferStore)) and node.buffer.data in outside:
            known = declared.setdefault(node.buffer.data, node.buffer)
            node = node.replace(buffer=known)
        return _with_canonical_indices(node)

    outside = {buffer.data: buffer for buffer in func.buffer_map.values()}
    body = ir_transform(body, None, step)
    for data, buffer in reversed(outside.items()):
        if data in declared and declared[data] is not buffer:
            body = DeclBuffer(declared[data], body)
    return func.replace(body=body)


def iterations(func: PrimFunc) -> list[PrimExpr]:
    """How often each loop of a normal form runs, but for those that are vectors or unrolled."""
    loops = [x for x in walk(normal_form(func).body) if isinstance(x, For)]
    return [loop.extent for loop in loops if loop.kind == ForKind.SERIAL]


def is_divided_by_sizes(func: PrimFunc) -> bool:
    """True if an index of fused axes is divided by a size that is not known.

    No pass proves such an index inside, as the size might be 0: it stays, and so do its loops.
    """
    shapes = [buffer.shape[1:] for buffer in func.buffer_map.values()]
    return any(not isinstance(extent, IntImm) for shape in shapes for extent in shape)


def _with_canonical_indices(node: Any) -> Any:
    if isinstance(node, (BufferLoad, BufferStore)):
        return node.replace(indices=tuple(map(_canonical, node.indices)))
    return None


def _canonical(index: PrimExpr) -> PrimExpr:
    if isinstance(index, Ramp):
        return index.replace(base=simplify(index.base))
    return index if any(isinstance(x, BufferLoad) for x in walk(index)) else simplify(index)


def _without_variable(stmt: LetStmt) -> Any:
    return substitute(stmt.body, {stmt.var: stmt.value})


# ------------------------------------------------------------------ elements


def elementwise_trace(func: PrimFunc, processor: Processor) -> Schedule:
    """What is kept for a moment inlined, axes fused, and the one loop by vectors."""
    sch = Schedule(func)
    for block in output_blocks(sch):
        by_vectors(sch, block, processor)
    return sch


def output_blocks(sch: Schedule) -> list[Any]:
    """The blocks of results, in which those of all else are inlined."""
    root = sch.get_block("root")
    results = {id(sch.get(block)) for block in sch.get_output_blocks(root)}
    blocks = sch.get_child_blocks(root)
    kept = [block for block in blocks if id(sch.get(block)) in results]
    for block in blocks:
        if block not in kept:
            sch.compute_inline(block)
    return kept


def by_vectors(
    sch: Schedule, block: Any, processor: Processor, itemsize: int | None = None
) -> None:
    """The last axes of a block as one loop, whole vectors of it, and what is left over."""
    loops = sch.get_loops(block)
    sizes = [buffer.dtype.itemsize for buffer, _ in accesses_of(sch, block)]
    lanes = processor.lanes(itemsize or max(sizes))
    last = sch.fuse(*loops[-depth_of(sch, block) :])
    extent = sch.get(last).extent
    while isinstance(extent, IntImm) and lanes > extent.value:
        lanes //= 2
    in_vectors(sch, last, lanes)


def in_vectors(sch: Schedule, loop: Any, lanes: int) -> None:
    """A loop by whole vectors, and one by one where these end."""
    if lanes == 1:
        return
    extent = sch.get(loop).extent
    if prove_equal(extent % lanes, 0) is not YES:
        loop, rest = sch.loop_partition(loop, [extent // lanes * lanes])
        sch.split(rest, [None])
    _, inner = sch.split(loop, [None, lanes])
    sch.vectorize(inner)


def accesses_of(sch: Schedule, block: Any) -> list[tuple[Buffer, Sequence[PrimExpr]]]:
    """The buffers and indices of what a block reads and writes."""
    nodes = [x for x in walk(sch.get(block).body) if isinstance(x, (BufferLoad, BufferStore))]
    return [(node.buffer, node.indices) for node in nodes]


def depth_of(sch: Schedule, block: Any) -> int:
    """The number of axes that are one: they lie behind one another in all buffers."""
    axes = [*sch.get(block).iter_vars]
    for depth in range(len(axes), 1, -1):
        last = axes[-depth:]
        if all(_is_behind(buffer, indices, last) for buffer, indices in accesses_of(sch, block)):
            return depth
    return 1


def _is_behind(buffer: Buffer, indices: Sequence[PrimExpr], axes: Sequence[Any]) -> bool:
    variables = {axis.var for axis in axes}

    def has_any(some: Sequence[PrimExpr]) -> bool:
        return any(part in variables for index in some for part in walk(index))

    if not has_any(indices):
        return True
    depth = len(axes)
    rows = [*zip(indices[-depth:], buffer.shape[-depth:], axes)]
    whole = all(i is a.var and prove_equal(e, a.dom.extent) is YES for i, e, a in rows)
    return len(rows) == depth and whole and not has_any(indices[:-depth])


def in_parts(
    sch: Schedule, block: Any, axis: int, factors: Sequence[Any], around: int = 0
) -> list[Any]:
    """The blocks of nests that go through parts of an axis, each with all other axes.

    So many loops stay around all nests.
    """
    loops = sch.get_loops(block)
    sch.reorder(loops[axis], *loops[around:axis])
    blocks = []
    for part in sch.loop_partition(loops[axis], factors):
        (made,) = sch.get_child_blocks(part)
        (first,) = sch.split(part, [None])
        sch.reorder(*sch.get_loops(made)[around + 1 : axis + 1], first)
        blocks.append(made)
    return blocks


def in_blocks(sch: Schedule, block: Any, size: int) -> None:
    """The last two loops by blocks of so many elements, and nests for those that are left over.

    All other loops are around these nests.
    """
    row = len(sch.get_loops(block)) - 2
    for of_rows, has_blocks in whole_and_rest(sch, block, row, size, row):
        for part, is_side_by_side in whole_and_rest(sch, of_rows, row + 1, size, row):
            *_, i, j = sch.get_loops(part)
            outer = []
            if has_blocks:
                a, i = sch.split(i, [None, size])
                outer.append(a)
            if is_side_by_side:
                b, j = sch.split(j, [None, size])
                outer.append(b)
            sch.reorder(*outer, i, j)
            if has_blocks and is_side_by_side:
                sch.unroll(j)


def whole_and_rest(
    sch: Schedule, block: Any, axis: int, size: int, around: int
) -> list[tuple[Any, bool]]:
    """The part of an axis that is whole blocks, and the one that is left over, if there are both.

    With each block it is told whether its part is whole blocks.
    """
    extent = sch.get(sch.get_loops(block)[axis]).extent
    whole = extent // size * size
    if prove_equal(whole, extent) is YES:
        return [(block, True)]
    if prove_equal(whole, 0) is YES:
        return [(block, False)]
    first, last = in_parts(sch, block, axis, [whole], around)
    return [(first, True), (last, False)]


# ------------------------------------------------------------------ reductions


def reduction_in_columns(func: PrimFunc, processor: Processor, axis: int) -> Schedule:
    """The first block reduced by vectors along an axis of its results, the last by vectors.

    What is between them is inlined.
    """
    sch = Schedule(func)
    block, *behind = sch.get_child_blocks(sch.get_block("root"))
    loops = sch.get_loops(block)
    kinds = [axis.iter_type for axis in sch.get(block).iter_vars]
    steps = sch.fuse(*[loop for loop, kind in zip(loops, kinds) if kind == "reduce"])
    extent = sch.get(loops[axis]).extent
    stored, *loaded = [buffer.dtype.itemsize for buffer, _ in accesses_of(sch, block)]
    lanes = fitting(processor.lanes(max(stored // 2, *loaded[1:])), extent)
    bits = max(lanes * stored, processor.vector_bytes)
    most = processor.vector_registers // 2 * processor.vector_bytes // bits
    others = [x for x, kind in zip(loops, kinds) if kind != "reduce" and x is not loops[axis]]
    in_columns(sch, block, (*others, loops[axis], steps), (fitting(most, extent, lanes), lanes))
    for other in behind[:-1]:
        sch.compute_inline(other)
    for other in behind[-1:]:
        by_vectors(sch, other, processor)
    return sch


def fitting(count: int, extent: PrimExpr, size: int = 1) -> int:
    """A number of parts of some size, made smaller until they are no longer than a loop."""
    assert isinstance(extent, IntImm)
    while count > 1 and count * size > extent.value:
        count //= 2
    return count


def in_columns(sch: Schedule, block: Any, loops: Sequence[Any], vectors: tuple[int, int]) -> None:
    """A reduction over the last of some loops, by vectors along the one before it.

    So many vectors of results, of so many lanes, are accumulated at once in memory of their own.
    """
    *others, along, steps = loops
    outer, *inner = sch.split(along, [None, *vectors])
    sch.reorder(*others, outer, steps, *inner)
    copy = sch.cache_write(block, 0, "global")
    sch.reverse_compute_at(copy, outer)
    into_result = sch.split(sch.get_loops(copy)[-1], vectors)
    first = sch.decompose_reduction(block, steps)
    for at_once, lane in (inner, into_result, sch.get_loops(first)[-2:]):
        sch.unroll(at_once)
        sch.vectorize(lane)


def reduction_of_rows(func: PrimFunc, vectors: tuple[int, int], is_fused: bool = True) -> Schedule:
    """The first block with partial results, so many vectors of so many lanes, for each row.

    Where the axes of a row do not lie behind one another, vectors are along the last one.
    """
    sch = Schedule(func)
    block = sch.get_child_blocks(sch.get_block("root"))[0]
    kinds = [axis.iter_type for axis in sch.get(block).iter_vars]
    steps = [x for x, kind in zip(sch.get_loops(block), kinds) if kind == "reduce"]
    if is_fused:
        steps = [sch.fuse(*steps)]
    _, *inner = sch.split(steps[-1], [None, *vectors])
    partial = sch.rfactor(sch.fuse(*inner), -1)
    *_, row, _ = sch.get_loops(block)
    sch.compute_at(partial, row, preserve_unit_loops=True)
    *_, lanes = loops = sch.get_loops(partial)
    into_partial = sch.split(lanes, vectors)
    first = sch.decompose_reduction(partial, loops[-1 - len(steps)])
    for at_once, lane in (into_partial, sch.get_loops(first)[-2:]):
        sch.unroll(at_once)
        sch.vectorize(lane)
    return sch


def product_of_few_rows(func: PrimFunc, steps_at_once: int, lanes: int) -> Schedule:
    """Some steps of all rows of a product for vectors of columns, one vector after the other."""
    sch = Schedule(func)
    (block,) = sch.get_child_blocks(sch.get_block("root"))
    rows, columns, steps = sch.get_loops(block)
    sch.reorder(steps, columns, rows)
    first = sch.decompose_reduction(block, steps)
    columns_by_vectors(sch, first, 0, lanes)
    for part, is_whole in whole_and_rest(sch, block, 0, steps_at_once, 0):
        steps, columns, rows = sch.get_loops(part)
        steps, each = sch.split(steps, [None, steps_at_once if is_whole else 1])
        sch.reorder(steps, columns, rows, each)
        columns_by_vectors(sch, part, 1, lanes)
    return sch


def columns_by_vectors(sch: Schedule, block: Any, axis: int, lanes: int) -> None:
    """The columns of a block by vectors and one by one, all loops in them unrolled."""
    for part, is_whole in whole_and_rest(sch, block, axis, lanes, axis):
        columns, *inner = sch.get_loops(part)[axis:]
        if is_whole:
            columns, lane = sch.split(columns, [None, lanes])
            sch.reorder(columns, *inner, lane)
            sch.vectorize(lane)
        for loop in inner:
            sch.unroll(loop)


def unrolled(func: PrimFunc) -> PrimFunc:
    """A normal form without unrolled loops, and with stores of one element in a row as one.

    Products that are fused with a sum are products and sums.
    """
    made = UnrollLoop()(IRModule({"main": normal_form(func)}))["main"]
    body = ir_transform(made.body, None, _as_one_store)
    return made.replace(body=ir_transform(body, None, _with_canonical_indices))


def _as_one_store(node: Any) -> Any:
    match node:
        case Call(args=(StringImm(value="llvm.fma"), a, b, c)):
            return c + a * b
        case SeqStmt(seq=(first, *others)):
            made = [first]
            for stmt in others:
                both = _both_in_one(made[-1], stmt)
                made[-1:] = [made[-1], stmt] if both is None else [both]
            return SeqStmt(tuple(made)) if len(made) > 1 else made[0]
    return None


def _both_in_one(first: Stmt, then: Stmt) -> Stmt | None:
    """A store and another one of the same element as one; None for other statements."""
    if not isinstance(first, BufferStore) or not isinstance(then, BufferStore):
        return None
    first, then = (ir_transform(x, None, _with_canonical_indices) for x in (first, then))
    target = BufferLoad(first.buffer, first.indices)

    def step(node: Any) -> Any:
        return first.value if structural_equal(node, target) else None

    if not structural_equal(target, BufferLoad(then.buffer, then.indices)):
        return None
    return then.replace(value=ir_transform(then.value, None, step))


def partial_results(func: PrimFunc) -> Stmt:
    """The loops that clear vectors of partial results, and those that add to them."""
    lowered = LOWERED(IRModule({"main": func}))["main"]
    for stmt in walk(lowered.body):
        if isinstance(stmt, SeqStmt) and isinstance(stmt.seq[0], For):
            if stmt.seq[0].kind == ForKind.UNROLLED:
                return ir_transform(SeqStmt(stmt.seq[:2]), None, _with_canonical_indices)
    raise AssertionError("no vectors of partial results")


def main_loops(func: PrimFunc) -> PrimFunc:
    """A normal form of which only the first of statements beside each other is left."""
    found = normal_form(func)
    body = ir_transform(found.body, None, lambda stmt: stmt.seq[0], ["tir.SeqStmt"])
    return found.replace(body=body)
