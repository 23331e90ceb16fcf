"""Facts of PrimFuncs by which their time is judged: what they read, write and compute.

The numbers are expressions in the shape variables of the function. They are those of what is
written, so ask before loops are arranged: a schedule may compute what nobody takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from relaxscript.arith import YES, prove, simplify
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import (
    INT64,
    LE,
    Binary,
    Broadcast,
    BufferLoad,
    Call,
    Cast,
    Comparison,
    Logic,
    Not,
    PrimExpr,
    Ramp,
    Select,
    Var,
    cast,
    const,
)
from relaxscript.ir.relax import GlobalVar, Op
from relaxscript.ir.stmt_functor import parts_of_tir
from relaxscript.ir.tir import (
    Allocate,
    AllocateConst,
    Block,
    BlockRealize,
    Buffer,
    BufferStore,
    DeclBuffer,
    For,
    IfThenElse,
    PrimFunc,
    Stmt,
    While,
)
from relaxscript.ir.tir_compute import Reduce
from relaxscript.ir.walk import free_vars, substitute, walk

from .op_pattern import OpPattern, op_pattern, overwritten_buffers

__all__ = ["KernelFacts", "kernel_facts", "reduced_axes"]

_ZERO, _ONE = const(0, INT64), const(1, INT64)
# Calls that compute nothing, and those that are several operations.
_FREE = frozenset({"tir.likely", "tir.reinterpret", "tir.tvm_access_ptr", "tir.address_of"})
_CHOICES = frozenset({"tir.if_then_else"})
_FUSED = frozenset({"tir.fma", "llvm.fma", "llvm.fmuladd"})


class KernelFacts(NamedTuple):
    """The work of a PrimFunc, as expressions in its shape variables.

    `bytes_read` and `bytes_written` are of its parameters, each once: what stays in the function is
    none of them. `flops` are operations on values: arithmetic, comparisons and functions such as
    `exp` count as one each, indices as none. Of branches the larger one counts. `itemsize` is the
    size of the widest float that is computed: a vector holds fewer of wider ones.
    """

    pattern: OpPattern
    bytes_read: PrimExpr
    bytes_written: PrimExpr
    flops: PrimExpr
    itemsize: int = 4

    @property
    def amounts(self) -> tuple[PrimExpr, PrimExpr, PrimExpr]:
        """The bytes that are read, those that are written, and the operations."""
        return self.bytes_read, self.bytes_written, self.flops


def kernel_facts(func: PrimFunc, module: IRModule | None = None) -> KernelFacts:
    """The facts of a PrimFunc, and of those of `module` that it calls.

    A parameter counts whole, unless fewer of its elements are loaded or stored than it has. Loops
    with bounds that loops around them decide, count as often as they run at most. A `while` counts
    once. So does a function that is not in the module.
    """
    reading = _Reading(func, module)
    reading.statement(func.body, _ONE)
    read, written = reading.traffic()
    flops = simplify(reading.flops)
    floats = [4, *(b.dtype.element.itemsize for b in reading.stored if b.dtype.is_float)]
    return KernelFacts(op_pattern(func), simplify(read), simplify(written), flops, max(floats))


def reduced_axes(func: PrimFunc) -> list[tuple[str, int]]:
    """The axes over which a PrimFunc reduces, as a buffer and the number of its axis."""
    found: dict[tuple[str, int], None] = {}
    for block in (node for node in walk(func.body) if isinstance(node, Block)):
        reduced = {axis.var for axis in block.iter_vars if axis.iter_type == "reduce"}
        for load in (node for node in walk(block.body) if isinstance(node, BufferLoad)):
            for axis, index in enumerate(load.indices):
                if not reduced.isdisjoint(free_vars(index)):
                    found[load.buffer.name, axis] = None
    return [*found]


class _Reading:
    """One walk through a function, which counts loads, stores and operations."""

    def __init__(self, func: PrimFunc, module: IRModule | None) -> None:
        self.func = func
        self.module = module
        self.flops: PrimExpr = _ZERO
        self.params = {buffer.data: buffer for buffer in func.buffer_map.values()}
        # The first buffer over each pointer, which tells what a function is given.
        self.memory = dict(self.params)
        self.loads: dict[Var, PrimExpr] = {}
        self.stores: dict[Var, PrimExpr] = {}
        # The largest value of each loop's variable, and the buffers that reductions begin.
        self.largest: dict[Any, PrimExpr] = {}
        self.begun: set[Var] = set()
        self.stored: set[Buffer] = set()

    def traffic(self) -> tuple[PrimExpr, PrimExpr]:
        """The bytes that are read and written."""
        fresh = self.fresh()
        old = {var: count for var, count in self.loads.items() if var not in fresh}
        return self._bytes(old), self._bytes(self.stores)

    def fresh(self) -> set[Var]:
        """The buffers of which nothing is read that was there before."""
        return {buffer.data for buffer in overwritten_buffers(self.func)} | self.begun

    def _bytes(self, counts: Mapping[Var, PrimExpr]) -> PrimExpr:
        return _sum(self._bytes_of(var, count) for var, count in counts.items())

    def _bytes_of(self, var: Var, count: PrimExpr) -> PrimExpr:
        """The bytes of so many accesses of a parameter; none of what is no parameter."""
        buffer = self.params.get(var)
        if buffer is None:
            return _ZERO
        elements = _fewer(simplify(count), _elements(buffer))
        return elements * const(buffer.dtype.itemsize, INT64)

    # ------------------------------------------------------------ statements

    def statement(self, stmt: Stmt, times: PrimExpr) -> None:
        """Count what a statement does that runs so many times."""
        match stmt:
            case For(loop_var=var, min=low, extent=extent, body=body):
                most = self._most(extent)
                self.largest[var] = cast(low, INT64) + most - _ONE
                self.statement(body, times * most)
            case BlockRealize(iter_values=values, block=block):
                self._block(block, values, times)
            case BufferStore(buffer=buffer, value=value, indices=indices):
                self.stored.add(buffer)
                self.stores[buffer.data] = _plus(self.stores, buffer, times, _lanes(indices))
                self._add(value, times)
                self._note(indices, times)
            case IfThenElse(condition=condition, then_case=then, else_case=otherwise):
                self._condition(condition, times)
                self._larger([then] if otherwise is None else [then, otherwise], times)
            case While(condition=condition, body=body):
                self._add(condition, times)
                self.statement(body, times)
            case DeclBuffer(buffer=buffer, body=body):
                self.memory.setdefault(buffer.data, buffer)
                self.statement(body, times)
            case Allocate(body=body) | AllocateConst(body=body):
                self.statement(body, times)
            case _:
                for part in parts_of_tir(stmt):
                    if isinstance(part, Stmt):
                        self.statement(part, times)
                    else:
                        self._add(part, times)

    def _block(self, block: Block, values: Sequence[PrimExpr], times: PrimExpr) -> None:
        for axis, value in zip(block.iter_vars, values):
            self.largest[axis.var] = self._most(value)
        self.memory |= {buffer.data: buffer for buffer in block.alloc_buffers}
        if block.init is not None:
            self.begun |= {n.buffer.data for n in walk(block.init) if isinstance(n, BufferStore)}
        self.statement(block.body, times)

    def _larger(self, branches: Iterable[Stmt], times: PrimExpr) -> None:
        """Count the branch with more operations; what any of them loads and stores counts."""
        before, counted = self.flops, []
        for branch in branches:
            self.flops = _ZERO
            self.statement(branch, times)
            counted.append(simplify(self.flops))
        self.flops = before + _larger_of(counted)

    def _most(self, e: PrimExpr) -> PrimExpr:
        """The largest value of a size, from those of the loops' variables in it."""
        e = cast(e, INT64)
        inside = [v for v in free_vars(e) if isinstance(v, Var) and v in self.largest]
        largest = {v: cast(self.largest[v], v.dtype) for v in inside}
        return cast(substitute(e, largest), INT64)

    # ------------------------------------------------------------ values

    def _add(self, e: PrimExpr, times: PrimExpr) -> None:
        made = self._operations(e, times)
        self.flops = self.flops + made * times

    def _condition(self, e: PrimExpr, times: PrimExpr) -> None:
        """Count a condition on values; one on places is no operation on values."""
        if any(isinstance(node, BufferLoad) for node in walk(e)):
            self._add(e, times)

    def _note(self, indices: Iterable[PrimExpr], times: PrimExpr) -> None:
        """Count the loads in indices, which are no operations on values themselves."""
        for index in indices:
            for node in walk(index):
                if isinstance(node, BufferLoad):
                    lanes = _lanes(node.indices)
                    self.loads[node.buffer.data] = _plus(self.loads, node.buffer, times, lanes)

    def _operations(self, root: PrimExpr, times: PrimExpr) -> PrimExpr:
        """The operations of a value that is computed so many times; its loads are counted."""
        counts: dict[int, PrimExpr] = {}
        stack: list[tuple[PrimExpr, bool]] = [(root, False)]
        while stack:
            e, ready = stack.pop()
            parts = self._parts(e)
            if ready:
                counts[id(e)] = self._combined(e, [counts[id(part)] for part in parts])
            elif id(e) not in counts:
                if isinstance(e, BufferLoad):
                    lanes = _lanes(e.indices)
                    self.loads[e.buffer.data] = _plus(self.loads, e.buffer, times, lanes)
                    self._note(e.indices, times)
                if isinstance(e, Reduce):
                    counts[id(e)] = self._reduction(e, times)
                    continue
                if isinstance(e, Call) and isinstance(e.op, GlobalVar):
                    counts[id(e)] = self._of_function(e, e.op, times)
                    continue
                stack.append((e, True))
                stack += [(part, False) for part in parts]
        return counts[id(root)]

    def _reduction(self, e: Reduce, times: PrimExpr) -> PrimExpr:
        steps = _ONE
        for axis in e.axis:
            extent = axis.dom.extent if axis.dom is not None else _ONE
            steps = steps * self._most(extent)
            self.largest[axis.var] = self._most(extent) - _ONE
        inner = [self._operations(part, times * steps) for part in (*e.source, *e.combiner.result)]
        return _sum(inner) * steps

    def _of_function(self, e: Call, gvar: GlobalVar, times: PrimExpr) -> PrimExpr:
        """The operations of a function of the module; what it loads and stores is counted."""
        name, module = gvar.name_hint, self.module
        callee = module[name] if module is not None and name in module else None
        if not isinstance(callee, PrimFunc) or callee is self.func:
            return _ONE
        inner = _Reading(callee, module)
        inner.statement(callee.body, _ONE)
        self.stored |= inner.stored
        sizes: dict[Var, PrimExpr] = {}
        for param, arg in zip(callee.params, e.args):
            buffer, given = callee.buffer_map.get(param), None
            if buffer is None:
                sizes[param] = cast(arg, param.dtype)
            elif isinstance(arg, Var) and (given := self.memory.get(arg)) is not None:
                pairs = zip(buffer.shape, given.shape)
                sizes |= {own: cast(size, own.dtype) for own, size in pairs if isinstance(own, Var)}
        for param, arg in zip(callee.params, e.args):
            buffer = callee.buffer_map.get(param)
            if buffer is not None and isinstance(arg, Var):
                for found, counts in ((inner.loads, self.loads), (inner.stores, self.stores)):
                    if buffer.data in found:
                        count = substitute(found[buffer.data], sizes)
                        counts[arg] = counts.get(arg, _ZERO) + count * times
                self.begun |= {arg} if buffer.data in inner.fresh() else set()
        return substitute(inner.flops, sizes)

    def _parts(self, e: PrimExpr) -> list[PrimExpr]:
        match e:
            case BufferLoad() | Ramp():
                return []
            case Call(op=Op(name=name), args=(condition, *branches)) if name in _CHOICES:
                return [*([condition] if _loads(condition) else ()), *branches]
            case Select(condition=condition, true_value=a, false_value=b):
                return [*([condition] if _loads(condition) else ()), a, b]
            case Broadcast(value=value) | Cast(value=value):
                return [value]
        return [part for part in parts_of_tir(e) if isinstance(part, PrimExpr)]

    def _combined(self, e: PrimExpr, counts: Sequence[PrimExpr]) -> PrimExpr:
        """The operations of a value, from those of its parts; each lane of a vector is a value."""
        match e:
            case Call(op=Op(name=name)) if name in _CHOICES:
                return _sum(counts[:-2]) + _larger_of(counts[-2:])
            case Select():
                return _sum(counts[:-2]) + const(e.dtype.lanes, INT64) + _larger_of(counts[-2:])
            case Binary() | Comparison() | Logic() | Not():
                return _sum(counts) + const(e.dtype.lanes, INT64)
            case Call():
                return _sum(counts) + const(_cost(e) * e.dtype.lanes, INT64)
        return _sum(counts)


