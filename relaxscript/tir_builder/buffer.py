"""Buffers and the numbers of constant memory, checked part by part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Span, quantity
from relaxscript.ir import prim
from relaxscript.ir.buffer_access import StorageScope, pointer_variable
from relaxscript.ir.prim import IntImm, PrimExpr, Var
from relaxscript.ir.relax import ShapeExpr
from relaxscript.ir.tir import Buffer
from relaxscript.ir.walk import walk

from .mistake import TIRError, describe
from .operands import DIM_DTYPE, INT_DTYPE, dimension, integer, scalar

__all__ = ["BUFFER_PARTS", "constant_data", "extents_of", "make_buffer"]


def make_buffer(
    name: str, shape: Any, dtype: Any = prim.FLOAT32, data: Any = None, strides: Any = None,
    elem_offset: Any = None, scope: Any = None, align: Any = None, offset_factor: Any = None,
    buffer_type: Any = None, axis_separators: Any = None, *, span: Span | None = None,
    is_view: bool = False,
) -> Buffer:  # fmt: skip
    """A buffer with the parts that `T.match_buffer` has in scripts.

    The dimensions of a view may be read from memory, those of other buffers may not.
    """
    dims, steps = _dims(shape, "shape", span), _dims(strides or (), "strides", span)
    element = DataType(dtype)
    if element.is_void:
        raise TIRError(
            "dtype", f'the elements of the buffer `{name}` have no dtype: "void" has no values',
            code="RX0108", help='name the dtype of an element, such as "float32"',
        )  # fmt: skip
    if steps and len(steps) != len(dims):
        need = "needs" if len(dims) == 1 else "need"
        raise TIRError(
            "strides", f"{quantity(len(dims), 'dimension')} {need} "
            f"{quantity(len(dims), 'stride')}, not {len(steps)}", code="RX0108",
        )  # fmt: skip
    if not is_view:
        _check_dimensions(dims)
    given = {
        "data": data, "scope": scope, "align": align, "offset_factor": offset_factor,
        "buffer_type": buffer_type, "axis_separators": axis_separators,
    }  # fmt: skip
    parts = {key: BUFFER_PARTS[key](v, key) for key, v in given.items() if v is not None}
    factor = parts.get("offset_factor") or 0
    if elem_offset is not None:
        elem_offset = dimension(elem_offset, "elem_offset", span)
    elif factor:
        elem_offset = Var.make(f"{name}_elem_offset", DIM_DTYPE)
    where = StorageScope(parts.get("scope", "global"))
    address = parts["data"] if "data" in parts else pointer_variable(name, element, where)
    alignment, kind = parts.get("align", 0), parts.get("buffer_type", "")
    return Buffer.make(
        name, dims, element, address, steps, elem_offset, where,
        alignment if alignment > 0 else 64, factor or 1,
        "auto_broadcast" if kind == "auto" else kind or "default",
        parts.get("axis_separators", ()), span=span,
    )  # fmt: skip


def _dims(values: Any, part: str, span: Span | None) -> tuple[PrimExpr, ...]:
    """Several dimensions, or a single one."""
    if isinstance(values, ShapeExpr):
        values = values.values
    several = values if isinstance(values, (tuple, list)) else (values,)
    return tuple(dimension(value, f"{part}[{i}]", span) for i, value in enumerate(several))


def _check_dimensions(shape: Sequence[PrimExpr]) -> None:
    """Dimensions of memory are known before any element of a buffer is read."""
    for dim in shape:
        load = next((n for n in walk(dim) if isinstance(n, prim.BufferLoad)), None)
        if load is not None:
            raise TIRError(
                "shape", "a dimension cannot be read from a buffer", code="RX0108",
                places=[(load.span, f"an element of `{load.buffer.name}`")],
                help="pass it as a parameter: `n: T.int64`",
            )  # fmt: skip


def _pointer(value: Any, part: str) -> Var:
    if isinstance(value, Var) and value.dtype.kind == "handle":
        return value
    raise TIRError(
        part, f"`{part}` is the address of memory, this is {describe(value)}",
        help="it comes from `T.allocate(...)` or is `A.data` of another buffer",
    )  # fmt: skip


def _unfit(what: str, value: Any, part: str) -> TIRError:
    return TIRError(part, f"{what} needed here, this is {describe(value)}", code="RX0103")


def _string(value: Any, part: str) -> str:
    if isinstance(value, str):
        return value
    raise _unfit("a string is", value, part)


def _number(value: Any, part: str) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _unfit("a whole number is", value, part)


def _numbers(value: Any, part: str) -> tuple[int, ...]:
    if isinstance(value, (tuple, list)) and all(isinstance(v, int) for v in value):
        return tuple(value)
    raise _unfit("whole numbers are", value, part)


# How the parts of a buffer beside its dimensions are checked.
BUFFER_PARTS: Mapping[str, Callable[[Any, str], Any]] = {
    "data": _pointer, "scope": _string, "align": _number, "offset_factor": _number,
    "buffer_type": _string, "axis_separators": _numbers,
}  # fmt: skip


def extents_of(values: Any, part: str, span: Span | None = None) -> tuple[PrimExpr, ...]:
    """The extents of memory, one for each axis."""
    given = values if isinstance(values, (tuple, list)) else (values,)
    return tuple(_extent(value, f"{part}[{i}]", span) for i, value in enumerate(given))


def _extent(value: Any, part: str, span: Span | None) -> PrimExpr:
    if type(value) is int:
        return integer(value, INT_DTYPE, part, span)
    e = scalar(value, part, span)
    if e.dtype.is_integer:
        return e
    raise TIRError(part, f"an extent is a whole number, this is {describe(e)}", code="RX0108")


def constant_data(data: Any, dtype: DataType, extents: Sequence[PrimExpr]) -> Any:
    """The numbers of constant memory, as many as the extents say."""
    if not (dtype.is_float or dtype.is_integer or dtype.is_bool) or dtype.lanes != 1:
        raise TIRError("dtype", f"constants are numbers, not of {dtype}", code="RX0108")
    try:
        found = np.asarray(data, dtype.numpy)
    except (TypeError, ValueError, OverflowError) as error:
        raise TIRError("data", f"these are no numbers of {dtype}: {error}", code="RX0108") from None
    sizes = [e.value for e in extents if isinstance(e, IntImm)]
    if len(sizes) == len(extents) and found.size != prod(sizes):
        needed = quantity(prod(sizes), "element")
        raise TIRError(
            "data", f"{quantity(found.size, 'value')} cannot fill {needed}", code="RX0108",
            facts={"extents": needed},
        )  # fmt: skip
    return found
