"""The shape variables of StructInfos: which there are, which may be bound where they stand, and
which nothing binds.

Function types share their parts. So what is known of a part is found once, from what is known of
the parts inside of it: the cost is that of the graph, however large the type is when written out.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from relaxscript.ir import prim, walk
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr, ShapeExpr
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)

__all__ = ["ShapeVariables", "dimensions", "known_dimensions", "scalar_variables"]

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
        """True if any of the variables to be replaced stands in `info`, or in a shape of it."""
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
                self._known[id(info)] = self._combined(info)
                self._alive.append(info)
            elif id(info) not in self._known:
                stack.append((info, True))
                stack.extend((part, False) for part in _parts(info))
        return self._known[id(root)]

    def _combined(self, info: StructInfo) -> _Variables:
        """The variables of a StructInfo, from those of its parts."""
        parts = [self._known[id(part)] for part in _parts(info)]
        mentioned = _NOTHING.union(*(part.mentioned for part in parts))
        held = _NOTHING.union(*(part.held for part in parts))
        free = _union(part.free for part in parts)
        match info:
            case TupleStructInfo():
                definable = _union(part.definable for part in parts)
                return _Variables(definable, free, mentioned, held)
            case FuncStructInfo(params, ret):
                own = self.own(params or ())
                result = _NONE if params is None else self._known[id(ret)].definable
                return _Variables(_difference(result, own), _difference(free, own), mentioned, held)
            case TensorStructInfo(shape=Expr() as shape) if not isinstance(shape, ShapeExpr):
                dims = known_dimensions(shape) or ()
                held = frozenset(_union(map(scalar_variables, dims)))
                return _Variables(_NONE, _NONE, _NOTHING, held)
        dims = dimensions(info)
        every = _union(map(scalar_variables, dims))
        alone = {e: None for e in dims if isinstance(e, prim.Var)}
        return _Variables(alone, every, frozenset(every), _NOTHING)


def _parts(info: StructInfo) -> tuple[StructInfo, ...]:
    match info:
        case TupleStructInfo(fields):
            return fields
        case FuncStructInfo(params, ret):
            return (*(params or ()), ret)
    return ()


def _union(several: Iterable[_Ordered]) -> _Ordered:
    found: _Ordered = {}
    for some in several:
        found.update(some)
    return found


def _difference(some: _Ordered, own: _Ordered) -> _Ordered:
    return {v: None for v in some if v not in own} if own else some


def dimensions(info: StructInfo) -> tuple[PrimExpr, ...]:
    """The scalar expressions directly in `info`: its dimensions, or the value of a Prim."""
    match info:
        case TensorStructInfo(dims=tuple(dims)) | ShapeStructInfo(values=tuple(dims)):
            return dims
        case PrimStructInfo(value=PrimExpr() as value):
            return (value,)
    return ()


def scalar_variables(e: PrimExpr) -> dict[prim.Var, None]:
    """The scalar variables of an expression, in order of appearance."""
    if isinstance(e, prim.Var):
        return {e: None}
    if isinstance(e, prim.IntImm):
        return {}
    return {v: None for v in walk.variables(e) if isinstance(v, prim.Var)}


def known_dimensions(shape: Expr) -> tuple[PrimExpr, ...] | None:
    """The dimensions of a shape expression, read off the StructInfo of a variable if need be."""
    if isinstance(shape, ShapeExpr):
        return shape.values
    match shape.struct_info:
        case ShapeStructInfo(values=values):
            return values
    return None
