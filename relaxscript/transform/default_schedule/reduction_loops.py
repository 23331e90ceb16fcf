"""Reductions over any axes, one nest at a time, by vectors along the axis that lies best.

Where that is an axis of the result, lanes are elements of the result. Each of them is put together
in the order of the loops, with the bits that the plain loops give. Where it is an axis that is
reduced, there are several vectors of partial results. They are put together as those of rows are,
and a sum is within the bound that `rows.py` states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

from relaxscript.arith import simplify
from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import (
    And,
    BufferLoad,
    FloorDiv,
    FloorMod,
    IntImm,
    PrimExpr,
    Var,
)
from relaxscript.ir.tir import Buffer, BufferStore, DeclBuffer, For, ForKind, IfThenElse, Stmt
from relaxscript.ir.walk import rewrite, walk

from .collapsed_axes import Collapsed, collapsed
from .loop_nests import Loop, is_without, number_of
from .loop_writing import in_loops, in_row, number, with_memory
from .processor import Processor
from .row_nests import PlainNest, Reduction, is_neutral
from .row_sweeps import RowPlace, Sweep, reduced

__all__ = ["has_step_one", "reduction_loops"]

# From this cost on, vectors are no gain.
MOST = 0.9
# So many vectors of partial results are put together at the same time.
PARTIAL_AT_ONCE = 4


def reduction_loops(nest: PlainNest, start: PrimExpr, processor: Processor) -> Stmt | None:
    """The loops of a reduction; None where no axis is long enough for vectors.

    for j, k in T.grid(64, m):              for j in range(8):
        with T.block("sum"):                    sums[...] = zeros
            ...                         →       for k in range(m):
            s[j] = s[j] + A[k, j]                   sums[...] += A[k, T.Ramp(j * 8, 1, 8)]
                                                s[T.Ramp(j * 8, 1, 8)] = sums[...]

    What is added under conditions is so by vectors of results for which these are the same.
    """
    assert nest.reduction is not None
    store = nest.store.replace(value=nest.value)
    groups = nest.outer, nest.inner
    made = Collapsed(groups, store, ()) if nest.conditions else collapsed(groups, store)
    outer, inner = made.groups
    found = _Reduction(outer, inner, made.store, nest.reduction, start, _apart(nest.conditions))
    body = _by_best_axis(found, processor)
    if body is not None:
        for view in made.views:
            body = DeclBuffer(view, body)
    return body


def _apart(conditions: Sequence[PrimExpr]) -> tuple[PrimExpr, ...]:
    """The parts of conditions; as they are where a part may protect what another one loads."""
    if any(isinstance(node, BufferLoad) for e in conditions for node in walk(e)):
        return tuple(conditions)
    parts, stack = list[PrimExpr](), [*reversed(conditions)]
    while stack:
        match stack.pop():
            case And(a, b):
                stack += [b, a]
            case part:
                parts.append(part)
    return tuple(parts)


class _Reduction(NamedTuple):
    """The loops of results, those that are reduced, and the store of the value of an element.

    It is added where all conditions hold.
    """

    outer: tuple[Loop, ...]
    inner: tuple[Loop, ...]
    store: BufferStore
    kind: Reduction
    start: PrimExpr
    conditions: tuple[PrimExpr, ...]

    def loads(self) -> list[BufferLoad]:
        return [node for node in walk(self.store.value) if isinstance(node, BufferLoad)]

    def at(self, values: dict[Node, PrimExpr]) -> BufferStore:
        """The store with values of loops."""
        return rewrite(self.store, values.get)

    def where_it_is_added(
        self, loops: Sequence[Loop], given: Mapping[Node, PrimExpr], body: Stmt
    ) -> Stmt:
        """A step in the loops that are reduced, each condition as far outside as it is known."""
        left = [rewrite(condition, given.get) for condition in self.conditions]
        for place in range(len(loops), -1, -1):
            outer = loops[:place]
            here = [e for e in left if place == 0 or not is_without([e], outer[-1:])]
            left = [e for e in left if e not in here]
            if here:
                body = IfThenElse(reduce(And, here), body)
            body = in_loops(outer[-1:], body)
        return body

    def lanes(self, processor: Processor) -> int:
        """The number of lanes: what is reduced in one takes at most two registers."""
        sizes = [load.dtype.itemsize for load in self.loads()]
        return processor.lanes(max([*sizes, self.store.buffer.dtype.itemsize // 2, 1]))


def _by_best_axis(found: _Reduction, processor: Processor) -> Stmt | None:
    """The loops with vectors along the axis by which a step costs least, if that is a gain."""
    most = found.lanes(processor)
    loops = [*found.outer, *found.inner]
    costs = [
        (_cost(found, loop, _fitting(most, loop.extent), place < len(found.outer)), -place)
        for place, loop in enumerate(loops)
    ]
    cost, place = min(costs, default=(MOST, 0))
    if cost >= MOST:
        return None
    if -place < len(found.outer):
        return _of_results(found, -place, most, _at_once(found, most, processor))
    return _of_partial_results(found, -place - len(found.outer), most)


def _cost(found: _Reduction, loop: Loop, lanes: int, is_result: bool) -> float:
    """The cost of a step by vectors along a loop, that of a step of the plain loops being 1."""
    if lanes < 2 or not (is_result or is_neutral(found.kind, found.start)):
        return MOST
    if found.conditions and not (is_result and is_without(found.conditions, [loop])):
        return MOST
    accesses = [(load.buffer, load.indices) for load in found.loads()]
    loads = sum(_loads(buffer, indices, loop.var, lanes) - 1 for buffer, indices in accesses)
    cost = (1 + loads) / lanes
    if not is_result and isinstance(loop.extent, IntImm):
        # Partial results are put together, which takes steps of its own for each result.
        steps = (number_of(found.inner) or loop.extent.value) / loop.extent.value
        cost += (lanes.bit_length() + 1) / (steps * loop.extent.value)
        cost += loop.extent.value % lanes / loop.extent.value
    return cost


def _fitting(count: int, extent: PrimExpr, size: int = 1) -> int:
    """A number of parts of some size, made smaller until they are no longer than a loop."""
    while count > 1 and isinstance(extent, IntImm) and count * size > extent.value:
        count //= 2
    return count


def _loads(buffer: Buffer, indices: Sequence[PrimExpr], var: Var, lanes: int) -> int:
    """The number of loads for a vector."""
    uses = [index for index in indices if any(node is var for node in walk(index))]
    if not uses:
        return 1
    if len(uses) > 1 or uses[0] is not indices[-1] or buffer.strides:
        return lanes
    return 1 if has_step_one(uses[0], var) else 3 if has_step_two(uses[0], var) else lanes


def has_step_two(index: PrimExpr, var: Var) -> bool:
    """True if an index grows with a variable, by two."""
    match index:
        case prim.Mul(a=a, b=IntImm(value=2)):
            return has_step_one(a, var)
        case prim.Add(a=a, b=b):
            one, other = has_step_two(a, var), has_step_two(b, var)
            return one != other and is_without([b if one else a], [Loop(var, a)])
        case prim.Sub(a=a, b=b):
            return has_step_two(a, var) and is_without([b], [Loop(var, a)])
    return False


def has_step_one(index: PrimExpr, var: Var) -> bool:
    """True if an index grows with a variable, one by one."""
    match index:
        case Var():
            return index is var
        case prim.Add(a=a, b=b):
            one, other = has_step_one(a, var), has_step_one(b, var)
            return one != other and is_without([b if one else a], [Loop(var, a)])
        case prim.Sub(a=a, b=b):
            return has_step_one(a, var) and is_without([b], [Loop(var, a)])
    return False


# ------------------------------------------------------------------ lanes are results


def _at_once(found: _Reduction, lanes: int, processor: Processor) -> int:
    """The number of vectors of results that take half of the registers."""
    size = max(lanes * found.store.buffer.dtype.itemsize, processor.vector_bytes)
    return max(processor.vector_registers // 2 * processor.vector_bytes // size, 1)


def _of_results(found: _Reduction, place: int, lanes: int, at_once: int) -> Stmt:
    var, extent = found.outer[place]
    others = [loop for k, loop in enumerate(found.outer) if k != place]
    made = _Columns(found, var, extent, lanes, at_once).all_blocks()
    return in_loops(others, made)


class _Columns:
    """Results side by side, so many vectors at once, then single ones, then what is left over."""

    def __init__(
        self, found: _Reduction, var: Var, extent: PrimExpr, lanes: int, at_once: int
    ) -> None:
        self.found = found
        self.var = var
        self.extent = extent
        self.lanes = _fitting(lanes, extent)
        self.at_once = _fitting(at_once, extent, self.lanes)

    def number(self, value: int) -> IntImm:
        return IntImm(self.var.dtype, value)

    def all_blocks(self) -> Stmt:
        lanes, width = self.number(self.lanes), self.number(self.lanes * self.at_once)
        blocks = simplify(FloorDiv(self.extent, width))
        made = [self._loop("i", blocks, lambda i: self.block(i * width, self.at_once))]
        single = simplify(FloorDiv(FloorMod(self.extent, width), lanes))
        first = simplify(blocks * width)
        if self.at_once > 1:
            made.append(self._loop("j", single, lambda j: self.block(first + j * lanes, 1)))
        rest = simplify(FloorMod(self.extent, lanes))
        return in_row(*(s for s in (*made, self._rest(rest)) if s is not None))

    def _rest(self, rest: PrimExpr) -> Stmt | None:
        """The elements left over: a last vector that begins earlier, or one by one."""
        if isinstance(rest, IntImm):
            return self.block(simplify(self.extent - self.lanes), 1) if rest.value else None
        lanes = self.number(self.lanes)
        zero = self.number(0)
        last = IfThenElse(rest > zero, self.block(self.extent - lanes, 1))
        each = self._loop("rest", self.extent, self.element)
        return IfThenElse(self.extent >= lanes, last, each)

    def block(self, first: PrimExpr, at_once: int) -> Stmt:
        """So many vectors of results from one place on."""
        store = self.found.store
        lanes = self.lanes
        dtype = store.buffer.dtype
        sums = Buffer(f"{store.buffer.name}_vectors", (number(lanes * at_once),), dtype)

        def each(body: Callable[[PrimExpr, PrimExpr], Stmt]) -> Stmt:
            u, lane = (Var.make(name, self.var.dtype) for name in ("u", "lane"))
            inside = u * self.number(lanes) + lane
            made = body(first + inside, inside)
            made = For(lane, self.number(0), self.number(lanes), ForKind.VECTORIZED, made)
            return For(u, self.number(0), self.number(at_once), ForKind.UNROLLED, made)

        def put(place: PrimExpr, slot: PrimExpr) -> Stmt:
            done = self.found.at({self.var: place})
            return done.replace(value=BufferLoad(sums, (slot,)))

        clear = each(lambda _, slot: BufferStore(sums, self.found.start, (slot,)))
        body = in_row(clear, self._steps(sums, each), each(put))
        return with_memory(sums, body)

    def element(self, place: PrimExpr) -> Stmt:
        """One result."""
        store = self.found.store
        one = Buffer(store.buffer.name, (number(1),), store.buffer.dtype)
        zero = self.number(0)
        done = self.found.at({self.var: place}).replace(value=BufferLoad(one, (zero,)))
        steps = self._steps(one, lambda body: body(place, zero))
        return with_memory(one, in_row(BufferStore(one, self.found.start, (zero,)), steps, done))

    def _steps(
        self, sums: Buffer, each: Callable[[Callable[[PrimExpr, PrimExpr], Stmt]], Stmt]
    ) -> Stmt:
        """The loops that are reduced around one step."""
        found = self.found
        inner = [Loop(Var.make(loop.var.name, loop.var.dtype), loop.extent) for loop in found.inner]
        given: dict[Node, PrimExpr] = {a.var: b.var for a, b in zip(found.inner, inner)}

        def step(place: PrimExpr, slot: PrimExpr) -> Stmt:
            value = found.at({**given, self.var: place}).value
            return BufferStore(sums, found.kind(BufferLoad(sums, (slot,)), value), (slot,))

        return found.where_it_is_added(inner, given, each(step))

    def _loop(self, name: str, extent: PrimExpr, body: Callable[[Var], Stmt]) -> Stmt | None:
        if isinstance(extent, IntImm) and extent.value == 0:
            return None
        var = Var.make(name, self.var.dtype)
        return For(var, self.number(0), extent, ForKind.SERIAL, body(var))


# ------------------------------------------------------------------ lanes are partial results


def _of_partial_results(found: _Reduction, place: int, lanes: int) -> Stmt:
    var, extent = found.inner[place]
    others = [loop for k, loop in enumerate(found.inner) if k != place]
    lanes = _fitting(lanes, extent)
    at_once = _fitting(PARTIAL_AT_ONCE, extent, lanes)

    def element(place: RowPlace, put: Callable[[PrimExpr], Stmt]) -> Stmt:
        return put(found.at({var: place.row}).value)

    def behind(total: PrimExpr) -> Stmt:
        return found.store.replace(value=total)

    def around(statements: Sequence[Stmt]) -> list[Stmt]:
        fresh = [Loop(Var.make(loop.var.name, loop.var.dtype), loop.extent) for loop in others]
        given: dict[Node, PrimExpr] = {a.var: b.var for a, b in zip(others, fresh)}
        return [in_loops(fresh, rewrite(in_row(*statements), given.get))] if statements else []

    made = reduced(
        Sweep(var, extent, lanes, at_once), found.kind, found.start, found.store.buffer.name,
        element, behind, around,
    )  # fmt: skip
    return in_loops(found.outer, made)
