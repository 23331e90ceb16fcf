"""The parts of statements of TIR as nodes: scalars, conditions, indices, ranges, regions.

Each function takes a value as a program has it, and the name of the part that it stands for. A
mistake is known by that name. Plain numbers are int32 (int64 where they do not fit) and float32,
unless something beside them says more. What is made here has the place `span`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.arith import Facts, simplify
from relaxscript.dtypes import DataType, nearest
from relaxscript.errors import Described, Span, quantity
from relaxscript.ir import prim
from relaxscript.ir.prim import IntImm, PrimExpr, alike, const, match_dtypes, plain_dtype
from relaxscript.ir.prim_checks import reason
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.ir.tir import Buffer, BufferRegion, Range, plain_extent

from .mistake import TIRError, describe

__all__ = [
    "condition",
    "converted",
    "dimension",
    "domain_bounds",
    "extent_between",
    "index_of",
    "integer",
    "integer_range",
    "ramp",
    "range_between",
    "region",
    "scalar",
    "shape_of_region",
    "slice_bounds",
    "vector",
]  # fmt: skip

# A dimension of a buffer is an int64, any other whole number an int32 where nothing says more.
DIM_DTYPE = prim.INT64
INT_DTYPE = prim.INT32

# What a dimension lies below.
LARGEST_DIMENSION = 1 << 63


def extent_between(low: PrimExpr, high: PrimExpr) -> PrimExpr:
    """`high - low`; where `high` was written `low + e`, just `e`, and a number where it is one."""
    if isinstance(low, IntImm) and isinstance(high, IntImm):
        return const(high.value - low.value, high.dtype)
    if isinstance(low, IntImm) and low.value == 0:
        return high
    if isinstance(high, prim.Add) and _same_scalar(high.a, low):
        return high.b
    extent = prim.Sub.make(high, low)
    known = simplify(extent, Facts(nonnegative=False))
    return known if isinstance(known, IntImm) else extent


def _same_scalar(a: PrimExpr, b: PrimExpr) -> bool:
    return a is b or structural_equal(a, b, map_free_vars=False)


# ---- scalars


def integer(value: int, dtype: DataType, part: str, span: Span | None = None) -> IntImm:
    """A whole number of a dtype."""
    try:
        made = IntImm(dtype, value)
    except ValueError as error:
        raise TIRError(part, reason(error), code="RX0502") from None
    return made if span is None else made.replace(span=span)


def scalar(value: Any, part: str, span: Span | None = None) -> PrimExpr:
    """A value as a scalar."""
    match value:
        case PrimExpr():
            return value
        case bool() | float():
            return const(value)
        case int():
            return integer(value, plain_dtype(value), part, span)
        case np.generic():
            return const(value.item(), DataType(value.dtype))
        case BufferRegion():
            return vector(value, part)
        case str():
            return prim.StringImm(value)
        case Buffer():
            indices = ", ".join("ijklmn"[axis % 6] for axis in range(value.ndim)) or "()"
            raise TIRError(
                part, f"`{value.name}` is a whole buffer, and a scalar is needed here",
                help=f"take an element: `{value.name}[{indices}]`",
            )  # fmt: skip
    raise TIRError(
        part, f"a scalar is needed here, this is {describe(value)}",
        help=value.advice if isinstance(value, Described) else None,
    )  # fmt: skip


def condition(value: Any, part: str, span: Span | None = None) -> PrimExpr:
    """A scalar that is true or false."""
    e = scalar(value, part, span)
    if e.dtype.is_bool:
        return e
    raise TIRError(
        part, f"a condition is a bool, this is {e.dtype}", code="RX0502",
        help="compare it: `{instead}`", instead="{} != 0",
    )  # fmt: skip


def converted(
    value: Any, dtype: DataType, part: str, place: str, verb: str, span: Span | None = None
) -> PrimExpr:
    """A value of a dtype: numbers that it has are converted, other values must have it.

    A plain number is what the dtype makes of it; `T.float32(0)` is a float16 as it is.
    `place` is the part that says the dtype, as `verb` tells: it "holds" float32.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, int, float)):
        return _converted_number(value, dtype, part, place, verb, span)
    e = _same_number(scalar(value, part, span), dtype.element)
    if e.dtype is dtype:
        return e
    if e.dtype.lanes == 1 and e.dtype is dtype.element:
        return prim.Broadcast.make(e, dtype.lanes)
    if e.dtype.lanes not in (1, dtype.lanes):
        counts = quantity(e.dtype.lanes, "lane"), quantity(dtype.lanes, "lane")
        raise TIRError(
            part, f"the value is a vector of {counts[0]}, not of {counts[1]}", code="RX0502",
            facts={part: f"is {e.dtype}", place: f"{verb} {dtype}"},
        )  # fmt: skip
    if "handle" in (e.dtype.kind, dtype.kind):
        raise _mismatch(f"is {describe(e)}", dtype, part, place, verb, None)
    raise _mismatch(f"is {e.dtype}", dtype, part, place, verb, f'T.cast({{}}, "{dtype}")')


