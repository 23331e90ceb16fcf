"""Elements of rows whose places are computed: by vectors, which all fail where one of them does."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, BufferLoad, PrimExpr, Var, cast
from relaxscript.ir.tir import (
    Buffer,
    BufferStore,
    DeclBuffer,
    LetStmt,
    PrimFunc,
    Stmt,
)
from relaxscript.ir.walk import children, post_order, rewrite, rewrite_top_down, walk
from relaxscript.transform.prim_func.vectorize_loop import never_fails

from .collapsed_axes import collapsed
from .inline_producers import InlinedNest
from .loop_nests import Loop, is_without
from .loop_writing import in_loops
from .panel_copies import along
from .processor import Processor
from .reduction_loops import has_step_one

__all__ = ["rows_elsewhere", "without_lets"]


def rows_elsewhere(func: PrimFunc, value: InlinedNest, processor: Processor) -> Stmt | None:
    """The loops of elements in rows that may be outside; None where elements are by themselves.

    for i, j in T.grid(m, 64):             for i in range(m):
        B[i, j] = A[P[i], j]           →       place: T.int64 = P[i]
                                               for j in range(8):
                                                   B[i, T.Ramp(j * 8, 1, 8)] = A[place, T.Ramp(...)]

    An index is checked where it is used, as that of an element is. It is the same for a whole row,
    whose elements fail alike. So the first failure is the same one.
    """
    loops = value.nest.loops
    store = without_lets(value)
    if store is None or not loops:
        return None
    made = collapsed((loops,), store)
    *outer, inner = made.groups[0]
    places = _Places(inner)
    store = places.named(made.store)
    if not places.names or not _is_row(store, inner):
        return None
    if not _is_safe(func, made.groups[0], places, store):
        return None
    lanes = processor.lanes(max(b.dtype.itemsize for b in _buffers(store)))

    def one(k: PrimExpr) -> Stmt:
        given: dict[Node, PrimExpr] = {inner.var: cast(k, inner.var.dtype)}
        return rewrite(store, given.get)

    body = along(cast(inner.extent, INT64), lanes, one)
    for index, name in reversed(places.names.items()):
        body = LetStmt(name, index, body)
    body = in_loops(outer, body)
    for view in made.views:
        body = DeclBuffer(view, body)
    return body


class _Places:
    """Variables for indices that are computed once for a row."""

    def __init__(self, inner: Loop) -> None:
        self.inner = inner
        self.names: dict[PrimExpr, Var] = {}

    def named(self, store: BufferStore) -> BufferStore:
        """A store with these variables."""

        def step(node: Node) -> Node | None:
            if not isinstance(node, BufferLoad) or node.predicate is not None:
                return None
            indices = tuple(self._name(i) if self._is_place(i) else i for i in node.indices)
            return BufferLoad(node.buffer, indices)

        return store.replace(value=rewrite_top_down(store.value, step))

    def _is_place(self, index: PrimExpr) -> bool:
        is_read = any(isinstance(node, BufferLoad) for node in walk(index))
        return is_read and is_without([index], [self.inner])

    def _name(self, index: PrimExpr) -> Var:
        if index not in self.names:
            self.names[index] = Var.make("place", index.dtype)
        return self.names[index]

    def without(self, store: BufferStore) -> BufferStore:
        """A store of the same elements, read where each place is known to be inside."""
        names = {*self.names.values()}

        def step(node: Node) -> Node | None:
            if not isinstance(node, BufferLoad) or names.isdisjoint(node.indices):
                return None
            pairs = zip(node.indices, node.buffer.shape, strict=True)
            kept = [(index, extent) for index, extent in pairs if index not in names]
            buffer = Buffer(node.buffer.name, tuple(extent for _, extent in kept), node.dtype)
            return BufferLoad(buffer, tuple(index for index, _ in kept))

        return rewrite(store, step)


def _is_safe(func: PrimFunc, loops: Sequence[Loop], places: _Places, store: BufferStore) -> bool:
    """True if nothing fails but for a place."""
    body = in_loops(loops[-1:], places.without(store))
    for index, name in reversed(places.names.items()):
        body = LetStmt(name, index, body)
    return never_fails(func, in_loops(loops[:-1], body))


def without_lets(value: InlinedNest) -> BufferStore | None:
    """The store with values instead of variables; None where one is used more than once."""
    store = value.nest.store
    for var, bound in reversed(value.lets):
        given: dict[Node, PrimExpr] = {var: bound}
        if _uses(store.value, var) > 1:
            return None
        store = rewrite(store, given.get)
    return store


def _uses(e: PrimExpr, var: Var) -> int:
    return sum(part is var for node in post_order(e) for part in children(node))


def _is_row(store: BufferStore, inner: Loop) -> bool:
    """True if the elements that are stored and read lie side by side, or are the same for all."""
    loads = [node.indices for node in walk(store.value) if isinstance(node, BufferLoad)]
    for *outer, last in (indices for indices in (store.indices, *loads) if indices):
        is_same = is_without([last], [inner])
        if not is_without(outer, [inner]) or not (is_same or has_step_one(last, inner.var)):
            return False
    return True


def _buffers(store: BufferStore) -> list[Buffer]:
    loads = [node.buffer for node in walk(store.value) if isinstance(node, BufferLoad)]
    return [store.buffer, *loads]
