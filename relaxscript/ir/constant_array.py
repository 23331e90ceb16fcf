"""The elements of a constant: an array that nobody can write into."""

from __future__ import annotations

from mmap import mmap
from typing import Any, Literal
from weakref import ref

import numpy as np

from relaxscript.dtypes import result_dtype
from relaxscript.runtime.arrays import NDArray

__all__ = ["constant_array", "given_up", "in_c_order"]

_Array = np.ndarray[Any, Any]
# Copies in C order by the ids of what they are copies of, as long as both are there.
_copies: dict[int, tuple[ref[_Array], ref[_Array]]] = {}

_LINE_BYTES = 64
# What the first cache holds, and what a copy of some columns must have to be worth its call.
_MOST_BYTES_AT_ONCE = 1 << 15
_FEWEST_ROWS = 64


class _GivenUp(np.ndarray[Any, Any]):
    """Elements that nobody holds but constants."""


def given_up(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array for `constant_array` to share, where it is new; its maker must not hold it.

    Folded weights are as large as the program's own: a copy of each took half of their folding.
    """
    if array.base is not None or not array.flags.writeable or not array.flags.owndata:
        return array
    array.setflags(write=False)
    return array.view(_GivenUp)


def constant_array(value: Any) -> np.ndarray[Any, Any]:
    """A private, read-only copy: a constant must not change under the program that holds it.

    What nobody can write into is shared: elements in a file that is mapped to be read, bytes, and
    the elements of other constants.

    It is compact, with the axes in memory in the order that `value` has them there: frameworks hand
    out weights as transposed views, and to transpose them takes 25 times as long as to copy them.
    What reads elements by their address, or whose numbers depend on the order, asks `in_c_order`.

    An `NDArray`, for people who write `constant.data.numpy()`; what runs is made of plain arrays.
    """
    order: Literal["K", "C"] = "K" if _is_compact(value) else "C"
    array = np.array(value, copy=not _is_immutable(value) or None, order=order)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    array.setflags(write=False)
    if not (dtype := result_dtype(array)).in_relax:
        raise ValueError(f'Relax has no dtype "{dtype}"')
    return array.view(_GivenUp).view(NDArray)


def in_c_order(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The elements of a constant with the last axis innermost in memory; a copy where need be.

    It is the same copy for all who ask while one of them holds it: weights are large.
    """
    if data.flags.c_contiguous:
        return data
    key = id(data)
    if (known := _copies.get(key)) and (copy := known[1]()) is not None:
        return copy
    array = _copy_in_c_order(data)
    array.setflags(write=False)
    _copies[key] = ref(data, lambda _: _forget(key)), ref(array)
    return array


def _copy_in_c_order(data: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy of a transposed view, a few columns at a time: as many as a line of the cache holds.

    To go through whole rows reads each line again for each of its elements: five times as slow.
    """
    array = np.empty_like(data, order="C")
    columns = array.shape[-1]
    step = max(1, _LINE_BYTES // array.itemsize)
    if array.nbytes < _MOST_BYTES_AT_ONCE or array.size < _FEWEST_ROWS * columns:
        step = columns
    for begin in range(0, columns, step):
        array[..., begin : begin + step] = data[..., begin : begin + step]
    return array


def _forget(key: int) -> None:
    _copies.pop(key, None)


def _is_compact(value: Any) -> bool:
    """True for an array that is C-contiguous once its axes are in a certain order."""
    if not isinstance(value, np.ndarray):
        return False
    if value.flags.forc:
        return True
    order = sorted(range(value.ndim), key=lambda axis: -value.strides[axis])
    return value.transpose(order).flags.c_contiguous


def _is_immutable(value: Any) -> bool:
    """True if the elements of an array are in memory that nobody can write into."""
    while isinstance(value, np.ndarray):
        if type(value) is _GivenUp:
            return True
        value = value.base
    return isinstance(value, bytes) or (isinstance(value, mmap) and memoryview(value).readonly)