def _same_number(e: PrimExpr, dtype: DataType) -> PrimExpr:
    """A number as one of another dtype of its kind that has it; any other value as it is."""
    match e:
        case IntImm(value=number) if dtype.is_integer and not e.dtype.is_bool:
            pass
        case prim.FloatImm(value=number) if dtype.is_float and nearest(number, dtype) == number:
            pass
        case _:
            return e
    try:
        return const(number, dtype).replace(span=e.span)
    except ValueError:  # it does not fit: the mistake is that of the dtypes
        return e


def _mismatch(
    fact: str, dtype: DataType, part: str, place: str, verb: str, instead: str | None
) -> TIRError:
    return TIRError(
        part, f"the value {fact}, not {dtype}", code="RX0502",
        help=None if instead is None else "convert it: `{instead}`", instead=instead,
        facts={part: fact, place: f"{verb} {dtype}"},
    )  # fmt: skip


def _converted_number(
    value: bool | int | float, dtype: DataType, part: str, place: str, verb: str, span: Span | None
) -> PrimExpr:
    """A plain number as one of a dtype."""
    whole = not isinstance(value, float)
    if dtype.is_bool and not (isinstance(value, bool) or value in (0, 1)):
        raise _mismatch(f"is {value}", dtype, part, place, verb, f"{value} != 0")
    if not (dtype.is_float or dtype.is_integer or dtype.is_bool):
        raise _mismatch("is a number", dtype, part, place, verb, None)
    if not (whole or dtype.is_float):
        near = str(int(value)) if value == value and abs(value) < 2**63 else None
        raise _mismatch("is a floating-point number", dtype, part, place, verb, near)
    try:
        made = const(value, dtype)
    except ValueError as error:
        raise TIRError(
            part, reason(error), code="RX0502", facts={place: f"{verb} {dtype}"}
        ) from None
    return made if span is None else made.replace(span=span)


# ---- ranges


def range_between(
    start: Any, stop: Any, parts: tuple[str, str] = ("start", "stop"), span: Span | None = None
) -> Range:
    """The integers from `start` to before `stop`; plain numbers take the type of the other bound.

    Two plain numbers are int32.
    """
    bounds: list[Any] = []
    for value, part in zip((start, stop), parts):
        if isinstance(value, np.integer):
            value = int(value)
        if type(value) is not int:
            value = scalar(value, part, span)
            if not value.dtype.is_integer:
                raise TIRError(
                    part, "a loop counts with integers", facts={part: f"is {value.dtype}"}
                )
        bounds.append(value)
    if all(type(v) is int for v in bounds):
        bounds = [bound.replace(span=span) for bound in alike(*bounds)]
    low, high = match_dtypes(*bounds)
    return Range.make(low, extent_between(low, high))


def domain_bounds(domain: Any, part: str, span: Span | None = None) -> tuple[Any, Any]:
    """The bounds of the domain of an axis; plain numbers as they are."""
    match domain:
        case (begin, end):
            low, high = begin, end
        case Range():
            return domain.min, prim.Add.make(domain.min, domain.extent)
        case _:
            low, high = 0, domain
    bounds = tuple(v if type(v) is int else scalar(v, part, span) for v in (low, high))
    for e in bounds:
        if isinstance(e, PrimExpr) and not e.dtype.is_integer:
            raise TIRError(
                part, "the domain of an axis is given by integers", code="RX0504",
                facts={part: f"is {e.dtype}"},
            )  # fmt: skip
    return bounds[0], bounds[1]


def integer_range(
    bounds: tuple[Any, Any], dtype: DataType, part: str, span: Span | None = None
) -> Range:
    """The range of an axis; plain numbers take the dtype of the axis."""
    low, high = (e if isinstance(e, PrimExpr) else integer(e, dtype, part, span) for e in bounds)
    if low.dtype is not high.dtype:
        low, high = match_dtypes(low, high)
    return Range.make(low, extent_between(low, high))


# ---- elements and regions of buffers


