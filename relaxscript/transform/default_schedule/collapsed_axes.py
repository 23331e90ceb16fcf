"""Axes that lie behind one another in all buffers of some loops, as one axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.arith import YES, prove_equal
from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, BufferLoad, PrimExpr, Var
from relaxscript.ir.tir import Buffer, BufferStore
from relaxscript.ir.walk import rewrite, walk

from .elementwise import product_of
from .loop_nests import Loop

__all__ = ["Collapsed", "collapsed"]


class Collapsed(NamedTuple):
    """Groups of loops around a store, and the buffers in which their axes are fewer."""

    groups: tuple[tuple[Loop, ...], ...]
    store: BufferStore
    views: tuple[Buffer, ...]


def collapsed(groups: Sequence[Sequence[Loop]], store: BufferStore) -> Collapsed:
    """The loops with those of a group made one where their axes lie behind one another.

    for i, j in T.grid(m, 4):              for ij in range(m * 4):
        B[i, j] = A[k, i, j]        →          B_1[ij] = A_1[k, ij]
    """
    made = _Collapsing(store)
    done = tuple(made.group(group) for group in groups)
    return Collapsed(done, made.store, tuple(made.views.values()))


class _Collapsing:
    def __init__(self, store: BufferStore) -> None:
        self.store = store
        # The buffers that are there now, by the pointers to their memory.
        self.views: dict[Var, Buffer] = {}

    def group(self, loops: Sequence[Loop]) -> tuple[Loop, ...]:
        """One group, from its end to its beginning."""
        made: list[Loop] = []
        for loop in reversed(loops):
            both = self._joined(loop, made[0]) if made else None
            if both is None:
                made.insert(0, loop)
            else:
                made[0] = both
        return tuple(made)

    def _joined(self, outer: Loop, inner: Loop) -> Loop | None:
        """The two loops as one; None where something is not reached by both behind each other."""
        both = {outer.var, inner.var}
        places: dict[Buffer, int | None] = {}
        for access in self._accesses():
            place = _place(access, outer, inner)
            if place == -1 or places.setdefault(access.buffer, place) != place:
                return None
        if len({buffer.data for buffer in places}) < len(places):
            return None
        joined = Loop(Var.make(inner.var.name, INT64), product_of([outer.extent, inner.extent]))
        views = {b: _joined_axes(b, place) for b, place in places.items() if place is not None}

        def step(node: Node) -> Node | None:
            if not isinstance(node, (BufferLoad, BufferStore)) or node.buffer not in views:
                return None
            place = places[node.buffer]
            assert place is not None
            found = [*node.indices[:place], joined.var, *node.indices[place + 2 :]]
            indices = tuple(rewrite(index, step) for index in found)
            if isinstance(node, BufferLoad):
                return BufferLoad(views[node.buffer], indices)
            return BufferStore(views[node.buffer], rewrite(node.value, step), indices)

        store = rewrite(self.store, step)
        if any(node in both for node in walk(store)):
            return None
        self.store = store
        self.views |= {view.data: view for view in views.values()}
        return joined

    def _accesses(self) -> list[BufferLoad | BufferStore]:
        return [node for node in walk(self.store) if isinstance(node, (BufferLoad, BufferStore))]


def _joined_axes(buffer: Buffer, place: int) -> Buffer:
    """A buffer of which two axes are one."""
    shape = buffer.shape
    joined = product_of(shape[place : place + 2])
    return buffer.replace(shape=(*shape[:place], joined, *shape[place + 2 :]), axis_separators=())


def _place(access: BufferLoad | BufferStore, outer: Loop, inner: Loop) -> int | None:
    """The axis that the outer loop goes through, the inner one being behind it.

    None where no index is of these loops, -1 where they are elsewhere.
    """
    buffer, indices = access.buffer, access.indices
    uses = [k for k, index in enumerate(indices) if _uses(index, outer.var, inner.var)]
    if not uses:
        return None
    if buffer.strides or buffer.elem_offset is not None or access.predicate is not None:
        return -1
    if len(uses) != 2 or uses[1] != uses[0] + 1:
        return -1
    first, second = uses
    same = indices[first] is outer.var and indices[second] is inner.var
    whole = same and prove_equal(buffer.shape[second], inner.extent) is YES
    return first if whole and prove_equal(buffer.shape[first], outer.extent) is YES else -1


def _uses(index: PrimExpr, *variables: Var) -> bool:
    return any(node in variables for node in walk(index))
