"""The values that the axes of blocks get, and the elements that accesses touch.

A block covers its axes where it runs for all of their values. `arith` proves it by counting: no two
iterations give the same values, all values are in the domains, and there are as many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from relaxscript.arith import (
    YES,
    Facts,
    IntervalSet,
    neg_inf,
    pos_inf,
    prove,
    prove_equal,
    simplify,
)
from relaxscript.arith.eval_set import eval_interval
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr, Var, const
from relaxscript.ir.tir import BlockRealize, For
from relaxscript.ir.walk import substitute, walk

from .accesses import LoopAccess
from .tree import in_loop

__all__ = ["Box", "box_of", "conjuncts", "covers_axes", "filled"]


# The least and the greatest index along each axis of a buffer, or value of each axis.
Box = list[tuple[PrimExpr, PrimExpr]]


def conjuncts(condition: PrimExpr) -> Iterator[PrimExpr]:
    """The conditions that a condition says must all hold."""
    if isinstance(condition, prim.And):
        yield from conjuncts(condition.a)
        yield from conjuncts(condition.b)
    elif not (isinstance(condition, IntImm) and condition.value):
        yield condition


# ---------------------------------------------------------------- values of axes


class _Iterations(NamedTuple):
    """Loops from 0 on by their variables and extents, the values of axes, and conditions."""

    loops: tuple[tuple[Var, PrimExpr], ...]
    values: tuple[PrimExpr, ...]
    conditions: tuple[PrimExpr, ...]


def covers_axes(realize: BlockRealize, loops: Sequence[For], facts: Facts) -> bool:
    """True if a block in some loops is proved to run for all values of its axes, once for each."""
    box = filled(realize, loops, facts)
    if box is None:
        return False
    running = facts
    for loop in loops:
        running = in_loop(running, loop.loop_var, loop.min, loop.extent)
    for condition in conjuncts(realize.predicate):
        running = running.with_condition(condition)
    for axis, value, (low, high) in zip(realize.block.iter_vars, realize.iter_values, box):
        assert axis.dom is not None
        start, end = axis.dom.min, axis.dom.min + axis.dom.extent
        wanted = (low <= start, end <= high + 1)
        if not all(prove(condition, facts) is YES for condition in wanted):
            return False
        if not all(prove(c, running) is YES for c in (value >= start, value < end)):
            return False
    return True


def filled(realize: BlockRealize, loops: Sequence[For], facts: Facts) -> Box | None:
    """The ends between which each axis has all values while loops run, each once.

    Conditions leave out only what is outside of the domains. None where that is not known.
    """
    found = _of(realize, loops, facts)
    known = facts
    for var, extent in found.loops:
        known = in_loop(known, var, const(0, var.dtype), extent)
    domains = [axis.dom for axis in realize.block.iter_vars if axis.dom is not None]
    if len(domains) < len(found.values) or not _is_injective(found, known):
        return None
    box: Box = []
    for value, domain in zip(found.values, domains):
        ends = _ends(value, found, facts)
        if ends is None:
            return None
        box.append(ends)
        known = known.with_condition(value >= domain.min)
        known = known.with_condition(value < domain.min + domain.extent)
    spans = _product([simplify(high - low + 1, facts) for low, high in box])
    count = _product([extent for _, extent in found.loops])
    whole = prove_equal(count, spans, facts) is YES
    return box if whole and all(prove(c, known) is YES for c in found.conditions) else None


def _ends(value: PrimExpr, found: _Iterations, facts: Facts) -> tuple[PrimExpr, PrimExpr] | None:
    """The least and the greatest value of an axis; None where they are not known."""
    domains = {var: IntervalSet(const(0, var.dtype), extent - 1) for var, extent in found.loops}
    interval = eval_interval(value, domains, facts)
    if interval.min_value is neg_inf() or interval.max_value is pos_inf():
        return None
    return interval.min_value, interval.max_value


def _product(extents: Sequence[PrimExpr]) -> PrimExpr:
    return reduce(lambda a, b: prim.cast(a, prim.INT64) * prim.cast(b, prim.INT64), extents,
                  const(1, prim.INT64))  # fmt: skip


def _is_injective(found: _Iterations, facts: Facts) -> bool:
    other = {var: Var(var.name, var.dtype) for var, _ in found.loops}
    for var, extent in found.loops:
        facts = in_loop(facts, other[var], const(0, var.dtype), extent)
    for value in found.values:
        facts = facts.with_equal(value, substitute(value, other))
    return all(prove_equal(var, copy, facts) is YES for var, copy in other.items())


def _of(realize: BlockRealize, loops: Sequence[For], facts: Facts) -> _Iterations:
    """The iterations of a block, with loops that `split` made put together again."""
    starts = {loop.loop_var: loop.loop_var + loop.min for loop in loops if not _is_zero(loop.min)}
    found = _Iterations(
        tuple((loop.loop_var, loop.extent) for loop in loops),
        tuple(substitute(value, starts) for value in realize.iter_values),
        tuple(substitute(c, starts) for c in conjuncts(realize.predicate)),
    )
    while (merged := _merged(found, facts)) is not None:
        found = merged
    return _limited(found, facts)


def _is_zero(e: PrimExpr) -> bool:
    return isinstance(e, IntImm) and e.value == 0


def _merged(found: _Iterations, facts: Facts) -> _Iterations | None:
    """The same iterations with two loops as one; None where that makes nothing simpler."""
    for a, outer in found.loops:
        for b, inner in found.loops:
            if a is b or a.dtype is not b.dtype or _is_zero(inner):
                continue
            var = Var(f"{a.name}_{b.name}", a.dtype)
            extent = simplify(outer * inner, facts)
            known = in_loop(facts, var, const(0, var.dtype), extent)
            for other, size in found.loops:
                if other is not a and other is not b:
                    known = in_loop(known, other, const(0, other.dtype), size)
            parts = {a: var // inner, b: var % inner}
            values = tuple(simplify(substitute(v, parts), known) for v in found.values)
            conditions = tuple(_with_parts(c, parts, known) for c in found.conditions)
            if _divisions((*values, *conditions)) <= _divisions((*found.values, *found.conditions)):
                rest = tuple(pair for pair in found.loops if pair[0] is not a and pair[0] is not b)
                return _Iterations(((var, extent), *rest), values, conditions)
    return None


def _with_parts(condition: PrimExpr, parts: Mapping[Var, PrimExpr], facts: Facts) -> PrimExpr:
    made = substitute(condition, parts)
    if isinstance(made, prim.Comparison):
        return type(made)(simplify(made.a, facts), simplify(made.b, facts))
    return made


def _divisions(exprs: Sequence[PrimExpr]) -> int:
    return sum(isinstance(part, (prim.FloorDiv, prim.FloorMod)) for e in exprs for part in walk(e))


def _limited(found: _Iterations, facts: Facts) -> _Iterations:
    """The iterations with loops that end where a condition says so."""
    loops, left = dict(found.loops), []
    for condition in found.conditions:
        match condition:
            case prim.LT(a=Var() as var, b=bound) if var in loops:
                known = facts
                for other, extent in found.loops:
                    known = in_loop(known, other, const(0, other.dtype), extent)
                own = any(isinstance(part, Var) and part in loops for part in walk(bound))
                if not own and prove(prim.LE(bound, loops[var]), known) is YES:
                    loops[var] = bound
                    continue
        left.append(condition)
    return _Iterations(tuple(loops.items()), found.values, tuple(left))


# ---------------------------------------------------------------- elements of accesses


def box_of(
    accesses: Sequence[LoopAccess], inner: Sequence[Sequence[For]], facts: Facts
) -> Box | None:
    """The indices that accesses of one buffer have while loops inside run.

    `inner` has the loops of each that run; the variables of others stay. None where it is not
    known.
    """
    found: Box | None = None
    for access, loops in zip(accesses, inner):
        if access.indices is None:
            return None
        domains = {
            loop.loop_var: IntervalSet(loop.min, loop.min + loop.extent - 1) for loop in loops
        }
        box: Box = []
        for index in access.indices:
            if index is None:
                return None
            interval = eval_interval(index, domains, facts)
            if interval.min_value is neg_inf() or interval.max_value is pos_inf():
                return None
            box.append((interval.min_value, interval.max_value))
        if any(_uses(end, loops) for pair in box for end in pair):
            return None
        found = box if found is None else [
            (_least(a, c, facts), _greatest(b, d, facts)) for (a, b), (c, d) in zip(found, box)
        ]  # fmt: skip
    return found


def _uses(e: PrimExpr, loops: Sequence[For]) -> bool:
    own = {loop.loop_var for loop in loops}
    return any(isinstance(part, Var) and part in own for part in walk(e))


def _least(a: PrimExpr, b: PrimExpr, facts: Facts) -> PrimExpr:
    if prove(a <= b, facts) is YES:
        return a
    return b if prove(b <= a, facts) is YES else simplify(prim.Min(a, b), facts)


def _greatest(a: PrimExpr, b: PrimExpr, facts: Facts) -> PrimExpr:
    if prove(a >= b, facts) is YES:
        return a
    return b if prove(b >= a, facts) is YES else simplify(prim.Max(a, b), facts)
