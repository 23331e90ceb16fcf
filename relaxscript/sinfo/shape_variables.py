"""The shape variables of StructInfos: which there are, which may be bound where they occur, and
which nothing binds.

Function types share their parts. So what is known of a part is found once, from what is known of
the parts inside of it: the cost is that of the graph, however large the type is when written out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from relaxscript.ir import prim, walk
from relaxscript.ir.field_roles import dimensions, literal_sizes, parts_of
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.struct_info import FuncStructInfo, ShapeStructInfo, StructInfo

__all__ = ["ShapeVariables", "dimensions", "held_sizes", "known_dimensions", "scalar_variables"]

_Ordered = dict[prim.Var, None]
_NONE: _Ordered = {}
_NOTHING: frozenset[prim.Var] = frozenset()


class _Variables(NamedTuple):
    """The variables of one StructInfo, in order of appearance: `definable` are those in binding
    positions, `free` those that no function type inside binds. `held` are those of the shapes that
    Relax variables stand for, which are no others of these.
    """

    definable: _Ordered
    free: _Ordered
    mentioned: frozenset[prim.Var]
    held: frozenset[prim.Var]


class ShapeVariables:
    """The shape variables of StructInfos, each computed once while this lives."""

    def __init__(self) -> None:
        self._known: dict[int, _Variables] = {}
        # What was looked at is kept alive, so that no id is used twice.
        self._alive: list[StructInfo] = []

    def definable(self, info: StructInfo) -> _Ordered:
        """Those in binding positions.

        What stands alone in the parameters of a function type belongs to that type and is left
        out; what stands alone in its result is not, unless it is the same.
        """
        return self._of(info).definable

    def free(self, info: StructInfo) -> _Ordered:
        """Those that no function type inside binds."""
        return self._of(info).free

    def mentioned(self, info: StructInfo) -> frozenset[prim.Var]:
        """All of them, bound or not."""
        return self._of(info).mentioned

    def mentions_any(self, info: StructInfo, replaced: Iterable[prim.Var]) -> bool:
        """True if any of the variables to be replaced occurs in `info`, or in a shape of it."""
        found = self._of(info)
        return not (found.mentioned.isdisjoint(replaced) and found.held.isdisjoint(replaced))

    def own(self, params: Iterable[StructInfo]) -> _Ordered:
        """Those that a function type with these parameters binds."""
        return _union(self._of(param).definable for param in params)

    def _of(self, root: StructInfo) -> _Variables:
        found = self._known.get(id(root))
        if found is not None:
            return found
        stack = [(root, False)]
        while stack:
            info, ready = stack.pop()
            if ready:
                self._known[id(info)] = self._combine(info)
                self._alive.append(info)
            elif id(info) not in self._known:
                stack.append((info, True))
                stack.extend((part, False) for part in parts_of(info))
        return self._known[id(root)]

    def _combine(self, info: StructInfo) -> _Variables:
        """The variables of a StructInfo, from those of its parts."""
        parts = [self._known[id(part)] for part in parts_of(info)]
        dims = dimensions(info)
        every = _union(map(scalar_variables, dims))
        alone = {e: None for e in dims if isinstance(e, prim.Var)}
        held = _NOTHING if dims else frozenset(_union(map(scalar_variables, held_sizes(info))))
        if not parts:
            return _Variables(alone, every, frozenset(every), held)
        free = _union((every, *(part.free for part in parts)))
        mentioned = frozenset(every).union(*(part.mentioned for part in parts))
        held = held.union(*(part.held for part in parts))
        if isinstance(info, FuncStructInfo):
            own = self.own(info.params or ())
            result = _NONE if info.params is None else self._known[id(info.ret)].definable
            return _Variables(_difference(result, own), _difference(free, own), mentioned, held)
        definable = _union((alone, *(part.definable for part in parts)))
        return _Variables(definable, free, mentioned, held)


def _union(several: Iterable[_Ordered]) -> _Ordered:
    found: _Ordered = {}
    for some in several:
        found.update(some)
    return found


def _difference(some: _Ordered, own: _Ordered) -> _Ordered:
    return {v: None for v in some if v not in own} if own else some


def held_sizes(info: StructInfo | None) -> tuple[PrimExpr, ...]:
    """As `dimensions`, also looking at what is known of the variable that holds a shape."""
    role = None if info is None else info.sizes_role
    held = None if role is None else getattr(info, role.name)
    return () if held is None else known_dimensions(held) or ()


def scalar_variables(e: PrimExpr) -> dict[prim.Var, None]:
    """The scalar variables of an expression, in order of appearance."""
    if isinstance(e, prim.Var):
        return {e: None}
    if isinstance(e, prim.IntImm):
        return {}
    return {v: None for v in walk.variables(e) if isinstance(v, prim.Var)}


def known_dimensions(held: Any) -> tuple[PrimExpr, ...] | None:
    """The dimensions in a field of sizes, read off the StructInfo of a variable if need be."""
    found = literal_sizes(held)
    if found is None:
        match held.struct_info:
            case ShapeStructInfo(values=values):
                return values
    return found
