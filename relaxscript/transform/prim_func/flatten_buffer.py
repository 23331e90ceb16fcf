"""Buffers of several dimensions as buffers of one."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.arith import Facts, bounds
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import (
    INT64,
    Add,
    BufferLoad,
    IntImm,
    Mul,
    PrimExpr,
    Ramp,
    Var,
    cast,
    const,
)
from relaxscript.ir.tir import (
    Allocate,
    Block,
    Buffer,
    BufferStore,
    DeclBuffer,
    PrimFunc,
    Stmt,
)
from relaxscript.ir.walk import rewrite, walk
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import PrimFuncPass

from .known_facts import RewriterWithFacts, in_int64, sizes_of

__all__ = ["FlattenBuffer"]


class FlattenBuffer(PrimFuncPass):
    """Reach the elements of buffers by one index.

        for i, j in T.grid(n, 10):                  A_1 = T.Buffer((n * 10,), data=A.data)
            B[i, j] = A[i, j]               →       B_1 = T.Buffer((n * 10,), data=B.data)
                                                    for i, j in T.grid(n, 10):
                                                        B_1[i * 10 + j] = A_1[i * 10 + j]

    An access stays as it is unless each of its indices is proved inside its dimension: one index of
    the memory would not tell where it leaves the buffer. So does a buffer with strides or
    an offset, and a function with blocks (`LowerOpaqueBlock` removes them). Indices become int64
    where the memory may have more elements than int32 counts. Source: TVM
    `tir.transform.FlattenBuffer`.
    """

    name = "tir.FlattenBuffer"

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        if any(isinstance(node, Block) for node in walk(func.body)):
            return func
        flattening = _Flattening(func)
        body = flattening.rewrite(func.body, Facts())
        for buffer in reversed([*func.buffer_map.values()]):
            if buffer in flattening.used:
                body = DeclBuffer(flattening.flat(buffer), body)
        return func.replace(body=body)


class _Flattening(RewriterWithFacts):
    def __init__(self, func: PrimFunc) -> None:
        super().__init__(sizes_of(func))
        # The buffers of one dimension by those of several, of which some are used, some stay.
        self.made: dict[Buffer, Buffer] = {}
        self.used: set[Buffer] = set()
        self.kept: set[Buffer] = set()
        self.allocated: set[Var] = set()
        self.flattened: set[Var] = set()

    def flat(self, buffer: Buffer) -> Buffer:
        """The buffer of one dimension over the memory of one."""
        if buffer not in self.made:
            size = _number_of(buffer.shape)
            self.made[buffer] = buffer.replace(shape=(size,), axis_separators=())
        return self.made[buffer]

    def enter(self, stmt: Stmt, context: Facts) -> Stmt:
        if isinstance(stmt, Allocate):
            self.allocated.add(stmt.buffer_var)
        return stmt

    def scalar(self, e: PrimExpr, context: Facts) -> PrimExpr:
        def step(node: object) -> BufferLoad | None:
            if not isinstance(node, BufferLoad):
                return None
            index = self._index(node.buffer, node.indices, context)
            if index is None:
                return None
            return node.replace(buffer=self.flat(node.buffer), indices=(index,))

        return rewrite(e, step)

    def leave(self, stmt: Stmt, context: Facts) -> Stmt:
        match stmt:
            case Allocate(buffer_var=var, extents=extents) if var in self.flattened:
                return stmt.replace(extents=(_number_of(extents),))
            case BufferStore(buffer=buffer, indices=indices):
                index = self._index(buffer, indices, context)
                if index is not None:
                    return stmt.replace(buffer=self.flat(buffer), indices=(index,))
            case DeclBuffer(buffer=buffer, body=body) if buffer in self.used:
                flat = self.flat(buffer)
                if buffer.data in self.allocated and buffer not in self.kept:
                    self.flattened.add(buffer.data)
                    return stmt.replace(buffer=flat)
                return stmt.replace(body=DeclBuffer(flat, body))
        return stmt

    def _index(
        self, buffer: Buffer, indices: tuple[PrimExpr, ...], facts: Facts
    ) -> PrimExpr | None:
        """The place of an element in the memory; None where it is not proved to be inside."""
        if buffer.ndim == 1:
            return None
        if not self._is_plain(buffer) or not self._are_inside(buffer, indices, facts):
            self.kept.add(buffer)
            return None
        self.used.add(buffer)
        *outer, last = [*indices] or [const(0, INT64)]
        ramp = last if isinstance(last, Ramp) else None
        scalars = [*outer, last if ramp is None else ramp.base]
        if self._is_small(buffer, facts) and all(e.dtype is not INT64 for e in scalars):
            place = _place(buffer, scalars)
        else:
            place = _place(buffer, [in_int64(e) for e in scalars])
        if ramp is None:
            return place
        return Ramp(place, cast(ramp.stride, place.dtype), ramp.lanes)

    def _is_plain(self, buffer: Buffer) -> bool:
        offset = buffer.elem_offset
        return not buffer.strides and (
            offset is None or (isinstance(offset, IntImm) and offset.value == 0)
        )

    def _are_inside(self, buffer: Buffer, indices: tuple[PrimExpr, ...], facts: Facts) -> bool:
        pairs = zip(indices, buffer.shape, strict=True)
        return all(self.is_inside(index, extent, facts) for index, extent in pairs)

    def _is_small(self, buffer: Buffer, facts: Facts) -> bool:
        """True if int32 counts all elements of a buffer."""
        _, high = bounds(self.flat(buffer).shape[0], facts)
        return high is not None and high < 1 << 31


def _number_of(shape: Sequence[PrimExpr]) -> PrimExpr:
    """The number of elements of a shape."""
    size: PrimExpr = const(1, INT64)
    for extent in shape:
        size = _product(size, cast(extent, INT64))
    return size


def _product(a: PrimExpr, b: PrimExpr) -> PrimExpr:
    if isinstance(a, IntImm) and isinstance(b, IntImm):
        return const(a.value * b.value, INT64)
    return b if isinstance(a, IntImm) and a.value == 1 else Mul.make(a, b)


def _place(buffer: Buffer, indices: list[PrimExpr]) -> PrimExpr:
    place = indices[0]
    for extent, index in zip(buffer.shape[1:], indices[1:], strict=True):
        scaled = index if _is_zero(place) else Mul.make(place, cast(extent, place.dtype))
        place = scaled if _is_zero(place) or _is_zero(index) else Add.make(scaled, index)
    return place


def _is_zero(e: PrimExpr) -> bool:
    return isinstance(e, IntImm) and e.value == 0
