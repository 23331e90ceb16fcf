"""Values of reductions that a condition chooses, as for a window at an edge, in own buffers.

Vectors read both values of a choice, so that one which is outside of its buffer is not for them.
"""

from __future__ import annotations

from typing import NamedTuple

from relaxscript.arith import YES, Facts, prove, simplify
from relaxscript.arith.index_algebra import is_zero
from relaxscript.ir import prim
from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, BufferLoad, Call, IntImm, PrimExpr, Var, const
from relaxscript.ir.tir import BlockRealize, Buffer, BufferStore, PrimFunc, Stmt
from relaxscript.ir.walk import children, rewrite_top_down, walk
from relaxscript.transform.prim_func.memory_access import has_noalias
from relaxscript.transform.prim_func.vectorize_loop import never_fails

from .distributed_loops import in_own_loops
from .flat_indices import FlatIndex, flat_index
from .loop_nests import Loop, loops_around, nest_of, number_of, parts_of, with_parts
from .loop_writing import in_loops, in_row, number, with_memory
from .row_nests import PlainNest, plain_nest

__all__ = ["with_chosen_values"]

_CHOICE = op_named("tir.if_then_else")


def with_chosen_values(func: PrimFunc) -> PrimFunc:
    """The function with values that a condition chooses stored before a reduction reads them.

                                            for u in range(34):
                                                v[u] = T.if_then_else(
    for x, k in T.grid(32, 3):                      1 <= u and u < 33, A[u - 1], T.float32(0))
        B[x] = B[x] + W[k] *        →       for x, k in T.grid(32, 3):
            T.if_then_else(...)                 B[x] = B[x] + W[k] * v[x + k]

    That is where a load is inside of its buffer under the condition only. A value has to depend on
    sums of loops, each loop being in one of them. There have to be fewer values than iterations.
    The same object where there is no such value, and for functions that do not promise
    `tir.noalias`.
    """
    parts = parts_of(func)
    if parts is None or not has_noalias(func):
        return func
    made, new = list[Stmt](), list[Buffer]()
    for part in parts.parts:
        found = _found_in(func, part)
        if found is None:
            made.append(part)
            continue
        # What begins a reduction is right before it.
        before = nest_of(made[-1]) if made else None
        begins = before is not None and before.store.buffer is found.buffer
        place = len(made) - begins
        made[place:place] = found.before
        made += found.reduced
        new += found.own
    if not new:
        return func
    body = in_row(*made)
    for buffer in new:
        body = with_memory(buffer, body)
    return func.replace(body=with_parts(func.body, (body,)))


class _Found(NamedTuple):
    """The loops that store values in own buffers, and those of the reduction that reads them."""

    buffer: Buffer
    own: list[Buffer]
    before: list[Stmt]
    reduced: list[Stmt]


def _found_in(func: PrimFunc, part: Stmt) -> _Found | None:
    plain = plain_nest(part) if _adds_a_choice(part) else None
    if plain is None or plain.reduction is None or not plain.inner or plain.has_lets:
        return None
    if never_fails(func, part) or not never_fails(func, part, lazily=True):
        return None
    buffer = plain.store.buffer
    loads = [node for node in walk(plain.value) if isinstance(node, BufferLoad)]
    if any(load.buffer.data is buffer.data for load in loads):
        return None
    values = _Values(plain)
    value = rewrite_top_down(plain.value, values.step)
    if not values.own:
        return None
    own = BufferLoad(buffer, plain.store.indices)
    store = plain.store.replace(value=plain.reduction(own, value))
    reduced = [in_loops([*plain.outer, *plain.inner], store)]
    if plain.start is not None:
        if not all(prove(loop.extent > const(0, loop.extent.dtype)) is YES for loop in plain.inner):
            return None
        begun = plain.store.replace(value=plain.start)
        reduced.insert(0, in_own_loops(plain.outer, begun))
    if not all(never_fails(func, nest, lazily=True) for nest in values.nests):
        return None
    return _Found(buffer, values.own, values.nests, reduced)


