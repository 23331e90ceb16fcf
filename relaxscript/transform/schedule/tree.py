"""A PrimFunc as a tree of blocks and loops, and its statements with others in their place.

Nodes are frozen: a step of a schedule makes a new function. Loops are known by their variables,
which stay; blocks are followed from the node that was to the one that takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from relaxscript.arith import Facts
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr, Var, const
from relaxscript.ir.stmt_functor import parts_of_tir, rebuild_tir
from relaxscript.ir.tir import (
    AttrStmt,
    Block,
    BlockRealize,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
)
from relaxscript.ir.walk import Substitution, walk

__all__ = [
    "NOTHING", "Change", "FunctionTree", "StatementMap", "and_also", "in_loop", "sequence",
    "size_facts",
]  # fmt: skip

# A statement that is to be removed; loops around nothing go with it.
NOTHING = Evaluate(const(0))


class Change(NamedTuple):
    """A new function, and the blocks in it that took the place of others, by the identity of these.

    `kept` are the old blocks, so that no other node gets the identity of one.
    """

    func: PrimFunc
    blocks: Mapping[int, Block]
    kept: tuple[Block, ...]


class StatementMap:
    """Statements that take the place of others, and the blocks that changed on the way."""

    def __init__(self) -> None:
        self.statements: dict[int, Stmt] = {}
        self.blocks: dict[int, Block] = {}
        self.kept: list[Stmt] = []

    def put(self, old: Stmt, new: Stmt) -> None:
        """`new` in the place of `old`."""
        self.statements[id(old)] = new
        self.kept.append(old)

    def follow(self, old: Block, new: Block) -> None:
        """Note that the block `old` is the block `new` from now on."""
        if old is not new:
            self.blocks[id(old)] = new
            self.kept.append(old)

    def substituted(self, stmt: Stmt, values: Substitution) -> Stmt:
        """A statement with variables replaced; its blocks are followed."""
        return self.mapped(stmt, values.apply)

    def mapped(
        self, stmt: Stmt, scalar: Callable[[PrimExpr], PrimExpr] | None = None,
        renewed: Callable[[Block, Block], Block] | None = None,
    ) -> Stmt:  # fmt: skip
        """A statement with the replacements so far, and scalars replaced by what a function gives.

        `renewed` is asked for each block that changed, with the block as it was.
        """

        def of(part: Stmt | PrimExpr) -> Stmt | PrimExpr:
            if isinstance(part, PrimExpr):
                return part if scalar is None else scalar(part)
            if id(part) in self.statements:
                return self.statements[id(part)]
            made = _without_nothing(part, rebuild_tir(part, of))
            if made is not part and isinstance(made, Block) and isinstance(part, Block):
                made = made if renewed is None else renewed(part, made)
                self.follow(part, made)
            return made

        return of(stmt)  # type: ignore[return-value]


class FunctionTree:
    """The places of the statements of a function."""

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.parents: dict[int, Stmt] = {}
        self.loops: dict[Var, For] = {}
        self.realizes: list[BlockRealize] = []
        self.order: dict[int, int] = {}
        stack: list[Stmt] = [func.body]
        while stack:
            stmt = stack.pop()
            self.order[id(stmt)] = len(self.order)
            if isinstance(stmt, For):
                self.loops[stmt.loop_var] = stmt
            elif isinstance(stmt, BlockRealize):
                self.realizes.append(stmt)
            inner = [part for part in parts_of_tir(stmt) if isinstance(part, Stmt)]
            for part in inner:
                self.parents[id(part)] = stmt
            stack.extend(reversed(inner))
        self._realize_of = {id(realize.block): realize for realize in self.realizes}

    def realize_of(self, block: Block) -> BlockRealize:
        """The statement that runs a block."""
        return self._realize_of[id(block)]

    def has(self, block: Block) -> bool:
        """True if a block is in the function."""
        return id(block) in self._realize_of

    def above(self, stmt: Stmt) -> Iterator[Stmt]:
        """The statements around one, the innermost first."""
        parent = self.parents.get(id(stmt))
        while parent is not None:
            yield parent
            parent = self.parents.get(id(parent))

    def scope_of(self, stmt: Stmt) -> Block | None:
        """The innermost block around a statement, which is not the block that it runs."""
        return next((s for s in self.above(stmt) if isinstance(s, Block)), None)

    def loops_of(self, stmt: Stmt) -> list[For]:
        """The loops around a statement up to the next block, the outermost first."""
        found: list[For] = []
        for parent in self.above(stmt):
            if isinstance(parent, Block):
                break
            if isinstance(parent, For):
                found.append(parent)
        return found[::-1]

    def blocks_in(self, stmt: Stmt) -> list[BlockRealize]:
        """The blocks in a statement, without those that are inside of other blocks."""
        found: list[BlockRealize] = []
        stack: list[Stmt] = [stmt.block if isinstance(stmt, BlockRealize) else stmt]
        while stack:
            one = stack.pop()
            if isinstance(one, BlockRealize):
                found.append(one)
                continue
            stack.extend(reversed([p for p in parts_of_tir(one) if isinstance(p, Stmt)]))
        return found

    def facts_at(self, stmt: Stmt, inclusive: bool = False) -> Facts:
        """All that is known of the variables around a statement, or inside of it."""
        facts = size_facts(self.func)
        around = [*self.above(stmt)][::-1]
        inner: Stmt = stmt
        for index, one in enumerate(around):
            inner = around[index + 1] if index + 1 < len(around) else stmt
            facts = _known_inside(one, inner, facts)
        return _known_inside(stmt, None, facts) if inclusive else facts

    def rewritten(self, changes: StatementMap) -> Change:
        """The function with statements replaced; only what is around them is made anew."""
        path: set[int] = set()
        for old in changes.kept:
            if id(old) in changes.statements:
                path.update(id(parent) for parent in self.above(old))

        def of(part: Stmt | PrimExpr) -> Stmt | PrimExpr:
            if id(part) in changes.statements:
                return changes.statements[id(part)]
            if id(part) not in path:
                return part
            made = _without_nothing(part, rebuild_tir(part, of))
            if isinstance(made, Block) and isinstance(part, Block):
                changes.follow(part, made)
            return made

        body = of(self.func.body)
        kept = tuple(old for old in changes.kept if isinstance(old, Block))
        return Change(self.func.replace(body=body), dict(changes.blocks), kept)


def _without_nothing(old: Stmt | PrimExpr, made: Stmt | PrimExpr) -> Stmt | PrimExpr:
    """A statement without those of its parts that are to be removed."""
    match made:
        case SeqStmt(seq=parts) if any(part is NOTHING for part in parts):
            return sequence(*parts)
        case For(body=body) | LetStmt(body=body) | AttrStmt(body=body) if body is NOTHING:
            return NOTHING
        case IfThenElse(then_case=body, else_case=None) if body is NOTHING:
            return NOTHING
    return made


def sequence(*stmts: Stmt) -> Stmt:
    """Statements one after the other, without those that are to be removed."""
    kept = tuple(stmt for stmt in stmts if stmt is not NOTHING)
    if not kept:
        return NOTHING
    return SeqStmt(kept) if len(kept) > 1 else kept[0]


def size_facts(func: PrimFunc) -> Facts:
    """Sizes of buffers are not negative; other variables may be."""
    facts = Facts(nonnegative=False)
    for buffer in func.buffer_map.values():
        for dim in buffer.shape:
            for var in walk(dim):
                if isinstance(var, Var):
                    facts = facts.with_range(var, 0, None)
    return facts


def _known_inside(stmt: Stmt, part: Stmt | None, facts: Facts) -> Facts:
    match stmt:
        case For(loop_var=var, min=low, extent=extent):
            return in_loop(facts, var, low, extent)
        case BlockRealize(predicate=predicate) if not isinstance(predicate, IntImm):
            return facts.with_condition(predicate)
        case Block(iter_vars=axes):
            for axis in axes:
                if axis.dom is not None:
                    facts = in_loop(facts, axis.var, axis.dom.min, axis.dom.extent)
        case IfThenElse(condition=condition) if part is not None:
            holds = part is stmt.then_case
            return facts.with_condition(condition if holds else prim.Not(condition))
    return facts


def in_loop(facts: Facts, var: Var, low: PrimExpr, extent: PrimExpr) -> Facts:
    """`facts`, and that a variable is one of a loop."""
    if isinstance(low, IntImm):
        most = low.value + extent.value - 1 if isinstance(extent, IntImm) else None
        facts = facts.with_range(var, low.value, most)
        if most is not None:
            return facts
    else:
        facts = facts.with_condition(prim.GE(var, low))
    return facts.with_condition(prim.LT(var, extent if _is_zero(low) else low + extent))


def _is_zero(e: PrimExpr) -> bool:
    return isinstance(e, IntImm) and e.value == 0


def and_also(condition: PrimExpr, other: PrimExpr) -> PrimExpr:
    """Both conditions, without one that always holds."""
    if isinstance(condition, IntImm) and condition.value:
        return other
    return condition if isinstance(other, IntImm) and other.value else prim.And(condition, other)
