"""Calls that nest thousands deep, in every way, with little stack: right, or an error."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime import register_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import every_executor

SMALL = 128 * 1024  # bytes of stack


@I.ir_module
class Deep:
    @R.function
    def down(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Deep
        if R.less_equal(n, R.const(0, "int64")):
            r = n
        else:
            r = cls.down(R.subtract(n, R.const(1, "int64")))
        return r

    @R.function
    def left(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Deep
        if R.less_equal(n, R.const(0, "int64")):
            r = n
        else:
            r = cls.right(R.subtract(n, R.const(1, "int64")))
        return r

    @R.function
    def right(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Deep
        if R.less_equal(n, R.const(0, "int64")):
            r = n
        else:
            r = cls.left(R.subtract(n, R.const(1, "int64")))
        return r

    @R.function
    def local(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        one = R.const(1, "int64")

        @R.function
        def inner(k: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
            if R.less_equal(k, R.const(0, "int64")):
                r = k
            else:
                r = inner(R.subtract(k, one))
            return r

        result = inner(n)
        return result

    @R.function
    def same(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        return n

    @R.function
    def chained(
        n: R.Tensor((), "int64"),
        f: R.Callable((R.Tensor((), "int64"),), R.Tensor((), "int64")),
    ) -> R.Tensor((), "int64"):
        cls = Deep

        @R.function
        def g(m: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
            r = f(m)
            return r

        if R.less_equal(n, R.const(0, "int64")):
            r = g(n)
        else:
            r = cls.chained(R.subtract(n, R.const(1, "int64")), g)
        return r

    @R.function
    def closures(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Deep
        half = R.floor_divide(n, R.const(2, "int64"))
        f = cls.same
        r = cls.chained(half, f)
        return r

    @R.function(pure=False)
    def packed(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        r = R.call_packed("test.again", n, sinfo_args=R.Tensor((), "int64"))
        return r

    @T.prim_func
    def kernel(a: T.Buffer((), "int64"), b: T.Buffer((), "int64")):
        T.call_packed("test.again_into", a, b)

    @R.function
    def native(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
        cls = Deep
        r = R.call_tir(cls.kernel, (n,), R.Tensor((), "int64"))
        return r


INSIDE = ["down", "left", "local", "closures"]
THROUGH_PYTHON = ["packed", "native"]


def registered(model: Any) -> None:
    """The packed functions through which `model` calls itself."""

    @register_func("test.again", override=True)
    def again(n):
        return model.packed(n - 1) if n > 0 else n

    @register_func("test.again_into", override=True)
    def again_into(n, out):
        out[...] = model.native(n - 1) if n > 0 else n


def in_small_thread(call: Callable[[], Any]) -> Any:
    """What `call` gives or raises, where it runs in a thread with little stack."""
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(call())
        except BaseException as error:
            outcome.append(error)

    before = threading.stack_size(SMALL)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


@pytest.mark.long
@every_executor
@pytest.mark.parametrize("name", INSIDE)
def test_ten_thousand_calls_inside_of_a_program_run_and_more_are_an_error(load, name):
    model = load(Deep)
    assert in_small_thread(lambda: model[name](np.array(2_000))) == 0
    with pytest.raises(VMError, match="calls nest deeper than 10000; does the") as caught:
        in_small_thread(lambda: model[name](np.array(10_100)))
    assert caught.value.code == "RX0609"
    assert caught.value.span.text.endswith(")")
    del caught
    gc.collect()
    assert model[name](np.array(3)) == 0


@pytest.mark.parametrize("where", [lambda call: call(), in_small_thread])
@every_executor
@pytest.mark.parametrize("name", THROUGH_PYTHON)
def test_ten_thousand_calls_through_python_end_in_an_error(load, name, where):
    model = load(Deep)
    registered(model)
    assert where(lambda: model[name](np.array(3))) == 0
    with pytest.raises(VMError, match="calls through packed functions nest deeper than") as caught:
        where(lambda: model[name](np.array(10_000)))
    assert caught.value.code == "RX0609"
    assert "_packed(" in caught.value.span.text
    assert where(lambda: model[name](np.array(3))) == 0


@pytest.mark.slow
@every_executor
@pytest.mark.parametrize("name", THROUGH_PYTHON)
def test_what_is_blamed_does_not_depend_on_how_deep_the_first_call_stands(load, name):
    model = load(Deep)
    registered(model)

    def begun(depth: int) -> str:
        if depth > 0:
            return begun(depth - 1)
        with pytest.raises(VMError) as caught:
            model[name](np.array(10_000))
        return f"{caught.value.span.line}: {caught.value.diagnostic.message}"

    assert len({begun(depth) for depth in range(25)}) == 1


@every_executor
@pytest.mark.parametrize("name", THROUGH_PYTHON)
def test_a_large_limit_of_python_does_not_let_the_stack_run_over(load, name):
    model = load(Deep)
    registered(model)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000_000)
    try:
        with pytest.raises(VMError, match="KiB of this thread's stack allow") as caught:
            in_small_thread(lambda: model[name](np.array(10_000)))
    finally:
        sys.setrecursionlimit(limit)
    assert caught.value.code == "RX0609"
