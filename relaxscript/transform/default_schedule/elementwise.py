"""Loops over elements that depend on no others: one loop for all, by vectors.

An elementwise function computes each element of its result from elements of its parameters. What it
keeps for a moment is a variable instead of a buffer. Axes that lie behind one another in all
buffers become one loop. Its iterations are lanes of vectors, and those that are left over follow
one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.arith import YES, prove_equal, simplify
from relaxscript.ir.prim import (
    INT64,
    BufferLoad,
    FloorDiv,
    FloorMod,
    IntImm,
    Mul,
    PrimExpr,
    Var,
    cast,
    const,
)
from relaxscript.ir.stmt_functor import pre_order_visit, rewrite_tir
from relaxscript.ir.tir import (
    Buffer,
    BufferStore,
    DeclBuffer,
    For,
    ForKind,
    PrimFunc,
    SeqStmt,
    Stmt,
)
from relaxscript.transform.prim_func.known_facts import in_int64
from relaxscript.transform.prim_func.memory_access import has_noalias
from relaxscript.transform.prim_func.vectorize_loop import are_lanes, in_lanes

from .inline_producers import InlinedNest, in_variables, inlined
from .loop_nests import Loop, Nest, Nests, is_without, nests_of
from .processor import Processor
from .split_at_conditions import divides

__all__ = [
    "by_vectors", "elementwise", "one_by_one", "product_of", "results_by_vectors",
]  # fmt: skip


def elementwise(func: PrimFunc, processor: Processor) -> PrimFunc | None:
    """The function by vectors; None where it is not elementwise, or vectors do not fit.

    for i, j in T.grid(n, 4):                for i in range(n * 4 // 8):
        t[i, j] = A[i, j] * 2.0        →         t: T.float32x8 = A_1[T.Ramp(i * 8, 1, 8)] * ...
    for i, j in T.grid(n, 4):                    B_1[T.Ramp(i * 8, 1, 8)] = T.exp(t)
        B[i, j] = T.exp(t[i, j])             for r in range(n * 4 % 8):
                                                 ...
    """
    found = nests_of(func)
    parts = None if found is None else results_by_vectors(func, found, processor, again=False)
    if not parts:
        return None
    return func.replace(body=SeqStmt(tuple(parts)) if len(parts) > 1 else parts[0])


def results_by_vectors(
    func: PrimFunc, found: Nests, processor: Processor, again: bool = True
) -> list[Stmt] | None:
    """The loops of each result of some nests; None where one of them has no form with vectors.

    The same unless `again` where elements are read round and round, which parts of loops do by
    vectors.
    """
    values = inlined(found)
    if values is None or (len(values) > 1 and not has_noalias(func)):
        return None
    may_begin_again = has_noalias(func) and any(value.has_remainders for value in values)
    if not again and may_begin_again and any(map(_begins_again, found.nests)):
        return None
    made = [by_vectors(func, value, processor) for value in values]
    parts = [part for part in made if part is not None]
    return parts if len(parts) == len(made) else None


def _begins_again(nest: Nest) -> bool:
    """True if elements are read round and round."""
    return divides(InlinedNest(nest, ()))


def by_vectors(func: PrimFunc, value: InlinedNest, processor: Processor) -> Stmt | None:
    """The loops of one result, the innermost by vectors."""
    nest = value.nest
    buffers = {load.buffer for load in value.loads} | {nest.store.buffer}
    if not nest.loops or any(buffer.dtype.lanes > 1 for buffer in buffers):
        return None
    lanes = processor.lanes(max(buffer.dtype.itemsize for buffer in buffers))
    loops = _collapsed(value)
    if not are_lanes(func, loops.one_by_one(), loops.var):
        return None
    while isinstance(loops.extent, IntImm) and lanes > max(loops.extent.value, 1):
        lanes //= 2
    return None if lanes == 1 else loops.by_vectors(lanes)


def one_by_one(value: InlinedNest) -> Stmt:
    """The loops of one result as they are."""
    if not value.nest.loops:
        return value.statement()
    return _as_it_is(value).one_by_one()


class _Loops(NamedTuple):
    """Loops around one iteration, of which the innermost is over several axes.

    An iteration binds variables and stores an element. The variables at some `places` depend on
    the innermost loop by themselves, others on those before them. `views` are the buffers of one
    dimension over those that have these axes.
    """

    outer: tuple[Loop, ...]
    var: Var
    extent: PrimExpr
    lets: Sequence[tuple[Var, PrimExpr]]
    store: BufferStore
    places: frozenset[int]
    views: tuple[Buffer, ...]

    def one_by_one(self) -> Stmt:
        """All loops, the innermost over one element after the other."""
        zero = const(0, self.var.dtype)
        body = in_variables(self.lets, self.store)
        return self._around(For(self.var, zero, self.extent, ForKind.SERIAL, body))

    def by_vectors(self, lanes: int) -> Stmt | None:
        """All loops, the innermost by vectors; None where an iteration has no form with these."""
        dtype = self.var.dtype
        width = IntImm(dtype, lanes)
        count, rest = _parts(self.extent, width)
        i, j, r = (Var.make(name, dtype) for name in (self.var.name, "lane", "rest"))
        zero = const(0, dtype)
        one = self._at(i * width + j)
        vector = in_lanes(For(j, zero, width, ForKind.VECTORIZED, one))
        if vector is None:
            return None
        made: Stmt = For(i, zero, count, ForKind.SERIAL, vector)
        if rest is not None:
            one = self._iteration(count * width + r)
            made = SeqStmt((made, For(r, zero, rest, ForKind.SERIAL, one)))
        return self._around(made)

    def _around(self, made: Stmt) -> Stmt:
        for loop in reversed(self.outer):
            made = For(loop.var, const(0, loop.var.dtype), loop.extent, ForKind.SERIAL, made)
        for view in reversed(self.views):
            made = DeclBuffer(view, made)
        return made

    def _at(self, index: PrimExpr) -> Stmt:
        """One iteration."""

        def step(node: Stmt | PrimExpr) -> PrimExpr | None:
            return index if node is self.var else None

        lets = [
            (var, rewrite_tir(value, step) if place in self.places else value)
            for place, (var, value) in enumerate(self.lets)
        ]
        return in_variables(lets, rewrite_tir(self.store, step))

    def _iteration(self, index: PrimExpr) -> Stmt:
        """One iteration with variables of its own."""
        values: dict[Stmt | PrimExpr, PrimExpr] = {self.var: index}
        lets = []
        for var, value in self.lets:
            fresh = Var.make(var.name, var.dtype)
            lets.append((fresh, rewrite_tir(value, values.get)))
            values[var] = fresh
        return in_variables(lets, rewrite_tir(self.store, values.get))


def _parts(extent: PrimExpr, width: IntImm) -> tuple[PrimExpr, PrimExpr | None]:
    """The number of whole vectors, and of elements that are left over, if there may be some."""
    rest = simplify(FloorMod(extent, width))
    if isinstance(rest, IntImm) and rest.value == 0:
        return simplify(FloorDiv(extent, width)), None
    return simplify(FloorDiv(extent, width)), rest


def _as_it_is(value: InlinedNest) -> _Loops:
    """The loops of a value."""
    *outer, (var, extent) = value.nest.loops
    places = frozenset([k for k in range(len(value.lets)) if value.depends_on_place(k)])
    return _Loops(tuple(outer), var, extent, value.lets, value.nest.store, places, ())


def _collapsed(value: InlinedNest) -> _Loops:
    """The loops of a value; the last ones as one loop where their axes lie behind one another."""
    loops, store = value.nest.loops, value.nest.store
    accesses = [(load.buffer, load.indices) for load in value.loads]
    accesses.append((store.buffer, store.indices))
    found = _as_it_is(value)
    for depth in range(len(loops), 1, -1):
        last = loops[-depth:]
        if all(_is_whole(*a, last) or is_without(a[1], last) for a in accesses):
            whole = dict.fromkeys(b for b, indices in accesses if _is_whole(b, indices, last))
            made = _Flat(last, {buffer: _view(buffer) for buffer in whole}).applied_to(found)
            if made is not None:
                return made
    return found


def _is_whole(buffer: Buffer, indices: Sequence[PrimExpr], loops: Sequence[Loop]) -> bool:
    """True if the last axes of a buffer are gone through by these loops, each from end to end."""
    depth = len(loops)
    if len(indices) < depth or buffer.strides or buffer.elem_offset is not None:
        return False
    rows = zip(indices[-depth:], buffer.shape[-depth:], loops)
    return all(
        index is loop.var and prove_equal(extent, loop.extent) is YES
        for index, extent, loop in rows
    ) and is_without(indices[:-depth], loops)


def _view(buffer: Buffer) -> Buffer:
    """A buffer of one dimension over the memory of one."""
    return buffer.replace(shape=(product_of(buffer.shape),), axis_separators=())


def product_of(extents: Sequence[PrimExpr]) -> PrimExpr:
    """The number of elements of some axes."""
    made: PrimExpr = const(1, INT64)
    for extent in (cast(extent, INT64) for extent in extents):
        if isinstance(made, IntImm) and isinstance(extent, IntImm):
            made = const(made.value * extent.value, INT64)
        else:
            made = extent if isinstance(made, IntImm) and made.value == 1 else Mul(made, extent)
    return made


class _Flat:
    """An iteration in which buffers are reached by one index, that of the loop over all axes."""

    def __init__(self, loops: Sequence[Loop], views: dict[Buffer, Buffer]) -> None:
        self.depth = len(loops)
        self.loops = loops
        self.variables = {loop.var for loop in loops}
        self.var = Var.make(loops[-1].var.name, INT64)
        self.views = views

    def applied_to(self, found: _Loops) -> _Loops | None:
        """The loops with one in the place of these; None where one of these is still needed."""
        lets = [*found.lets]
        for place in found.places:
            var, value = lets[place]
            lets[place] = var, rewrite_tir(value, self._step)
        store = rewrite_tir(found.store, self._step)
        rewritten: list[Stmt | PrimExpr] = [store, *(lets[place][1] for place in found.places)]
        for e in rewritten:
            used: list[Stmt | PrimExpr] = []
            pre_order_visit(e, used.append)
            if not self.variables.isdisjoint(used):
                return None
        extent = product_of([loop.extent for loop in self.loops])
        outer = (*found.outer, Loop(found.var, found.extent))[: -self.depth]
        views = tuple(self.views.values())
        return _Loops(outer, self.var, extent, lets, store, found.places, views)

    def _step(self, node: Stmt | PrimExpr) -> Stmt | PrimExpr | None:
        if not isinstance(node, (BufferLoad, BufferStore)) or node.buffer not in self.views:
            return None
        if not _is_whole(node.buffer, node.indices, self.loops):
            return None
        place = self._place(node.buffer, node.indices)
        return node.replace(buffer=self.views[node.buffer], indices=(place,))

    def _place(self, buffer: Buffer, indices: Sequence[PrimExpr]) -> PrimExpr:
        lead: PrimExpr | None = None
        pairs = zip(indices[: -self.depth], buffer.shape[: -self.depth], strict=True)
        for index, extent in pairs:
            wide = in_int64(index)
            lead = wide if lead is None else lead * cast(extent, INT64) + wide
        if lead is None:
            return self.var
        return lead * product_of(buffer.shape[-self.depth :]) + self.var
