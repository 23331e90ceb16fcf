"""Loops over the elements of a row: several vectors at once, then single vectors.

Where elements are left over, the last vector of a row begins earlier and has some elements again.
These are the same as before, and stored twice. To a sum they are added once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from relaxscript.arith import simplify
from relaxscript.ir.prim import (
    INT32,
    INT64,
    Add,
    Broadcast,
    BufferLoad,
    FloorDiv,
    FloorMod,
    IntImm,
    Min,
    Mul,
    PrimExpr,
    Ramp,
    Select,
    Shuffle,
    Var,
    cast,
    const,
)
from relaxscript.ir.tir import Buffer, BufferStore, For, ForKind, IfThenElse, LetStmt, Stmt

from .loop_writing import fused, in_row, with_memory
from .row_nests import Reduction

__all__ = ["RowPlace", "Sweep", "reduced"]


class RowPlace(NamedTuple):
    """The place of an element in a row; `kept` is that in a buffer of such elements.

    There vectors of rows of a known size do not overlap. A load of what two stores left would wait.

    `slot` is its place among the lanes of all vectors of an iteration. `is_new` says whether no
    vector before had it, where one may have.
    """

    row: PrimExpr
    kept: PrimExpr
    slot: PrimExpr
    is_new: PrimExpr | None = None


class Sweep(NamedTuple):
    """One pass over a row of so many elements: `at_once` vectors of `lanes` in an iteration."""

    var: Var
    extent: PrimExpr
    lanes: int
    at_once: int

    def number(self, value: int) -> IntImm:
        """A number that is an index."""
        return IntImm(self.var.dtype, value)

    def whole(self, vectors: Sequence[Stmt], one_by_one: Sequence[Stmt]) -> list[Stmt]:
        """A pass by vectors; one by one where the row turns out to be shorter than a vector."""
        if isinstance(self.extent, IntImm):
            return [*vectors]
        is_long = self.extent >= self.number(self.lanes)
        return [IfThenElse(is_long, in_row(*vectors), in_row(*one_by_one))]

    @property
    def kept_extent(self) -> PrimExpr:
        """The size of a buffer for a row; where it is known, its vectors do not overlap there."""
        rest = simplify(FloorMod(self.extent, self.number(self.lanes)))
        is_whole = not isinstance(rest, IntImm) or not rest.value
        return self.extent if is_whole else simplify(self.extent + (self.number(self.lanes) - rest))

    def vectors(self, element: Callable[[RowPlace], Stmt]) -> list[Stmt]:
        """The loops over vectors, for a row that is as long as one.

        The last one begins earlier, where elements are left over, and has some of those before.
        """
        lanes, width = self.number(self.lanes), self.number(self.lanes * self.at_once)
        made = []
        i, u = (self._variable(name) for name in "iu")

        def several(lane: Var) -> Stmt:
            at = i * width + (u * lanes + lane)
            return element(RowPlace(at, at, u * lanes + lane))

        blocks = simplify(FloorDiv(self.extent, width))
        if not _is_zero(blocks):
            each = self._loop(u, self.number(self.at_once), self._lanes(several), unrolled=True)
            made.append(self._loop(i, blocks, each))
        return [*made, *self._single(element, simplify(blocks * width))]

    def _single(self, element: Callable[[RowPlace], Stmt], first: PrimExpr) -> list[Stmt]:
        """The vectors from one place on."""
        lanes, j = self.number(self.lanes), self._variable("j")
        behind = FloorMod(self.extent, self.number(self.lanes * self.at_once))
        rest = simplify(FloorMod(self.extent, lanes))

        def whole(begin: PrimExpr) -> Stmt:
            return self._lanes(lambda lane: element(RowPlace(begin + lane, begin + lane, lane)))

        def last(begin: PrimExpr, is_kept_apart: bool) -> Stmt:
            place = simplify(Min(begin, self.extent - lanes))
            had = cast(simplify(begin - place), INT32)

            def one(lane: Var) -> Stmt:
                at, is_new = place + lane, cast(lane, INT32) >= had
                kept = begin + lane if is_kept_apart else at
                return element(RowPlace(at, kept, lane, is_new))

            return self._lanes(one)

        if not isinstance(rest, IntImm):
            # Any of them may be the last one.
            low = simplify(FloorDiv(first, lanes))
            high = FloorDiv(self.extent + self.number(self.lanes - 1), lanes)
            return [For(j, low, simplify(high - low), ForKind.SERIAL, last(j * lanes, False))]
        count = simplify(FloorDiv(behind, lanes))
        made = [] if _is_zero(count) else [self._loop(j, count, whole(first + j * lanes))]
        if rest.value:
            made.append(last(simplify(self.extent - rest), True))
        return made

    def one_by_one(self, element: Callable[[RowPlace], Stmt]) -> list[Stmt]:
        """The loop over the elements of a row that is shorter than a vector."""
        if isinstance(self.extent, IntImm):
            return []
        k = self._variable("k")
        return [self._loop(k, self.extent, element(RowPlace(k, k, self.number(0))))]

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
    element: Callable[[RowPlace, Callable[[PrimExpr], Stmt]], Stmt],
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

    def added(buffer: Buffer, place: RowPlace) -> Stmt:
        def put(value: PrimExpr) -> Stmt:
            old = BufferLoad(buffer, (place.slot,))
            made = _one_more(reduction, old, value)
            if place.is_new is not None and reduction in (Add, Mul):
                made = Select(place.is_new, made, old)
            return BufferStore(buffer, made, (place.slot,))

        return element(place, put)

    vectors = sweep.vectors(lambda place: added(partial, place))
    by_vectors = with_memory(
        partial,
        in_row(
            sweep.cleared(partial, start),
            *around(vectors),
            sweep.combined(partial, reduction, lambda value: BufferStore(total, value, (zero,))),
        ),
    )
    steps = sweep.one_by_one(lambda place: added(total, place))
    # Short rows are many: none of them puts together vectors that it does not have.
    short = [BufferStore(total, start, (zero,)), *around(steps)]
    made = sweep.whole([by_vectors], short)
    return with_memory(total, in_row(*made, behind(BufferLoad(total, (zero,)))))
