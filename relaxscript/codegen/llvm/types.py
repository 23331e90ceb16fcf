"""Dtypes and operations of LLVM for ours, as tables.

A scalar has one type in memory and one in registers. They differ for bool (a byte in memory) and
for floats of at most 16 bits: in registers these are `float`s that the narrow type represents
exactly, and every operation on them is rounded by `FunctionWriter.rounded`.
"""

from __future__ import annotations

import struct

from relaxscript.dtypes import DataType
from relaxscript.errors import Span
from relaxscript.ir import prim
from relaxscript.semantics import tir_errors

__all__ = [
    "ARITHMETIC", "COMPARISON", "SMALL_FLOATS", "column", "constant", "register", "storage",
    "suffix",
]  # fmt: skip

_REGISTERS = {
    "bool": "i1", "float16": "float", "bfloat16": "float", "float32": "float", "float64": "double",
    **{f"{sign}int{bits}": f"i{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
# Formats of at most eight bits that have a sign and an ordinary zero: see `small_floats.py`.
SMALL_FLOATS = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3", "float8_e3m4", "float4_e2m1fn",
                "float6_e2m3fn", "float6_e3m2fn")  # fmt: skip
_REGISTERS |= dict.fromkeys(SMALL_FLOATS, "float")
_MEMORY = {**_REGISTERS, "bool": "i8", "float16": "half", "bfloat16": "i16"}
_MEMORY |= dict.fromkeys(SMALL_FLOATS, "i8")
_SUFFIXES = {"float": "f32", "double": "f64"}

#              signed  unsigned  float
ARITHMETIC: dict[type[prim.Binary], tuple[str, str, str]] = {
    prim.Add: ("add", "add", "fadd"),
    prim.Sub: ("sub", "sub", "fsub"),
    prim.Mul: ("mul", "mul", "fmul"),
    prim.Div: ("sdiv", "udiv", "fdiv"),
    prim.Mod: ("srem", "urem", "frem"),
    prim.Min: ("smin", "umin", "minimum"),
    prim.Max: ("smax", "umax", "maximum"),
}

#              signed      unsigned    float
COMPARISON: dict[type[prim.Comparison], tuple[str, str, str]] = {
    prim.EQ: ("icmp eq", "icmp eq", "fcmp oeq"),
    prim.NE: ("icmp ne", "icmp ne", "fcmp une"),
    prim.LT: ("icmp slt", "icmp ult", "fcmp olt"),
    prim.LE: ("icmp sle", "icmp ule", "fcmp ole"),
    prim.GT: ("icmp sgt", "icmp ugt", "fcmp ogt"),
    prim.GE: ("icmp sge", "icmp uge", "fcmp oge"),
}


def column(dtype: DataType) -> int:
    """The column of a dtype in these tables."""
    return 2 if dtype.is_float else 0 if dtype.kind == "int" else 1


def _lanes(scalar: str, lanes: int) -> str:
    return scalar if lanes == 1 else f"<{lanes} x {scalar}>"


def _find(table: dict[str, str], dtype: DataType, span: Span | None) -> str:
    found = table.get(dtype.element) if dtype.kind not in ("void", "handle") else None
    if found is None:
        raise tir_errors.invalid("RX0505", f"there is no code for values of {dtype}", span)
    return _lanes(found, dtype.lanes)


# Without the place of who asks, which is different each time.
_known_registers: dict[DataType, str] = {}
_known_storage: dict[DataType, str] = {}


def register(dtype: DataType, span: Span | None = None) -> str:
    """The type of values in registers; raises `DiagnosticError` (RX0505) where there is none."""
    found = _known_registers.get(dtype)
    if found is None:
        found = _known_registers[dtype] = _find(_REGISTERS, dtype, span)
    return found


def storage(dtype: DataType, span: Span | None = None) -> str:
    """The type of elements in memory; raises `DiagnosticError` (RX0505) where there is none."""
    found = _known_storage.get(dtype)
    if found is None:
        found = _known_storage[dtype] = _find(_MEMORY, dtype, span)
    return found


def suffix(type_: str) -> str:
    """The suffix of a type in the names of LLVM's intrinsics: "v4f32" for `<4 x float>`."""
    if type_.startswith("<"):
        lanes, _, element = type_[1:-1].partition(" x ")
        return f"v{lanes}{suffix(element)}"
    return _SUFFIXES.get(type_, type_)


def constant(type_: str, value: float) -> str:
    """A literal of a scalar register type."""
    if type_ in _SUFFIXES:
        (bits,) = struct.unpack("<Q", struct.pack("<d", value))
        return f"0x{bits:016X}"
    return str(int(value))
