"""The meaning of `T.realize`: memory for a region of a buffer, while the statements inside run.

Inside, the buffer has the indices of the region: after `with T.realize(B[4:8]):` the elements are
`B[4]` to `B[7]`, and there are no others. Where the condition does not hold there is no memory at
all; the statements run nevertheless. A buffer that has memory already, such as a parameter, keeps
it: the region then only has to lie in it.

Every executor runs the statements that `lower_buffer_realize` gives instead.

Source: TVM `tir.BufferRealize` and how it is flattened.
"""

from __future__ import annotations

from relaxscript.arith import format_expr
from relaxscript.errors import quantity
from relaxscript.ir import prim, tir, walk
from relaxscript.ir.node import Node
from relaxscript.ir.prim import PrimExpr, Var
from relaxscript.ir.tir_compute import BufferRealize

from . import tir_errors

__all__ = ["lower_buffer_realize"]


def lower_buffer_realize(s: BufferRealize, has_memory: bool) -> tir.Stmt:
    """Statements of the same meaning; `has_memory` tells whether there is memory for the buffer.

    Raises `DiagnosticError` where the region is none of the buffer.
    """
    _check(s)
    return _lower_to_check(s) if has_memory else _lower_to_allocation(s)


def _check(s: BufferRealize) -> None:
    buffer = s.buffer
    if len(s.bounds) != buffer.ndim:
        message = (
            f"buffer `{buffer.name}` has {quantity(buffer.ndim, 'dimension')}, "
            f"but its region has {len(s.bounds)}"
        )
        raise tir_errors.invalid("RX0503", message, s.span)
    for bound in s.bounds:
        for e in (bound.min, bound.extent):
            if not e.dtype.is_integer or e.dtype.lanes != 1:
                message = f"the region of buffer `{buffer.name}` has a bound of {e.dtype}"
                raise tir_errors.invalid("RX0503", message, e.span or s.span)


def _lower_to_check(s: BufferRealize) -> tir.Stmt:
    """The statements, after a look at whether the region lies in the buffer."""
    shape = tuple(Var.make(f"n{k}", prim.INT64) for k in range(len(s.bounds)))
    part = tir.Buffer(s.buffer.name, shape, s.buffer.dtype)
    region = tir.BufferRegion.make(s.buffer, s.bounds)
    match = tir.MatchBufferRegion.make(part, region, span=s.span)
    look = tir.Block((), (), (), s.buffer.name, _NOTHING, match_buffers=(match,))
    inside = tir.BlockRealize.make((), s.condition, look, span=s.span)
    return tir.SeqStmt.make((inside, s.body))


def _lower_to_allocation(s: BufferRealize) -> tir.Stmt:
    """The statements over a buffer of their own, whose indices begin at 0."""
    starts: list[PrimExpr] = []
    lets: list[tuple[Var, PrimExpr]] = []
    for k, bound in enumerate(s.bounds):
        start = bound.min
        if not isinstance(start, (Var, prim.IntImm)):
            lets.append((Var.make(f"start{k}", bound.min.dtype), bound.min))
            start = lets[-1][0]
        starts.append(start)
    shape = tuple(_extent(bound.extent, s.condition) for bound in s.bounds)
    buffer, data = s.buffer, s.buffer.data
    memory = tir.Buffer(_name(s), shape, buffer.dtype, data, scope=buffer.scope)
    body: tir.Stmt = tir.DeclBuffer.make(memory, _shift_indices(s, memory, starts), span=s.span)
    # The pointer is that of this memory, each time it is made.
    body = walk.substitute(body, {data: Var.make(data.name, data.dtype)})
    for var, value in reversed(lets):
        body = tir.LetStmt.make(var, value, body)
    return body


def _extent(extent: PrimExpr, condition: PrimExpr) -> PrimExpr:
    """The number of elements along an axis."""
    if isinstance(condition, prim.IntImm) and condition.value:
        return extent
    return prim.Select.make(condition, extent, prim.const(0, extent.dtype))


def _name(s: BufferRealize) -> str:
    """The name of the memory in messages; its indices may not be those of the buffer."""
    if all(_is_zero(bound.min) for bound in s.bounds):
        return s.buffer.name
    ends = [(bound.min, bound.min + bound.extent) for bound in s.bounds]
    region = ", ".join(f"{format_expr(low)}:{format_expr(high)}" for low, high in ends)
    return f"{s.buffer.name}[{region}]"


def _is_zero(e: PrimExpr) -> bool:
    return isinstance(e, prim.IntImm) and e.value == 0


def _shift_indices(s: BufferRealize, memory: tir.Buffer, starts: list[PrimExpr]) -> tir.Stmt:
    """The body with `memory` for the buffer, and indices that count from the starts."""
    buffer = s.buffer

    def shifted(indices: tuple[PrimExpr, ...]) -> tuple[PrimExpr, ...]:
        if len(indices) != len(starts):
            return indices
        return tuple(_subtract(i, start) for i, start in zip(indices, starts, strict=True))

    def step(node: Node) -> Node | None:
        match node:
            case prim.BufferLoad(indices=indices) if node.buffer is buffer:
                return node.replace(buffer=memory, indices=shifted(indices))
            case tir.BufferStore(indices=indices) if node.buffer is buffer:
                return node.replace(buffer=memory, indices=shifted(indices))
            case tir.BufferRegion(region=region) if node.buffer is buffer:
                mins = shifted(tuple(r.min for r in region))
                cut = (tir.Range.make(low, r.extent) for low, r in zip(mins, region, strict=True))
                return tir.BufferRegion.make(memory, tuple(cut), span=node.span)
        return None

    return walk.rewrite(s.body, step)


def _subtract(index: PrimExpr, start: PrimExpr) -> PrimExpr:
    """The distance of an index, or of each lane of one, from the start."""
    if _is_zero(start):
        return index
    if isinstance(index, prim.Ramp):
        return prim.Ramp.make(_subtract(index.base, start), index.stride, index.lanes)
    if index.dtype.lanes > 1:
        return index - prim.Broadcast.make(start, index.dtype.lanes)
    return index - start


_NOTHING = tir.Evaluate(prim.const(0))
