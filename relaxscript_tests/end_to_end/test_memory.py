"""A machine that is called for ever holds on to nothing, whether its calls succeed or fail."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from relaxscript.compiler import jit
from relaxscript.errors import VMError
from relaxscript.runtime import PackedFunc, register_func
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import every_executor

WARM, CALLS = 300, 500

# What a process may have in use when it has done a thing a hundred times, and no more after a
# thousand: its allocators keep some tenths of a megabyte from time to time.
SLACK = 2 << 20  # bytes

STATUS = Path("/proc/self/statm")


def resident() -> int:
    """The bytes of memory that the process has; where that is not told, those of Python alone."""
    gc.collect()
    if STATUS.exists():
        return int(STATUS.read_text().split()[1]) * 4096
    return sys.getallocatedblocks() * 16


@I.ir_module
class Everything:
    @T.prim_func
    def kernel(a: T.Buffer(("n",), "float32"), b: T.Buffer(("n",), "float32")):
        T.call_packed("test.copied", a, b)

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), f: R.Object) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        k = T.int64()
        cls = Everything

        @R.function
        def g(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            z = R.add(x, y)
            return z

        a = R.call_packed("test.more", x, sinfo_args=R.Tensor((n,), "float32"))
        b = R.call_dps_packed("test.copied", (a,), out_sinfo=R.Tensor((n,), "float32"))
        c = R.call_tir(cls.kernel, (b,), R.Tensor((n,), "float32"))
        d = g(c)
        e = R.invoke_closure(f, (d,), sinfo_args=R.Tensor((n,), "float32"))
        h = R.match_cast(e, R.Tensor((k,), "float32"))
        return e


def fails(x):
    raise ValueError("out of paper")


X = np.ones(4, "float32")
CALLED = {
    "a call that is right": (X, PackedFunc("f", np.copy)),
    "a function that raises": (X, PackedFunc("f", fails)),
    "a function that returns another shape": (X, PackedFunc("f", lambda x: x[1:])),
    "an argument of another rank": (X[None], PackedFunc("f", np.copy)),
    "a value that cannot be called": (X, 5),
    "a function that calls the machine": None,
}


@pytest.mark.long
@pytest.mark.parametrize("called", CALLED)
@every_executor
def test_many_calls_leave_no_more_memory_than_few(load, called):
    register_func("test.more", lambda x: x + 1)
    register_func("test.copied", lambda x, out: np.copyto(out, x))
    model = load(Everything)
    again = PackedFunc("f", lambda x: model.main(x, PackedFunc("g", np.copy)))
    args = CALLED[called] or (X, again)

    def calls(count):
        for _ in range(count):
            with suppress(VMError):
                model.main(*args)
        gc.collect()
        return sys.getallocatedblocks()

    counts = [calls(WARM), calls(CALLS), calls(CALLS)]
    # A leak is one at least for each call, whenever. What something else keeps once is none.
    assert min(b - a for a, b in pairwise(counts)) < CALLS // 2


LAYER = """
@I.ir_module
class Layer:
    @R.function
    def main(
        x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 8), "float32")
    ) -> R.Tensor(("n", 8), "float32"):
        with R.dataflow():
            h = R.add(R.matmul(x, w), R.const({0}.5))
            y = R.nn.softmax(h)
            R.output(y)
        return y
"""
ROWS, SQUARE = np.ones((4, 8), "float32"), np.ones((8, 8), "float32")


@pytest.mark.long
@pytest.mark.parametrize(
    "rows", [ROWS, ROWS.T, ROWS.astype("float64")], ids=["right", "shape", "dtype"]
)
def test_a_hundred_thousand_calls_of_a_native_function_leave_nothing(rows):
    layer = jit(from_source(LAYER.format(0)), target="llvm")

    def calls(count):
        for _ in range(count):
            with suppress(VMError):
                layer.main(rows, SQUARE)
        return resident()

    before = calls(10_000)
    assert calls(100_000) - before < SLACK  # 20 bytes a call


@pytest.mark.long
def test_a_thousand_builds_of_different_modules_leave_nothing(monkeypatch):
    monkeypatch.setenv("RELAXSCRIPT_CACHE", "off")

    def builds(first, after):
        for number in range(first, after):
            layer = jit(from_source(LAYER.format(number)), target="llvm")
            assert layer.main(ROWS, SQUARE).shape == (4, 8)
        return resident()

    before = builds(0, 300)
    assert builds(300, 1_000) - before < SLACK  # 3 KB a build
