"""Elements of the arrays behind buffers: read and written by position, inside their bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import Span, VMError
from relaxscript.ir import tir

from . import tir_errors

__all__ = ["lane_positions", "reader", "require_inside", "writer"]


def lane_positions(indices: Sequence[Any], lanes: int) -> list[tuple[int, ...]]:
    """The indices of each lane; an index that is a scalar is that of all lanes."""
    columns = [i if isinstance(i, list) else [i] * lanes for i in indices]
    return list(zip(*columns, strict=True))


def index_error(
    buffer: tir.Buffer, array: np.ndarray[Any, Any], place: Sequence[int], span: Span | None
) -> VMError:
    """The error for a place that is not in the array."""
    axis = next(
        k for k, (i, n) in enumerate(zip(place, array.shape, strict=True)) if not 0 <= i < n
    )
    return tir_errors.out_of_bounds(buffer.name, axis, place[axis], array.shape[axis], span)


def require_inside(
    buffer: tir.Buffer, array: np.ndarray[Any, Any], place: Sequence[int], span: Span | None
) -> None:
    """Raise unless a place is in the array."""
    if not all(0 <= i < n for i, n in zip(place, array.shape, strict=True)):
        raise index_error(buffer, array, place, span)


def number_conversion(dtype: DataType) -> Callable[[Any], Any] | None:
    """The function that makes a number of `array.item(...)`, or None when it is one already."""
    if dtype.is_float:
        return None if dtype in ("float16", "float32", "float64") else float
    return int if dtype.bits < 8 and not dtype.is_bool else None


def reader(buffer: tir.Buffer, span: Span | None) -> Callable[[Any, tuple[int, ...]], Any]:
    """The function that reads one element of the array of a buffer, checking its bounds."""
    convert = number_conversion(buffer.dtype)

    def read(array: Any, place: tuple[int, ...]) -> Any:
        if place and min(place) < 0:
            raise index_error(buffer, array, place, span)
        try:
            value = array.item(*place)
        except (IndexError, OverflowError):
            raise index_error(buffer, array, place, span) from None
        return value if convert is None else convert(value)

    return read


def writer(buffer: tir.Buffer, span: Span | None) -> Callable[[Any, tuple[int, ...], Any], None]:
    """The function that writes one element of the array of a buffer, checking its bounds."""

    def write(array: Any, place: tuple[int, ...], value: Any) -> None:
        if place and min(place) < 0:
            raise index_error(buffer, array, place, span)
        try:
            array[place] = value
        except (IndexError, OverflowError):
            raise index_error(buffer, array, place, span) from None

    return write
