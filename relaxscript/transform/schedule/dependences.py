"""Dependences: which iterations of loops touch the same elements, and in which order they must run.

Two accesses of one buffer, at least one of which writes, depend on each other where their indices
are equal. Of each loop around both it is asked in which order such iterations may stand: `<`, `=`
or `>`. The answers are proofs of `arith`; what is not proved may be.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from relaxscript.arith import NO, YES, Facts, prove, prove_equal
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir import For
from relaxscript.ir.walk import substitute

from .accesses import LoopAccess
from .tree import FunctionTree, in_loop

__all__ = [
    "Dependence",
    "carried_by",
    "carried_within",
    "dependence",
    "dependences",
    "order_violation",
    "runs_before",
]

Signs = frozenset[str]
_ALL = frozenset("<=>")


class Dependence(NamedTuple):
    """Two accesses that may be of the same element, in iterations of loops that stand so.

    `signs` has for each loop around both how an iteration of the first may stand to one of the
    second.
    """

    first: LoopAccess
    second: LoopAccess
    loops: tuple[For, ...]
    signs: tuple[Signs, ...]

    @property
    def is_accumulation(self) -> bool:
        """True if both are parts of one accumulation."""
        return self.first.update is not None and self.first.update is self.second.update


def dependences(accesses: Sequence[LoopAccess], facts: Facts) -> Iterator[Dependence]:
    """The dependences between accesses, each of which is given with all loops that matter."""
    by_memory: dict[Var, list[LoopAccess]] = {}
    for access in accesses:
        by_memory.setdefault(access.buffer.data, []).append(access)
    for group in by_memory.values():
        if not any(access.is_write for access in group):
            continue
        for a, b in itertools.combinations_with_replacement(group, 2):
            if a.is_write or b.is_write:
                found = dependence(a, b, facts)
                if found is not None:
                    yield found


def dependence(a: LoopAccess, b: LoopAccess, facts: Facts) -> Dependence | None:
    """The dependence of two accesses, at least one of which writes; None where there is none."""
    common = tuple(x for x, y in zip(a.loops, b.loops) if x is y)
    renamed = {loop.loop_var: Var(loop.loop_var.name, loop.loop_var.dtype) for loop in b.loops}

    def other(e: PrimExpr) -> PrimExpr:
        return substitute(e, renamed)

    for loop in a.loops:
        facts = in_loop(facts, loop.loop_var, loop.min, loop.extent)
    for loop in b.loops:
        facts = in_loop(facts, renamed[loop.loop_var], other(loop.min), other(loop.extent))
    for condition in a.conditions:
        facts = facts.with_condition(condition)
    for condition in b.conditions:
        facts = facts.with_condition(other(condition))
    if a.indices is not None and b.indices is not None and a.buffer is b.buffer:
        indices = zip(a.indices, b.indices)
        pairs = [(x, other(y)) for x, y in indices if x is not None and y is not None]
        if any(prove_equal(x, y, facts) is NO for x, y in pairs):
            return None
        for x, y in pairs:
            facts = facts.with_equal(x, y)
    signs = tuple(_signs(loop.loop_var, renamed[loop.loop_var], facts) for loop in common)
    if not all(signs):
        return None
    return Dependence(a, b, common, signs)


def _signs(x: Var, y: Var, facts: Facts) -> Signs:
    """The ways in which a variable may stand to another: `<`, `=` or `>`."""
    equal = prove_equal(x, y, facts)
    if equal is YES:
        return frozenset("=")
    found = set(_ALL)
    if equal is NO:
        found.discard("=")
    if prove(x <= y, facts) is YES:
        found.discard(">")
    if prove(x >= y, facts) is YES:
        found.discard("<")
    return frozenset(found)


def carried_by(found: Dependence, loop: For) -> bool:
    """True if different iterations of a loop, which is around both, may touch one element."""
    return found.signs[found.loops.index(loop)] != frozenset("=")


def order_violation(
    found: Dependence, before: Sequence[For], after: Sequence[For]
) -> tuple[For, For] | None:
    """Two loops that a new order of loops exchanges, against a dependence; None if there are none.

    `before` and `after` have the same loops, of which `before` is around both accesses.
    """
    places = [found.loops.index(loop) for loop in before]
    for signs in itertools.product(*(sorted(found.signs[place]) for place in places)):
        of = {id(loop): sign for loop, sign in zip(before, signs)}
        first = next((loop for loop in before if of[id(loop)] != "="), None)
        if first is None:
            continue
        then = next(loop for loop in after if of[id(loop)] != "=")
        if of[id(first)] != of[id(then)]:
            return first, then
    return None


def carried_within(found: Dependence, outer: Sequence[For], loop: For) -> bool:
    """True if iterations of a loop may share an element while those of loops around are equal."""
    same = all("=" in found.signs[found.loops.index(other)] for other in outer)
    return same and carried_by(found, loop)


def runs_before(a: LoopAccess, b: LoopAccess, tree: FunctionTree, facts: Facts) -> bool:
    """True if no element is touched by `b` and then by `a`: all that `a` does with it is before."""
    found = dependence(a, b, facts)
    if found is None:
        return True
    for sign in found.signs:
        if ">" in sign:
            return False
        if "=" not in sign:
            return True
    return tree.order[id(a.statement)] < tree.order[id(b.statement)]
