"""The work of kernels is guessed, and long ones let other threads run Python."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.codegen.native.work import rounds_of
from relaxscript.script import from_source
from relaxscript_tests.codegen.native.calls import is_native, model

PARAMS = 'x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")'
BODIES = {
    "a statement": ("y[0, 0] = x[0, 0]", ["1"]),
    "loops": ("for i, j in T.grid(3, 4):\n    y[i, j] = x[i, j]", ["12"]),
    "dimensions": ("for i, j in T.grid(n, 4):\n    y[i, j] = x[i, j]", ["4*n"]),
    "the same twice": (
        "for i in range(n):\n    y[i, 0] = x[i, 0]\nfor i in range(n):\n    y[i, 1] = x[i, 1]",
        ["2*n"],
    ),
    "different ones": (
        "for i in range(n):\n    y[i, 0] = x[i, 0]\n"
        "for i, j in T.grid(n, n):\n    y[i, 0] = x[j, 1]",
        ["1*n", "1*n*n"],
    ),
    "both branches": (
        "for i in range(n):\n    if x[i, 0] > T.float32(0):\n        y[i, 0] = x[i, 0]\n"
        "    else:\n        y[i, 1] = x[i, 0]",
        ["2*n"],
    ),
    "a triangle": (
        "for i in range(n):\n    for j in range(i):\n        y[i, 0] = x[j, 0]",
        ["1*n*i"],
    ),
    "until something holds": ("while y[0, 0] < x[0, 0]:\n    y[0, 0] = y[0, 0] + x[0, 1]", None),
}


@pytest.mark.parametrize(("body", "expected"), BODIES.values(), ids=BODIES)
def test_the_rounds_of_loops_are_counted(body: str, expected: list[str] | None) -> None:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    func: Any = from_source(f"@T.prim_func\ndef f({PARAMS}):\n    n = T.int64()\n{lines}")
    rounds = rounds_of(func, rx.IRModule({}))
    found = rounds and ["*".join([str(r.times), *map(str, r.extents)]) for r in rounds]
    assert found == expected


CALLING = """
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def copy(x: T.Buffer(("k", "l"), "float32"), y: T.Buffer(("k", "l"), "float32")):
        k = T.int64()
        l = T.int64()
        for i, j in T.grid(k, l):
            y[i, j] = x[i, j]

    @T.prim_func
    def f(x: T.Buffer(("n", 4), "float32"), y: T.Buffer(("n", 4), "float32")):
        n = T.int64()
        with T.block("root"):
            T.reads(x[0:n, 0:4])
            T.writes(y[0:n, 0:4])
            t = T.alloc_buffer((n, 4))
            Module.copy(x.data, t.data)
            for i in range(3):
                Module.copy(t.data, y.data)
"""


def test_the_rounds_of_functions_that_are_called_count_in_the_sizes_of_who_calls() -> None:
    module = from_source(CALLING)
    rounds = rounds_of(module["f"], module)
    assert rounds is not None
    assert [(r.times, list(map(str, r.extents))) for r in rounds] == [(16, ["n"])]


def test_the_rounds_of_functions_that_are_nowhere_are_not_known() -> None:
    assert rounds_of(from_source(CALLING)["f"], rx.IRModule({})) is None


def runs_beside(call: Callable[[], Any], times: int) -> bool:
    """True if another thread gets to run during one of some calls."""
    ran: list[bool] = []
    go = threading.Event()
    thread = threading.Thread(target=lambda: (go.wait(), ran.append(True)))
    thread.start()
    switch = sys.getswitchinterval()
    try:
        sys.setswitchinterval(1000)  # Python itself lets nobody else run in time
        go.set()
        for _ in range(times):
            call()
            if ran:
                break
        return bool(ran)
    finally:
        sys.setswitchinterval(switch)
        thread.join()


LONG = """
@I.ir_module
class Model:
    @T.prim_func
    def sums(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for k in range(ROUNDS):
            for i in range(4):
                y[i] = y[i] * T.float32(0.5) + x[i]

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = R.call_tir(Model.sums, (x,), out_sinfo=R.Tensor((4,), "float32"))
        return y
"""


def test_a_long_loop_over_few_numbers_lets_other_threads_run() -> None:
    main = model(LONG.replace("ROUNDS", "200000")).main
    assert is_native(main)
    assert runs_beside(lambda: main(np.ones(4, "float32")), 1000)


def test_a_short_call_keeps_the_lock_of_python() -> None:
    main, x = model(LONG.replace("ROUNDS", "3")).main, np.ones(4, "float32")
    assert not runs_beside(lambda: main(x), 100)


SYMBOLIC = """
@I.ir_module
class Model:
    @T.prim_func
    def copy(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        for i in range(n):
            y[i] = x[i]

    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        n = T.int64()
        y = R.call_tir(Model.copy, (x,), out_sinfo=R.Tensor((n,), "float32"))
        return y
"""


def test_sizes_decide_when_they_are_known_in_the_call_only() -> None:
    main = model(SYMBOLIC).main
    large, small = np.ones(1_000_000, "float32"), np.ones(100, "float32")
    assert runs_beside(lambda: main(large), 1000)
    assert not runs_beside(lambda: main(small), 100)


class Enough(Exception):
    """What a handler raises."""


CHAIN = SYMBOLIC.replace(
    'y = R.call_tir(Model.copy, (x,), out_sinfo=R.Tensor((n,), "float32"))',
    "\n        ".join(
        f'{new} = R.call_tir(Model.copy, ({old},), out_sinfo=R.Tensor((n,), "float32"))'
        for old, new in [("x", "a"), ("a", "b"), ("b", "y")]
    ),
)


def test_what_the_handler_of_a_signal_raises_ends_a_row_of_kernels() -> None:
    main, large = model(CHAIN).main, np.ones(1_000_000, "float32")
    assert is_native(main)
    count = sys.getrefcount(large)

    def handler(number: int, frame: Any) -> None:
        raise Enough

    before = signal.signal(signal.SIGUSR1, handler)
    main_thread = threading.get_ident()
    sender = threading.Thread(target=lambda: signal.pthread_kill(main_thread, signal.SIGUSR1))
    try:
        with pytest.raises(Enough):  # noqa: PT012
            sender.start()
            while True:
                main(large)
    finally:
        sender.join()
        signal.signal(signal.SIGUSR1, before)
    gc.collect()
    assert sys.getrefcount(large) == count
    assert np.array_equal(main(large), large)
