"""Splitting, fusing and reordering of loops.

`split` and `fuse` leave the order in which statements run as it is. `reorder` changes it, and is
checked against the dependences of all that is in the loops.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

from relaxscript.arith import YES, Facts, format_expr, prove, prove_equal, simplify
from relaxscript.ir import prim
from relaxscript.ir.prim import BufferLoad, Call, IntImm, PrimExpr, Var, const
from relaxscript.ir.tir import (
    AttrStmt,
    BlockRealize,
    For,
    ForKind,
    IfThenElse,
    SeqStmt,
    Stmt,
)
from relaxscript.ir.walk import Substitution, walk

from .accesses import EFFECTS, accesses_in
from .dependences import Dependence, carried_within, dependences, order_violation
from .mistakes import Place, refuse
from .tree import Change, FunctionTree, StatementMap, and_also, in_loop

__all__ = [
    "check_plain",
    "fuse",
    "guarded",
    "places_of",
    "reorder",
    "simplified_values",
    "split",
    "told",
]


# ---------------------------------------------------------------- words


def told(dependence: Dependence) -> str:
    """The memory that two accesses share, in a few words."""
    if dependence.first.buffer is EFFECTS:
        return "its calls may have effects"
    return f"they share elements of `{dependence.first.buffer.name}`"


def places_of(dependence: Dependence) -> list[Place]:
    """The places of two accesses, and what they do."""
    found = []
    for access in (dependence.first, dependence.second):
        verb = "writes" if access.is_write else "reads"
        what = "what nobody can see" if access.buffer is EFFECTS else f"`{access.buffer.name}`"
        name = "this" if access.block is None else f"block `{access.block.name_hint}`"
        found.append((access.statement, f"{name} {verb} {what}"))
    return found


# ---------------------------------------------------------------- split


def split(
    tree: FunctionTree, loop: For, factors: Sequence[PrimExpr | None], unit_iters: bool,
    predicated: bool,
) -> tuple[Change, list[Var]]:  # fmt: skip
    """A loop as several, the last of which runs fastest."""
    check_plain(loop, "split")
    facts = tree.facts_at(loop)
    extents, exact = _extents(loop, factors, facts)
    if not exact and not predicated:
        raise refuse(
            f"the loop `{loop.loop_var.name}` is split into more iterations than it has, and "
            "`disable_predication` leaves out the condition that skips them",
            [(loop, f"has {format_expr(loop.extent)} iterations")],
            "leave out `disable_predication`, or choose factors that divide it",
        )
    dtype = loop.loop_var.dtype
    name = loop.loop_var.name
    place = loop.loop_var.span
    variables = [Var.make(f"{name}_{i}", dtype, span=place) for i in range(len(extents))]
    offset: PrimExpr = const(0, dtype)
    for var, extent in zip(variables, extents):
        part: PrimExpr = var
        if _is(extent, 1) and not unit_iters:
            part = const(0, dtype)
        offset = _plus(_times(offset, extent), part)
    value = _plus(loop.min, offset)
    changes = StatementMap()
    body = changes.substituted(loop.body, Substitution({loop.loop_var: value}))
    if not exact:
        body = guarded(body, prim.LT(offset, loop.extent))
    for var, extent in zip(variables, extents):
        facts = in_loop(facts, var, const(0, dtype), extent)
    body = simplified_values(body, facts)
    for var, extent in [*zip(variables, extents)][::-1]:
        body = For(var, const(0, dtype), extent, loop.kind, body).replace(span=loop.span)
    changes.put(loop, body)
    return tree.rewritten(changes), variables


def _extents(
    loop: For, factors: Sequence[PrimExpr | None], facts: Facts
) -> tuple[list[PrimExpr], bool]:
    """The extents of the parts of a loop, and whether they make up exactly its iterations."""
    extent, dtype = loop.extent, loop.loop_var.dtype
    place = (loop, f"has {format_expr(extent)} iterations")
    given = [None if f is None else prim.cast(f, dtype) for f in factors]
    missing = [i for i, factor in enumerate(given) if factor is None]
    if not given or len(missing) > 1:
        raise refuse(
            "`factors` has at least one number, and None for one of them at most", [place],
            "`sch.split(loop, factors=[None, 16])` has inner loops of 16 iterations",
        )  # fmt: skip
    for factor in given:
        if factor is not None and prove(factor >= 1, facts) is not YES:
            raise refuse(
                f"a loop of {format_expr(factor)} iterations is no part of another", [place],
                "factors are 1 or more",
            )  # fmt: skip
    known = [factor for factor in given if factor is not None]
    product = simplify(reduce(_times, known, const(1, dtype)), facts)
    if missing:
        if prove_equal(extent % product, 0, facts) is YES:
            rest, exact = simplify(extent // product, facts), True
        else:
            rest, exact = simplify((extent + (product - 1)) // product, facts), False
        return [rest if f is None else f for f in given], exact
    if prove_equal(product, extent, facts) is YES:
        return known, True
    if prove(product >= extent, facts) is not YES:
        raise refuse(
            f"the loop `{loop.loop_var.name}` has {format_expr(extent)} iterations, of which the "
            f"factors make up {format_expr(product)}",
            [place], "`None` as one of the factors is as large as is needed",
        )  # fmt: skip
    return known, False


def guarded(stmt: Stmt, condition: PrimExpr) -> Stmt:
    """A statement that runs where a condition holds: blocks say so by `T.where`."""
    match stmt:
        case BlockRealize():
            return stmt.replace(predicate=and_also(stmt.predicate, condition))
        case For() | AttrStmt():
            return stmt.replace(body=guarded(stmt.body, condition))
        case SeqStmt(seq=parts):
            return stmt.replace(seq=tuple(guarded(part, condition) for part in parts))
    return IfThenElse(condition, stmt).replace(span=stmt.span)


def simplified_values(stmt: Stmt, facts: Facts) -> Stmt:
    """A statement with the values of its outermost blocks in their simplest form."""
    match stmt:
        case BlockRealize(iter_values=values):
            return stmt.replace(iter_values=tuple(_simpler(value, facts) for value in values))
        case For():
            inner = in_loop(facts, stmt.loop_var, stmt.min, stmt.extent)
            return stmt.replace(body=simplified_values(stmt.body, inner))
        case AttrStmt():
            return stmt.replace(body=simplified_values(stmt.body, facts))
        case SeqStmt(seq=parts):
            return stmt.replace(seq=tuple(simplified_values(part, facts) for part in parts))
        case IfThenElse(else_case=None):
            return stmt.replace(then_case=simplified_values(stmt.then_case, facts))
    return stmt


def _simpler(e: PrimExpr, facts: Facts) -> PrimExpr:
    if isinstance(e, (Var, IntImm)):
        return e
    made = simplify(e, facts)
    return made if made.dtype is e.dtype and _size(made) < _size(e) else e


def _size(e: PrimExpr) -> int:
    return sum(1 for _ in walk(e))


def _is(e: PrimExpr, value: int) -> bool:
    return isinstance(e, IntImm) and e.value == value


def _times(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    if isinstance(a, IntImm) and isinstance(b, IntImm):
        return const(a.value * b.value, a.dtype)
    if _is(a, 0) or _is(b, 1):
        return a
    return b if _is(a, 1) or _is(b, 0) else a * b


def _plus(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    return b if _is(a, 0) else a if _is(b, 0) else a + b


def check_plain(loop: For, what: str) -> None:
    """Refuse a loop that says what its iterations are for, or runs as often as memory says."""
    _check_fixed(loop, what)
    if loop.kind == ForKind.THREAD_BINDING:
        raise refuse(
            f"the loop `{loop.loop_var.name}` is bound to threads, so it cannot be {what}",
            [(loop, "is bound here")], f"{what} it before `sch.bind`",
        )  # fmt: skip
    if loop.annotations:
        key = next(iter(loop.annotations))
        raise refuse(
            f"the loop `{loop.loop_var.name}` has the annotation `{key}`, of which nobody knows "
            "what it says of parts of the loop",
            [(loop, "the loop")], f'`sch.unannotate(loop, "{key}")` removes it',
        )  # fmt: skip


def _check_fixed(loop: For, what: str) -> None:
    """Refuse a loop that runs as often as some element says, which statements may change."""
    if any(
        isinstance(part, (BufferLoad, Call)) for e in (loop.min, loop.extent) for part in walk(e)
    ):
        raise refuse(
            f"how often the loop `{loop.loop_var.name}` runs is read from memory, so it cannot be "
            f"{what}", [(loop, f"the loop `{loop.loop_var.name}`")],
        )  # fmt: skip


# ---------------------------------------------------------------- fuse


def fuse(tree: FunctionTree, loops: Sequence[For], unit_iters: bool) -> tuple[Change, Var]:
    """Loops that are directly in each other as one."""
    if not loops:
        raise refuse("`fuse` takes the loops that become one", (), "`sch.fuse(i, j)`")
    for loop in loops:
        check_plain(loop, "fused")
    for outer, inner in itertools.pairwise(loops):
        if outer.body is not inner:
            raise refuse(
                f"the loop `{inner.loop_var.name}` is not all that is in the loop "
                f"`{outer.loop_var.name}`",
                [(outer, f"the loop `{outer.loop_var.name}`"), (inner, "the other loop")],
                "loops are given from the outermost to the innermost; `sch.reorder` moves them",
            )  # fmt: skip
        if outer.kind != inner.kind:
            raise refuse(
                f"the loop `{outer.loop_var.name}` is {outer.kind}, and `{inner.loop_var.name}` is "
                f"{inner.kind}",
                [(outer, str(outer.kind)), (inner, str(inner.kind))],
                "fuse loops first, and say then how the one loop runs",
            )  # fmt: skip
    for loop in loops:
        _check_bounds(loop, loops, "fused")
    facts = tree.facts_at(loops[0])
    dtype = max((loop.loop_var.dtype for loop in loops), key=lambda d: d.bits)
    sizes = [loop.extent.value for loop in loops if isinstance(loop.extent, IntImm)]
    if math.prod(sizes) >= 1 << (dtype.bits - 1):
        dtype = prim.INT64
    name = "_".join([*(loop.loop_var.name for loop in loops), "fused"])
    fused = Var.make(name, dtype, span=loops[0].loop_var.span)
    values: dict[Any, PrimExpr] = {}
    rest: PrimExpr = fused
    for loop in [*loops][::-1]:
        extent = prim.cast(loop.extent, dtype)
        if _is(extent, 1) and not unit_iters:
            part: PrimExpr = const(0, dtype)
        else:
            part = rest if loop is loops[0] else rest % extent
            rest = rest if loop is loops[0] else rest // extent
        part = prim.cast(part, loop.loop_var.dtype)
        values[loop.loop_var] = _plus(loop.min, part)
    product = reduce(_times, [prim.cast(loop.extent, dtype) for loop in loops])
    product = simplify(product, facts)
    changes = StatementMap()
    body = changes.substituted(loops[-1].body, Substitution(values))
    body = simplified_values(body, in_loop(facts, fused, const(0, dtype), product))
    made = For(fused, const(0, dtype), product, loops[0].kind, body)
    changes.put(loops[0], made.replace(span=loops[0].span))
    return tree.rewritten(changes), fused


def _check_bounds(loop: For, missing: Sequence[For], what: str) -> None:
    """Refuse a loop that runs as often as a variable says that it would not have any more."""
    by_variable = {other.loop_var: other for other in missing}
    for part in (*walk(loop.min), *walk(loop.extent)):
        if isinstance(part, Var) and part in by_variable:
            raise refuse(
                f"how often the loop `{loop.loop_var.name}` runs depends on `{part.name}`, so they "
                f"cannot be {what}",
                [(by_variable[part], f"the loop `{part.name}`"),
                 (loop, f"has {format_expr(loop.extent)} iterations")],
            )  # fmt: skip


# ---------------------------------------------------------------- reorder


def reorder(tree: FunctionTree, loops: Sequence[For]) -> Change:
    """Loops that are in each other in another order, in the places that they have together."""
    if len({id(loop) for loop in loops}) < len(loops):
        twice = next(loop for loop in loops if sum(other is loop for other in loops) > 1)
        raise refuse(
            f"the loop `{twice.loop_var.name}` is given twice", [(twice, "this loop")],
            "each loop has one place",
        )  # fmt: skip
    chain = _chain(tree, loops)
    places = iter(loops)
    given = {id(loop) for loop in loops}
    order = [next(places) if id(loop) in given else loop for loop in chain]
    for place, loop in enumerate(order):
        _check_fixed(loop, "reordered")
        _check_bounds(loop, order[place:], "reordered")
    if [*map(id, order)] != [*map(id, chain)]:
        _check_order(tree, chain, order)
    body = chain[-1].body if chain else None
    changes = StatementMap()
    for loop in reversed(order):
        body = loop.replace(body=body)
    if chain and body is not None:
        changes.put(chain[0], body)
    return tree.rewritten(changes)


def _check_order(tree: FunctionTree, chain: Sequence[For], order: Sequence[For]) -> None:
    for found in dependences(accesses_in(chain[0]), tree.facts_at(chain[0])):
        exchanged = None if found.is_accumulation else order_violation(found, chain, order)
        if exchanged is not None:
            first, then = exchanged
            raise refuse(
                f"iterations of `{first.loop_var.name}` and `{then.loop_var.name}` must keep their "
                f"order: {told(found)}",
                [*places_of(found), (first, f"the loop `{first.loop_var.name}`"),
                 (then, f"the loop `{then.loop_var.name}`")],
            )  # fmt: skip
        for place, loop in enumerate(order):
            if _runs_apart(loop, found) and carried_within(found, order[:place], loop):
                raise refuse(
                    f"the iterations of `{loop.loop_var.name}`, which is {loop.kind}, would not be "
                    f"independent: {told(found)}",
                    [*places_of(found), (loop, f"is {loop.kind}")],
                )  # fmt: skip


def _runs_apart(loop: For, found: Dependence) -> bool:
    """True if the iterations of a loop have no order; threads of one block may add to one sum."""
    thread = None if loop.thread_binding is None else loop.thread_binding.thread_tag
    if thread is not None:
        return not (thread.startswith("threadIdx") and found.is_accumulation)
    return loop.kind in (ForKind.PARALLEL, ForKind.VECTORIZED)


def _chain(tree: FunctionTree, loops: Sequence[For]) -> list[For]:
    """All loops from the outermost of some to the innermost, each the only thing in the last."""
    if not loops:
        return []
    given = {id(loop) for loop in loops}
    innermost = max(loops, key=lambda loop: len([*tree.above(loop)]))
    chain: list[For] = [innermost]
    left = given - {id(innermost)}
    while left:
        parent = tree.parents.get(id(chain[0]))
        if not isinstance(parent, For):
            stranger = next(loop for loop in loops if id(loop) in left)
            raise refuse(
                f"there is more in the loop `{stranger.loop_var.name}` than the loop "
                f"`{chain[0].loop_var.name}`, or they are not in each other",
                [(stranger, f"the loop `{stranger.loop_var.name}`"),
                 (chain[0], f"the loop `{chain[0].loop_var.name}`")],
                "loops are reordered where each is the only thing in the one around it",
            )  # fmt: skip
        chain.insert(0, parent)
        left.discard(id(parent))
    return chain
