"""Reductions that begin with any values, as such that begin with none and are put together after.

Rules know sums from zero. A bias that a sum begins with is added behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from relaxscript.arith import YES, prove
from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.node import Node
from relaxscript.ir.prim import INT64, BufferLoad, PrimExpr, cast, const
from relaxscript.ir.stmt_functor import inner_statements
from relaxscript.ir.tir import Block, BlockRealize, Buffer, BufferStore, PrimFunc, Stmt
from relaxscript.ir.walk import rewrite, walk
from relaxscript.te.reduction import greatest, least
from relaxscript.transform.prim_func.memory_access import has_noalias
from relaxscript.transform.prim_func.vectorize_loop import never_fails
from relaxscript.transform.schedule.accesses import accumulated

from .distributed_loops import in_own_loops
from .loop_nests import Loop, loops_around, nest_of, parts_of, with_parts
from .loop_writing import in_loops, in_row, with_memory
from .row_nests import PlainNest, Reduction, begins_once, is_neutral, plain_nest
from .starts import clears, is_of_each_result

__all__ = ["with_neutral_starts"]


def with_neutral_starts(func: PrimFunc) -> PrimFunc:
    """The function with sums of their own in the place of such that begin with other values.

                                            for i, k in T.grid(n, 64):
                                                with T.block("s"):
    for i, k in T.grid(n, 64):                      with T.init():
        with T.block("s"):                              s_1[i] = T.float32(0)
            with T.init():          →               s_1[i] = s_1[i] + A[i, k]
                s[i] = b[i]                 for i in range(n):
            s[i] = s[i] + A[i, k]               s[i] = b[i] + s_1[i]

    So are sums added to what loops before them have stored, or to what a parameter held. The value
    that a sum of floats begins with is added last, within the bound of its terms. That is where
    nothing fails, and for functions that promise `tir.noalias`. The same object where each
    reduction begins with a neutral value.
    """
    parts = parts_of(func)
    if parts is None or not has_noalias(func) or not any(map(_may_begin, parts.parts)):
        return func
    made, new = list[Stmt](), list[Buffer]()
    for part in parts.parts:
        found = _reduced_in(part) if _may_begin(part) else None
        if found is None or _is_cleared(found, made) or not never_fails(func, part, lazily=True):
            made.append(part)
            continue
        buffer, place = found.buffer(), _place_of_sums(found, made)
        made[place:place] = found.from_neutral(buffer)
        made.append(found.put_together(buffer))
        new.append(buffer)
    if not new:
        return func
    body = in_row(*made)
    for buffer in new:
        body = with_memory(buffer, body)
    return func.replace(body=with_parts(func.body, (body,)))


def _may_begin(part: Stmt) -> bool:
    """True if a statement adds to an element, and does not begin by a literal itself."""
    stack = [part]
    while stack:
        at = stack.pop()
        match at:
            case Block(init=BufferStore(value=prim.Immediate())):
                continue
            case BufferStore() if accumulated(at) is not None:
                return True
        stack += inner_statements(at)
    return False


class _Reduced(NamedTuple):
    """A reduction, and the value that it begins with."""

    plain: PlainNest
    kind: Reduction
    start: PrimExpr

    @property
    def at(self) -> tuple[PrimExpr, ...]:
        """The indices of its result in a buffer that has an element for each."""
        return tuple([loop.var for loop in self.plain.outer]) or (const(0, INT64),)

    def buffer(self) -> Buffer:
        """Such a buffer."""
        old = self.plain.store.buffer
        shape = tuple([cast(loop.extent, INT64) for loop in self.plain.outer])
        return Buffer(old.name, shape or (const(1, INT64),), old.dtype, scope=old.scope)

    def from_neutral(self, buffer: Buffer) -> tuple[Stmt, ...]:
        """The loops that reduce from a neutral value on."""
        outer, inner = self.plain.outer, self.plain.inner
        value: PrimExpr = self.kind(BufferLoad(buffer, self.at), self.plain.value)
        clear = BufferStore(buffer, _NEUTRAL[self.kind](buffer.dtype), self.at)
        loops = in_loops([*outer, *inner], BufferStore(buffer, value, self.at))
        return in_own_loops(outer, clear), loops

    def put_together(self, buffer: Buffer) -> Stmt:
        """The loops that put what is reduced and the first value together."""
        value: PrimExpr = self.kind(self.start, BufferLoad(buffer, self.at))
        return in_own_loops(self.plain.outer, self.plain.store.replace(value=value))


_NEUTRAL: dict[Reduction, Callable[[DataType], PrimExpr]] = {
    prim.Add: partial(const, 0), prim.Mul: partial(const, 1), prim.Max: least, prim.Min: greatest,
}  # fmt: skip


def _reduced_in(part: Stmt) -> _Reduced | None:
    """The reduction that a statement is, where it does not begin with a literal."""
    init = _init_of(part)
    plain = plain_nest(part if init is None else _with_body(part, None))
    if plain is None or plain.reduction is None or plain.reduction not in _NEUTRAL:
        return None
    if not plain.inner or plain.has_lets or not is_of_each_result(plain):
        return None
    kind, own = plain.reduction, BufferLoad(plain.store.buffer, plain.store.indices)
    if init is None:
        return None if _reads(plain.value, own.buffer) else _Reduced(plain, kind, own)
    # What is begun with has the variables that the nest has, where it is what is added.
    begun = plain_nest(_with_body(part, init))
    if begun is None or not all(map(_has_iterations, plain.inner)):
        return None
    zeros: dict[Node, PrimExpr] = {loop.var: const(0, loop.var.dtype) for loop in plain.inner}
    start = rewrite(begun.value, zeros.get)
    if _reads(plain.value, own.buffer) or _reads(start, own.buffer):
        return None
    return _Reduced(plain, kind, start)


def _init_of(part: Stmt) -> PrimExpr | None:
    """The value that a block gives the element to which it adds, each time once."""
    found = loops_around(part)
    match found:
        case (
            _,
            BlockRealize(block=Block(init=BufferStore() as init, body=BufferStore()) as block),
        ):
            return init.value if begins_once(block, init, block.body) else None
    return None


def _with_body(part: Stmt, added: PrimExpr | None) -> Stmt:
    """A block in loops without its init, and with something else that it adds."""
    found = loops_around(part)
    assert found is not None, "a block in loops has an init"
    loops, realize = found
    assert isinstance(realize, BlockRealize), "a block in loops has an init"
    body = realize.block.body
    assert isinstance(body, BufferStore), "it is known of which element the init is"
    if added is not None:
        own = BufferLoad(body.buffer, body.indices)
        assert isinstance(body.value, prim.Binary)
        body = body.replace(value=type(body.value)(own, added))
    return in_loops(loops, realize.replace(block=realize.block.replace(init=None, body=body)))


def _has_iterations(loop: Loop) -> bool:
    return prove(loop.extent > const(0, loop.extent.dtype)) is YES


def _reads(value: PrimExpr, buffer: Buffer) -> bool:
    return any(
        isinstance(node, BufferLoad) and node.buffer.data is buffer.data for node in walk(value)
    )


def _is_cleared(found: _Reduced, before: Sequence[Stmt]) -> bool:
    """True if the last statement that stores the results gives them a neutral value."""
    buffer = found.plain.store.buffer
    for part in reversed(before):
        if _stores(part, buffer):
            nest = plain_nest(part)
            return (
                nest is not None
                and clears(nest, found.plain)
                and is_neutral(found.kind, nest.value)
            )
    return False


def _place_of_sums(found: _Reduced, before: Sequence[Stmt]) -> int:
    """The place of a reduction: before what only gives its results their first values."""
    nest = nest_of(before[-1]) if before else None
    if nest is None or nest.store.buffer is not found.plain.store.buffer:
        return len(before)
    return len(before) - 1


def _stores(part: Stmt, buffer: Buffer) -> bool:
    stack = [part]
    while stack:
        at = stack.pop()
        if isinstance(at, BufferStore) and at.buffer.data is buffer.data:
            return True
        stack += inner_statements(at)
    return False
