"""Dtypes: `"float32"` and its relatives, with what every room needs to know of them.

A `DataType` is an interned string: it compares equal to the string that users write and prints as
that. It carries kind, bits and lanes as attributes. `"void"` is Relax's unknown dtype (the spec's
`Void()`), `"handle"` TIR's opaque pointer.
"""

from __future__ import annotations

import ctypes
import math
import re
import sys
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

__all__ = ["DataType", "is_dtype", "is_masked", "promote", "result_dtype"]

_SPELLING = re.compile(
    r"(?P<kind>int|uint|float|bfloat)(?P<bits>\d+)(?P<format>_\w+?)?(?:x(?P<lanes>\d+))?"
)
# The specification's Bool() is short for UInt(bits=1): one dtype with several names.
_BOOL = re.compile(r"(?:bool(?:ean)?|uint1)(?:x(?P<lanes>\d+))?")
_FORMATS = {"_e4m3fn": 8, "_e5m2": 8, "_e4m3": 8, "_e4m3fnuz": 8, "_e5m2fnuz": 8, "_e4m3b11fnuz": 8,
            "_e3m4": 8, "_e8m0fnu": 8, "_e2m1fn": 4, "_e2m3fn": 6, "_e3m2fn": 6}  # fmt: skip

# A float without a format is one of these; of integers every width is some device's.
_FLOAT_BITS = frozenset({8, 16, 32, 64, 80, 128, 256})

# What a Relax annotation may name: spec, well-formedness 19 and 20, and what ml_dtypes adds.
_RELAX_INTEGER_BITS = frozenset({1, 8, 16, 32, 64})
_RELAX_FLOAT_BITS = frozenset({16, 32, 64})


