"""Accesses to elements of buffers, seen from the loops around them.

`Iteration` has the loops that are open, and the axes of blocks that are their variables. `Values`
has what stands for the variables of LetStmts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import Enum

from relaxscript.arith import YES, prove_equal, simplify
from relaxscript.ir.intrinsic import INTRINSICS
from relaxscript.ir.node import Node
from relaxscript.ir.prim import (
    Add,
    And,
    Binary,
    BufferLoad,
    Call,
    Cast,
    Comparison,
    Immediate,
    IntImm,
    Logic,
    Max,
    Min,
    Mul,
    Not,
    Or,
    PrimExpr,
    Select,
    StringImm,
    Var,
)
from relaxscript.ir.relax import Op
from relaxscript.ir.tir import Buffer, BufferStore, For
from relaxscript.ir.walk import children, walk

__all__ = ["Iteration", "NotProvedError", "Reach", "Values", "is_combined", "is_one"]

_COMMUTES = (Add, Mul, Min, Max, And, Or)
_COMMUTING_CALLS = frozenset({"tir.bitwise_and", "tir.bitwise_or", "tir.bitwise_xor"})
_PLAIN = (Immediate, Var, Binary, Comparison, Logic, Not, Select, Cast, Call, BufferLoad)


class NotProvedError(Exception):
    """Something of the function is not understood."""


class Reach(Enum):
    """The elements that are read for one element, while some loops go on.

    Without such loops: the one at the SAME place, one of fewer axes (BROADCAST), or ANYWHERE. With
    them: all along these loops, each for one element only (WHOLE), such of fewer axes (PROJECTED),
    or others (WINDOW).
    """

    SAME = "same"
    BROADCAST = "broadcast"
    ANYWHERE = "anywhere"
    WHOLE = "whole"
    PROJECTED = "projected"
    WINDOW = "window"


def is_one(dim: PrimExpr) -> bool:
    """True for the size of an axis of one element."""
    return isinstance(dim, IntImm) and dim.value == 1


class Values(dict[Var, PrimExpr]):
    """The expressions that stand for variables, and the loads in them."""

    def of(self, e: PrimExpr) -> PrimExpr:
        """An expression in the place of a variable that stands for it."""
        while isinstance(e, Var) and e in self:
            e = self[e]
        return e

    def loads(self, e: PrimExpr) -> Iterator[BufferLoad]:
        """The loads in an expression, and in what its variables stand for.

        Raises `NotProvedError` where it is no plain computation.
        """
        for node in self.parts(e):
            _check_plain(node)
            if isinstance(node, BufferLoad):
                yield node

    def parts(self, e: PrimExpr) -> Iterator[PrimExpr]:
        """All that is in an expression, and in what its variables stand for, each once."""
        seen: set[int] = set()
        stack: list[PrimExpr] = [e]
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            yield node
            if isinstance(node, Var):
                stack += [self[node]] if node in self else []
            elif isinstance(node, BufferLoad):
                stack += reversed(node.indices)
            else:
                stack += [p for p in reversed(children(node)) if isinstance(p, PrimExpr)]

    def require_no_loads(self, *exprs: PrimExpr) -> None:
        """Raise `NotProvedError` where elements of buffers are read."""
        if any(True for e in exprs for _ in self.loads(e)):
            raise NotProvedError


def _check_plain(node: PrimExpr) -> None:
    """Refuse what is no plain computation: effects, addresses, vectors."""
    if isinstance(node, StringImm):
        return
    if not isinstance(node, _PLAIN) or node.dtype.kind == "handle" or node.dtype.lanes != 1:
        raise NotProvedError
    if isinstance(node, Call):
        known = INTRINSICS.get(node.op.name) if isinstance(node.op, Op) else None
        if known is None or not known.is_pure:
            raise NotProvedError
    if isinstance(node, BufferLoad) and node.predicate is not None:
        raise NotProvedError


def is_combined(value: PrimExpr, own: BufferLoad, values: Values) -> bool:
    """True if a value is an element as it was and something else, in an operation that commutes."""
    operands: Sequence[PrimExpr] = ()
    if isinstance(value, _COMMUTES):
        operands = (value.a, value.b)
    elif isinstance(value, Call) and isinstance(value.op, Op) and value.op.name in _COMMUTING_CALLS:
        operands = value.args
    others = [e for e in operands if e is not own]
    return len(others) == 1 < len(operands) and own not in values.loads(others[0])


class _Loop:
    """A loop, and the accesses in it to buffers that are written somewhere."""

    def __init__(self, stmt: For) -> None:
        self.stmt = stmt
        # The axes whose index is the variable of this loop wherever the buffer is accessed.
        self.axes: dict[Buffer, frozenset[int]] = {}
        # The stores into a buffer, and whether each combines values while this loop goes on.
        self.stores: dict[Buffer, dict[BufferStore, bool]] = {}
        self.loaded: set[Buffer] = set()
        self._inside: tuple[frozenset[Buffer], frozenset[Buffer]] | None = None

    def log(
        self, access: BufferLoad | BufferStore, axes: frozenset[int], is_combined: bool
    ) -> None:
        """Note an access; what one iteration writes, another may not read or write elsewhere."""
        buffer = access.buffer
        self.axes[buffer] = self.axes.get(buffer, axes) & axes
        stores = self.stores.setdefault(buffer, {})
        if isinstance(access, BufferStore):
            stores[access] = is_combined
        else:
            self.loaded.add(buffer)
        if not self.axes[buffer] and stores:
            is_alone = len(stores) == 1 or all(stores.values())
            if buffer in self.loaded or not is_alone:
                raise NotProvedError

    @property
    def buffers(self) -> tuple[frozenset[Buffer], frozenset[Buffer]]:
        """The buffers that are read and those that are written anywhere in the loop."""
        if self._inside is None:
            nodes: list[Node] = list(walk(self.stmt.body))
            self._inside = (
                frozenset(node.buffer for node in nodes if isinstance(node, BufferLoad)),
                frozenset(node.buffer for node in nodes if isinstance(node, BufferStore)),
            )
        return self._inside


class Iteration:
    """The loops around a statement, outermost first; those of one iteration are left out."""

    def __init__(self) -> None:
        self.open: list[Var] = []
        self._loops: dict[Var, _Loop] = {}
        # The loop whose variable an axis is; None where it has one value.
        self._names: dict[Var, Var | None] = {}

    def enter(self, stmt: For) -> None:
        """Go into a loop."""
        var = stmt.loop_var
        if var in self._names:
            raise NotProvedError
        self._names[var] = None
        if not is_one(stmt.extent):
            self._names[var] = var
            self._loops[var] = _Loop(stmt)
            self.open.append(var)

    def leave(self, var: Var) -> None:
        """Go out of the innermost loop."""
        if self._names[var] is not None:
            self.open.remove(var)

    def suspend(self, loops: Collection[Var]) -> list[tuple[int, Var]]:
        """Leave out loops for a while; gives what `resume` wants to know."""
        found = [(place, v) for place, v in enumerate(self.open) if v in loops]
        self.open = [v for v in self.open if v not in loops]
        return found

    def resume(self, loops: list[tuple[int, Var]]) -> None:
        """Take loops in again."""
        for place, var in loops:
            self.open.insert(place, var)

    def rename(self, axis: Var, value: PrimExpr) -> Var | None:
        """The loop whose variable an axis of a block is, if it has not one value only."""
        if isinstance(value, IntImm):
            self._names[axis] = None
        elif isinstance(value, Var) and value in self._names:
            self._names[axis] = self._names[value]
        else:
            raise NotProvedError
        return self._names[axis]

    def plain(self, index: PrimExpr) -> Var | None:
        """The loop whose variable an index is, if it is one."""
        if not isinstance(index, (Var, IntImm)):
            index = simplify(index)
        return self._names.get(index) if isinstance(index, Var) else None

    def covers(self, loop: Var, dim: PrimExpr) -> bool:
        """True if a loop goes through all indices of a dimension."""
        stmt = self._loops[loop].stmt
        return self.starts_at(loop, 0) and prove_equal(stmt.extent, dim) is YES

    def starts_at(self, loop: Var, low: PrimExpr | int) -> bool:
        """True if the first value of a loop's variable is `low`."""
        return prove_equal(self._loops[loop].stmt.min, low) is YES

    def is_stored_in(self, loop: Var, buffer: Buffer) -> bool:
        """True if a loop has a store into a buffer."""
        return buffer in self._loops[loop].buffers[1]

    def loaded_in(self, loop: Var) -> frozenset[Buffer]:
        """The buffers that a loop reads."""
        return self._loops[loop].buffers[0]

    def log(
        self, access: BufferLoad | BufferStore, inside: Collection[Var], over: Collection[Var],
        without: Collection[Var] = (),
    ) -> None:  # fmt: skip
        """Note an access in all open loops but some; a store combines values while `over` go on.

        What is written anew in each iteration of the loops `inside` has these as axes, too.

        Raises `NotProvedError` where one iteration of a loop may read what another writes. It is
        raised as well where two stores may write one element in different iterations.
        """
        plain = [self.plain(index) for index in access.indices]
        for loop in self.open:
            if loop not in without:
                axes = {axis for axis, var in enumerate(plain) if var is loop}
                axes |= {-1} if loop in inside else set()
                self._loops[loop].log(access, frozenset(axes), loop in over)

    def reach(
        self, load: BufferLoad, place: Sequence[Var], over: Collection[Var],
        inside: Sequence[Var], values: Values,
    ) -> Reach:  # fmt: skip
        """The elements that a load reads for the one at `place` while the loops `over` go on.

        A buffer that is written anew in each iteration of loops has these as axes, too.
        """
        used = {
            self._names.get(node)
            for index in load.indices
            for node in values.parts(index)
            if isinstance(node, Var)
        }
        axes: list[Var | None] = [
            self._whole_axis(index, dim)
            for index, dim in zip(load.indices, load.buffer.shape)
            if not is_one(dim)
        ]
        axes += inside
        found = [axis for axis in axes if axis is not None]
        is_plain = len(found) == len(axes) == len(set(found))
        if used.isdisjoint(over):
            if is_plain and found == list(place):
                return Reach.SAME
            return Reach.BROADCAST if is_plain and _in_order(found, place) else Reach.ANYWHERE
        if not is_plain:
            return Reach.WINDOW
        return Reach.WHOLE if {*place, *over} <= set(found) else Reach.PROJECTED

    def _whole_axis(self, index: PrimExpr, dim: PrimExpr) -> Var | None:
        """The loop that is an index and goes through all of the axis."""
        loop = self.plain(index)
        return loop if loop is not None and self.covers(loop, dim) else None


def _in_order(found: Sequence[Var], place: Sequence[Var]) -> bool:
    rest = iter(place)
    return all(axis in rest for axis in found)
