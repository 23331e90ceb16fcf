"""The elements that statements read and write, with indices over the loops around them.

The axes of blocks are replaced by what the loops give them. What cannot be told, such as an index
that is read from memory, counts as any element.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from relaxscript.analysis.prim_funcs import expr_deep_equal
from relaxscript.ir import prim, tir
from relaxscript.ir.intrinsic import lookup
from relaxscript.ir.node import Node
from relaxscript.ir.prim import BufferLoad, PrimExpr, Var, const
from relaxscript.ir.tir import Block, BlockRealize, Buffer, BufferStore, For, Stmt
from relaxscript.ir.tir_compute import Reduce
from relaxscript.ir.walk import children, substitute, walk

__all__ = ["EFFECTS", "LoopAccess", "accesses_in", "accumulated"]

# Calls with effects that nobody can see count as reading and writing this.
EFFECTS = Buffer("effects", (const(1),))


class LoopAccess(NamedTuple):
    """A read or write of an element, in every iteration of some loops where conditions hold.

    An index is None where it may be any, and `indices` are for any element. `update` is the
    statement where the access is part of an accumulation, `B[i] = B[i] + x`. The order of those
    only decides about rounding.
    """

    buffer: Buffer
    indices: tuple[PrimExpr | None, ...] | None
    is_write: bool
    loops: tuple[For, ...]
    conditions: tuple[PrimExpr, ...]
    realize: BlockRealize | None
    statement: Node
    update: BufferStore | None = None

    @property
    def block(self) -> Block | None:
        """The innermost block around it."""
        return None if self.realize is None else self.realize.block


_ACCUMULATING = (prim.Add, prim.Mul, prim.Max, prim.Min, prim.And, prim.Or)


def accumulated(store: BufferStore) -> BufferLoad | None:
    """The element to which a store adds something: of `B[i] = B[i] + x` it is `B[i]`."""
    value = store.value
    if not isinstance(value, _ACCUMULATING):
        return None
    for own, other in ((value.a, value.b), (value.b, value.a)):
        if not isinstance(own, BufferLoad) or own.buffer is not store.buffer:
            continue
        same = len(own.indices) == len(store.indices) and all(
            map(expr_deep_equal, own.indices, store.indices)
        )
        plain = store.predicate is None and not any(
            isinstance(part, BufferLoad) and part.buffer.data is store.buffer.data
            for e in (other, *store.indices)
            for part in walk(e)
        )
        if same and plain:
            return own
    return None


class _Around(NamedTuple):
    """The surroundings of a statement."""

    values: Mapping[Var, PrimExpr]
    loops: tuple[For, ...]
    conditions: tuple[PrimExpr, ...]
    realize: BlockRealize | None


def accesses_in(root: Stmt) -> list[LoopAccess]:
    """The accesses of a statement, but those of memory that it allocates for itself.

    The loops of each begin with `root` where that is one.
    """
    found = _Accesses()
    found.visit(root, _Around({}, (), (), None))
    return [a for a in found.accesses if a.buffer.data not in found.private]


class _Accesses:
    def __init__(self) -> None:
        self.accesses: list[LoopAccess] = []
        self.private: set[Var] = set()
        # Buffers that are other names of regions.
        self.sources: dict[Buffer, Buffer] = {}
        # Variables that have another value in each run, and which is not known.
        self.any: set[Var] = set()

    def visit(self, stmt: Stmt, around: _Around) -> None:
        match stmt:
            case For():
                self.scalars(stmt, (stmt.min, stmt.extent), around)
                self.visit(stmt.body, around._replace(loops=(*around.loops, stmt)))
            case BlockRealize():
                self.scalars(stmt, (*stmt.iter_values, stmt.predicate), around)
                self.block(stmt, around)
            case BufferStore():
                self.store(stmt, around)
            case tir.IfThenElse(condition=condition):
                self.scalars(stmt, (condition,), around)
                self.visit(stmt.then_case, self.where(around, condition))
                if stmt.else_case is not None:
                    self.visit(stmt.else_case, self.where(around, prim.Not(condition)))
            case tir.LetStmt(var=var, value=value):
                self.scalars(stmt, (value,), around)
                made = self.known(value, around)
                values = around.values if made is None else {**around.values, var: made}
                if made is None:
                    self.any.add(var)
                self.visit(stmt.body, around._replace(values=values))
            case _:
                if isinstance(stmt, (tir.Allocate, tir.AllocateConst)):
                    self.private.add(stmt.buffer_var)
                self.others(stmt, around)

    def others(self, stmt: Stmt, around: _Around) -> None:
        for part in children(stmt):
            if isinstance(part, Stmt):
                self.visit(part, around)
            elif isinstance(part, PrimExpr):
                self.scalars(stmt, (part,), around)

    def block(self, realize: BlockRealize, around: _Around) -> None:
        block = realize.block
        self.private.update(buffer.data for buffer in block.alloc_buffers)
        for match in block.match_buffers:
            source = match.source.buffer
            self.sources[match.buffer] = self.sources.get(source, source)
        values = dict(around.values)
        for axis, value in zip(block.iter_vars, realize.iter_values):
            made = self.known(value, around)
            if made is None:
                self.any.add(axis.var)
            else:
                values[axis.var] = made
        inside = self.where(around, realize.predicate)._replace(values=values, realize=realize)
        if block.init is not None:
            starts = inside
            for axis in block.iter_vars:
                if axis.iter_type == "reduce" and axis.dom is not None:
                    starts = self.where(starts, prim.EQ(axis.var, axis.dom.min))
            self.visit(block.init, starts)
        self.visit(block.body, inside)

    def store(self, stmt: BufferStore, around: _Around) -> None:
        own = accumulated(stmt)
        update = None if own is None else stmt
        self.touch(stmt.buffer, stmt.indices, True, stmt, around, update)
        if own is not None:
            self.touch(own.buffer, own.indices, False, stmt, around, update)
            value = stmt.value
            rest = value.b if value.a is own else value.a  # type: ignore[attr-defined]
            self.scalars(stmt, (rest, *stmt.indices), around)
            return
        more = () if stmt.predicate is None else (stmt.predicate,)
        self.scalars(stmt, (stmt.value, *stmt.indices, *more), around)

    def scalars(self, stmt: Stmt, exprs: tuple[PrimExpr, ...], around: _Around) -> None:
        """The reads of expressions."""
        pending: list[Node] = [*exprs]
        while pending:
            node = pending.pop()
            match node:
                case BufferLoad(buffer=buffer, indices=indices):
                    self.touch(buffer, indices, False, stmt, around)
                    pending.extend(indices)
                    continue
                case prim.Let(var=var):
                    self.any.add(var)
                case Reduce(axis=axes):
                    self.any.update(axis.var for axis in axes)
                case prim.Call(op="tir.address_of", args=(BufferLoad(buffer=buffer), *_)):
                    self.anything(buffer, stmt, around)
                case Var() if node.dtype.kind == "handle":
                    # An address, with which anything may be done.
                    self.anything(Buffer(node.name, (const(1),), data=node), stmt, around)
                case prim.Call(op=op):
                    row = lookup(op)
                    if row is None or not row.is_pure:
                        self.anything(EFFECTS, stmt, around)
            pending.extend(part for part in children(node) if not isinstance(part, Buffer))

    def anything(self, buffer: Buffer, stmt: Stmt, around: _Around) -> None:
        """A read and a write of any element."""
        for is_write in (True, False):
            self.touch(buffer, None, is_write, stmt, around)

    def touch(
        self, buffer: Buffer, indices: tuple[PrimExpr, ...] | None, is_write: bool, stmt: Stmt,
        around: _Around, update: BufferStore | None = None,
    ) -> None:  # fmt: skip
        if buffer in self.sources:
            buffer, indices = self.sources[buffer], None
        known = None if indices is None else tuple([self.known(i, around) for i in indices])
        self.accesses.append(
            LoopAccess(
                buffer, known, is_write, around.loops, around.conditions, around.realize, stmt,
                update,
            )
        )  # fmt: skip

    def known(self, e: PrimExpr, around: _Around) -> PrimExpr | None:
        """An expression over loops; None where it depends on what is in memory."""
        if not e.dtype.is_integer and not e.dtype.is_bool:
            return None
        for part in walk(e):
            match part:
                case BufferLoad() | prim.Let() | prim.Ramp() | prim.Broadcast():
                    return None
                case Var() if part in self.any:
                    return None
                case prim.Call(op=op):
                    row = lookup(op)
                    if row is None or not row.is_pure:
                        return None
        used = {v: around.values[v] for v in walk(e) if isinstance(v, Var) and v in around.values}
        made: PrimExpr = substitute(e, used) if used else e
        return made

    def where(self, around: _Around, condition: PrimExpr) -> _Around:
        made = self.known(condition, around)
        if made is None or isinstance(made, prim.IntImm):
            return around
        return around._replace(conditions=(*around.conditions, made))
