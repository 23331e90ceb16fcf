"""Functions of several nests, each arranged by itself.

This is for what is neither elementwise nor over the same rows throughout. Each reduction gets
vectors along the axis that lies best (`reduction_loops.py`). A sum of products, as a convolution
is, gets tiles (`contraction.py`). Elements between reductions are computed by vectors where they
are stored; what only they use is computed where it is used.
"""

from __future__ import annotations

from typing import NamedTuple

from relaxscript.analysis.prim_funcs import expr_deep_equal
from relaxscript.ir import prim
from relaxscript.ir.prim import BufferLoad, IntImm, PrimExpr, Var
from relaxscript.ir.tir import Buffer, BufferStore, PrimFunc, Stmt
from relaxscript.ir.walk import walk
from relaxscript.transform.prim_func.memory_access import has_noalias
from relaxscript.transform.prim_func.vectorize_loop import never_fails, with_vectors

from .contraction import contraction_loops
from .contraction_axes import contraction_of
from .elementwise import by_vectors, one_by_one
from .grouped_loops import with_groups_as_loops
from .inline_producers import InlinedNest, inlined
from .loop_nests import Nest, Nests, is_without, nest_of, parts_of
from .loop_writing import in_row, with_memory
from .processor import Processor
from .reduction_loops import has_step_one, reduction_loops
from .row_nests import PlainNest, plain_nest
from .rows_elsewhere import rows_elsewhere
from .split_at_conditions import divides, split_at_conditions
from .starts import clears, is_of_each_result
from .transposed_blocks import transposed_blocks

__all__ = ["nests"]

# Fewer elements behind one another are taken one by one.
FEWEST = 4


def nests(func: PrimFunc, processor: Processor) -> PrimFunc | None:
    """The function nest by nest; None where one of them has no form with vectors.

    for j, k in T.grid(64, m):              for j in range(8):
        with T.block("sum"):                    for k in range(m):
            ...                                     sums[...] += A[k, T.Ramp(j * 8, 1, 8)]
            s[j] = s[j] + A[k, j]       →       s[T.Ramp(j * 8, 1, 8)] = sums[...]
    for i, j in T.grid(m, 64):              for i, j in T.grid(m, 8):
        B[i, j] = A[i, j] - s[j]                B[i, T.Ramp(j * 8, 1, 8)] = ...
    """
    parts = parts_of(func)
    if parts is None or not has_noalias(func):
        return None
    steps = [_step_of(part) for part in parts.parts]
    found = [step for step in steps if step is not None]
    if len(found) < len(steps):
        return None
    whole = _with_starts(found)
    if whole is None or not _are_in_order(whole, {b.data for b in parts.own}):
        return None
    kept = _with_values_inlined(whole, parts.own)
    made = []
    for step in kept:
        body = _arranged(func, step, processor)
        if body is None:
            return None
        made.append(body)
    if not made:  # all that is computed is for nobody
        return None
    body = in_row(*made)
    stored = {step.store.buffer for step in kept}
    for buffer in parts.own:
        if buffer in stored:
            body = with_memory(buffer, body)
    return func.replace(body=body)


class _Step(NamedTuple):
    """A nest: of a reduction with its first value, or of elements with variables before them."""

    part: Stmt
    plain: PlainNest
    start: PrimExpr | None
    elements: InlinedNest | None

    @property
    def store(self) -> BufferStore:
        return self.plain.store

    def loads(self) -> list[BufferLoad]:
        """The loads of its value; of a reduction but for that of the element that is stored.

        So are those of the conditions under which it is added.
        """
        value = self.plain.value if self.elements is None else self.store.value
        read = (value, *self.plain.conditions)
        return [node for e in read for node in walk(e) if isinstance(node, BufferLoad)]


def _step_of(part: Stmt) -> _Step | None:
    plain = plain_nest(part, conditional=True)
    if plain is None:
        return None
    if plain.reduction is not None:
        return None if plain.has_lets else _Step(part, plain, plain.start, None)
    return _of_each_element(part, plain)


def _of_each_element(part: Stmt, plain: PlainNest) -> _Step | None:
    nest = nest_of(part)
    if nest is None:
        return None
    nest = Nest(*with_groups_as_loops(nest.loops, nest.store, FEWEST))
    whole = plain._replace(reduction=None, value=plain.store.value)
    return _Step(part, whole, None, InlinedNest(nest, ()))


