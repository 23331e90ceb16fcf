"""Fill sets of PrimFuncs: the parameters of which they surely write every element.

What such a parameter held before does not matter, so nobody need make zeros of it. The form of the
loops decides: a block whose axes are loops, each over all of its values, which stores at its axes.
No element may be read before it is stored: what is added to, say, holds zeros then. Where loops
have been arranged otherwise, an attribute says what was known of them before.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from relaxscript.ir import prim, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.stmt_functor import all_parts, inner_statements, pre_order_visit
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.walk import walk

__all__ = ["FILLS", "filled_params"]

# The attribute with the positions of parameters that a PrimFunc fills.
FILLS = "relaxscript.fills"
_WRAPPERS = (tir.LetStmt, tir.AttrStmt, tir.DeclBuffer, tir.Allocate, tir.AssertStmt)
_NONE = prim.IntImm.make(prim.INT64, 0)

# The extents of variables that take all values from 0 on, each with all values of the others.
_Extents = Mapping[prim.Var, prim.PrimExpr]


def filled_params(func: tir.PrimFunc, module: IRModule | None = None) -> frozenset[int]:
    """The positions of parameters that are filled; `module` has the PrimFuncs that are called."""
    if func.attrs is not None and FILLS in func.attrs:
        return frozenset(int(i) for i in func.attrs[FILLS])
    if _returns_early(func.body):
        return frozenset()
    pairs = enumerate(func.params)
    owners = {func.buffer_map[p]: i for i, p in pairs if p in func.buffer_map}
    found = _FillReader(module, owners, _pointers_in_doubt(func))
    found.read(func.body, {})
    return frozenset(owners[b] for b in found.filled - found.read_early)


def _pointers_in_doubt(func: tir.PrimFunc) -> set[prim.Var]:
    """The pointers of buffers that are both loaded and stored; what a call is given may be both.

    Hardly a function has any, and then no scalar of it is looked at.
    """
    loaded, stored = set[prim.Var](), set[prim.Var]()
    for part in all_parts(func):
        if part.__class__ is prim.BufferLoad:
            loaded.add(part.buffer.data)
        elif part.__class__ is tir.BufferStore:
            stored.add(part.buffer.data)
        elif part.__class__ is prim.Call:
            passed = [arg for arg in part.args if isinstance(arg, prim.Var)]
            loaded.update(passed)
            stored.update(passed)
    return loaded & stored


def _returns_early(body: tir.Stmt) -> bool:
    """True if some statement is `T.ret`; scalars, which are most of a function, have none."""
    statements = [body]
    while statements:
        stmt = statements.pop()
        while isinstance(stmt, tir.For):
            stmt = stmt.body
        if isinstance(stmt, tir.Evaluate):
            calls = (part for part in walk(stmt.value) if isinstance(part, prim.Call))
            if any(call.op == "tir.ret" for call in calls):
                return True
        statements += inner_statements(stmt)
    return False


class _FillReader:
    """Reads statements; `filled` are the buffers among those of the parameters that they fill.

    `read_early` are those of which an element may be read before that. `pointers` are those of all
    buffers of which that may be so.
    """

    def __init__(
        self, module: IRModule | None, buffers: Collection[tir.Buffer], pointers: set[prim.Var]
    ) -> None:
        self.module = module
        self.buffers = buffers
        self.by_pointer = {buffer.data: buffer for buffer in buffers}
        self.watched = pointers & self.by_pointer.keys()
        self.filled: set[tir.Buffer] = set()
        self.read_early: set[tir.Buffer] = set()
        # The indices of stores that fill a buffer once the loops have ended that are these indices,
        # None for each that has. And what axes of blocks stand for.
        self.begun: dict[tir.Buffer, list[prim.PrimExpr | None]] = {}
        self.axes: dict[prim.Var, prim.PrimExpr] = {}

    def read(self, stmt: tir.Stmt, extents: _Extents) -> None:
        """Read a statement that is run while variables go through all of their values."""
        match stmt:
            case tir.BufferStore(buffer=buffer):
                self.use(stmt.value, *stmt.indices)
                if buffer in self.buffers and _covers(stmt.indices, buffer, extents):
                    self.fill(buffer, stmt.indices)
            case tir.For(loop_var, start, extent, body=body):
                self.use(start, extent)
                # A loop that begins elsewhere gives no indices, but it must run.
                inside = {**extents, loop_var: extent if _is(start, 0) else _NONE}
                self.read(body, inside)
                self.end(loop_var)
            case tir.BlockRealize(values, predicate, block) if _is(predicate, 1):
                inside_block = _axes(block, values, extents)
                if inside_block is None:
                    self.use(stmt)
                    return
                self.axes |= {axis.var: value for axis, value in zip(block.iter_vars, values)}
                self.read_block(block, inside_block)
            case tir.SeqStmt(seq):
                for part in seq if self.watched else filter(self._may_fill, seq):
                    self.read(part, extents)
            case tir.Evaluate(prim.Call(op=GlobalVar() as callee, args=args)) if _run(extents):
                self.read_call(callee, args)
                self.use(stmt)
            case _ if isinstance(stmt, _WRAPPERS):
                self.use(*_scalars_of(stmt))
                self.read(stmt.body, extents)
            case _:
                self.use(stmt)

    def fill(self, buffer: tir.Buffer, indices: Sequence[prim.PrimExpr]) -> None:
        """Note that a buffer is filled when all loops around a store have ended."""
        if buffer.data in self.watched and buffer not in self.filled:
            begun = [None if _is(i, 0) else self.loop_of(i) for i in indices]
            self.begun[buffer] = begun
            self._complete(buffer)
        self.filled.add(buffer)

    def end(self, loop_var: prim.Var) -> None:
        """A loop has ended: the elements of all of its values are stored."""
        for buffer, begun in list(self.begun.items()):
            self.begun[buffer] = [None if index is loop_var else index for index in begun]
            self._complete(buffer)

    def _complete(self, buffer: tir.Buffer) -> None:
        if all(index is None or _is(index, 0) for index in self.begun[buffer]):
            del self.begun[buffer]

    def loop_of(self, index: prim.PrimExpr) -> prim.PrimExpr:
        """The loop that an axis of a block stands for."""
        while isinstance(index, prim.Var) and index in self.axes:
            index = self.axes[index]
        return index

    def use(self, *parts: tir.Stmt | prim.PrimExpr) -> None:
        """Note what is read early in some parts."""
        if self.watched:
            for part in parts:
                pre_order_visit(part, self._use_one)

    def _use_one(self, part: tir.Stmt | prim.PrimExpr) -> None:
        if isinstance(part, prim.BufferLoad) and part.buffer.data in self.watched:
            buffer = self.by_pointer[part.buffer.data]
            is_stored = buffer in self.filled and (
                buffer not in self.begun
                or (part.buffer is buffer and self._is_begun(buffer, part.indices))
            )
        elif isinstance(part, prim.Var) and part in self.watched:
            buffer = self.by_pointer[part]
            is_stored = buffer in self.filled and buffer not in self.begun
        else:
            return
        if not is_stored:
            self.read_early.add(buffer)

    def _is_begun(self, buffer: tir.Buffer, indices: Sequence[prim.PrimExpr]) -> bool:
        pairs = zip(self.begun[buffer], indices, strict=True)
        return all(begun is None or _same(begun, self.loop_of(index)) for begun, index in pairs)

    def _may_fill(self, stmt: tir.Stmt) -> bool:
        """True unless all that a nest of loops does is to store into another buffer."""
        while stmt.__class__ is tir.For:
            stmt = stmt.body
        if isinstance(stmt, tir.BlockRealize) and stmt.block.init is None:
            stmt = stmt.block.body
        return not isinstance(stmt, tir.BufferStore) or stmt.buffer in self.buffers

    def read_block(self, block: tir.Block, extents: _Extents | None) -> None:
        """Read a block, unless it is not known what it runs over."""
        if extents is not None:
            if block.init is not None:
                self.read(block.init, extents)
            self.read(block.body, extents)

    def read_call(self, callee: GlobalVar, args: Sequence[prim.PrimExpr]) -> None:
        """Note the buffers that a call fills: the callee's have the shapes of what is passed."""
        function = self.module[callee] if self.module and callee in self.module else None
        if isinstance(function, tir.PrimFunc):
            for index in filled_params(function, self.module):
                passed = args[index] if index < len(args) else None
                if isinstance(passed, prim.Var) and passed in self.by_pointer:
                    self.filled.add(self.by_pointer[passed])


