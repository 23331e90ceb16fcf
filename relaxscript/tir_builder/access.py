"""The regions of buffers that a block accesses, where the script does not say them.

Loads and stores give points over the axes of the block; what varies with a loop or an inner block
becomes a range. A range that cannot be told exactly is the whole axis, which is always right:
regions only promise that nothing else is touched.

Source: TVM `GetBlockAccessRegion`: reads in the order of the accesses, writes likewise; a buffer
that a block with `init` writes is not listed among its reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from relaxscript.arith import Facts, simplify
from relaxscript.ir import prim, tir
from relaxscript.ir.node import Node
from relaxscript.ir.prim import IntImm, PrimExpr, Var, const
from relaxscript.ir.tir import Buffer, BufferRegion, Range, Stmt, plain_extent
from relaxscript.ir.walk import children

__all__ = ["AccessRegions", "access_regions"]

# A scalar of a PrimFunc may be negative, other than a dimension.
_FACTS = Facts(nonnegative=False)

# The least and the greatest value of an index, both included; None where that is not known.
Interval: TypeAlias = "tuple[PrimExpr, PrimExpr] | None"


class AccessRegions(NamedTuple):
    """The regions that a block reads and writes; of `hidden` buffers the address hides them."""

    reads: tuple[BufferRegion, ...]
    writes: tuple[BufferRegion, ...]
    hidden: tuple[Buffer, ...]


def access_regions(
    parts: Iterable[Stmt], local: Iterable[Buffer], matched: Mapping[Buffer, BufferRegion],
    around: Iterable[Buffer], has_init: bool,
) -> AccessRegions:  # fmt: skip
    """The regions that statements of a block read and write; `local` buffers are its own.

    `matched` buffers are other names of regions; those `around` may be known by their address.
    """
    pointers = {buffer.data: buffer for buffer in around}
    found = _Accesses(frozenset(local), matched, pointers)
    for part in parts:
        found.visit(part)
    written = set(found.writes) if has_init else set()
    reads = {b: r for b, r in found.reads.items() if b not in written}
    return AccessRegions(_regions(reads), _regions(found.writes), tuple(found.hidden))


def _regions(found: Mapping[Buffer, list[Interval]]) -> tuple[BufferRegion, ...]:
    return tuple(
        BufferRegion.make(b, tuple(_range(i, b.shape[axis]) for axis, i in enumerate(intervals)))
        for b, intervals in found.items()
    )


def _range(interval: Interval, extent: PrimExpr) -> Range:
    if interval is None:
        return Range(0, plain_extent(extent))
    low, high = interval
    if low is high:
        return Range.make(low, const(1, low.dtype))
    if isinstance(low, IntImm) and isinstance(high, IntImm):
        return Range.make(low, const(high.value - low.value + 1, low.dtype))
    return Range.make(low, _simplify(high - low + 1))


class _Accesses:
    """Walks the statements of one block, without those of inner blocks."""

    def __init__(
        self, local: frozenset[Buffer], matched: Mapping[Buffer, BufferRegion],
        pointers: dict[Var, Buffer],
    ) -> None:  # fmt: skip
        self.local = set(local)
        self.matched = matched
        self.pointers = pointers
        self.hidden: dict[Buffer, None] = {}
        self.reads: dict[Buffer, list[Interval]] = {}
        self.writes: dict[Buffer, list[Interval]] = {}
        self.domains: dict[Var, Interval] = {}

    def visit(self, root: Stmt) -> None:
        pending: list[Node] = [root]
        while pending:
            node = pending.pop()
            match node:
                case tir.BlockRealize(block=block):
                    self.inner_block(node, block)
                    pending.extend([*node.iter_values, node.predicate])
                    continue
                case prim.BufferLoad(buffer=buffer, indices=indices):
                    self.touch(self.reads, buffer, [self.interval(i) for i in indices])
                    pending.extend(reversed(indices))
                    continue
                case prim.Call():
                    pending.extend(reversed(self.operands(node)))
                    continue
                case tir.BufferStore(buffer=buffer, value=value, indices=indices):
                    self.touch(self.writes, buffer, [self.interval(i) for i in indices])
                    pending.extend([*reversed(indices), value])
                    continue
                case tir.For():
                    self.domains[node.loop_var] = self.interval_from(node.min, node.extent)
                    pending.extend([node.body, node.extent, node.min])
                    continue
                case tir.LetStmt(var=var, value=value) | prim.Let(var=var, value=value):
                    self.domains[var] = self.interval(value) if value.dtype.is_integer else None
                case tir.DeclBuffer(buffer=buffer):
                    self.local.add(buffer)
                case prim.Var() if node.dtype.kind == "handle":
                    self.address(node)
                    continue
            pending.extend(c for c in reversed(children(node)) if not isinstance(c, Buffer))

    def operands(self, call: prim.Call) -> Sequence[PrimExpr]:
        """The operands of a call that are still to be seen."""
        match call:
            case prim.Call(op="tir.address_of"):
                self.whole_of(call)
            case prim.Call(
                op="tir.tvm_access_ptr", args=(_, Var() as data, *others, IntImm(value=mask))
            ) if data in self.pointers:
                buffer = self.pointers[data]
                for found, bit in ((self.reads, buffer.READ), (self.writes, buffer.WRITE)):
                    if mask & bit:
                        self.touch(found, buffer, [None] * buffer.ndim)
                return others
        return call.args

    def inner_block(self, realize: tir.BlockRealize, block: tir.Block) -> None:
        """An inner block touches what it says, for all values of its axes."""
        outer = self.domains
        axes = {axis.var: self.interval(value)
                for axis, value in zip(block.iter_vars, realize.iter_values)}  # fmt: skip
        self.domains = {**outer, **axes}
        for found, regions in ((self.reads, block.reads), (self.writes, block.writes)):
            for region in regions:
                self.touch(found, region.buffer, [self.range_interval(r) for r in region.region])
        self.domains = outer

    def touch(
        self, found: dict[Buffer, list[Interval]], buffer: Buffer, intervals: list[Interval]
    ) -> None:
        if buffer in self.local:
            return
        source = self.matched.get(buffer)
        if source is not None:
            whole = [self.range_interval(part) for part in source.region]
            self.touch(found, source.buffer, whole)
            return
        known = found.get(buffer)
        found[buffer] = (
            intervals if known is None else [_union(a, b) for a, b in zip(known, intervals)]
        )

    def whole_of(self, call: prim.Call) -> None:
        """An address that is given away may be read and written anywhere."""
        for arg in call.args:
            if isinstance(arg, prim.BufferLoad):
                self.touch(self.writes, arg.buffer, [None] * arg.buffer.ndim)
                self.touch(self.reads, arg.buffer, [None] * arg.buffer.ndim)

    def address(self, var: Var) -> None:
        """Note a buffer whose address is taken: nobody can see what is done with it then."""
        buffer = self.pointers.get(var)
        if buffer is not None:
            self.hidden[buffer] = None

    def range_interval(self, part: Range) -> Interval:
        if isinstance(part.extent, IntImm) and part.extent.value == 1:
            return self.interval(part.min)
        return self.interval_from(part.min, part.extent)

    def interval_from(self, start: PrimExpr, extent: PrimExpr) -> Interval:
        """The integers from `start` on, as many as `extent` says."""
        low, count = self.interval(start), self.interval(extent)
        if low is None or count is None:
            return None
        return low[0], _plus(low[1], _plus(count[1], const(-1, count[1].dtype)))

    def interval(self, e: PrimExpr) -> Interval:
        """The least and the greatest value of an index over the loops inside the block."""
        match e:
            case IntImm():
                return e, e
            case Var():
                return self.domains.get(e, (e, e))
            case prim.Ramp(base, IntImm(value=step), lanes) if step >= 0:
                inner = self.interval(base)
                last = const(step * (lanes - 1), base.dtype)
                return None if inner is None else (inner[0], _plus(inner[1], last))
            case prim.Cast(value=value) if value.dtype.is_integer and e.dtype.is_integer:
                return self.cast_interval(e, value)
            case prim.Add(a, b) | prim.Sub(a, b):
                return self.sum_interval(e, a, b)
            case prim.Mul(a, b):
                return self.product_interval(e, a, b)
        return (e, e) if self.is_fixed(e) else None

    def cast_interval(self, e: prim.Cast, value: PrimExpr) -> Interval:
        inner = self.interval(value)
        if inner is None:
            return None
        if inner[0] is value and inner[1] is value:
            return e, e
        low, high = (prim.cast(x, e.dtype) for x in inner)
        return (low, low) if inner[0] is inner[1] else (low, high)

    def sum_interval(self, e: PrimExpr, a: PrimExpr, b: PrimExpr) -> Interval:
        x, y = self.interval(a), self.interval(b)
        if x is None or y is None:
            return None
        if x[0] is x[1] is a and y[0] is y[1] is b:
            return e, e
        if isinstance(e, prim.Sub):
            y = (_minus(y[1]), _minus(y[0])) if y[0] is not y[1] else (_minus(y[0]),) * 2
        low = _plus(x[0], y[0])
        return (low, low) if x[0] is x[1] and y[0] is y[1] else (low, _plus(x[1], y[1]))

    def product_interval(self, e: PrimExpr, a: PrimExpr, b: PrimExpr) -> Interval:
        x, y = self.interval(a), self.interval(b)
        if x is None or y is None:
            return None
        if x[0] is x[1] is a and y[0] is y[1] is b:
            return e, e
        if isinstance(x[0], IntImm) and x[0] is x[1]:
            x, y = y, x
        factor = y[0]
        if not (isinstance(factor, IntImm) and factor is y[1]):
            return None
        ends = [_simplify(end * factor) for end in (x if x[0] is not x[1] else x[:1])]
        if len(ends) == 1:
            return ends[0], ends[0]
        return (ends[0], ends[1]) if factor.value >= 0 else (ends[1], ends[0])

    def is_fixed(self, e: PrimExpr) -> bool:
        """True if an expression has one value while the block runs once."""
        pending: list[Node] = [e]
        while pending:
            node = pending.pop()
            match node:
                case Var():
                    if node in self.domains and self.domains[node] != (node, node):
                        return False
                case prim.BufferLoad() | prim.Call() | prim.Let():
                    return False
            pending.extend(c for c in children(node) if not isinstance(c, Buffer))
        return True


def _simplify(e: PrimExpr) -> PrimExpr:
    return simplify(e, _FACTS)


def _plus(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    if isinstance(a, IntImm) and isinstance(b, IntImm):
        return const(a.value + b.value, a.dtype)
    if isinstance(b, IntImm) and b.value == 0:
        return a
    if isinstance(a, IntImm) and a.value == 0:
        return b
    return _simplify(a + b)


def _minus(a: PrimExpr) -> PrimExpr:
    return const(-a.value, a.dtype) if isinstance(a, IntImm) else _simplify(0 - a)


def _union(a: Interval, b: Interval) -> Interval:
    if a is None or b is None:
        return None
    low, high = _least(a[0], b[0], -1), _least(a[1], b[1], 1)
    if low is None or high is None:
        return None
    same = a[0] is a[1] and b[0] is b[1] and low is high
    return (low, low) if same else (low, high)


def _least(a: PrimExpr, b: PrimExpr, sign: int) -> PrimExpr | None:
    """The lesser of two (the greater for `sign` 1) where their difference is a constant."""
    if a is b:
        return a
    difference = _simplify(a - b)
    if not isinstance(difference, IntImm):
        return None
    return a if difference.value * sign >= 0 else b