def _adds_a_choice(part: Stmt) -> bool:
    """True if a statement in loops puts an element and a value by a condition together."""
    found = loops_around(part)
    if found is None:
        return False
    body = found[1].block.body if isinstance(found[1], BlockRealize) else found[1]
    if not isinstance(body, BufferStore) or not isinstance(body.value, prim.Binary):
        return False
    own = body.value.a
    if not isinstance(own, BufferLoad) or own.buffer is not body.buffer:
        return False
    return any(isinstance(node, Call) and node.op is _CHOICE for node in walk(body.value.b))


class _Values:
    """Finds choices in the value of a reduction, and stores each in a buffer."""

    def __init__(self, plain: PlainNest) -> None:
        self.loops = {loop.var: loop for loop in (*plain.outer, *plain.inner)}
        self.count = number_of([*self.loops.values()])
        self.own: list[Buffer] = []
        self.nests: list[Stmt] = []

    def step(self, node: Node) -> Node | None:
        """A load in the place of a choice."""
        if not isinstance(node, Call) or node.op is not _CHOICE:
            return None
        sums = self._sums_in(node)
        if sums is None or not sums:
            return None
        axes = [_axis_of(found, self.loops) for found in sums.values()]
        known = [axis for axis in axes if axis is not None]
        used = [var for found in sums.values() for var, _ in found.terms]
        if len(known) < len(axes) or len({*used}) < len(used):
            return None
        loops = [axis.loop for axis in known]
        count = number_of(loops)
        if count is None or self.count is None or count >= self.count:
            return None
        buffer = Buffer("value", tuple([loop.extent for loop in loops]), node.dtype)
        by_terms = dict(zip(sums, known, strict=True))
        value = rewrite_top_down(node, lambda part: self._in_axes(part, by_terms))
        store = BufferStore(buffer, value, tuple([loop.var for loop in loops]))
        self.own.append(buffer)
        self.nests.append(in_loops(loops, store))
        places = [
            found._replace(base=const(-axis.low, INT64)).value()
            for found, axis in zip(sums.values(), known)
        ]
        return BufferLoad(buffer, tuple(places))

    def _sums_in(self, choice: Call) -> dict[object, FlatIndex] | None:
        """The sums of loops on which a choice depends; None where it depends on something else."""
        found: dict[object, FlatIndex] = {}
        # Those of loads are first: values lie as what they are read from.
        stack: list[Node] = [choice]
        for load in walk(choice):
            if isinstance(load, BufferLoad):
                stack += reversed(load.indices)
        while stack:
            node = stack.pop()
            total = self._sum_of(node)
            if total is not None:
                found.setdefault(_key(total), total)
            elif isinstance(node, Var) and node in self.loops:
                return None
            else:
                stack += [part for part in children(node) if isinstance(part, PrimExpr)][::-1]
        return found

    def _sum_of(self, node: Node) -> FlatIndex | None:
        """The sum of loops that an index is; None where it is none."""
        if not isinstance(node, PrimExpr) or isinstance(node, IntImm):
            return None
        if not isinstance(node, (Var, prim.Add, prim.Sub, prim.Mul)):
            return None
        total = flat_index(node, [*self.loops], Facts(), False)
        return total if total is not None and total.terms else None

    def _in_axes(self, node: Node, axes: dict[object, _Axis]) -> PrimExpr | None:
        """A sum of loops as the variable of an axis."""
        total = self._sum_of(node)
        if total is None:
            return None
        axis = axes[_key(total)]
        base = simplify(total.base + number(axis.low))
        return axis.loop.var if is_zero(base) else axis.loop.var + base


def _key(total: FlatIndex) -> object:
    return tuple([(var, getattr(stride, "value", stride)) for var, stride in total.terms])


class _Axis(NamedTuple):
    """A loop over all values of a sum of loops, and the lowest one."""

    loop: Loop
    low: int


def _axis_of(total: FlatIndex, loops: dict[Var, Loop]) -> _Axis | None:
    """The axis for a sum of loops; None where nobody knows how long it is."""
    low, size = 0, 1
    for var, stride in total.terms:
        extent = loops[var].extent
        if not isinstance(stride, IntImm) or not isinstance(extent, IntImm) or extent.value < 1:
            return None
        reach = stride.value * (extent.value - 1)
        low, size = low + min(reach, 0), size + abs(reach)
    return _Axis(Loop(Var.make(total.terms[0].var.name, INT64), number(size)), low)
