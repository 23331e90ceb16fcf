"""Functions of the C library that PrimFuncs call: their addresses, and the types that C has."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

from relaxscript.ir import prim

from . import tir_errors

__all__ = ["C_TYPES", "c_function", "callee_of"]

# The type that C has for a dtype.
C_TYPES: dict[str, Any] = {
    "void": None, "handle": ctypes.c_void_p, "bool": ctypes.c_bool, "float32": ctypes.c_float,
    "float64": ctypes.c_double,
    **{f"{sign}int{bits}": getattr(ctypes, f"c_{sign}int{bits}")
       for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip


@cache
def c_function(name: str) -> int | None:
    """The address of a function of this process or of the C library."""
    names: list[str | None] = [None, "libm.so.6"]
    if sys.platform in ("win32", "darwin"):
        names = ["ucrtbase"] if sys.platform == "win32" else [None]
    for library in (ctypes.CDLL(known) for known in names):
        if hasattr(library, name):
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    return None


def callee_of(e: prim.Call) -> tuple[str, int]:
    """The name and the address of the C function that a call calls.

    Raises `DiagnosticError` where there is none, or where C has no type for an operand.
    """
    name = e.args[0]
    assert isinstance(name, prim.StringImm)  # `check_arity` has seen to it
    address = c_function(name.value)
    if address is None:
        message = f"there is no C function `{name.value}` on this computer"
        raise tir_errors.invalid("RX0505", message, name.span or e.span)
    for arg in (e, *e.args[1:]):
        if str(arg.dtype) not in C_TYPES or (arg is not e and arg.dtype.is_void):
            message = f"C has no type for values of {arg.dtype}"
            raise tir_errors.invalid("RX0505", message, arg.span or e.span)
    return name.value, address
