"""PrimFuncs that only copy elements, as copies of numpy.

What brings a weight into another layout runs once, on a constant, while a program is built. Its
loops are copies between views with strides, for which nothing has to be compiled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from relaxscript.ir.prim import (
    Add,
    Broadcast,
    BufferLoad,
    FloatImm,
    IntImm,
    Mul,
    PrimExpr,
    Ramp,
    Sub,
    Var,
)
from relaxscript.ir.tir import (
    Block,
    BlockRealize,
    Buffer,
    BufferStore,
    For,
    ForKind,
    LetStmt,
    PrimFunc,
    SeqStmt,
    Stmt,
)

__all__ = ["copy_elements"]

Array = np.ndarray[Any, Any]


def copy_elements(func: PrimFunc, args: Sequence[Any]) -> bool:
    """Run a PrimFunc that only copies elements; False, and nothing is done, for any other.

    Its loops copy one element each, from one array into another, or store one number. The places
    are sums of multiples of the loops' variables. `args` are as for `tir.evaluate`. Where they do
    not fit, or an index is outside of its buffer, nothing is done either.
    """
    try:
        copies = _Copies(_arrays(func, args))
        copies.statement(func.body, {})
    except _Other:
        return False
    for target, value in copies.found:
        target[...] = value
    return True


class _Other(Exception):
    """The function does something else than to copy elements."""


class _Axis(NamedTuple):
    """A loop, or the lanes of a vector."""

    name: object
    extent: int


class _Place(NamedTuple):
    """An index: a number, and how much each axis adds at a step."""

    begin: int
    steps: Mapping[object, int]

    def plus(self, other: _Place, factor: int = 1) -> _Place:
        steps = dict(self.steps)
        for name, step in other.steps.items():
            steps[name] = steps.get(name, 0) + factor * step
        return _Place(self.begin + factor * other.begin, steps)


_NOWHERE = _Place(0, {})
_LANES = object()
_Scope = Mapping[Var, _Place]


def _arrays(func: PrimFunc, args: Sequence[Any]) -> dict[Buffer, Array]:
    """The arrays of the buffers, of which no two share memory."""
    if len(args) != len(func.params):
        raise _Other
    arrays: dict[Buffer, Array] = {}
    for param, array in zip(func.params, args, strict=True):
        buffer = func.buffer_map.get(param)
        if buffer is None or not _fits(array, buffer):
            raise _Other
        if any(np.may_share_memory(array, other) for other in arrays.values()):
            raise _Other
        arrays[buffer] = array
    return arrays


def _fits(array: Any, buffer: Buffer) -> bool:
    if not isinstance(array, np.ndarray) or not array.flags.c_contiguous:
        return False
    if buffer.strides or buffer.elem_offset is not None or buffer.dtype.lanes > 1:
        return False
    if array.dtype != buffer.dtype.numpy or array.ndim != buffer.ndim:
        return False
    return all(
        isinstance(extent, IntImm) and extent.value == size
        for extent, size in zip(buffer.shape, array.shape, strict=True)
    )


class _Copies:
    """The copies that a statement is, in their order: views to be written, and their values."""

    def __init__(self, arrays: Mapping[Buffer, Array]) -> None:
        self.arrays = arrays
        self.found: list[tuple[Array, Any]] = []

    def statement(self, stmt: Stmt, scope: _Scope) -> None:
        if isinstance(stmt, SeqStmt):
            for part in stmt.seq:
                self.statement(part, scope)
        else:
            self.nest(stmt, scope)

    def nest(self, stmt: Stmt, scope: _Scope) -> None:
        """Loops around one store: in any order they do the same."""
        places, axes = dict(scope), list[_Axis]()
        while not isinstance(stmt, BufferStore):
            match stmt:
                case For(loop_var=var, min=IntImm(value=0), extent=IntImm(value=extent)):
                    if stmt.kind not in (ForKind.SERIAL, ForKind.UNROLLED, ForKind.VECTORIZED):
                        raise _Other
                    axes.append(_Axis(var, extent))
                    places[var] = _Place(0, {var: 1})
                    stmt = stmt.body
                case LetStmt(var=var, value=value, body=body):
                    places[var] = _place(value, places)
                    stmt = body
                case BlockRealize(predicate=IntImm(value=1), block=block) if _is_plain(block):
                    for axis, value in zip(block.iter_vars, stmt.iter_values, strict=True):
                        places[axis.var] = _place(value, places)
                    stmt = block.body
                case _:
                    raise _Other
        self.store(stmt, places, axes)

    def store(self, stmt: BufferStore, scope: _Scope, axes: list[_Axis]) -> None:
        if stmt.predicate is not None:
            raise _Other
        lanes = stmt.value.dtype.lanes
        axes = [*axes, _Axis(_LANES, lanes)]
        if not all(axis.extent for axis in axes):
            return
        target = self.view(stmt.buffer, stmt.indices, scope, axes)
        if not target.flags.writeable or not _is_one_to_one(target):
            raise _Other
        self.found.append((target, self.value(stmt.value, stmt.buffer, scope, axes)))

    def value(self, e: PrimExpr, target: Buffer, scope: _Scope, axes: list[_Axis]) -> Any:
        match e:
            case Broadcast(value=IntImm() | FloatImm() as number):
                return number.value
            case IntImm() | FloatImm():
                return e.value
            case BufferLoad(predicate=None) if e.buffer is not target:
                return self.view(e.buffer, e.indices, scope, axes)
        raise _Other

    def view(
        self, buffer: Buffer, indices: Sequence[PrimExpr], scope: _Scope, axes: list[_Axis]
    ) -> Array:
        """The elements at some indices, with an axis for each loop."""
        array = self.arrays.get(buffer)
        if array is None:
            raise _Other
        whole = _NOWHERE
        strides = [step // array.itemsize for step in array.strides]
        for index, size, stride in zip(indices, array.shape, strides, strict=True):
            place = _place(index, scope)
            reach = [place.steps.get(axis.name, 0) * (axis.extent - 1) for axis in axes]
            least = place.begin + sum(min(r, 0) for r in reach)
            most = place.begin + sum(max(r, 0) for r in reach)
            if least < 0 or most >= size:
                raise _Other
            whole = whole.plus(place, stride)
        steps = [whole.steps.get(axis.name, 0) * array.itemsize for axis in axes]
        shape = tuple([axis.extent for axis in axes])
        return as_strided(array.reshape(-1)[whole.begin :], shape, steps)


def _is_plain(block: Block) -> bool:
    """True if a block only names its indices."""
    return block.init is None and not block.alloc_buffers and not block.match_buffers


def _is_one_to_one(view: Array) -> bool:
    """True if no element is there twice, as far as is seen at once."""
    reach = 0
    for step, size in sorted(
        (abs(step), size) for step, size in zip(view.strides, view.shape, strict=True) if size > 1
    ):
        if step <= reach:
            return False
        reach += step * (size - 1)
    return True


def _place(e: PrimExpr, scope: _Scope) -> _Place:
    match e:
        case IntImm(value=value):
            return _Place(value, {})
        case Var() if e in scope:
            return scope[e]
        case Add(a=a, b=b):
            return _place(a, scope).plus(_place(b, scope))
        case Sub(a=a, b=b):
            return _place(a, scope).plus(_place(b, scope), -1)
        case Mul(a=a, b=IntImm(value=factor)) | Mul(a=IntImm(value=factor), b=a):
            return _NOWHERE.plus(_place(a, scope), factor)
        case Ramp(base=base, stride=IntImm(value=step)):
            return _place(base, scope).plus(_Place(0, {_LANES: step}))
    raise _Other
