"""Results of functions of loops, with what is kept for a moment as variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import is_
from typing import Any, NamedTuple

from relaxscript.arith import YES, prove_equal
from relaxscript.ir.prim import BufferLoad, Call, FloorMod, IntImm, PrimExpr, Var, cast
from relaxscript.ir.stmt_functor import parts_of_tir, pre_order_visit, rewrite_tir
from relaxscript.ir.tir import Buffer, BufferStore, LetStmt, Stmt
from relaxscript.ir.walk import walk

from .loop_nests import Nest, Nests

__all__ = ["InlinedNest", "in_variables", "inlined"]


@dataclass(frozen=True)
class InlinedNest:
    """A nest, and the variables that are bound before it stores its element."""

    nest: Nest
    lets: tuple[tuple[Var, PrimExpr], ...]

    @cached_property
    def _uses(self) -> _Uses:
        variables = {loop.var for loop in self.nest.loops}
        found = _Uses([], set(), [])
        for place, e in enumerate([*(value for _, value in self.lets), self.nest.store.value]):
            # Expressions share parts, which are gone through once for each of them.
            stack: list[Any] = [e]
            seen: set[int] = set()
            while stack:
                node = stack.pop()
                kind = node.__class__
                if kind is Var:
                    if node in variables:
                        found.places.add(place)
                    continue
                if id(node) in seen:
                    continue
                seen.add(id(node))
                if kind is BufferLoad:
                    found.loads.append(node)
                    found.places.add(place)
                elif kind is FloorMod:
                    found.remainders.append(node)
                stack += parts_of_tir(node)[::-1]
        return found

    @property
    def loads(self) -> list[BufferLoad]:
        """The loads of all that is computed for an element."""
        return self._uses.loads

    @property
    def has_remainders(self) -> bool:
        """True if something that is computed is the remainder of a division."""
        return bool(self._uses.remainders)

    def depends_on_place(self, place: int) -> bool:
        """True if the value of a variable, by its place, depends on which element is computed.

        It does so by itself, other than by variables before it. The last place, behind those of all
        variables, is that of what is stored.
        """
        return place in self._uses.places

    def statement(self) -> Stmt:
        """One iteration."""
        return in_variables(self.lets, self.nest.store)


class _Uses(NamedTuple):
    """Loads, the places of values with loads or variables of loops, and remainders."""

    loads: list[BufferLoad]
    places: set[int]
    remainders: list[PrimExpr]


def in_variables(lets: Sequence[tuple[Var, PrimExpr]], body: Stmt) -> Stmt:
    """A statement in which variables are bound to values."""
    for var, value in reversed(lets):
        body = LetStmt.make(var, value, body)
    return body


def inlined(found: Nests, in_order: bool = False) -> list[InlinedNest] | None:
    """The nests that store results, each with the values of others that it uses.

    None where a value is stored twice, is not of each element of its buffer, or is read outside.
    The same where it is computed by a call and used for several elements. Values are computed where
    they are used, which may be after a store. So of what is stored, nothing but the same element is
    read. With `in_order` the caller says that all that is stored is read behind the store.
    """
    producers = _producers(found, in_order)
    if producers is None:
        return None
    made = []
    for place, nest in enumerate(found.nests):
        if nest.store.buffer not in found.own:
            inliner = _Inliner(found.nests, producers, place)
            value = inliner.value()
            if value is None:
                return None
            made.append(value)
    stored = set() if in_order else {value.nest.store.buffer for value in made}
    for value in made:
        for load in value.loads:
            if load.buffer in found.own:
                return None
            if load.buffer in stored and not _is_of_the_store(load, value.nest.store):
                return None
    return made


def _producers(found: Nests, in_order: bool) -> dict[Buffer, int] | None:
    """The places of the nests whose values are computed where they are used."""
    producers: dict[Buffer, int] = {}
    for place, nest in enumerate(found.nests):
        if in_order and nest.store.buffer not in found.own:
            continue
        if nest.store.buffer in producers or not nest.is_of_each_element:
            return None
        producers[nest.store.buffer] = place
    return producers


def _is_of_the_store(load: BufferLoad, store: BufferStore) -> bool:
    """True if a load is of the element that is stored."""
    same = zip(load.indices, store.indices)
    return load.buffer is store.buffer and all(a is b for a, b in same)


# Indices without parts.
_PLAIN = {Var, IntImm}


class _Inliner:
    """The values of one nest, from the last to the first that are used; cost linear in these."""

    def __init__(self, nests: tuple[Nest, ...], producers: dict[Buffer, int], place: int) -> None:
        self.nests = nests
        self.producers = producers
        self.place = place
        # For each nest before it the elements that are asked for, and the variables for these.
        self.asked: dict[int, dict[tuple[object, ...], tuple[Var, tuple[PrimExpr, ...]]]] = {}
        self.extents = {loop.var: loop.extent for loop in nests[place].loops}
        # What stands for variables of narrower loops, and what it is as an index.
        self.narrowed: dict[PrimExpr, PrimExpr] = {}

    def value(self) -> InlinedNest | None:
        nest = self.nests[self.place]
        result = self._with_variables(nest.store.value, self.place)
        lets: list[tuple[Var, PrimExpr]] = []
        for place in range(self.place - 1, -1, -1):
            for var, indices in self.asked.get(place, {}).values():
                producer = self.nests[place]
                buffer = producer.store.buffer
                if not self._is_cheap(producer, indices) or not self._is_inside(buffer, indices):
                    return None
                pairs = zip(producer.loops, indices, strict=True)
                given = {loop.var: self._as_index(index, loop.var) for loop, index in pairs}
                lets.append((var, self._with_variables(producer.store.value, place, given)))
        store = nest.store.replace(value=result)
        return InlinedNest(nest._replace(store=store), tuple(reversed(lets)))

    def _with_variables(
        self, e: PrimExpr, place: int, values: Mapping[Var, PrimExpr] | None = None
    ) -> PrimExpr:
        """An expression of some nest with values of its loops, and with variables for loads.

        These are loads of what earlier nests store.
        """
        known: Mapping[Any, PrimExpr] = values or {}

        def load(node: BufferLoad) -> PrimExpr | None:
            """The scalar for a load, unless its indices are to be gone through before."""
            if node.predicate is not None or not {i.__class__ for i in node.indices} <= _PLAIN:
                return None
            return self._load(node, [known.get(index, index) for index in node.indices], place)

        def step(node: Stmt | PrimExpr) -> PrimExpr | None:
            if not isinstance(node, BufferLoad) or node.predicate is not None:
                return None
            return self._load(node, node.indices, place)

        return rewrite_tir(e, step, {BufferLoad: load, Var: lambda var: known.get(var, var)})

    def _load(self, node: BufferLoad, given: Sequence[PrimExpr], place: int) -> PrimExpr:
        """The scalar for a load at some indices: a variable, where an earlier nest stores it."""
        indices = tuple([self.narrowed.get(index, index) for index in given])
        earlier = self.producers.get(node.buffer, place)
        if earlier >= place or any(map(_is_vector, indices)):
            same = all(map(is_, indices, node.indices))
            return node if same else node.replace(indices=indices)
        asked = self.asked.setdefault(earlier, {})
        key = tuple([_key(index) for index in indices])
        found = asked.get(key)
        if found is None:
            found = asked[key] = Var.make(node.buffer.name, node.dtype), indices
        return found[0]

    def _as_index(self, index: PrimExpr, var: Var) -> PrimExpr:
        """The value of the variable of a loop where it is this index."""
        made = cast(index, var.dtype)
        if made is not index:
            self.narrowed[made] = index
        return made

    def _is_inside(self, buffer: Buffer, indices: tuple[PrimExpr, ...]) -> bool:
        """True if an element of a buffer is surely one: each index goes through its axis."""
        for index, extent in zip(indices, buffer.shape, strict=True):
            match index:
                case Var() if index in self.extents:
                    mine = self.extents[index]
                    if mine is not extent and prove_equal(mine, extent) is not YES:
                        return False
                case IntImm(value=value) if isinstance(extent, IntImm):
                    if not 0 <= value < extent.value:
                        return False
                case _:
                    return False
        return True

    def _is_cheap(self, producer: Nest, indices: tuple[PrimExpr, ...]) -> bool:
        """True if no element is computed by a call for several elements of the result."""
        if self.extents.keys() <= {*indices}:
            return True
        used = {node for index in indices for node in walk(index) if isinstance(node, Var)}
        if self.extents.keys() <= used:
            return True
        computed: list[PrimExpr] = []
        pre_order_visit(producer.store.value, computed.append)
        return not any(isinstance(node, Call) for node in computed)


def _is_vector(e: PrimExpr) -> bool:
    return e.dtype.lanes > 1


def _key(index: PrimExpr) -> object:
    """A key that two indices share which are the same at a glance."""
    if isinstance(index, IntImm):
        return index.value
    return index if isinstance(index, Var) else id(index)