def _scalars_of(stmt: tir.Stmt) -> list[prim.PrimExpr]:
    """Scalars that a statement around others computes by itself."""
    match stmt:
        case tir.LetStmt(value=value) | tir.AttrStmt(value=value):
            return [value] if isinstance(value, prim.PrimExpr) else []
        case tir.AssertStmt(condition=condition):
            return [condition]
        case tir.Allocate(extents=extents):
            return [*extents]
    return []


def _axes(
    block: tir.Block, values: tuple[prim.PrimExpr, ...], outside: _Extents
) -> _Extents | None:
    """The extents of what a block runs over; None where its axes are not loops as they are."""
    found = dict(outside)
    for axis, value in zip(block.iter_vars, values, strict=True):
        if axis.dom is None or not _is(axis.dom.min, 0):
            return None
        extent = axis.dom.extent
        if isinstance(value, prim.Var) and value in found:
            if not _same(found.pop(value), extent):
                return None
        elif not (_is(value, 0) and _is(extent, 1)):
            return None
        found[axis.var] = extent
    return found


def _covers(indices: tuple[prim.PrimExpr, ...], buffer: tir.Buffer, extents: _Extents) -> bool:
    """True if a store at these indices reaches all elements of a buffer."""
    left = dict(extents)
    for index, size in zip(indices, buffer.shape, strict=True):
        if isinstance(index, prim.Var) and index in left:
            if not _same(left.pop(index), size):
                return False
        elif not (_is(index, 0) and _is(size, 1)):
            return False
    return _run(left)


def _run(extents: _Extents) -> bool:
    """True if loops are sure to run."""
    return all(isinstance(e, prim.IntImm) and e.value > 0 for e in extents.values())


def _same(a: prim.PrimExpr, b: prim.PrimExpr) -> bool:
    if isinstance(a, prim.IntImm) and isinstance(b, prim.IntImm):
        return a.value == b.value
    return structural_equal(a, b)


def _is(e: prim.PrimExpr, value: int) -> bool:
    return isinstance(e, prim.IntImm) and e.value == value
