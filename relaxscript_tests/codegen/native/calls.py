"""Functions that are one native call, and the outcome of calls, native and by bytecode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import relaxscript as rx
from relaxscript.runtime.dispatch import VMClosure
from relaxscript.script import from_source

MODULE = """
@I.ir_module
class Model:
    @T.prim_func
    def scale(
        x: T.Buffer(("n", 4), "float32"), w: T.Buffer((4,), "float32"),
        y: T.Buffer(("n", 4), "float32"),
    ):
        n = T.int64()
        for i, j in T.grid(n, 4):
            with T.block("scale"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = x[vi, vj] * w[vj]

    @T.prim_func
    def both(
        x: T.Buffer(("n", "m"), "float32"), y: T.Buffer(("m",), "int32"),
        z: T.Buffer(("m", "n + 1"), "float32"), sums: T.Buffer(("n",), "int64"),
    ):
        n = T.int64()
        m = T.int64()
        for i, j in T.grid(n, m):
            with T.block("both"):
                vi, vj = T.axis.remap("SS", [i, j])
                z[vj, vi + 1] = x[vi, vj]
                sums[vi] = sums[vi] + T.cast(y[vj], "int64")

    @T.prim_func
    def pick(
        x: T.Buffer(("n",), "float32"), i: T.Buffer((), "int64"), y: T.Buffer((), "float32")
    ):
        n = T.int64()
        y[()] = x[i[()]]

    @R.function
    def one(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4,), "float32")):
        n = T.int64()
        y = R.call_tir(Model.scale, (x, w), out_sinfo=R.Tensor((n, 4), "float32"))
        return y

    @R.function
    def fixed(x: R.Tensor(("n", 4), "float32")):
        n = T.int64()
        w = R.const([1.0, -2.0, 0.5, 3.0], "float32")
        y = R.call_tir(Model.scale, (x, w), out_sinfo=R.Tensor((n, 4), "float32"))
        return y

    @R.function
    def several(x: R.Tensor(("n", "m"), "float32"), y: R.Tensor(("m",), "int32")):
        n = T.int64()
        m = T.int64()
        out = R.call_tir(
            Model.both, (x, y),
            out_sinfo=[R.Tensor((m, n + 1), "float32"), R.Tensor((n,), "int64")],
        )
        return (out[1], (x, out[0], out[0]), ())

    @R.function
    def element(x: R.Tensor(("n",), "float32"), i: R.Tensor((), "int64")):
        y = R.call_tir(Model.pick, (x, i), out_sinfo=R.Tensor((), "float32"))
        return y
"""
NAMES = ("one", "fixed", "several", "element")


def model(text: str = MODULE, **options: Any) -> Any:
    """A machine for a script."""
    return rx.jit(from_source(text), **options)


def is_native(function: Any) -> bool:
    """True if a function is a built-in one that stands for a closure."""
    return isinstance(function, type(len)) and type(function.__self__) is VMClosure


def outcome(function: Any, args: tuple[Any, ...], named: Mapping[str, Any] | None = None) -> Any:
    """The result of a call with all that can be told of it, or the error with its whole text."""
    try:
        return described(function(*args, **(named or {})))
    except rx.VMError as error:
        return str(error)


def described(value: Any) -> Any:
    """A value such that equal descriptions are of equal values, bit for bit."""
    if isinstance(value, tuple):
        return type(value), tuple(map(described, value))
    if isinstance(value, np.ndarray):
        return type(value), value.dtype, value.shape, value.flags.c_contiguous, value.tobytes()
    return type(value), value.hex() if isinstance(value, float) else value
