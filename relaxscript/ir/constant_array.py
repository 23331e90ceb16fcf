"""The elements of a constant: an array that nobody can write into."""

from __future__ import annotations

from mmap import mmap
from typing import Any

import numpy as np

from relaxscript.dtypes import result_dtype
from relaxscript.runtime.arrays import NDArray

__all__ = ["constant_array"]


def constant_array(value: Any) -> np.ndarray[Any, Any]:
    """A private, read-only copy: a constant must not change under the program that holds it.

    What nobody can write into is shared: elements in a file that is mapped to be read, and bytes.
    An `NDArray`, for people who write `constant.data.numpy()`; what runs is made of plain arrays.
    """
    array = np.array(value, copy=not _is_immutable(value) or None, order="C")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    array.setflags(write=False)
    if not (dtype := result_dtype(array)).in_relax:
        raise ValueError(f'Relax has no dtype "{dtype}"')
    return array.view(NDArray)


def _is_immutable(value: Any) -> bool:
    """True if the elements of an array are in memory that nobody can write into."""
    while isinstance(value, np.ndarray):
        value = value.base
    return isinstance(value, bytes) or (isinstance(value, mmap) and memoryview(value).readonly)
