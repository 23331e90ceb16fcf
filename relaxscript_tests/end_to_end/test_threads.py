"""One model serves many threads, each with its own arrays, errors, profiles and instruments."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from relaxscript.compiler import build
from relaxscript.errors import VMError
from relaxscript.runtime import PackedFunc, VirtualMachine, register_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import every_executor

THREADS, TIMES = 8, 15
TARGETS = pytest.mark.parametrize("target", ["reference", "llvm"])


@I.ir_module
class Shared:
    @T.prim_func
    def kernel(a: T.Buffer(("n",), "float32"), b: T.Buffer(("n",), "float32")):
        T.call_packed("test.copied", a, b)

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), f: R.Object) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Shared

        @R.function
        def g(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            z = R.add(x, y)
            return z

        a = R.call_packed("test.more", x, sinfo_args=R.Tensor((n,), "float32"))
        b = R.call_dps_packed("test.copied", (a,), out_sinfo=R.Tensor((n,), "float32"))
        c = R.call_tir(cls.kernel, (b,), R.Tensor((n,), "float32"))
        d = g(c)
        e = R.invoke_closure(f, (d,), sinfo_args=R.Tensor((n,), "float32"))
        return e


@pytest.fixture(autouse=True)
def _threads_change_often() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    register_func("test.more", lambda x: x + 1)
    register_func("test.copied", lambda x, out: np.copyto(out, x))
    yield
    sys.setswitchinterval(interval)


def in_threads(work: Callable[[int], None]) -> None:
    """Do `work(k)` in eight threads at once; the first failure is that of the test."""
    together, failures = threading.Barrier(THREADS), list[BaseException]()

    def run(k: int) -> None:
        try:
            together.wait()
            work(k)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def check(model: Any, k: int) -> None:
    """Call with arrays of a size and of values that no other thread has."""
    x = np.full(k + 1, k, "float32")
    result = model.main(x, PackedFunc("f", lambda y: y * k))
    np.testing.assert_array_equal(result, (2 * x + 1) * k)


@pytest.mark.slow
@every_executor
def test_each_thread_has_its_own_values(load):
    model = load(Shared)

    def work(k: int) -> None:
        for _ in range(TIMES):
            check(model, k)

    in_threads(work)


@pytest.mark.slow
@every_executor
def test_each_thread_has_its_own_failures(load):
    model = load(Shared)

    def work(k: int) -> None:
        def fails(x: Any) -> Any:
            raise ValueError(f"thread {k}")

        for _ in range(TIMES):
            with pytest.raises(VMError, match=f"`fails{k}` raised ValueError: thread {k}") as info:
                model.main(np.ones(k + 1, "float32"), PackedFunc(f"fails{k}", fails))
            assert info.value.span.text.startswith("R.invoke_closure(f, ")
            wrong = f"is {k + 2}; must be `n = {k + 1}` from"
            grown = PackedFunc("grown", lambda x: np.append(x, x[:1]))
            with pytest.raises(VMError, match=wrong):
                model.main(np.ones(k + 1, "float32"), grown)
            check(model, k)

    in_threads(work)


@pytest.mark.slow
@every_executor
def test_a_thread_may_call_the_model_inside_of_a_call(load):
    model = load(Shared)

    def work(k: int) -> None:
        same = PackedFunc("same", lambda y: y)
        x = np.full(k + 1, k, "float32")
        for _ in range(TIMES):
            result = model.main(x, PackedFunc("again", lambda y: model.main(y, same)))
            np.testing.assert_array_equal(result, 2 * (2 * x + 1) + 1)

    in_threads(work)


@pytest.mark.slow
@TARGETS
def test_threads_profile_side_by_side(target):
    vm = VirtualMachine(build(Shared, target), profile=True)

    def work(k: int) -> None:
        x = np.full(k + 1, k, "float32")
        for _ in range(TIMES):
            report = vm.profile("main", x, PackedFunc(f"thread{k}", lambda y: y * k))
            np.testing.assert_array_equal(report.result, (2 * x + 1) * k)
            counts = {row.name: row.count for row in report.rows}
            assert counts["test.more"] == counts["test.copied"] == counts[f"thread{k}"] == 1
            assert [name for name in counts if name.startswith("thread")] == [f"thread{k}"]
            check(vm, k)

    in_threads(work)


@pytest.mark.slow
@TARGETS
def test_an_instrument_may_come_and_go_while_threads_call(target):
    vm, seen = VirtualMachine(build(Shared, target)), []

    def watch(function: Any, name: str, before: bool, result: Any, *args: Any) -> None:
        seen.append((threading.get_ident(), name, before))

    def work(k: int) -> None:
        for _ in range(TIMES):
            if k == 0:
                vm.set_instrument(watch)
            check(vm, k)
            if k == 0:
                vm.set_instrument(None)

    in_threads(work)
    for thread in {thread for thread, _, _ in seen}:
        told = [(name, before) for ident, name, before in seen if ident == thread]
        assert told[::2] == [(name, True) for name, _ in told[1::2]]
    seen.clear()
    check(vm, 3)
    assert seen == []
    vm.set_instrument(watch)
    check(vm, 3)
    assert [name for _, name, before in seen if before and name == "test.more"] == ["test.more"]


@TARGETS
def test_calls_in_steps_belong_to_the_machine(target):
    executable = build(Shared, target)

    def work(k: int) -> None:
        vm = VirtualMachine(executable)
        x = np.full(k + 1, k, "float32")
        for _ in range(TIMES):
            vm.set_input("main", x, PackedFunc("f", lambda y: y * k))
            vm.invoke_stateful("main")
            np.testing.assert_array_equal(vm.get_outputs("main"), (2 * x + 1) * k)

    in_threads(work)
    vm = VirtualMachine(executable)
    x = np.ones(2, "float32")
    vm.set_input("main", x, PackedFunc("f", np.copy))
    thread = threading.Thread(target=vm.invoke_stateful, args=("main",))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(vm.get_outputs("main"), [3, 3])


@pytest.mark.slow
@every_executor
def test_functions_may_be_replaced_while_threads_call(load):
    model = load(Shared)

    def work(k: int) -> None:
        for _ in range(TIMES):
            if k < 2:
                register_func("test.more", lambda x: x + 1, override=True)
            check(model, k)

    in_threads(work)
