"""Nests in parts, in each of which a condition on an index always holds, or never does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.arith import YES, prove, simplify
from relaxscript.ir import prim
from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.node import Node
from relaxscript.ir.prim import Call, FloorDiv, FloorMod, IntImm, PrimExpr, Var, cast, const
from relaxscript.ir.stmt_functor import pre_order_visit
from relaxscript.ir.tir import BufferStore
from relaxscript.ir.walk import rewrite, walk

from .inline_producers import InlinedNest
from .loop_nests import Loop, is_without

__all__ = ["divides", "split_at_conditions"]

# A nest becomes at most so many, and a loop at most so many by a division.
MOST, MOST_PARTS = 24, 4


def split_at_conditions(value: InlinedNest) -> list[InlinedNest] | None:
    """The nests that together store what one stores; None where no condition splits a loop.

    for i in range(10):                            for i in range(1):
        B[i] = T.if_then_else(                         B[i] = 0.0
            i >= 1 and i < 9, A[i - 1], 0.0)    →  for i in range(8):
                                                       B[i + 1] = A[i + 1 - 1]
                                                   for i in range(1):
                                                       B[i + 9] = 0.0
    """
    done: list[InlinedNest] = []
    open_: list[InlinedNest] = [value]
    while open_:
        part = _without_divisions(open_.pop(0))
        cut = _first_cut(part)
        if cut is None:
            done.append(part)
        else:
            open_[:0] = _parts(part, cut)
        if len(done) + len(open_) > MOST:
            return None
    return done if len(done) > 1 else None


def divides(value: InlinedNest) -> bool:
    """True if a place of an element is a remainder, so that a loop over it begins again."""
    parts: list[PrimExpr] = []
    pre_order_visit(value.nest.store.value, parts.append)
    return any(
        isinstance(node, FloorMod) and _cut_of_division(node, value.nest.loops) is not None
        for node in parts
    )


class _Cut(NamedTuple):
    """A comparison that holds for the indices of a loop below a place, or for all others.

    Without a comparison a loop is only cut.
    """

    comparison: PrimExpr | None
    loop: Loop
    place: PrimExpr
    above: bool


def _first_cut(value: InlinedNest) -> _Cut | None:
    """The first comparison in a condition by which elements are chosen that splits a loop."""
    for e in (*(bound for _, bound in value.lets), value.nest.store.value):
        for node in walk(e):
            if isinstance(node, (FloorMod, FloorDiv)):
                cut = _cut_of_division(node, value.nest.loops)
                if cut is not None:
                    return cut
            if isinstance(node, Call) and node.op == op_named("tir.if_then_else"):
                for comparison in _conjuncts(node.args[0]):
                    cut = _cut(comparison, value.nest.loops)
                    if cut is not None:
                        return cut
    return None


def _cut_of_division(node: FloorMod | FloorDiv, loops: Sequence[Loop]) -> _Cut | None:
    """The cut at the first index for which the quotient is another one."""
    found = _dividend(node, loops)
    if found is None:
        return None
    loop, first, size = found
    place = size - first % size
    assert isinstance(loop.extent, IntImm)
    if place >= loop.extent.value:
        return None
    return _Cut(None, loop, IntImm(loop.extent.dtype, place), False)


def _dividend(node: FloorMod | FloorDiv, loops: Sequence[Loop]) -> tuple[Loop, int, int] | None:
    """The loop whose index is divided, the first dividend, and the divisor, if all are known."""
    if not isinstance(node.b, IntImm) or node.b.value <= 0:
        return None
    for loop in loops:
        shift = _shift(node.a, loop.var)
        if isinstance(shift, IntImm) and isinstance(loop.extent, IntImm):
            parts = -(-loop.extent.value // node.b.value)
            return (loop, shift.value, node.b.value) if parts <= MOST_PARTS else None
    return None


def _without_divisions(value: InlinedNest) -> InlinedNest:
    """The nest with remainders and quotients that are known for all of its indices."""

    def step(node: Node) -> Node | None:
        if not isinstance(node, (FloorMod, FloorDiv)):
            return None
        found = _dividend(node, value.nest.loops)
        if found is None:
            return None
        loop, first, size = found
        assert isinstance(loop.extent, IntImm)
        quotient = first // size
        if (first + max(loop.extent.value, 1) - 1) // size != quotient:
            return None
        if isinstance(node, FloorDiv):
            return const(quotient, node.dtype)
        return simplify(node.a - const(quotient * size, node.dtype))

    store = value.nest.store
    nest = value.nest._replace(store=store.replace(value=rewrite(store.value, step)))
    return InlinedNest(nest, tuple((var, rewrite(bound, step)) for var, bound in value.lets))


def _conjuncts(condition: PrimExpr) -> list[PrimExpr]:
    if isinstance(condition, (prim.And, prim.Or)):
        return [*_conjuncts(condition.a), *_conjuncts(condition.b)]
    return [condition]


def _cut(comparison: PrimExpr, loops: Sequence[Loop]) -> _Cut | None:
    """The cut that a comparison of an index with what is the same for all elements makes.

    The index is on either side.
    """
    kind = type(comparison)
    if not isinstance(comparison, prim.Comparison) or kind not in _MIRRORED:
        return None
    a, b = comparison.a, comparison.b
    found = _cut_below(comparison, kind, a, b, loops)
    return found or _cut_below(comparison, _MIRRORED[kind], b, a, loops)


_MIRRORED: dict[type[PrimExpr], type[PrimExpr]] = {
    prim.LT: prim.GT, prim.GT: prim.LT, prim.LE: prim.GE, prim.GE: prim.LE,
}  # fmt: skip


def _cut_below(
    comparison: PrimExpr, kind: type[PrimExpr], a: PrimExpr, b: PrimExpr, loops: Sequence[Loop]
) -> _Cut | None:
    """The cut of a comparison of an index `a` with `b`."""
    strict, above = kind in (prim.LT, prim.GE), kind in (prim.GT, prim.GE)
    for loop in loops:
        shift = _shift(a, loop.var)
        if shift is None or not is_without([b, shift], loops):
            continue
        place = simplify(b - shift if strict else b - shift + const(1, b.dtype))
        inside = _clipped(cast(place, loop.extent.dtype), loop.extent)
        if inside is not None:
            return _Cut(comparison, loop, inside, above)
    return None


def _shift(e: PrimExpr, var: Var) -> PrimExpr | None:
    """The number that is added to a variable."""
    match e:
        case Var():
            return const(0, e.dtype) if e is var else None
        case prim.Add(a=a, b=b):
            inner = _shift(a, var)
            return None if inner is None else simplify(inner + b)
        case prim.Sub(a=a, b=b):
            inner = _shift(a, var)
            return None if inner is None else simplify(inner - b)
    return None


def _clipped(place: PrimExpr, extent: PrimExpr) -> PrimExpr | None:
    """A place in a loop; None where it may be outside, and is no number."""
    if isinstance(place, IntImm) and isinstance(extent, IntImm):
        return IntImm(extent.dtype, min(max(place.value, 0), extent.value))
    inside = prove(place >= const(0, place.dtype)) is YES and prove(place <= extent) is YES
    return place if inside else None


def _parts(value: InlinedNest, cut: _Cut) -> list[InlinedNest]:
    """The nests below and above a cut, as far as they have elements."""
    zero = const(0, cut.loop.extent.dtype)
    below = _part(value, cut, zero, cut.place, not cut.above)
    rest = simplify(cut.loop.extent - cut.place)
    return [*below, *_part(value, cut, cut.place, rest, cut.above)]


def _part(
    value: InlinedNest, cut: _Cut, first: PrimExpr, extent: PrimExpr, holds: bool
) -> list[InlinedNest]:
    if isinstance(extent, IntImm) and extent.value == 0:
        return []
    var = Var.make(cut.loop.var.name, cut.loop.var.dtype)
    at: PrimExpr = var
    if not (isinstance(first, IntImm) and first.value == 0):
        at = var + cast(first, var.dtype)

    given: dict[Node, PrimExpr] = {cut.loop.var: at}

    def chosen(e: PrimExpr) -> PrimExpr:
        truth = const(holds, "bool")
        made = e
        if cut.comparison is not None:
            made = rewrite(e, lambda node: truth if node is cut.comparison else None)
        return _folded(rewrite(made, given.get))

    loops = tuple(Loop(var, extent) if loop is cut.loop else loop for loop in value.nest.loops)
    store = value.nest.store
    indices = tuple(rewrite(index, given.get) for index in store.indices)
    made = BufferStore(store.buffer, chosen(store.value), indices)
    names: dict[Node, PrimExpr] = {}
    lets = []
    for name, bound in value.lets:
        fresh = Var.make(name.name, name.dtype)
        lets.append((fresh, rewrite(chosen(bound), names.get)))
        names[name] = fresh
    made = rewrite(made, names.get)
    return [InlinedNest(value.nest._replace(loops=loops, store=made), tuple(lets))]


def _folded(e: PrimExpr) -> PrimExpr:
    """An expression in which conditions that are known are not asked."""

    def step(node: Node) -> Node | None:
        match node:
            case prim.And(a=a, b=b):
                return _connected(prim.And, a, b)
            case prim.Or(a=a, b=b):
                return _connected(prim.Or, a, b)
            case Call() if node.op == op_named("tir.if_then_else"):
                known = _truth(node.args[0])
                if known is not None:
                    return node.args[1 if known else 2]
        return None

    return rewrite(e, step)


def _connected(kind: type[prim.Logic], a: PrimExpr, b: PrimExpr) -> PrimExpr:
    """Two conditions connected, of which one may be known."""
    for one, other in ((a, b), (b, a)):
        known = _truth(one)
        if known is not None:
            return other if known is (kind is prim.And) else one
    return kind(a, b)


def _truth(e: PrimExpr) -> bool | None:
    return bool(e.value) if isinstance(e, IntImm) else None
