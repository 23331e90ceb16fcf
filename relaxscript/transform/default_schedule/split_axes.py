"""Axes that are indexed as several, `C[i * 64 + j]`, as these: rules know an axis for each loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relaxscript.arith import Facts
from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, BufferLoad, IntImm, PrimExpr, Var, cast, const
from relaxscript.ir.stmt_functor import inner_statements
from relaxscript.ir.tir import Block, Buffer, BufferStore, DeclBuffer, PrimFunc, Stmt
from relaxscript.ir.walk import rewrite, walk
from relaxscript.transform.prim_func.known_facts import RewriterWithFacts, sizes_of
from relaxscript.transform.prim_func.memory_access import has_noalias
from relaxscript.transform.schedule.accesses import accesses_in

from .divided_loops import with_divided_loops
from .flat_indices import FlatIndex, Strides, flat_index, strides_of
from .guarded import Guarded
from .loop_nests import parts_of
from .packed_product import LAYOUT_FREE

__all__ = ["with_split_axes"]

# So often loops are made two before it is given up.
_MOST_ROUNDS = 4


def with_split_axes(func: PrimFunc) -> Guarded:
    """The function with an axis for each loop by which it stores, and parameters that have these.

    def main(C: T.Buffer((512,), ...)):             def main(C: T.Buffer((8, 64), ...)):
        for t in range(512):                            for i, j in T.grid(8, 64):
            C[t] = T.float32(0)             →               C[i, j] = T.float32(0)
        for i, j in T.grid(8, 64):                      for i, j in T.grid(8, 64):
            C[i * 64 + j] = C[i * 64 + j] + 1               C[i, j] = C[i, j] + 1

    So are those of manual tiles, `C[i * 16 + ii, j * 16 + jj]`. An axis is divided by a stride that
    divides its size. The rest of each index is below the stride. So an element is in the same place
    of memory, and is outside where it was. Loops over what are several axes become loops over
    each. Sizes that are no dimensions have to be at least zero. The same object where nothing is
    stored so, and for functions that do not promise `tir.noalias`.
    """
    parts = parts_of(func)
    if parts is None or not has_noalias(func) or not _stores_flat(func.body):
        return Guarded(func)
    body: Stmt | None = func.body
    for _ in range(_MOST_ROUNDS):
        if body is None:
            return Guarded(func)
        found = _splits_of(func, parts.own, body)
        splits = [strides for axes in found.values() for strides in axes]
        loops = {loop.var: loop.stride for strides in splits for loop in strides.loops}
        if not loops:
            return _with_views(func, body, found) if found else Guarded(func)
        body = with_divided_loops(body, loops)
    return Guarded(func)


def _variables(shape: Sequence[PrimExpr]) -> dict[Var, None]:
    found = (node for size in shape for node in walk(size))
    return dict.fromkeys(node for node in found if isinstance(node, Var))


def _whole_sizes(func: PrimFunc) -> set[Var]:
    """The variables that are sizes of parameters by themselves, and so not below zero."""
    sizes = {dim for buffer in func.buffer_map.values() for dim in buffer.shape}
    return {size for size in sizes if isinstance(size, Var)}


def _stores_flat(body: Stmt) -> bool:
    """True if an element is stored at an index of several variables."""
    stack = [body]
    while stack:
        at = stack.pop()
        if isinstance(at, BufferStore):
            for index in at.indices:
                if isinstance(index, (Var, IntImm)):
                    continue
                if sum(isinstance(node, Var) for node in {*walk(index)}) > 1:
                    return True
        stack += inner_statements(at)
    return False


# ------------------------------------------------------------------ finding


def _splits_of(func: PrimFunc, own: Sequence[Buffer], body: Stmt) -> dict[Buffer, list[Strides]]:
    """The buffers with axes that are divided, and how each axis is."""
    found = _Accesses(sizes_of(func))
    found.rewrite(body, Facts())
    unknown = {access.buffer.data for access in accesses_in(body) if access.indices is None}
    pointers = [buffer.data for buffer in found.indices]
    made: dict[Buffer, list[Strides]] = {}
    for buffer in (*func.buffer_map.values(), *own):
        indices = found.indices.get(buffer)
        if indices is None or buffer.data in unknown or pointers.count(buffer.data) > 1:
            continue
        if buffer.strides or buffer.elem_offset is not None or buffer.axis_separators:
            continue
        splits = [
            _strides_of(func, size, [index[axis] for index in indices])
            for axis, size in enumerate(buffer.shape)
        ]
        if any(strides.strides for strides in splits):
            made[buffer] = splits
    return made


def _strides_of(func: PrimFunc, size: PrimExpr, indices: Sequence[FlatIndex | None]) -> Strides:
    """The strides of one axis; none where an index is something else, or a size may be negative."""
    known = [index for index in indices if index is not None]
    if len(known) == len(indices):
        found = strides_of(cast(size, INT64), known)
        if _variables(found.sizes).keys() <= _whole_sizes(func) | {*func.params}:
            return found
    return Strides((), (size,), ())


class _Accesses(RewriterWithFacts):
    """A walk that notes the indices of each access, an axis at a time; it changes nothing."""

    def __init__(self, variables: set[Var]) -> None:
        self.sizes = frozenset(variables)
        super().__init__(variables)
        self.indices: dict[Buffer, list[list[FlatIndex | None]]] = {}

    def enter(self, stmt: Stmt, context: Facts) -> Stmt:
        if isinstance(stmt, BufferStore):
            self._note(stmt, context)
        return stmt

    def scalar(self, e: PrimExpr, context: Facts) -> PrimExpr:
        for node, facts in self.parts_with_facts(e, context):
            if isinstance(node, BufferLoad):
                self._note(node, facts)
        return e

    def _note(self, access: BufferLoad | BufferStore, facts: Facts) -> None:
        is_stored = isinstance(access, BufferStore)
        indices = [self._index(index, facts, is_stored) for index in access.indices]
        plain = access.predicate is None
        self.indices.setdefault(access.buffer, []).append(
            indices if plain else [None for _ in indices]
        )

    def _index(self, index: PrimExpr, facts: Facts, is_stored: bool) -> FlatIndex | None:
        used = {node: None for node in walk(index) if isinstance(node, Var)}
        if not self.variables.issuperset(used):
            return None
        loops = [var for var in used if var not in self.sizes]
        return flat_index(index, loops, facts, is_stored)


# ------------------------------------------------------------------ rewriting


def _view(buffer: Buffer, splits: Sequence[Strides]) -> Buffer:
    return buffer.replace(shape=tuple([size for strides in splits for size in strides.sizes]))


def _with_views(func: PrimFunc, body: Stmt, splits: Mapping[Buffer, Sequence[Strides]]) -> Guarded:
    """The function with another body, whose accesses are of buffers with more axes."""
    views = {buffer: _view(buffer, axes) for buffer, axes in splits.items()}
    params = {param: views.get(buffer, buffer) for param, buffer in func.buffer_map.items()}
    made = func.replace(buffer_map=params, body=_with_indices(func, body, splits, views))
    sizes = {var: None for view in views.values() for var in _variables(view.shape)}
    conditions = [var >= const(0, var.dtype) for var in sizes if var not in _whole_sizes(func)]
    return Guarded(made.without_attr(LAYOUT_FREE), tuple(conditions))


def _with_indices(
    func: PrimFunc, body: Stmt, splits: Mapping[Buffer, Sequence[Strides]],
    views: Mapping[Buffer, Buffer],
) -> Stmt:  # fmt: skip
    """A body whose accesses are of the buffers with more axes."""
    sizes = sizes_of(func)

    def divided(index: PrimExpr, strides: Strides) -> tuple[PrimExpr, ...]:
        if not strides.strides:
            return (index,)
        used = dict.fromkeys(node for node in walk(index) if isinstance(node, Var))
        found = flat_index(index, [var for var in used if var not in sizes], Facts(), False)
        assert found is not None, "all indices of an axis that is divided are flat"
        return strides.divided(found)

    def step(node: Node) -> Node | None:
        match node:
            case BufferLoad(buffer=buffer) | BufferStore(buffer=buffer) if buffer in views:
                pairs = zip(node.indices, splits[buffer], strict=True)
                indices = tuple([new for pair in pairs for new in divided(*pair)])
                return node.replace(buffer=views[buffer], indices=indices)
            case Block():
                own = tuple([views.get(buffer, buffer) for buffer in node.alloc_buffers])
                return node.replace(alloc_buffers=own, reads=(), writes=())
            case DeclBuffer(buffer=buffer) if buffer in views:
                return node.replace(buffer=views[buffer])
        return None

    return rewrite(body, step)
