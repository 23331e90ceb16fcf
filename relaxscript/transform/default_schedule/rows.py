"""Reductions of rows, and what is computed of each element of a row before and behind them.

A row is gone over once for each reduction and each result, and stays in cache meanwhile. What there
is one of for a row is a variable. Elements that are kept for a moment are computed where they are
used. Where that would call a function twice, they are kept in a buffer of one row. So are those
that are converted twice, if a row is short.

A reduction has several vectors of partial results, which are put together in a fixed order. A sum
is computed in the type in which it is written. Products are added to it without being rounded
before. The bound of its error is that of the plain sum: the sum of the elements' sizes, times their
number, times one unit in the last place. Maxima and minima are exact, and NaN where an element is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from relaxscript.ir.intrinsic import op_named
from relaxscript.ir.node import Node
from relaxscript.ir.prim import (
    BufferLoad,
    Call,
    Cast,
    Div,
    Immediate,
    IntImm,
    Max,
    Min,
    PrimExpr,
    Var,
    const,
)
from relaxscript.ir.tir import (
    Buffer,
    BufferStore,
    DeclBuffer,
    Evaluate,
    For,
    ForKind,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
)
from relaxscript.ir.walk import children, post_order, rewrite, rewrite_top_down
from relaxscript.transform.prim_func.memory_access import has_noalias
from relaxscript.transform.prim_func.vectorize_loop import never_fails, with_vectors

from .loop_nests import parts_of
from .loop_writing import in_row, with_memory
from .processor import Processor
from .row_conversions import with_conversions
from .row_nests import Reduction, RowFunction, RowNest, row_function
from .row_sweeps import RowPlace, Sweep, reduced

__all__ = ["rows"]

# Vectors that are taken at once, in general and where a function is called for each.
AT_ONCE, AT_ONCE_WITH_CALLS = 4, 2
# A maximum takes several steps, since it is NaN where an element is.
AT_ONCE_OF_COMPARISONS = 8

Behind = Callable[[Stmt], Stmt]


def rows(func: PrimFunc, processor: Processor) -> PrimFunc | None:
    """The function row by row; None where no row is reduced, or a row is shorter than a vector.

    for i, k in T.grid(m, 64):               for i in range(m):
        with T.block("sum"):                     partial[...] = zeros
            ...                                  for k in range(2):
            s[i] = s[i] + A[i, k]        →           partial[...] += A[i, T.Ramp(...)]
    for i, j in T.grid(m, 64):                   s = ...
        B[i, j] = A[i, j] / s[i]                 for j in range(2):
                                                     B[i, T.Ramp(...)] = A[...] / T.Broadcast(s, 8)
    """
    parts = parts_of(func)
    if parts is None or not has_noalias(func):
        return None
    found = row_function(parts.parts)
    if found is None:
        return None
    own = {buffer.data for buffer in parts.own}
    stored = {nest.buffer.data for nest in found.nests}
    loaded = {load.buffer.data for nest in found.nests for load in nest.loads()}
    if not loaded & own <= stored:
        return None
    found, converted = with_conversions(found)
    return _RowProgram(func, found, own, converted, processor).function()


class _Element(NamedTuple):
    """The value of an element, and before it variables, some of which are stored in a row."""

    lets: tuple[tuple[Var, PrimExpr, Buffer | None], ...]
    value: PrimExpr

    @property
    def has_calls(self) -> bool:
        return any(_calls(value) for value in (self.value, *(let[1] for let in self.lets)))

    def at(self, var: Var, kept_var: Var, place: RowPlace, put: Callable[[PrimExpr], Stmt]) -> Stmt:
        """The statement for one place of the row, with variables of its own.

        The value and what is put depend on `var`, and on `kept_var` where elements are kept.
        """
        values: dict[Node, PrimExpr] = {var: place.row, kept_var: place.kept}
        values |= {v: Var.make(v.name, v.dtype) for v, *_ in self.lets}
        made = rewrite(put(self.value), values.get)
        for v, value, kept in reversed(self.lets):
            name = values[v]
            assert isinstance(name, Var)
            if kept is not None:
                made = in_row(BufferStore(kept, name, (place.kept,)), made)
            made = LetStmt(name, rewrite(value, values.get), made)
        return made


def _calls(e: PrimExpr) -> bool:
    """True if a function is called for a value."""
    cheap = op_named("tir.if_then_else"), op_named("tir.likely"), op_named("tir.sqrt")
    return any(isinstance(node, Call) and node.op not in cheap for node in post_order(e))


class _RowProgram:
    """The statements for one row, in the order of the nests."""

    def __init__(
        self, func: PrimFunc, found: RowFunction, own: set[Var], converted: Sequence[Buffer],
        processor: Processor,
    ) -> None:  # fmt: skip
        self.func = func
        self.found = found
        self.own = own | {buffer.data for buffer in converted}
        self.var, self.extent = found.element
        # The place of an element where it is kept.
        self.kept_var = Var.make(self.var.name, self.var.dtype)
        self.lanes = processor.lanes(self._itemsize())
        # What there is one of for a row, and elements that are computed where they are used.
        self.values: dict[Buffer, Var] = {}
        self.pending: dict[Buffer, RowNest] = {}
        extent_kept = Sweep(self.var, self.extent, self.lanes, 1).kept_extent
        self.kept: dict[Buffer, Buffer] = {
            buffer: Buffer(buffer.name, (extent_kept,), buffer.dtype)
            for buffer in _kept(found.nests, self.own, {*converted})
        }
        self.stored: set[Buffer] = set()
        # Each takes the statements behind it.
        self.steps: list[Behind] = []

    def _itemsize(self) -> int:
        """The size of the widest element that is loaded from a row, or stored in one.

        A vector of partial results takes at most two registers.
        """
        sizes = [1]
        for nest in self.found.nests:
            if nest.reduction is not None:
                sizes.append(nest.buffer.dtype.itemsize // 2)
            if nest.is_of_elements and nest.buffer.data not in self.own:
                sizes.append(nest.buffer.dtype.itemsize)
            sizes += [
                load.dtype.itemsize
                for load in nest.loads()
                if load.buffer.data not in self.own and load.indices[-1:] == (self.var,)
            ]
        return max(sizes)

    def function(self) -> PrimFunc | None:
        if isinstance(self.extent, IntImm) and self.extent.value < self.lanes:
            return None
        if self.lanes == 1 or not all(map(self._is_safe, self.found.nests)):
            return None
        for nest in self.found.nests:
            self._add(nest)
        made: Stmt = _NOTHING
        for step in reversed(self.steps):
            made = step(made)
        made = self._in_rows(made)
        for kept in self.kept.values():
            made = with_memory(kept, made)
        for view in self.found.views:
            if view.data not in self.own:
                made = DeclBuffer(view, made)
        body = with_vectors(self.func, made)
        return None if body is None else self.func.replace(body=body)

    def _in_rows(self, made: Stmt) -> Stmt:
        for var, extent in reversed(self.found.rows):
            made = For(var, const(0, var.dtype), extent, ForKind.SERIAL, made)
        return made

    def _is_safe(self, nest: RowNest) -> bool:
        """True if nothing of a nest fails, in its own loops."""
        made: Stmt = BufferStore(nest.buffer, nest.value, nest.indices)
        if nest.is_of_elements or nest.reduction is not None:
            zero = const(0, self.var.dtype)
            made = For(self.var, zero, self.extent, ForKind.SERIAL, made)
        return never_fails(self.func, self._in_rows(made))

    # ------------------------------------------------------------ nests

    def _add(self, nest: RowNest) -> None:
        if nest.reduction is not None and nest.start is not None:
            self._add_reduction(nest, nest.reduction, nest.start)
        elif not nest.is_of_elements:
            self._add_value(nest, self._element(nest.value).value)
        elif nest.buffer.data in self.own:
            self.pending[nest.buffer] = nest
        else:
            self._add_result(nest)

    def _add_value(self, nest: RowNest, value: PrimExpr) -> None:
        """Put the one value of a row into a variable, and in its place if it is a result."""
        var = Var.make(nest.buffer.name, nest.buffer.dtype)
        self.values[nest.buffer] = var
        self._let(var, value)
        if nest.buffer.data not in self.own:
            self._do(BufferStore(nest.buffer, var, nest.indices))

    def _add_reduction(self, nest: RowNest, reduction: Reduction, start: PrimExpr) -> None:
        element = self._without_repeated_work(self._element(nest.value))
        sweep = self._sweep(element, reduction in (Max, Min))
        var = Var.make(nest.buffer.name, nest.buffer.dtype)
        self.values[nest.buffer] = var
        store = BufferStore(nest.buffer, var, nest.indices)
        is_result = nest.buffer.data not in self.own

        def step(behind: Stmt) -> Stmt:
            def following(total: PrimExpr) -> Stmt:
                return LetStmt(var, total, _then(store, behind) if is_result else behind)

            return reduced(
                sweep, reduction, start, nest.buffer.name,
                lambda place, put: element.at(self.var, self.kept_var, place, put), following,
            )  # fmt: skip

        self.steps.append(step)

    def _add_result(self, nest: RowNest) -> None:
        element = self._without_repeated_work(self._element(nest.value))
        sweep = self._sweep(element)

        def put(value: PrimExpr) -> Stmt:
            return BufferStore(nest.buffer, value, nest.indices)

        def one(place: RowPlace) -> Stmt:
            return element.at(self.var, self.kept_var, place, put)

        self._do(*sweep.whole(sweep.vectors(one), sweep.one_by_one(one)))

    def _sweep(self, element: _Element, compares: bool = False) -> Sweep:
        at_once = AT_ONCE_OF_COMPARISONS if compares else AT_ONCE
        if element.has_calls:
            at_once = AT_ONCE_WITH_CALLS
        if isinstance(self.extent, IntImm):
            while at_once > 1 and self.lanes * at_once > self.extent.value:
                at_once //= 2
        return Sweep(self.var, self.extent, self.lanes, at_once)

    def _do(self, *statements: Stmt) -> None:
        self.steps.append(lambda behind: _then(*statements, behind))

    def _let(self, var: Var, value: PrimExpr) -> None:
        self.steps.append(lambda behind: LetStmt(var, value, behind))

    # ------------------------------------------------------------ elements

    def _element(self, value: PrimExpr) -> _Element:
        """The value of an element with all that is computed for it."""
        asked: dict[Buffer, Var] = {}

        def loaded(node: Node) -> Node | None:
            if not isinstance(node, BufferLoad):
                return None
            buffer = node.buffer
            if buffer not in self.pending:
                return self.values.get(buffer)
            if buffer in self.stored:
                return BufferLoad(self.kept[buffer], (self.kept_var,))
            if buffer not in asked:
                asked[buffer] = Var.make(buffer.name, buffer.dtype)
            return asked[buffer]

        made = rewrite(value, loaded)
        lets = []
        for buffer, nest in reversed(self.pending.items()):
            if buffer in asked:
                inner = rewrite(nest.value, loaded)
                lets.append((asked[buffer], inner, self.kept.get(buffer)))
        self.stored |= {buffer for buffer in asked if buffer in self.kept}
        return _Element(tuple(reversed(lets)), made)

    def _without_repeated_work(self, element: _Element) -> _Element:
        """An element in which what is the same for the whole row is computed before."""
        varying: set[int] = set()
        own = {self.var, self.kept_var, *(var for var, *_ in element.lets)}

        def step(node: Node) -> Node | None:
            if not isinstance(node, PrimExpr):
                return None
            if id(node) in varying:
                # The places of elements stay as they are.
                return node if isinstance(node, BufferLoad) else None
            if isinstance(node, (Var, Immediate)) or not self._is_worth_a_variable(node):
                return node
            var = Var.make("of_row", node.dtype)
            self._let(var, node)
            return var

        def outside(value: PrimExpr) -> PrimExpr:
            for node in post_order(value):
                inside = (id(part) in varying for part in children(node))
                if node in own or any(inside):
                    varying.add(id(node))
            return rewrite_top_down(value, step)

        lets = tuple((var, outside(value), kept) for var, value, kept in element.lets)
        return _Element(lets, outside(element.value))

    def _is_worth_a_variable(self, e: PrimExpr) -> bool:
        """True if a value costs something, and may be computed where a row has no elements."""
        nodes = [*post_order(e)]
        if not any(isinstance(node, (Call, Div, Cast, BufferLoad)) for node in nodes):
            return False
        if not any(isinstance(node, BufferLoad) for node in nodes):
            return True
        memory = Buffer("same", (const(1, self.var.dtype),), e.dtype)
        store = BufferStore(memory, e, (const(0, self.var.dtype),))
        return never_fails(self.func, self._in_rows(store))


# What the last statement of a row has behind it.
_NOTHING = Evaluate(const(0))


def _then(*statements: Stmt) -> Stmt:
    made: list[Stmt] = []
    for statement in statements:
        made += statement.seq if isinstance(statement, SeqStmt) else (statement,)
    return in_row(*(statement for statement in made if statement is not _NOTHING))


def _kept(nests: Sequence[RowNest], own: set[Var], converted: set[Buffer]) -> list[Buffer]:
    """The buffers of elements that would be computed in more than one pass over a row.

    These are the converted ones, and those that are computed by calls.
    """
    with_calls: set[Buffer] = set()
    elements = [nest for nest in nests if nest.is_of_elements and nest.buffer.data in own]
    for nest in elements:
        if _calls(nest.value) or any(load.buffer in with_calls for load in nest.loads()):
            with_calls.add(nest.buffer)
    kept = []
    passes: dict[Buffer, set[int]] = {nest.buffer: set() for nest in elements}
    for place in range(len(nests) - 1, -1, -1):
        nest = nests[place]
        mine = {place}
        if nest.buffer in passes:
            mine = passes[nest.buffer]
            if len(mine) > 1 and (nest.buffer in with_calls or nest.buffer in converted):
                kept.append(nest.buffer)
                mine = {min(mine)}
        for load in nest.loads():
            if load.buffer in passes:
                passes[load.buffer] |= mine
    return kept
