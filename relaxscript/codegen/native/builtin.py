"""Built-in functions of Python whose code is ours, and the layout of arrays that the code reads.

A built-in function is a `PyCFunction`: a `PyMethodDef`, which says where the code is, and an
object, its `__self__`. The code is given this object, which keeps the code. The definition lies in
a bytes object, the `__module__` of the function. Python looks into it when it frees the function.
The cycle collector may have cleared other objects by then; it clears no bytes.

Code reads arrays where all C extensions that are built on numpy read them: these offsets are
compiled into every one of them. `layout_is_known` compares what is found there with Python's own
answers all the same. Where they differ, as in free-threaded and debug builds, there are no entries.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from importlib import import_module
from typing import Any

import numpy as np

from relaxscript.runtime.values import Prim

__all__ = [
    "ALIGNED_COMPACT",
    "DATA",
    "DESCR",
    "DIMS",
    "FIELDS",
    "FLAGS",
    "NDIM",
    "PRIM_DTYPE",
    "PRIM_VALUE",
    "TYPE",
    "WRITEABLE",
    "MethodDef",
    "address_of",
    "builtin_function",
    "layout_is_known",
    "numpy_function",
]  # fmt: skip

# The offsets of the fields of an array, and of the type of any object.
TYPE, DATA, NDIM, DIMS, DESCR, FLAGS = 8, 16, 24, 32, 56, 64
PRIM_DTYPE, PRIM_VALUE = 16, 24  # the slots of a `Prim`
FIELDS = getattr(
    tuple, "__basicsize__", 0
)  # where a tuple has its fields, which other versions have elsewhere
ALIGNED_COMPACT, WRITEABLE = 0x101, 0x400  # flags of an array

_FASTCALL_WITH_KEYWORDS = 0x80 | 0x2
# The numbers of functions in numpy's table for C, which have been the same since numpy 1.7.
_SLOTS = {"PyArray_NewFromDescr": 94, "PyArray_SetBaseObject": 282}


class _MethodDef(ctypes.Structure):
    """The fields of a definition, as C has them."""

    _fields_ = [
        ("name", ctypes.c_void_p), ("code", ctypes.c_void_p), ("flags", ctypes.c_int),
        ("doc", ctypes.c_void_p),
    ]  # fmt: skip


class MethodDef(bytes):
    """The definition of a built-in function, with its name and its documentation."""

    __slots__ = ()

    @classmethod
    def of(cls, name: str, code: int, doc: str) -> MethodDef:
        """A new definition; `code` is an address."""
        size, words = ctypes.sizeof(_MethodDef), name.encode() + b"\0"
        made = cls(bytes(size) + words + doc.encode() + b"\0")
        at = made.address
        fields = at + size, code, _FASTCALL_WITH_KEYWORDS, at + size + len(words)
        ctypes.memmove(at, ctypes.byref(_MethodDef(*fields)), size)
        return made

    @property
    def address(self) -> int:
        """The place of the definition in memory."""
        return ctypes.cast(ctypes.c_char_p(self), ctypes.c_void_p).value or 0

    def redirect(self, code: int) -> None:
        """Have the function run other code from the next call on."""
        _MethodDef.from_address(self.address).code = code

    def __repr__(self) -> str:
        return "<definition of a built-in function>"


def builtin_function(definition: MethodDef, holder: object) -> Any:
    """A built-in function; `holder` is its `__self__`, and keeps what the code needs."""
    return _new_function()(definition.address, holder, definition)


@functools.cache
def _new_function() -> Any:
    kinds = ctypes.c_void_p, ctypes.py_object, ctypes.py_object
    return ctypes.PYFUNCTYPE(ctypes.py_object, *kinds)(("PyCFunction_NewEx", ctypes.pythonapi))


def address_of(name: str) -> int:
    """The address of a function of Python's C API."""
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


@functools.cache
def numpy_function(name: str) -> int:
    """The address of a function of numpy's C API."""
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi)
    )
    table = pointer_of(import_module("numpy._core._multiarray_umath")._ARRAY_API, None)
    return ctypes.c_void_p.from_address(table + 8 * _SLOTS[name]).value or 0


@functools.cache
def layout_is_known() -> bool:
    """True if arrays lie in memory as the code of entries reads them."""
    if sys.implementation.name != "cpython" or object.__basicsize__ != DATA:
        return False
    probes = np.zeros((3, 5), "float32"), np.ones(7)[::2], np.empty((0, 2), "int8"), np.array(1)
    fixed = np.zeros(4)
    fixed.flags.writeable = False
    fields = (*probes, fixed)
    found = (ctypes.c_void_p * len(fields)).from_address(id(fields) + FIELDS)
    if list(found) != list(map(id, fields)):
        return False
    prim = Prim(1.5, "float32")
    slots = (ctypes.c_void_p * 2).from_address(id(prim) + PRIM_DTYPE)
    if list(slots) != [id(prim.dtype), id(prim.value)]:
        return False
    return sys.byteorder == "little" and all(map(_is_as_read, fields))


def _is_as_read(array: np.ndarray[Any, Any]) -> bool:
    def word(offset: int) -> int:
        return int(ctypes.c_int64.from_address(id(array) + offset).value)

    flags = array.flags
    wanted = int(flags.c_contiguous) | flags.aligned << 8 | flags.writeable << 10
    if (
        word(TYPE) != id(np.ndarray)
        or word(DATA) != array.ctypes.data
        or word(NDIM) & 0xFFFFFFFF != array.ndim
        or word(DESCR) != id(array.dtype)
        or word(FLAGS) & (ALIGNED_COMPACT | WRITEABLE) != wanted
    ):
        return False
    sizes = (ctypes.c_int64 * array.ndim).from_address(word(DIMS))
    return list(sizes) == list(array.shape)
