"""Building PrimFuncs for tests of their executors, and comparing what executors write.

`prim_func` makes a function of buffers, `elementwise` one that applies an expression to each
element; `both` runs the evaluator and compiled code on copies of the same arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import VMError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim, tir

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]


def handles(*buffers: tir.Buffer) -> dict[prim.Var, tir.Buffer]:
    """Parameters for buffers."""
    return {prim.Var(buffer.name, "handle"): buffer for buffer in buffers}


def prim_func(
    buffers: Sequence[tir.Buffer], body: tir.Stmt, scalars: Sequence[prim.Var] = (), **attrs: Any
) -> tir.PrimFunc:
    """A function of some buffers and then some scalars."""
    params = handles(*buffers)
    return tir.PrimFunc([*params, *scalars], body, None, params, attrs or None)


def load(buffer: tir.Buffer, *indices: Any) -> prim.BufferLoad:
    return prim.BufferLoad(buffer, indices)


def store(buffer: tir.Buffer, value: Any, *indices: Any) -> tir.BufferStore:
    return tir.BufferStore(buffer, value, indices)


def loop(var: prim.Var, extent: Any, body: tir.Stmt, kind: str = "serial") -> tir.For:
    return tir.For(var, prim.const(0, var.dtype), extent, kind, body)


def elementwise(
    count: int, inputs: Sequence[str], result: str, make: Callable[..., prim.PrimExpr]
) -> tir.PrimFunc:
    """A function that stores `make(a[i], b[i], ...)` at `out[i]`."""
    sources = [tir.Buffer(f"in{k}", (count,), dtype) for k, dtype in enumerate(inputs)]
    target = tir.Buffer("out", (count,), result)
    i = prim.Var("i", "int64")
    body = store(target, make(*(load(s, i) for s in sources)), i)
    return prim_func([*sources, target], loop(i, count, body))


def interesting(dtype: str) -> np.ndarray[Any, Any]:
    """Values at which arithmetic of a dtype goes wrong, if anywhere."""
    kind = prim.DataType(dtype)
    if kind.is_bool:
        return np.array([False, True])
    if kind.is_float:
        numbers = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 3.0, 7.25, -1e-3, 1e-8, 123.0, -65504.0]
        numbers += [3e38, -3e38, float("inf"), float("-inf"), float("nan"), 6e-8, 2.0**-140, 1e-40]
        with np.errstate(all="ignore"):
            return np.array(numbers).astype(kind.numpy)
    low = -(1 << (kind.bits - 1)) if kind.kind == "int" else 0
    high = low + (1 << kind.bits) - 1
    near = [low, low + 1, high, high - 1, high // 2, 0, 1, 2, 3, 5, 7, 8, 31, 100]
    return np.array([*near, *([-1, -2, -3, -7, -8, -100] if low else [])], dtype)


def pairs(dtype: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """All pairs of interesting values."""
    values = interesting(dtype)
    return np.repeat(values, len(values)), np.tile(values, len(values))


def both(func: tir.PrimFunc, args: Sequence[Any], **options: Any) -> list[Any]:
    """The arguments after a run; both executors must have written the same bits."""
    ours, theirs = _copies(args), _copies(args)
    kernel = compile_prim_func(func, options=options)
    outcome = [_run(lambda: evaluate(func, ours)), _run(lambda: kernel(*theirs))]
    assert outcome[0] == outcome[1]
    for expected, actual in zip(ours, theirs, strict=True):
        if isinstance(expected, np.ndarray):
            assert_same_bits(actual, expected)
    return ours


def _copies(args: Sequence[Any]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


def _run(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except VMError as error:
        return str(error)


def assert_same_bits(actual: Any, expected: Any) -> None:
    """Every element has the same bits, or both are NaN."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    unsigned = f"u{expected.dtype.itemsize}"
    same = np.ascontiguousarray(actual).view(unsigned) == np.ascontiguousarray(expected).view(
        unsigned
    )
    if prim.DataType(expected.dtype).is_float:
        with np.errstate(invalid="ignore"):
            same |= (actual != actual) & (expected != expected)
    assert same.all(), f"{actual[~same][:5]} instead of {expected[~same][:5]}"
