"""Loops over the elements of a row: several vectors at once, single vectors, and the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from relaxscript.arith import simplify
from relaxscript.ir.prim import (
    INT64,
    Add,
    Broadcast,
    BufferLoad,
    FloorDiv,
    FloorMod,
    IntImm,
    Mul,
    PrimExpr,
    Ramp,
    Shuffle,
    Var,
    const,
)
from relaxscript.ir.tir import Buffer, BufferStore, For, ForKind, IfThenElse, LetStmt, SeqStmt, Stmt

from .loop_writing import fused, with_memory
from .row_nests import Reduction

__all__ = ["Sweep", "reduced"]


class Sweep(NamedTuple):
    """One pass over a row of so many elements: `at_once` vectors of `lanes` in an iteration."""

    var: Var
    extent: PrimExpr
    lanes: int
    at_once: int

    def number(self, value: int) -> IntImm:
        """A number that is an index."""
        return IntImm(self.var.dtype, value)

    def vectors(self, element: Callable[[PrimExpr, PrimExpr], Stmt]) -> list[Stmt]:
        """The loops over whole vectors.

        `element` is told two places of an element: in the row, and among the lanes of all vectors
        of an iteration.
        """
        lanes, width = self.number(self.lanes), self.number(self.lanes * self.at_once)
        made = []
        i, u, j = (self._variable(name) for name in ("i", "u", "j"))

        def whole(lane: Var) -> Stmt:
            return element(i * width + (u * lanes + lane), u * lanes + lane)

        blocks = simplify(FloorDiv(self.extent, width))
        if not _is_zero(blocks):
            each = self._loop(u, self.number(self.at_once), self._lanes(whole), unrolled=True)
            made.append(self._loop(i, blocks, each))
        single = simplify(FloorDiv(FloorMod(self.extent, width), lanes))
        if not _is_zero(single):
            first = simplify(blocks * width)

            def one(lane: Var) -> Stmt:
                return element(first + (j * lanes + lane), lane)

            made.append(self._loop(j, single, self._lanes(one)))
        return made

    def rest(self, element: Callable[[PrimExpr], Stmt]) -> list[Stmt]:
        """The loop over the elements behind the last whole vector."""
        lanes = self.number(self.lanes)
        rest = simplify(FloorMod(self.extent, lanes))
        if _is_zero(rest):
            return []
        r = self._variable("rest")
        first = simplify(FloorDiv(self.extent, lanes) * lanes)
        return [self._loop(r, rest, element(first + r))]

    def cleared(self, partial: Buffer, start: PrimExpr) -> Stmt:
        """The first value of all partial results."""
        u = self._variable("u")
        at = Ramp(u * self.number(self.lanes), self.number(1), self.lanes)
        body = BufferStore(partial, Broadcast(start, self.lanes), (at,))
        return self._loop(u, self.number(self.at_once), body, unrolled=True)

    def combined(
        self, partial: Buffer, reduction: Reduction, put: Callable[[PrimExpr], Stmt]
    ) -> Stmt:
        """The partial results as one: vector by vector in pairs, then half by half."""
        places = [
            Ramp(self.number(k * self.lanes), self.number(1), self.lanes)
            for k in range(self.at_once)
        ]
        values: list[PrimExpr] = [BufferLoad(partial, (place,)) for place in places]
        while len(values) > 1:
            values = [reduction(a, b) for a, b in zip(values[::2], values[1::2], strict=True)]
        lets, value, lanes = [], values[0], self.lanes
        while lanes > 1:
            var = Var.make("halves", partial.dtype.with_lanes(lanes))
            lets.append((var, value))
            lanes //= 2
            parts = [
                Shuffle((var,), tuple(self.number(k) for k in range(first, first + lanes)))
                for first in (0, lanes)
            ]
            value = reduction(*parts)
        made = put(value)
        for var, bound in reversed(lets):
            made = LetStmt(var, bound, made)
        return made

    def _variable(self, name: str) -> Var:
        return Var.make(name, self.var.dtype)

    def _lanes(self, body: Callable[[Var], Stmt]) -> Stmt:
        lane = self._variable("lane")
        zero, lanes = self.number(0), self.number(self.lanes)
        return For(lane, zero, lanes, ForKind.VECTORIZED, body(lane))

    def _loop(self, var: Var, extent: PrimExpr, body: Stmt, unrolled: bool = False) -> Stmt:
        kind = ForKind.UNROLLED if unrolled else ForKind.SERIAL
        return For(var, self.number(0), extent, kind, body)


def _is_zero(e: PrimExpr) -> bool:
    return isinstance(e, IntImm) and e.value == 0


def _one_more(reduction: Reduction, total: PrimExpr, value: PrimExpr) -> PrimExpr:
    """A partial result and one more value; a product is added without being rounded before."""
    is_product = isinstance(value, Mul) and value.dtype.element in ("float32", "float64")
    if reduction is Add and is_product:
        assert isinstance(value, Mul)
        return fused(value.a, value.b, total)
    return reduction(total, value)


def reduced(
    sweep: Sweep, reduction: Reduction, start: PrimExpr, name: str,
    element: Callable[[PrimExpr, Callable[[PrimExpr], Stmt]], Stmt],
    behind: Callable[[PrimExpr], Stmt],
    around: Callable[[Sequence[Stmt]], list[Stmt]] = list,
) -> Stmt:  # fmt: skip
    """A reduction of a row, and what follows it.

    `element` makes the statement for one place, which puts its value where it is told. `around`
    puts loops over several rows of one result around those over each of them.
    """
    lanes = const(sweep.lanes * sweep.at_once, INT64)
    partial = Buffer(f"{name}_partial", (lanes,), start.dtype)
    total = Buffer(name, (const(1, INT64),), start.dtype)
    zero = const(0, sweep.var.dtype)

    def added(buffer: Buffer, at: PrimExpr, value: PrimExpr) -> Stmt:
        return BufferStore(buffer, _one_more(reduction, BufferLoad(buffer, (at,)), value), (at,))

    vectors = sweep.vectors(
        lambda place, slot: element(place, lambda value: added(partial, slot, value))
    )
    whole = [
        sweep.cleared(partial, start),
        *around(vectors),
        sweep.combined(partial, reduction, lambda value: BufferStore(total, value, (zero,))),
    ]
    first: Stmt = with_memory(partial, SeqStmt(tuple(whole)))
    if not isinstance(sweep.extent, IntImm):
        # Short rows are many: none of them puts together vectors that it does not have.
        short = BufferStore(total, start, (zero,))
        first = IfThenElse(sweep.extent >= sweep.number(sweep.lanes), first, short)
    made = [first]
    rest = sweep.rest(lambda place: element(place, lambda value: added(total, zero, value)))
    made += around(rest)
    made.append(behind(BufferLoad(total, (zero,))))
    return with_memory(total, SeqStmt(tuple(made)))