def index_of(value: Any, part: str, span: Span | None = None) -> PrimExpr:
    """One index: an integer."""
    if type(value) is int:
        return integer(value, plain_dtype(value), part, span)
    e = scalar(value, part, span)
    if e.dtype.is_integer:
        return e
    fact = "is a string" if isinstance(e, prim.StringImm) else f"is {e.dtype}"
    raise TIRError(
        part, "an index is an integer", code="RX0503", facts={part: fact},
        help="convert it: `{instead}`" if e.dtype.is_float else None,
        instead='T.cast({}, "int32")' if e.dtype.is_float else None,
    )  # fmt: skip


def slice_bounds(
    extent: PrimExpr, value: slice, part: str, span: Span | None = None
) -> tuple[PrimExpr, PrimExpr]:
    """The bounds of a slice of a dimension, in one dtype."""
    low = 0 if value.start is None else value.start
    high = plain_extent(extent) if value.stop is None else value.stop
    if type(low) is int and type(high) is int:
        a, b = alike(low, high)
        return (a, b) if span is None else (a.replace(span=span), b.replace(span=span))
    return match_dtypes(*(v if type(v) is int else index_of(v, part, span) for v in (low, high)))


def ramp(low: PrimExpr, extent: PrimExpr, step: Any, part: str) -> PrimExpr:
    """The vector of the indices of a slice."""
    stride = scalar(1 if step is None else step, part)
    if not isinstance(stride, IntImm) or stride.value < 1:
        raise TIRError(part, "the step of a slice is a positive number", code="RX0503")
    if not isinstance(extent, IntImm):
        raise TIRError(
            part, "the number of elements of this slice is not a constant", code="RX0503",
            help="loop over the elements: `for i in range(...)`",
        )  # fmt: skip
    lanes = -(-extent.value // stride.value)
    if lanes < 1:
        raise TIRError(part, "this slice has no elements", code="RX0503")
    return low if lanes == 1 else prim.Ramp.make(low, const(stride.value, low.dtype), lanes)


def vector(value: BufferRegion, part: str) -> PrimExpr:
    """A region used as a value: the vector of its elements; each index is a part of `part`."""
    indices = [
        ramp(axis.min, axis.extent, None, f"{part}.indices[{i}]")
        for i, axis in enumerate(value.region)
    ]
    for e in indices[:-1]:
        if e.dtype.lanes != 1:
            raise TIRError(
                part, "only the last index can be a vector", code="RX0503",
                help="loop over the other axes: `for i in range(...)`",
            )  # fmt: skip
    return prim.BufferLoad.make(value.buffer, tuple(indices), span=value.span)


def region(value: Any, part: str, span: Span | None = None) -> BufferRegion:
    """A region of a buffer: a whole buffer and an element are regions, too."""
    match value:
        case BufferRegion():
            return value
        case Buffer():
            whole = tuple(Range.make(const(0, d.dtype), d) for d in value.shape)
            return BufferRegion.make(value, whole, span=span)
        case prim.BufferLoad():
            ranges = tuple(_point(i) for i in value.indices)
            return BufferRegion.make(value.buffer, ranges, span=value.span)
    raise TIRError(
        part, f"a region of a buffer is needed here, this is {describe(value)}", code="RX0504",
        help="write for example `A[0:4, vi]`",
    )  # fmt: skip


def shape_of_region(value: Any) -> list[Any]:
    """The dimensions of a buffer over a region; known ones are plain numbers, as in shapes."""
    return [plain_extent(axis.extent) for axis in region(value, "param").region]


def _point(index: PrimExpr) -> Range:
    if isinstance(index, prim.Ramp):
        return Range.make(index.base, const(index.lanes, index.base.dtype))
    return Range.make(index, const(1, index.dtype))


def dimension(value: Any, part: str, span: Span | None = None) -> PrimExpr:
    """A dimension of a buffer."""
    if isinstance(value, IntImm):
        value = value if value.value >= 0 else value.value
    if not isinstance(value, (bool, type, PrimExpr)) and hasattr(value, "__index__"):
        value = value.__index__()
    if type(value) is int and value < 0:
        raise TIRError(part, f"a dimension cannot be negative, this is {value}", code="RX0108")
    if type(value) is int and value >= LARGEST_DIMENSION:
        raise TIRError(part, f"a dimension is an {DIM_DTYPE}, this is {value}", code="RX0108")
    if type(value) is int:
        return IntImm.make(DIM_DTYPE, value, span=span)
    if isinstance(value, PrimExpr) and value.dtype.is_integer:
        return value
    raise TIRError(
        part, f"a dimension is a whole number, this is {describe(value)}", code="RX0108",
        help='write a number, a name such as "n", or arithmetic of these',
    )  # fmt: skip
