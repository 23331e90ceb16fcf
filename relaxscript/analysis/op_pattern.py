"""Patterns of PrimFuncs: which elements of the operands an element of a result depends on.

`op_pattern` goes through the statements once. For each buffer that is written it notes on which
elements of which operands one of its elements depends. It is a proof: where anything is not
understood, such as a scan, a scatter or an address, the answer is `OpPattern.OPAQUE`.

Source: TVM `relay.op.OpPattern`, `relax.transform.AnnotateTIROpPattern`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any, NamedTuple

from relaxscript.ir.prim import Add, BufferLoad, Cast, Immediate, IntImm, Mul, PrimExpr, Var
from relaxscript.ir.stmt_functor import parts_of_tir
from relaxscript.ir.tir import (
    AssertStmt,
    Block,
    BlockRealize,
    Buffer,
    BufferStore,
    Evaluate,
    For,
    IfThenElse,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
)

from .element_access import Iteration, NotProvedError, Reach, Values, is_combined, is_one

__all__ = ["OpPattern", "op_pattern", "overwritten_buffers"]


class OpPattern(IntEnum):
    """The operands' elements on which an element of a result depends; a smaller one fuses more.

    ELEMWISE: on those at the same place, and of smaller operands on those broadcast to it.
    BROADCAST: on one of each operand, whose axes are some of the result's in their order.
    INJECTIVE: on as many of each operand as its text reads, wherever they are.
    COMM_REDUCE: on those along some axes of an operand, combined by an operation that commutes.
    OUT_ELEMWISE_FUSABLE: on any, but each is computed by itself: matrix products, poolings, means.
    TUPLE: a tuple of results. OPAQUE: not known.
    """

    ELEMWISE = 0
    BROADCAST = 1
    INJECTIVE = 2
    COMM_REDUCE = 3
    OUT_ELEMWISE_FUSABLE = 4
    TUPLE = 7
    OPAQUE = 8


def op_pattern(func: PrimFunc) -> OpPattern:
    """The pattern of a PrimFunc that writes results into buffers; `OPAQUE` where none is proved.

    Of several results it is the largest.
    """
    try:
        return _Reading(func).pattern()
    except NotProvedError:
        return OpPattern.OPAQUE


def overwritten_buffers(func: PrimFunc) -> frozenset[Buffer]:
    """The buffers of parameters that are written whole, and of which nothing older is read.

    There is none where anything of the function is not understood.
    """
    try:
        reading = _Reading(func)
        reading.pattern()
    except NotProvedError:
        return frozenset()
    return reading.results.intersection(reading.params)


# An operand, and how the elements of a buffer depend on its own.
_Relations = dict[Buffer, OpPattern]

_SPATIAL = {
    Reach.SAME: OpPattern.ELEMWISE,
    Reach.BROADCAST: OpPattern.BROADCAST,
    Reach.ANYWHERE: OpPattern.INJECTIVE,
}


class _Written(NamedTuple):
    """The elements that were written into a buffer, as far as they are known.

    `axes` has the loop variable that is the index, for the present iteration of its loop. It is
    None where all along the axis is written. `inside` are other loops around: an element is of this
    iteration of these. `over` are the loops that still go on to combine further values into it.
    """

    axes: tuple[Var | None, ...]
    inside: tuple[Var, ...]
    over: frozenset[Var]
    relations: _Relations


_State = dict[Buffer, _Written]


class _Branch:
    """The state before a condition, later the one behind its first branch."""

    def __init__(self, state: _State) -> None:
        self.state = state


class _Target(NamedTuple):
    """The element that a store writes: the loops that are its indices, and those around."""

    store: BufferStore
    axes: tuple[Var, ...]
    inside: tuple[Var, ...]
    over: frozenset[Var]

    @property
    def buffer(self) -> Buffer:
        return self.store.buffer


class _Reading:
    """One walk through a function, statement by statement; `tasks` are what is left to do."""

    def __init__(self, func: PrimFunc) -> None:
        self.params = tuple(b for p in func.params if (b := func.buffer_map.get(p)) is not None)
        self.results = frozenset(_written_buffers(func.body))
        self.known = set(self.params)
        self.memory = {buffer.data for buffer in self.params}
        if func.ret_type is not None or len(self.memory) < len(self.params):
            raise NotProvedError
        self.loops = Iteration()
        self.values = Values()
        self.state: _State = {}
        # What each open loop has written.
        self.touched: list[set[Buffer]] = [set()]
        # The loads of the conditions around.
        self.conditions: list[list[BufferLoad]] = []
        self.tasks: list[tuple[Any, Any]] = [(self._run, func.body)]

    def pattern(self) -> OpPattern:
        """The largest pattern of a result."""
        while self.tasks:
            action, subject = self.tasks.pop()
            action(subject)
        found = [self._pattern_of(b) for b in self.params if b in self.results]
        if not found:
            raise NotProvedError
        return max(found)

    def _pattern_of(self, result: Buffer) -> OpPattern:
        written = self.state.get(result)
        if written is None or written.inside or any(axis is not None for axis in written.axes):
            raise NotProvedError  # Not all of its elements are written.
        kinds = [_of_shapes(kind, operand, result) for operand, kind in written.relations.items()]
        largest = max(kinds, default=OpPattern.ELEMWISE)
        if largest is OpPattern.BROADCAST and OpPattern.ELEMWISE in kinds:
            return OpPattern.ELEMWISE
        return largest

    # ------------------------------------------------------------ statements

    def _run(self, stmt: Stmt) -> None:
        match stmt:
            case SeqStmt(seq=parts):
                self.tasks += [(self._run, part) for part in reversed(parts)]
            case For(loop_var=var, min=low, extent=extent, body=body):
                self.values.require_no_loads(low, extent)
                self.loops.enter(stmt)
                self.touched.append(set())
                self.tasks += [(self._leave, var), (self._run, body)]
            case BlockRealize(values, predicate, block):
                if isinstance(predicate, IntImm) and predicate.value:
                    self._block(values, block)
                else:
                    always = BlockRealize.make(values, IntImm.make(predicate.dtype, 1), block)
                    self._choose(predicate, always, None)
            case LetStmt(var=var, value=value, body=body):
                self._readable(value)
                self.values[var] = value
                self.tasks.append((self._run, body))
            case AssertStmt(condition=condition, body=body):
                self.values.require_no_loads(condition)
                self.tasks.append((self._run, body))
            case IfThenElse(condition=condition, then_case=then, else_case=otherwise):
                self._choose(condition, then, otherwise)
            case BufferStore(predicate=None):
                self._store(stmt)
            case Evaluate(value=Immediate()):
                pass
            case _:
                raise NotProvedError

    def _leave(self, var: Var) -> None:
        """Behind a loop, all that it wrote is there."""
        touched = self.touched.pop()
        self.touched[-1] |= touched
        for buffer in touched & self.state.keys():
            written = self.state[buffer]
            dims = [dim for axis, dim in zip(written.axes, buffer.shape) if axis is var]
            if var in written.inside or not all(self.loops.covers(var, dim) for dim in dims):
                del self.state[buffer]
                continue
            axes = tuple([None if axis is var else axis for axis in written.axes])
            self.state[buffer] = written._replace(axes=axes, over=written.over - {var})
        self.loops.leave(var)

    def _block(self, values: tuple[PrimExpr, ...], block: Block) -> None:
        if block.match_buffers or not self.memory.isdisjoint(b.data for b in block.alloc_buffers):
            raise NotProvedError
        self.known.update(block.alloc_buffers)
        self.memory.update(buffer.data for buffer in block.alloc_buffers)
        combined = set[Var]()
        for axis, value in zip(block.iter_vars, values):
            loop = self.loops.rename(axis.var, value)
            if axis.iter_type == "reduce" and loop is not None:
                if axis.dom is None or not self.loops.starts_at(loop, axis.dom.min):
                    raise NotProvedError
                combined.add(loop)
        self.tasks.append((self._run, block.body))
        if block.init is not None:
            # It runs once for each element, whatever loops go on to combine values.
            suspended = self.loops.suspend(combined)
            self.tasks += [(self.loops.resume, suspended), (self._run, block.init)]

    def _choose(self, condition: PrimExpr, then: Stmt, otherwise: Stmt | None) -> None:
        self.conditions.append(self._readable(condition))
        branch = _Branch(dict(self.state))
        self.tasks.append((self._merge, branch))
        if otherwise is not None:
            self.tasks.append((self._run, otherwise))
        self.tasks += [(self._other, branch), (self._run, then)]

    def _other(self, branch: _Branch) -> None:
        """Begin the other branch with what was there before the first."""
        self.state, branch.state = branch.state, self.state

    def _merge(self, branch: _Branch) -> None:
        """Behind both branches, what both have written is there."""
        self.conditions.pop()
        merged: _State = {}
        for buffer, mine in self.state.items():
            theirs = branch.state.get(buffer)
            if theirs is not None and theirs[:2] == mine[:2]:
                merged[buffer] = mine._replace(
                    over=mine.over | theirs.over,
                    relations=_joined(mine.relations, theirs.relations),
                )
        self.state = merged

    # ------------------------------------------------------------ stores

    def _store(self, store: BufferStore) -> None:
        buffer = store.buffer
        if buffer not in self.known or buffer.strides:
            raise NotProvedError
        axes = self._axes(store)
        before = self.state.get(buffer)
        rest = [loop for loop in self.loops.open if loop not in axes]
        inside = tuple(rest) if before is None else before.inside
        if not set(inside) <= set(rest):
            raise NotProvedError
        over = frozenset(rest) - set(inside)
        target = _Target(store, tuple(v for v in axes if v is not None), inside, over)
        relations = self._relations(target)
        if before is not None:
            if any(old not in (None, new) for old, new in zip(before.axes, axes)):
                raise NotProvedError
            axes = before.axes
            relations = _joined(before.relations, relations)
            over |= before.over
        self.state[buffer] = _Written(axes, inside, over, relations)
        self.touched[-1].add(buffer)
        self.loops.log(store, inside, target.over)

    def _axes(self, store: BufferStore) -> tuple[Var | None, ...]:
        """The loops whose variables are the indices; None along an axis of one element."""
        found: list[Var | None] = []
        for index, dim in zip(store.indices, store.buffer.shape):
            self.values.require_no_loads(index)
            loop = None if is_one(dim) else self.loops.plain(index)
            if not is_one(dim) and (loop is None or loop in found):
                raise NotProvedError
            found.append(loop)
        return tuple(found)

    def _relations(self, target: _Target) -> _Relations:
        """The operands on which the elements that a store writes depend."""
        value = self.values.of(target.store.value)
        loads = [*self.values.loads(value), *(e for loads in self.conditions for e in loads)]
        if not target.over:
            return self._read_all(target, [(e, _SPATIAL[self._reach(target, e)]) for e in loads])
        own = [load for load in loads if load.buffer is target.buffer]
        if any(self._reach(target, load) is not Reach.SAME for load in own):
            raise NotProvedError
        others = [load for load in loads if load.buffer is not target.buffer]
        outermost = next(loop for loop in self.loops.open if loop in target.over)
        if any(self.loops.is_stored_in(outermost, load.buffer) for load in others):
            return self._read_group(target, others, outermost)
        reaches = [self._reach(target, load, target.over) for load in others]
        before = self.state.get(target.buffer)
        is_first = before is None or before.over.isdisjoint(target.over)
        commutes = is_first and len(own) == 1 and is_combined(value, own[0], self.values)
        along = OpPattern.OUT_ELEMWISE_FUSABLE
        if commutes and Reach.WHOLE in reaches and Reach.WINDOW not in reaches:
            # A product of one row reaches all of its first operand, and is a product all the same.
            along = OpPattern.COMM_REDUCE if not self._is_product(value, own[0]) else along
        kinds = [_SPATIAL.get(how, along) if commutes else along for how in reaches]
        return self._read_all(target, zip(others, kinds))

    def _is_product(self, value: PrimExpr, own: BufferLoad) -> bool:
        """True if products of elements of two operands are added up."""
        match value:
            case Add(a, b) if a is own or b is own:
                added = b if a is own else a
                while isinstance(added, Cast):
                    added = added.value
                if isinstance(added, Mul):
                    factors = [
                        {load.buffer for load in self.values.loads(factor)}
                        for factor in (added.a, added.b)
                    ]
                    return all(factors) and factors[0].isdisjoint(factors[1])
        return False

    def _read_group(self, target: _Target, others: list[BufferLoad], outermost: Var) -> _Relations:
        """The relations of one of several values that are combined together in a loop.

        One may depend on another, so each depends on all that is read there.
        """
        kind = OpPattern.OUT_ELEMWISE_FUSABLE
        found: _Relations = {}
        for buffer in self.loops.loaded_in(outermost):
            if buffer in self.params and buffer not in self.results:
                found[buffer] = kind
            elif not self.loops.is_stored_in(outermost, buffer):
                raise NotProvedError
        stored = [e for e in others if self.loops.is_stored_in(outermost, e.buffer)]
        if any(self._reach(target, load) is not Reach.SAME for load in stored):
            raise NotProvedError
        return _joined(found, self._read_all(target, [(e, kind) for e in others], target.over))

    def _read_all(
        self, target: _Target, reads: Iterable[tuple[BufferLoad, OpPattern]],
        together: frozenset[Var] = frozenset(),
    ) -> _Relations:  # fmt: skip
        """The operands on which an element depends that reads others.

        Some loops go on for all of them `together`.
        """
        found: _Relations = {}
        for load, kind in reads:
            written = self._written(load)
            if written is None:
                found = _joined(found, {load.buffer: kind})
                continue
            if load.buffer is not target.buffer or not target.over:
                self.loops.log(load, written.inside, (), together)
                if not written.over <= together:
                    raise NotProvedError  # Something between is seen, as by a scan.
            inner = written.relations
            found = _joined(found, {e: _through(kind, known) for e, known in inner.items()})
        return found

    # ------------------------------------------------------------ loads

    def _readable(self, e: PrimExpr) -> list[BufferLoad]:
        """The loads in an expression, of which all can be read now."""
        loads = list(self.values.loads(e))
        for load in loads:
            self._written(load)
        return loads

    def _written(self, load: BufferLoad) -> _Written | None:
        """The state of the element that is read; None of an operand."""
        buffer = load.buffer
        if buffer in self.params and buffer not in self.results:
            return None
        written = self.state.get(buffer)
        if written is None:
            raise NotProvedError
        for axis, index in zip(written.axes, load.indices):
            if axis is not None and self.loops.plain(index) is not axis:
                raise NotProvedError
        return written

    def _reach(
        self, target: _Target, load: BufferLoad, over: frozenset[Var] = frozenset()
    ) -> Reach:
        written = self.state.get(load.buffer)
        inside = () if written is None else written.inside
        place = (*target.axes, *target.inside)
        return self.loops.reach(load, place, over, inside, self.values)


def _written_buffers(root: Stmt) -> Iterator[Buffer]:
    """The buffers into which statements store; scalars are not gone through."""
    stack, seen = [root], set[int]()
    while stack:
        stmt = stack.pop()
        if isinstance(stmt, BufferStore):
            yield stmt.buffer
        elif id(stmt) not in seen:
            seen.add(id(stmt))
            stack += [part for part in parts_of_tir(stmt) if isinstance(part, Stmt)]


def _of_shapes(kind: OpPattern, operand: Buffer, result: Buffer) -> OpPattern:
    """Elementwise is what has operand and result of one shape, axes of one element included."""
    if kind is not OpPattern.ELEMWISE:
        return kind
    alike = [is_one(d) for d in operand.shape] == [is_one(d) for d in result.shape]
    return kind if alike else OpPattern.BROADCAST


def _through(outer: OpPattern, inner: OpPattern) -> OpPattern:
    """The dependence of a result on an operand through a value between."""
    most = max(outer, inner)
    if most is OpPattern.COMM_REDUCE and inner is not most:
        return most
    return most if most <= OpPattern.INJECTIVE else OpPattern.OUT_ELEMWISE_FUSABLE


def _joined(a: _Relations, b: _Relations) -> _Relations:
    """Both; of what both say, the larger."""
    found = dict(a)
    for buffer, kind in b.items():
        found[buffer] = max(found.get(buffer, kind), kind)
    return found