class DataType(str):
    """A dtype by its name, for example `DataType("float32")`; equal names are one object.

    `kind` is one of int, uint, float, bfloat, bool, handle and void; `bits` the width of a lane;
    `lanes` the number of lanes. Raises `ValueError` when the string names no dtype, and `TypeError`
    for a value of another type. Callers that know its place turn that into a diagnostic.

    `is_float` is true if values are floating point of any format; `is_integer` if they are
    integers, which bool is not here; `is_bool`; `is_void` for the unknown dtype.
    """

    kind: str
    bits: int
    lanes: int
    is_float: bool
    is_integer: bool
    is_bool: bool
    is_void: bool

    def __new__(cls, name: str | np.dtype[Any] | type) -> DataType:
        if type(name) is DataType:
            return name
        return _intern(name if isinstance(name, str) else _numpy_name(name))

    def __reduce__(self) -> tuple[type[DataType], tuple[str]]:
        return (DataType, (str(self),))

    @property
    def element(self) -> DataType:
        """The dtype of one lane."""
        return self if self.lanes == 1 else _with_lanes(self, 1)

    def with_lanes(self, lanes: int) -> DataType:
        """The vector type of `lanes` elements of this type."""
        return self if lanes == self.lanes else _with_lanes(self, lanes)

    @property
    def itemsize(self) -> int:
        """Bytes of one stored element (sub-byte types take a byte each)."""
        return max(1, (self.bits + 7) // 8) * self.lanes

    @property
    def numpy(self) -> np.dtype[Any]:
        """The numpy equivalent; bfloat16 and the small floats are those of ml_dtypes."""
        return _numpy(self)

    @property
    def has_numpy(self) -> bool:
        """True if arrays can hold values of it."""
        try:
            return self.numpy is not None
        except TypeError:
            return False

    @property
    def in_relax(self) -> bool:
        """True if a Relax annotation may name it (spec, well-formedness 19, 20)."""
        if self.lanes != 1:
            return False
        match self.kind:
            case "bool" | "void":
                return True
            case "int" | "uint":
                return self.bits in _RELAX_INTEGER_BITS
            case "float":
                return self.bits in _RELAX_FLOAT_BITS or self.bits == 8
            case "bfloat":
                return self.bits == 16
        return False


@cache
def _with_lanes(dtype: DataType, lanes: int) -> DataType:
    element = str(dtype) if dtype.lanes == 1 else str(dtype).rpartition("x")[0]
    return DataType(element if lanes == 1 else f"{element}x{lanes}")


# Python's types that numpy knows; numpy itself would take far more, None as float64 among it.
_PYTHON_TYPES = (bool, int, float, complex)


def _numpy_name(given: Any) -> str:
    """The name of a dtype or scalar type of numpy, or of a type of Python."""
    known = isinstance(given, type) and (issubclass(given, np.generic) or given in _PYTHON_TYPES)
    if not known and not isinstance(given, np.dtype):
        raise TypeError(f"a dtype is a string or a type of numpy, not {type(given).__name__}")
    name: str = np.dtype(given).name
    return name


def _make(name: str, kind: str, bits: int, lanes: int) -> DataType:
    self = str.__new__(DataType, name)
    self.kind = kind
    self.bits = bits
    self.lanes = lanes
    self.is_float = kind in ("float", "bfloat")
    self.is_integer = kind in ("int", "uint")
    self.is_bool = kind == "bool"
    self.is_void = kind == "void"
    return self


@cache
def _intern(name: str) -> DataType:
    match name:
        case "" | "void":
            return _VOID
        case "handle":
            return _HANDLE
        case "str" | "object":
            raise ValueError(f'"{name}" is not a dtype')
    if found := _BOOL.fullmatch(name):
        lanes = int(found["lanes"] or 1)
        return _canonical("bool" if lanes == 1 else f"boolx{lanes}", name, "bool", 1, lanes)
    found = _SPELLING.fullmatch(name)
    if found is None:
        raise ValueError(f'"{name}" is not a dtype')
    kind, bits, lanes = found["kind"], int(found["bits"]), int(found["lanes"] or 1)
    if found["format"] and (kind != "float" or _FORMATS.get(found["format"]) != bits):
        raise ValueError(f'"{name}" is not a dtype')
    known = _FLOAT_BITS if kind == "float" else {16} if kind == "bfloat" else range(1, 257)
    if lanes < 1 or not (found["format"] or bits in known):
        raise ValueError(f'"{name}" is not a dtype')
    return _canonical(name, name, kind, bits, lanes)


def _canonical(name: str, asked: str, kind: str, bits: int, lanes: int) -> DataType:
    return _make(name, kind, bits, lanes) if name == asked else _intern(name)


_VOID = _make("void", "void", 64, 0)
_HANDLE = _make("handle", "handle", 64, 1)


@cache
def _numpy(dtype: DataType) -> np.dtype[Any]:
    name = str(dtype)
    if dtype.bits > 1 and hasattr(ml_dtypes, name):  # later versions have one-bit integers
        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return found
    if dtype.lanes != 1 or dtype.kind in ("void", "handle"):
        raise TypeError(f"{name} has no numpy equivalent")
    if name == "int1":
        raise TypeError("int1 has no numpy equivalent")
    return np.dtype(name)


def converted(values: Any, dtype: np.dtype[Any]) -> Any:
    """The elements of an array as elements of another dtype, floats rounded once.

    ml_dtypes rounds to float32 first: a value a little above half of the last place becomes that
    half, and is then rounded to even. So what float32 does not hold keeps a bit that says so.
    """
    narrow = values.dtype.itemsize < 4 or values.dtype == np.float32
    if dtype.isbuiltin == 1 or dtype.kind in "iub" or narrow or values.dtype.kind not in "iuf":
        return values.astype(dtype)
    return _odd_float32(_odd_float64(values)).astype(dtype)


def _odd_float64(values: Any) -> Any:
    """Numbers as float64; for an integer that has no room, one that no float32 is beyond or at."""
    if values.dtype.kind == "f" or values.dtype.itemsize < 8:
        return values.astype(np.float64)
    unsaid = values.dtype.type(0xFFF)  # so many bits less and one that marks them fit a float64
    large = (values >= 1 << 53) | (values <= -(1 << 53) if values.dtype.kind == "i" else False)
    marked = (values & ~unsaid) | values.dtype.type(0x800)
    return np.where(large & (values & unsaid != 0), marked, values).astype(np.float64)


def _odd_float32(values: Any) -> Any:
    """Numbers as float32; one that is between two of them becomes that with an odd last bit."""
    with np.errstate(all="ignore"):
        nearest = np.atleast_1d(values).astype(np.float32)
    bits = nearest.view(np.int32)
    wide = nearest.astype(np.float64)
    between = (wide != values) & ~np.isnan(wide)
    bits = np.where(between, (bits - (np.abs(wide) > np.abs(values))) | 1, bits)
    return bits.astype(np.int32).view(np.float32).reshape(values.shape)


def nearest(value: float, dtype: DataType) -> float:
    """The value of a floating-point type that is nearest to a number, as `converted` gives it.

    Numbers beyond the greatest become infinite, or what else the type has for them.
    """
    if dtype == "float64":
        return float(value)
    if value != value:
        return float(dtype.numpy.type(math.nan))
    wide = _with_room(value)
    single = ctypes.c_float(wide)
    if dtype == "float32":
        return single.value
    if single.value != wide:
        bits = ctypes.c_int32.from_buffer(single)
        bits.value = (bits.value - (abs(single.value) > abs(wide))) | 1
    if dtype == "float16" and abs(single.value) >= 65520.0:  # numpy would warn of it
        return math.copysign(math.inf, value)
    return float(dtype.numpy.type(single.value))


def _with_room(value: float) -> float:
    """A number as a float64; for an integer that has no room, one between the same float32s."""
    unsaid = value.bit_length() - 52 if isinstance(value, int) else 0
    if unsaid > 1 and value % (1 << unsaid):
        return float(value - value % (1 << unsaid) + (1 << (unsaid - 1)))
    return float(value)


def is_dtype(text: object) -> bool:
    """True if `text` names a dtype."""
    if not isinstance(text, str):
        return False
    try:
        DataType(text)
    except ValueError:
        return False
    return True


def promote(a: DataType, b: DataType) -> DataType | None:
    """The dtype in which values of `a` and `b` are combined, or None when they do not mix.

    Relax operators take operands of one dtype; this is the rule of scalar expressions in TIR.
    A bool gives way to integers, those with a sign to those without, and integers to floats. The
    wider of two of a kind wins.
    """
    if a is b:
        return a
    if "handle" in (a.kind, b.kind) or "void" in (a.kind, b.kind):
        return None
    rank = {"bool": 0, "int": 1, "uint": 2, "bfloat": 3, "float": 4}
    low, high = sorted((a, b), key=lambda t: (rank[t.kind], t.bits))
    if low.kind == high.kind or high.is_float or low.is_bool:
        return high
    return DataType(f"{high.kind}{max(low.bits, high.bits)}").with_lanes(high.lanes)


def result_dtype(array: Any) -> DataType:
    """The dtype of a numpy array or scalar."""
    return _of_numpy(np.dtype(array.dtype))


@cache
def _of_numpy(dtype: np.dtype[Any]) -> DataType:
    return DataType(dtype.name)  # numpy makes its names anew each time, in Python


def is_masked(value: object) -> bool:
    """True if `value` is a masked array; there is none before somebody imports `numpy.ma`."""
    module = sys.modules.get("numpy.ma")
    return module is not None and isinstance(value, module.MaskedArray)