def _with_starts(steps: list[_Step]) -> list[_Step] | None:
    """The steps with the first values of reductions, which may be stored by steps before them."""
    made: list[_Step] = []
    for step in steps:
        if step.plain.reduction is not None and not is_of_each_result(step.plain):
            return None
        if step.plain.reduction is None or step.start is not None:
            made.append(step)
            continue
        if made and clears(made[-1].plain, step.plain):
            made[-1] = step._replace(start=made[-1].plain.value)
            continue
        # What is added once to what is there is an element as others are.
        whole = not step.plain.inner and not step.plain.conditions
        added = _of_each_element(step.part, step.plain) if whole else None
        if added is None:
            return None
        made.append(added)
    return made


def _are_in_order(steps: list[_Step], own: set[Var]) -> bool:
    """True if each buffer is stored by one step, and what is stored is read behind that only."""
    last = {step.store.buffer.data: k for k, step in enumerate(steps)}
    if len(last) < len(steps):
        return False
    for place, step in enumerate(steps):
        for load in step.loads():
            if load.buffer.data not in own and _is_in_place(step, load):
                continue
            if load.buffer.data in own and load.buffer.data not in last:
                return False
            if last.get(load.buffer.data, -1) >= place:
                return False
    return True


def _is_in_place(step: _Step, load: BufferLoad) -> bool:
    """True if an element is read where it is stored, by a step of elements."""
    store = step.store
    if step.elements is None or load.buffer is not store.buffer:
        return False
    return all(map(expr_deep_equal, load.indices, store.indices))


def _with_values_inlined(steps: list[_Step], own: tuple[Buffer, ...]) -> list[_Step]:
    """The steps without those whose values are used by steps of elements only."""
    needed = {load.buffer for step in steps if step.elements is None for load in step.loads()}
    needed |= {step.store.buffer for step in steps if step.elements is None}
    elements = [step for step in steps if step.elements is not None]
    sizes = {step.store.buffer: len(step.plain.outer) for step in elements}
    for step in elements:
        # What there is one of for several elements is computed once.
        mine = len(step.plain.outer)
        needed |= {load.buffer for load in step.loads() if sizes.get(load.buffer, mine) < mine}
    free = tuple(buffer for buffer in own if buffer not in needed)
    nests_of_elements = tuple(step.elements.nest for step in elements if step.elements is not None)
    values = inlined(Nests(free, nests_of_elements), in_order=True)
    if values is None:
        return steps
    by_buffer = {value.nest.store.buffer: value for value in values}
    made = []
    for step in steps:
        if step.elements is None:
            made.append(step)
        elif step.store.buffer in by_buffer:
            made.append(step._replace(elements=by_buffer[step.store.buffer]))
    return made


def _arranged(func: PrimFunc, step: _Step, processor: Processor) -> Stmt | None:
    """The loops of a step."""
    if step.elements is not None:
        return _of_elements(func, step.elements, processor)
    if step.start is None or not never_fails(func, step.part):
        return None
    contraction = None if step.plain.conditions else contraction_of(step.plain, step.start)
    if contraction is not None:
        tiles = contraction_loops(contraction, processor)
        if tiles is not None:
            return tiles
    made = reduction_loops(step.plain, step.start, processor)
    return None if made is None else with_vectors(func, made)


def _of_elements(func: PrimFunc, value: InlinedNest, processor: Processor) -> Stmt | None:
    """The loops of elements by vectors; as they are where these are few."""
    if any(isinstance(node, prim.Let) for node in walk(value.statement())):
        return rows_elsewhere(func, value, processor)
    if divides(value):
        made = _in_parts(func, value, processor)
        if made is not None:
            return made
    if _is_beside(value.nest):
        made = (
            by_vectors(func, value, processor)
            or rows_elsewhere(func, value, processor)
            or transposed_blocks(func, value)
        )
        if made is not None:
            return made
    made = _in_parts(func, value, processor)
    if made is not None:
        return made
    loops = one_by_one(value)
    return loops if _is_short(value.nest) and never_fails(func, loops, lazily=True) else None


def _in_parts(func: PrimFunc, value: InlinedNest, processor: Processor) -> Stmt | None:
    """The loops of parts of a nest, in which conditions are known."""
    parts = split_at_conditions(value)
    if parts is None:
        return None
    found = [_of_elements(func, part, processor) for part in parts]
    known = [part for part in found if part is not None]
    return in_row(*known) if len(known) == len(found) else None


def _is_beside(nest: Nest) -> bool:
    """True if what the last loop stores lies side by side."""
    *outer, last = nest.store.indices or [prim.const(0)]
    inner = nest.loops[-1:]
    return is_without(outer, inner) and all(has_step_one(last, loop.var) for loop in inner)


def _is_short(nest: Nest) -> bool:
    """True if there are few elements behind one another."""
    if not nest.loops:
        return True
    extent = nest.loops[-1].extent
    return isinstance(extent, IntImm) and extent.value < FEWEST
