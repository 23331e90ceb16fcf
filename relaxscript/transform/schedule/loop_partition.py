"""A loop as several that run one after the other, each over a part of its iterations."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from relaxscript.arith import YES, Facts, format_expr, prove, simplify
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr, Var, const
from relaxscript.ir.stmt_functor import rebuild_tir
from relaxscript.ir.tir import Block, For, SeqStmt, Stmt
from relaxscript.ir.walk import Substitution, walk
from relaxscript.transform.prim_func.convert_ssa import with_own_definitions

from .loops import check_plain, simplified_values
from .mistakes import refuse
from .tree import Change, FunctionTree, StatementMap, in_loop

__all__ = ["loop_partition"]


def loop_partition(
    tree: FunctionTree, loop: For, factors: Sequence[PrimExpr | None], unit_iters: bool
) -> tuple[Change, list[Var]]:
    """A loop as several of `factors` iterations, and one of those that are left over."""
    check_plain(loop, "partitioned")
    _check_sums(tree, loop)
    facts = tree.facts_at(loop)
    made: list[For] = []
    begin: PrimExpr = const(0, loop.loop_var.dtype)
    for number, extent in enumerate(_extents(loop, factors, facts)):
        made.append(_part(loop, number, (begin, extent), facts, unit_iters))
        begin = simplify(begin + extent, facts)
    changes = StatementMap()
    changes.put(loop, SeqStmt(tuple(made)) if len(made) > 1 else made[0])
    change = tree.rewritten(changes)
    return change, [part.loop_var for part in made]


def _check_sums(tree: FunctionTree, loop: For) -> None:
    """Refuse a loop over which a sum is made that begins inside of it."""
    for realize in tree.blocks_in(loop):
        block = realize.block
        if block.init is None:
            continue
        for axis, value in zip(block.iter_vars, realize.iter_values, strict=True):
            if axis.iter_type == "reduce" and any(x is loop.loop_var for x in walk(value)):
                raise refuse(
                    f"the sum of `{block.name_hint}` would begin in one part of the loop "
                    f"`{loop.loop_var.name}` and go on in another",
                    [(block, "the block"), (loop, f"the loop `{loop.loop_var.name}`")],
                    "`sch.decompose_reduction` lets it begin before the loop",
                )  # fmt: skip


def _extents(loop: For, factors: Sequence[PrimExpr | None], facts: Facts) -> list[PrimExpr]:
    """The iterations of each part, of which none may be negative."""
    extent, dtype = loop.extent, loop.loop_var.dtype
    place = (loop, f"has {format_expr(extent)} iterations")
    given = [None if f is None else prim.cast(f, dtype) for f in factors]
    missing = [i for i, factor in enumerate(given) if factor is None]
    if not given or len(missing) > 1:
        raise refuse(
            "`factors` has at least one number, and None for one of them at most", [place],
            "`sch.loop_partition(loop, factors=[16])` has a loop of 16 iterations and the rest",
        )  # fmt: skip
    total: PrimExpr = const(0, dtype)
    for factor in given:
        if factor is None:
            continue
        if prove(factor >= 0, facts) is not YES:
            raise refuse(
                f"{format_expr(factor)} iterations may be fewer than none", [place],
                "factors are 0 or more",
            )  # fmt: skip
        total = total + factor
    total = simplify(total, facts)
    rest = simplify(extent - total, facts)
    if prove(total <= extent, facts) is not YES:
        raise refuse(
            f"the loop `{loop.loop_var.name}` has {format_expr(extent)} iterations, and the "
            f"factors make up {format_expr(total)}",
            [place], "`None` as one of the factors is as large as is needed",
        )  # fmt: skip
    if missing:
        return [rest if f is None else f for f in given]
    known = [f for f in given if f is not None]
    return known if isinstance(rest, IntImm) and rest.value == 0 else [*known, rest]


def _part(
    loop: For, number: int, bounds: tuple[PrimExpr, PrimExpr], facts: Facts, unit_iters: bool
) -> For:
    """The loop of the part of a number, with variables, buffers and blocks of its own."""
    begin, extent = bounds
    old = loop.loop_var
    var = Var.make(f"{old.name}{number}", old.dtype, span=old.span)
    low = simplify(loop.min + begin, facts)
    is_unit = isinstance(extent, IntImm) and extent.value == 1
    body = Substitution({old: low if is_unit and not unit_iters else var}).apply(loop.body)
    body = with_own_definitions(_with_own_statements(body, var.name))
    body = simplified_values(body, in_loop(facts, var, low, extent))
    return For(var, low, extent, loop.kind, body).replace(span=loop.span)


def _with_own_statements(stmt: Stmt, name: str) -> Stmt:
    """A copy of all statements, in which the blocks are named after a loop."""

    def of(part: Stmt | PrimExpr) -> Stmt | PrimExpr:
        if isinstance(part, PrimExpr):
            return part
        made = rebuild_tir(part, of)
        if isinstance(made, Block):
            return made.replace(name_hint=f"{made.name_hint}_{name}")
        # No statement is in two places: steps know statements by their identity.
        return copy(made) if made is part else made

    made = of(stmt)
    assert isinstance(made, Stmt)
    return made
