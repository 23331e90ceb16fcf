"""Functions over rows: nests that go over the same rows, each by elements or by a reduction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from relaxscript.arith import YES, prove_equal
from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, BufferLoad, IntImm, PrimExpr, Var, const
from relaxscript.ir.tir import Block, BlockRealize, Buffer, BufferStore, IfThenElse, Stmt
from relaxscript.ir.walk import rewrite, walk
from relaxscript.transform.prim_func.lower_blocks import is_true

from .elementwise import product_of
from .loop_nests import Loop, is_without, loops_around

__all__ = [
    "PlainNest",
    "Reduction",
    "RowFunction",
    "RowNest",
    "begins_once",
    "is_neutral",
    "plain_nest",
    "row_function",
]

# How two values become one; those of bools are in any order, since nothing in them fails.
Reduction = type[prim.Binary] | type[prim.Logic]

_REDUCTIONS = (prim.Add, prim.Mul, prim.Max, prim.Min)


class RowNest(NamedTuple):
    """A value that is stored for each row, or with `is_of_elements` for each of its elements.

    With `reduction` it is the value of all elements, put together from `start` on.
    """

    buffer: Buffer
    indices: tuple[PrimExpr, ...]
    value: PrimExpr
    is_of_elements: bool
    reduction: Reduction | None = None
    start: PrimExpr | None = None

    def loads(self) -> list[BufferLoad]:
        """The loads of its value."""
        return [node for node in walk(self.value) if isinstance(node, BufferLoad)]


class RowFunction(NamedTuple):
    """Nests in their order, all with the variables of the same loops: over rows, and over one.

    `views` are the buffers in which the axes of a row are one.
    """

    rows: tuple[Loop, ...]
    element: Loop
    nests: tuple[RowNest, ...]
    views: tuple[Buffer, ...]


def row_function(parts: Sequence[Stmt]) -> RowFunction | None:
    """The function over rows that some statements are; None where they are something else."""
    plain = [plain_nest(part) for part in parts]
    nests = [nest for nest in plain if nest is not None]
    first = next((nest for nest in nests if nest.is_reduction and nest.inner), None)
    if len(nests) < len(plain) or first is None or any(nest.has_lets for nest in nests):
        return None
    reader = _Reader(first.outer, first.inner)
    made: list[RowNest] = []
    starts: dict[Buffer, PrimExpr] = {}
    reduced = {nest.store.buffer for nest in nests if nest.is_reduction and nest.start is None}
    for nest in nests:
        found = reader.nest(nest)
        if found is None:
            return None
        if found.reduction is None and nest.store.buffer in reduced:
            if found.is_of_elements or not isinstance(found.value, prim.Immediate):
                return None
            starts[found.buffer] = found.value
            continue
        if found.reduction is not None:
            start = starts.pop(found.buffer, None) if found.start is None else found.start
            if start is None or not is_neutral(found.reduction, start):
                return None
            found = found._replace(start=start)
        made.append(found)
    whole = RowFunction(reader.rows, reader.element, tuple(made), tuple(reader.views.values()))
    return whole if not starts and _is_in_order(whole) else None


def is_neutral(reduction: Reduction, start: PrimExpr) -> bool:
    """True if a reduction may begin with a value several times."""
    value = getattr(start, "value", None)
    if reduction in (prim.Max, prim.Min):
        return isinstance(start, prim.Immediate)
    return value is not None and value == (0 if reduction in (prim.Add, prim.Or) else 1)


def _is_in_order(whole: RowFunction) -> bool:
    """True if each stored element is stored once, and read behind this by its own row only."""
    stores: dict[Buffer, RowNest] = {}
    stored: set[Var] = set()
    later = {nest.buffer.data for nest in whole.nests}
    variables = [loop.var for loop in whole.rows]
    for nest in whole.nests:
        for load in nest.loads():
            store = stores.get(load.buffer)
            if store is None and load.buffer.data in later:
                return False
            if store is not None and not _are_same(load.indices, store.indices):
                return False
        expected = [*variables, whole.element.var] if nest.is_of_elements else variables
        found = [index for index in nest.indices if not isinstance(index, IntImm)]
        if len(found) != len(expected) or any(a is not b for a, b in zip(found, expected)):
            return False
        if nest.buffer.data in stored:
            return False
        stored.add(nest.buffer.data)
        stores[nest.buffer] = nest
    return True


def _are_same(a: Sequence[PrimExpr], b: Sequence[PrimExpr]) -> bool:
    def same(x: PrimExpr, y: PrimExpr) -> bool:
        return x is y or (isinstance(x, IntImm) and isinstance(y, IntImm) and x.value == y.value)

    return len(a) == len(b) and all(map(same, a, b))


class PlainNest(NamedTuple):
    """A nest, the loops of its own by which its element is stored, and those behind them.

    Loops of one iteration are no loops; their variables are zero in what is stored. A reduction may
    add something only where conditions hold.
    """

    outer: tuple[Loop, ...]
    inner: tuple[Loop, ...]
    store: BufferStore
    value: PrimExpr
    reduction: Reduction | None
    start: PrimExpr | None
    conditions: tuple[PrimExpr, ...] = ()

    @property
    def is_reduction(self) -> bool:
        return self.reduction is not None

    @property
    def has_lets(self) -> bool:
        """True if a variable is bound in what is stored."""
        return any(isinstance(node, prim.Let) for node in walk(self.store))


def plain_nest(stmt: Stmt, conditional: bool = False) -> PlainNest | None:
    """The nest that a statement is, if it is one; unless `conditional`, without conditions."""
    found = _under_conditions(stmt, conditional)
    if found is None:
        return None
    loops, stmt, conditions = found
    if isinstance(stmt, BlockRealize):
        return None if conditions else _plain_block(loops, stmt, conditional)
    if isinstance(stmt, BufferStore):
        return _plain_nest(loops, {}, stmt, None, conditions)
    return None


def _under_conditions(
    stmt: Stmt, conditional: bool
) -> tuple[list[Loop], Stmt, list[PrimExpr]] | None:
    """The loops around a statement, with conditions between and behind them if there may be some.

    A loop under a condition is as well a loop around it, if its extent can be computed anywhere.
    """
    outer = loops_around(stmt)
    if outer is None:
        return None
    loops, stmt = outer
    conditions: list[PrimExpr] = []
    while conditional and isinstance(stmt, IfThenElse) and stmt.else_case is None:
        conditions.append(stmt.condition)
        inner = loops_around(stmt.then_case)
        if inner is None or any(map(_has_loads, (loop.extent for loop in inner[0]))):
            return None
        loops += inner[0]
        stmt = inner[1]
    return loops, stmt, conditions


def _has_loads(e: PrimExpr) -> bool:
    return any(isinstance(node, BufferLoad) for node in walk(e))


def _plain_block(loops: list[Loop], stmt: BlockRealize, conditional: bool) -> PlainNest | None:
    block = stmt.block
    if block.alloc_buffers or block.match_buffers or not is_true(stmt.predicate):
        return None
    values: dict[Node, PrimExpr] = {}
    extents = {loop.var: loop.extent for loop in loops}
    axes: dict[Var, Loop] = {}
    for axis, value in zip(block.iter_vars, stmt.iter_values, strict=True):
        if isinstance(value, IntImm):
            values[axis.var] = value
        elif isinstance(value, Var) and value in extents and value.dtype == axis.var.dtype:
            axes[value] = Loop(axis.var, extents[value])
        else:
            return None
    if len(axes) < len(loops) or len(axes) + len(values) < len(block.iter_vars):
        return None
    found, init = _under_conditions(block.body, conditional), block.init
    if found is None:
        return None
    inner, body, conditions = found
    if inner or not isinstance(body, BufferStore):
        return None
    start = init.value if isinstance(init, BufferStore) else None
    if init is not None and not (
        isinstance(start, prim.Immediate) and begins_once(block, init, body)
    ):
        return None
    return _plain_nest([axes[loop.var] for loop in loops], values, body, start, conditions)


def begins_once(block: Block, init: Stmt, body: Stmt) -> bool:
    """True if the element that a block stores gets its first value once."""
    if not isinstance(init, BufferStore) or init.predicate is not None:
        return False
    if not isinstance(body, BufferStore) or init.buffer is not body.buffer:
        return False
    spatial = {node for index in body.indices for node in walk(index)}
    for axis in block.iter_vars:
        first = None if axis.dom is None else axis.dom.min
        if not isinstance(first, IntImm) or first.value != 0:
            return False
        if (axis.iter_type == "reduce") is (axis.var in spatial):
            return False
    return _are_same(init.indices, body.indices)


def _plain_nest(
    loops: list[Loop], values: dict[Node, PrimExpr], store: BufferStore, start: PrimExpr | None,
    under: Sequence[PrimExpr],
) -> PlainNest | None:  # fmt: skip
    if store.predicate is not None:
        return None
    kept = []
    for loop in loops:
        if isinstance(loop.extent, IntImm) and loop.extent.value == 1:
            values[loop.var] = const(0, loop.var.dtype)
        else:
            kept.append(loop)
    if values:
        store = rewrite(store, values.get)
    conditions = tuple([rewrite(condition, values.get) for condition in under])
    used = {node for index in store.indices for node in walk(index)}
    outer = tuple(loop for loop in kept if loop.var in used)
    inner = tuple(loop for loop in kept if loop.var not in used)
    if [*outer, *inner] != kept:
        return None
    match store.value:
        case prim.Binary(a=BufferLoad() as old, b=value) if (
            old.buffer is store.buffer and _are_same(old.indices, store.indices)
        ):
            kind = type(store.value)
            if kind not in _REDUCTIONS or store.buffer.dtype == "bool":
                return None
            return PlainNest(outer, inner, store, value, kind, start, conditions)
        case (prim.And() | prim.Or()) as both if (
            isinstance(both.a, BufferLoad)
            and both.a.buffer is store.buffer
            and _are_same(both.a.indices, store.indices)
        ):
            return PlainNest(outer, inner, store, both.b, type(both), start, conditions)
    if start is not None or inner or conditions:
        return None
    return PlainNest(outer, (), store, store.value, None, None)


class _Reader:
    """Nests with the variables of one nest, and with rows of one axis."""

    def __init__(self, rows: tuple[Loop, ...], row: tuple[Loop, ...]) -> None:
        self.rows = rows
        self.row = row
        self.views: dict[Buffer, Buffer] = {}
        self.element = row[0]
        if len(row) > 1:
            extent = product_of([loop.extent for loop in row])
            self.element = Loop(Var.make(row[-1].var.name, INT64), extent)

    def nest(self, nest: PlainNest) -> RowNest | None:
        loops, all_loops = [*nest.outer, *nest.inner], [*self.rows, *self.row]
        of_elements = len(nest.outer) > len(self.rows)
        expected = all_loops if of_elements or nest.is_reduction else [*self.rows]
        if len(loops) != len(expected) or (nest.is_reduction and of_elements):
            return None
        given: dict[Node, PrimExpr] = {}
        for loop, known in zip(loops, expected, strict=True):
            same = loop.var.dtype == known.var.dtype
            if not same or prove_equal(loop.extent, known.extent) is not YES:
                return None
            given[loop.var] = known.var
        value = self._by_rows(rewrite(nest.value, given.get))
        target = BufferLoad(nest.store.buffer, nest.store.indices)
        place = self._by_rows(rewrite(target, given.get))
        if value is None or not isinstance(place, BufferLoad):
            return None
        return RowNest(place.buffer, place.indices, value, of_elements, nest.reduction, nest.start)

    def _by_rows(self, value: PrimExpr) -> PrimExpr | None:
        """A value whose loads are of a row, or the same for all its elements."""
        fits = True

        def step(node: Node) -> Node | None:
            nonlocal fits
            if not isinstance(node, BufferLoad) or is_without(node.indices, self.row):
                return None
            found = self._in_row(node)
            fits = fits and found is not None
            return found

        made = rewrite(value, step)
        if len(self.row) > 1 and not is_without([made], self.row):
            return None
        plain = all(
            node.predicate is None and node.buffer.dtype.lanes == 1 and node.dtype.lanes == 1
            for node in walk(made)
            if isinstance(node, BufferLoad)
        )
        return made if fits and plain else None

    def _in_row(self, load: BufferLoad) -> BufferLoad | None:
        """A load of an element of a row, by one index; None where a row does not lie so."""
        buffer, variables = load.buffer, [loop.var for loop in self.row]
        pairs = [*zip(load.indices, buffer.shape, strict=True)]
        depth = next((k for k, (index, _) in enumerate(pairs) if index is variables[0]), -1)
        lead, inner = load.indices[:depth], [pair for pair in pairs[depth:] if not _is_unit(*pair)]
        if depth < 0 or [id(i) for i, _ in inner] != [*map(id, variables)]:
            return None
        if not is_without(lead, self.row):
            return None
        if len(pairs) == depth + 1:
            return load
        extents = zip((extent for _, extent in inner), self.row, strict=True)
        compact = not buffer.strides and buffer.elem_offset is None
        if not compact or any(prove_equal(e, loop.extent) is not YES for e, loop in extents):
            return None
        if buffer not in self.views:
            shape = (*buffer.shape[:depth], self.element.extent)
            self.views[buffer] = buffer.replace(shape=shape, axis_separators=())
        return BufferLoad(self.views[buffer], (*lead, self.element.var))


def _is_unit(index: PrimExpr, extent: PrimExpr) -> bool:
    """True if an index is the only one of its axis."""
    match index, extent:
        case IntImm(value=0), IntImm(value=1):
            return True
    return False
