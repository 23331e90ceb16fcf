"""Elements, offsets and addresses of buffers, as `tir.Buffer` offers them in Python.

Source: TVM `tir.buffer.Buffer` and `tir/ir/buffer.cc`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from relaxscript.dtypes import DataType

from .prim import (
    HANDLE,
    INT32,
    BufferLoad,
    Call,
    IntImm,
    PointerType,
    PrimExpr,
    PrimExprLike,
    PrimType,
    Ramp,
    Var,
    as_scalar,
    const,
)
from .prim_checks import refused

if TYPE_CHECKING:
    from relaxscript.errors import Span

    from .tir import Buffer

__all__ = [
    "READ", "WRITE", "StorageScope", "access_ptr", "flattened", "indices_of", "load", "offset",
    "pointer_variable",
]  # fmt: skip

READ, WRITE = 1, 2
_MASKS = {"r": READ, "w": WRITE}


class StorageScope(str):
    """The memory of a buffer, such as "global": a string, which `A.scope()` gives as well."""

    __slots__ = ()

    def __call__(self) -> str:
        return str(self)


def indices_of(begin: Any, lanes: int = 1) -> tuple[PrimExpr, ...]:
    """One index or several; with `lanes`, the last is the vector of as many from there on."""
    indices = [as_scalar(i) for i in (begin if isinstance(begin, (list, tuple)) else [begin])]
    if lanes > 1 and indices:
        indices[-1] = Ramp.make(indices[-1], const(1, indices[-1].dtype), lanes)
    return tuple(indices)


def load(buffer: Buffer, begin: Any, dtype: str | None, predicate: Any = None) -> BufferLoad:
    """The element at `begin`, or a vector of `dtype` that begins there."""
    wide = buffer.dtype if dtype is None else DataType(dtype)
    return BufferLoad(buffer, indices_of(begin, wide.lanes // buffer.dtype.lanes), predicate)


def _product(values: Sequence[PrimExpr]) -> PrimExpr:
    found: PrimExpr = const(1)
    for i, value in enumerate(values):
        found = found * value if i else value
    return found


def offset(buffer: Buffer, indices: Any) -> tuple[PrimExpr, ...]:
    """The distance of an element from the beginning of the memory, in elements."""
    given = indices_of(indices)
    if len(given) != buffer.ndim:
        raise refused(
            f"the buffer `{buffer.name}` has {buffer.ndim} dimensions, {len(given)} indices are "
            "given", code="RX0503",
        )  # fmt: skip
    found: PrimExpr = const(0)
    for i, index in enumerate(given):
        if buffer.strides:
            found = found + index * buffer.strides[i]
        else:
            found = index if not i else found * buffer.shape[i] + index
    begin = buffer.elem_offset
    if begin is None:
        return (found,)
    # A number takes the dtype of the indices.
    return (found + (begin.value if isinstance(begin, IntImm) else begin),)


def flattened(buffer: Buffer) -> Buffer:
    """The same memory with one dimension, or with one for each group of its axis separators."""
    ends = [*buffer.axis_separators, buffer.ndim]
    groups = [buffer.shape[a:b] for a, b in zip([0, *ends], ends)]
    if buffer.strides and buffer.ndim:
        dims = [buffer.strides[a] * buffer.shape[a] for a in [0, *ends][:-1]]
    else:
        dims = [_product(group) for group in groups]
    if len(dims) == buffer.ndim and not buffer.strides:
        return buffer
    separators = tuple(range(1, len(dims)))
    return buffer.replace(shape=tuple(dims), strides=(), axis_separators=separators)


def pointer_variable(name: str, dtype: DataType, scope: str, span: Span | None = None) -> Var:
    """A new variable for the address of memory."""
    return Var.make(name, HANDLE, PointerType.make(PrimType.make(dtype), scope), span=span)


def access_ptr(
    buffer: Buffer, access_mask: str | int, ptr_type: str, content_lanes: int,
    offset: PrimExprLike, extent: PrimExprLike | None,
) -> PrimExpr:  # fmt: skip
    """The address of a part of a buffer, and what is done there: `tir.tvm_access_ptr`."""
    if isinstance(access_mask, str):
        unknown = [letter for letter in access_mask if letter not in _MASKS]
        if unknown:
            raise refused(f'`access_mask` is made of "r" and "w", not of "{unknown[0]}"')
        mask = sum(_MASKS[letter] for letter in set(access_mask))
    else:
        mask = access_mask
    whole: PrimExpr = const(1)
    if buffer.ndim:
        strided = bool(buffer.strides)
        whole = buffer.strides[0] * buffer.shape[0] if strided else _product(buffer.shape)
        whole = whole - offset
    begin = as_scalar(0 if buffer.elem_offset is None else buffer.elem_offset) + offset
    element = buffer.dtype
    if content_lanes > 1:
        element = element.with_lanes(element.lanes * content_lanes)
        whole, begin = whole // content_lanes, begin // content_lanes
    kind = Call(element, "tir.type_annotation", ())  # type: ignore[arg-type]
    size = whole if extent is None else as_scalar(extent)
    args = (kind, buffer.data, begin, size, IntImm.make(INT32, mask))
    return Call(DataType(ptr_type), "tir.tvm_access_ptr", args)  # type: ignore[arg-type]
