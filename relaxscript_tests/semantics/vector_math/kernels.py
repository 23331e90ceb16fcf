"""PrimFuncs that apply a function of vector math to arrays, exact results, and errors in ulp."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.ir import prim, tir
from relaxscript.ir.intrinsic import INTRINSICS
from relaxscript.ir.prim import const
from relaxscript.ir.scalar_functions import FUNCTIONS as T
from relaxscript.semantics.vector_math import ATTRIBUTE
from relaxscript_tests.prim_funcs import load, loop, prim_func, store

__all__ = ["ALL", "WIDTHS", "apply", "error_in_ulp", "exact", "function_text", "map_in_vectors"]

WIDTHS = (1, 4, 8, 16)
ALL = 1 << 32  # numbers of float32


def map_in_vectors(
    name: str, width: int, dtype: str = "float32", vector_math: bool = True
) -> tir.PrimFunc:
    """The function of an intrinsic over arrays, in vectors of so many lanes; it leaves a rest."""
    row = INTRINSICS[f"tir.{name}"]
    n, i = prim.Var("n", "int64"), prim.Var("i", "int64")
    sources = [tir.Buffer(p, (n,), dtype) for p in row.parameters]
    target = tir.Buffer("out", (n,), dtype)
    at = prim.Ramp(i * width, const(1, "int64"), width) if width > 1 else i
    body = store(target, T[name](*(load(s, at) for s in sources)), at)
    attrs = {ATTRIBUTE: True} if vector_math else {}
    return prim_func([*sources, target], loop(i, n // width, body), **attrs)


def apply(kernel: Any, *args: Any) -> Any:
    """What a function writes, of arrays whose sizes its width divides."""
    out = np.empty_like(args[0])
    kernel(*args, out)
    return out


def exact(name: str) -> Any:
    """A function of float64 that errs by less than a billionth of an ulp of float32.

    It is numpy's, or that of the C library where numpy has none.
    """
    numpy = INTRINSICS[f"tir.{name}"].numpy
    if numpy is not None:
        return getattr(np, numpy)
    kernel = compile_prim_func(map_in_vectors(name, 1, "float64", vector_math=False))
    return lambda *args: apply(kernel, *args)


def error_in_ulp(actual: Any, wanted: Any) -> Any:
    """The distance of float32 from float64, in units of the last place that float32 has there.

    Infinity counts as the power of two behind the greatest number. It is infinite where only one of
    both is NaN, and where a zero has the wrong sign.
    """
    with np.errstate(all="ignore"):
        _, exponent = np.frexp(wanted)
        unit = np.ldexp(1.0, np.clip(exponent, -125, 128) - 24)
        limit = 2.0**128
        found = np.clip(actual.astype("float64"), -limit, limit)
        error = np.abs(found - np.clip(wanted, -limit, limit)) / unit
        error[np.isnan(wanted) & np.isnan(actual)] = 0
        error[np.isnan(wanted) != np.isnan(actual)] = np.inf
        zeros = (wanted == 0) & (np.signbit(wanted) != np.signbit(actual))
        error[zeros] = np.inf
    return error


def function_text(name: str, width: int) -> str:
    """The text of a function of vector math, as a module with many calls of it has it."""
    row, lanes = INTRINSICS[f"tir.{name}"], f"float32x{width}" if width > 1 else "float32"
    x = prim.const(0.5, lanes)
    calls = [tir.Evaluate(prim.Call(lanes, row.op, [x] * len(row.parameters))) for _ in range(9)]
    text = compile_prim_func(prim_func([], tir.SeqStmt(calls), **{ATTRIBUTE: True})).llvm_ir
    _, _, rest = text.partition(f"@relaxscript.{name}.{lanes}(")
    return rest[: rest.index("\n}")]