def _cost(e: Call) -> int:
    """The operations of a call for one value."""
    name = e.op.name if isinstance(e.op, Op) else ""
    if name in ("tir.call_llvm_pure_intrin", "tir.call_llvm_intrin"):
        named = [arg.value for arg in e.args if hasattr(arg, "value")]
        name = next((value for value in named if isinstance(value, str)), name)
    if name in _FUSED:
        return 2
    return 0 if name in _FREE or e.dtype.kind in ("void", "handle") else 1


def _loads(e: PrimExpr) -> bool:
    return any(isinstance(node, BufferLoad) for node in walk(e))


def _lanes(indices: Iterable[PrimExpr]) -> int:
    return max([index.dtype.lanes for index in indices], default=1)


def _plus(counts: Mapping[Var, PrimExpr], buffer: Buffer, times: PrimExpr, lanes: int) -> PrimExpr:
    return counts.get(buffer.data, _ZERO) + times * const(lanes, INT64)


def _sum(counts: Iterable[PrimExpr]) -> PrimExpr:
    total: PrimExpr = _ZERO
    for count in counts:
        total = total + count
    return total


def _larger_of(counts: Sequence[PrimExpr]) -> PrimExpr:
    """The larger of some numbers; the first one where nothing is known of the others."""
    largest, *others = counts
    for other in others:
        if prove(LE(largest, other)) is YES:
            largest = other
    return largest


def _fewer(count: PrimExpr, whole: PrimExpr) -> PrimExpr:
    """The number of elements that are touched: `count` of accesses where that is surely fewer."""
    return count if prove(LE(count, whole)) is YES else whole


def _elements(buffer: Buffer) -> PrimExpr:
    count: PrimExpr = _ONE
    for extent in buffer.shape:
        count = count * cast(extent, INT64)
    return simplify(count)
