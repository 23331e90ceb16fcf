"""The beginning of a sum as a block of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.arith import NO, YES, prove, prove_equal
from relaxscript.ir.node import Node
from relaxscript.ir.prim import BufferLoad, Call, PrimExpr, Var, const
from relaxscript.ir.tir import Block, BlockRealize, For, IterVar, SeqStmt, Stmt
from relaxscript.ir.walk import substitute, walk

from .coverage import conjuncts
from .mistakes import refuse
from .relations import writes_of
from .scopes import ScopeAccesses, refuse_order, with_regions
from .tree import Change, FunctionTree, StatementMap, and_also

__all__ = ["decompose_reduction"]


def decompose_reduction(tree: FunctionTree, block: Block, loop: For) -> tuple[Change, Block]:
    """A sum as a block that begins it, in loops before `loop`, and one that goes on."""
    realize = tree.realize_of(block)
    inner = _inner_loops(tree, realize, loop)
    starts = _starts(tree, realize, inner, loop)
    _check_order(tree, block, loop)
    kept = _kept_conditions(tree, realize, inner, starts)
    used = _used([value for axis, value in _axes(realize) if axis.iter_type != "reduce"])
    used |= _used([kept])
    nest, begun = _init_nest(tree, realize, [one for one in inner if one.loop_var in used], kept)
    update = block.replace(init=None, name_hint=f"{block.name_hint}_update")
    update = with_regions(update, tree.func)
    changes = StatementMap()
    changes.put(block, update)
    changes.follow(block, update)
    rest = changes.mapped(loop)
    changes.put(loop, SeqStmt((nest, rest)))
    return tree.rewritten(changes), begun


def _axes(realize: BlockRealize) -> list[tuple[IterVar, PrimExpr]]:
    return [*zip(realize.block.iter_vars, realize.iter_values)]


def _used(exprs: Sequence[PrimExpr]) -> set[Var]:
    return {part for e in exprs for part in walk(e) if isinstance(part, Var)}


def _inner_loops(tree: FunctionTree, realize: BlockRealize, loop: For) -> list[For]:
    """The loops of a sum from `loop` on."""
    block = realize.block
    if block.init is None:
        raise refuse(
            f"the block `{block.name_hint}` has no `T.init()` to be a block of its own",
            [(block, "the block")],
        )  # fmt: skip
    loops = tree.loops_of(realize)
    if not any(one is loop for one in loops):
        raise refuse(
            f"the loop `{loop.loop_var.name}` is not around the block `{block.name_hint}`",
            [(block, "the block"), (loop, f"the loop `{loop.loop_var.name}`")],
            "`sch.get_loops(block)` gives those that are",
        )  # fmt: skip
    for parent in tree.above(realize):
        if parent is loop:
            break
        if not isinstance(parent, (For, SeqStmt)):
            raise refuse(
                f"there is more than loops between `{loop.loop_var.name}` and the block "
                f"`{block.name_hint}`", [(parent, "this"), (block, "the block")],
            )  # fmt: skip
    return loops[[one is loop for one in loops].index(True) :]


def _starts(
    tree: FunctionTree, realize: BlockRealize, inner: Sequence[For], loop: For
) -> dict[Node, Node]:
    """The first values of the loops over which a sum is made."""
    block = realize.block
    summed = _used([value for axis, value in _axes(realize) if axis.iter_type == "reduce"])
    others = _used([value for axis, value in _axes(realize) if axis.iter_type != "reduce"])
    for one in tree.loops_of(realize):
        var = one.loop_var
        outside = not any(one is other for other in inner)
        if var in summed and (outside or var in others):
            where = "is outside of" if outside else "chooses elements too, inside of"
            raise refuse(
                f"the loop `{var.name}`, over which `{block.name_hint}` sums, {where} "
                f"`{loop.loop_var.name}`",
                [(one, f"the loop `{var.name}`"), (loop, f"the loop `{loop.loop_var.name}`")],
                "choose the outermost of the loops of the sum",
            )  # fmt: skip
    starts: dict[Node, Node] = {one.loop_var: one.min for one in inner if one.loop_var in summed}
    facts = tree.facts_at(loop)
    for axis, value in _axes(realize):
        if axis.iter_type != "reduce" or axis.dom is None:
            continue
        if prove_equal(substitute(value, starts), axis.dom.min, facts) is not YES:
            raise refuse(
                f"the sum of `{block.name_hint}` does not begin where its loops begin",
                [(axis.var, f"the axis `{axis.var.name}`")],
            )  # fmt: skip
    return starts


def _check_order(tree: FunctionTree, block: Block, loop: For) -> None:
    """Refuse where elements are used before the sum begins in its first iteration."""
    assert block.init is not None
    accesses = ScopeAccesses(tree, block)
    what = f"the sum of `{block.name_hint}` cannot begin before the loop"
    begins = {id(part) for part in walk(block.init)}
    first = [a for a in accesses.own if id(a.statement) in begins and a.is_write]
    written = writes_of(block)
    for write in first:
        for other in accesses.own:
            same = other is not write and other.buffer.data is write.buffer.data
            if same and not accesses.runs_before(write, other):
                refuse_order(what, write, other)
    inside = {id(part) for part in walk(loop)}
    updates = [a for a in accesses.own if a.is_write and id(a.statement) not in begins]
    for other in accesses.others:
        if other.buffer.data in written and id(other.statement) in inside:
            for update in updates:
                if other.is_write or not accesses.runs_before(update, other):
                    refuse_order(what, update, other)


def _kept_conditions(
    tree: FunctionTree, realize: BlockRealize, inner: Sequence[For], starts: dict[Node, Node]
) -> PrimExpr:
    """The conditions under which an element is there at all, without those of the sum."""
    kept: PrimExpr = const(True)
    own = {one.loop_var for one in inner}
    for condition in conjuncts(realize.predicate):
        used = _used([condition]) & own
        fixed = not any(isinstance(part, (BufferLoad, Call)) for part in walk(condition))
        if fixed and not used & starts.keys():
            kept = and_also(kept, condition)
        elif (
            not fixed
            or used - starts.keys()
            or prove(substitute(condition, starts), tree.facts_at(inner[0])) is NO
        ):
            raise refuse(
                f"where the block `{realize.block.name_hint}` runs is not told of elements and of "
                "the sum apart", [(realize, "the block")],
            )  # fmt: skip
    return kept


def _init_nest(
    tree: FunctionTree, realize: BlockRealize, loops: Sequence[For], condition: PrimExpr
) -> tuple[Stmt, Block]:
    """The loops in which elements get their first values, and the block in them."""
    block = realize.block
    assert block.init is not None
    variables: dict[Node, Any] = {
        one.loop_var: Var.make(
            f"{one.loop_var.name}_init", one.loop_var.dtype, span=one.loop_var.span
        )
        for one in loops
    }
    axes: dict[Node, Node] = {}
    iter_vars, values = [], []
    for axis, value in _axes(realize):
        if axis.iter_type == "reduce":
            axes[axis.var] = const(0, axis.var.dtype) if axis.dom is None else axis.dom.min
            continue
        var = Var.make(axis.var.name, axis.var.dtype, span=axis.var.span)
        axes[axis.var] = var
        iter_vars.append(IterVar(axis.dom, var, axis.iter_type))
        values.append(substitute(value, variables))
    body: Stmt = substitute(block.init, axes)
    begun = Block(tuple(iter_vars), (), (), f"{block.name_hint}_init", body).replace(
        span=block.span
    )
    begun = with_regions(begun, tree.func)
    nest: Stmt = BlockRealize(tuple(values), substitute(condition, variables), begun)
    nest = nest.replace(span=realize.span)
    for one in reversed(loops):
        again: Var = variables[one.loop_var]
        low, extent = substitute(one.min, variables), substitute(one.extent, variables)
        # What is summed up as a vector begins as one.
        kind = one.kind if one.kind == "vectorized" else "serial"
        nest = For(again, low, extent, kind, nest).replace(span=one.span)
    return nest, begun
