"""Programs that allocate and kill their storages themselves, on every executor and allocator."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.runtime import DeviceTensor, Shape, cpu, register_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import every_executor, failure


@I.ir_module
class Planned:
    @R.function(pure=False)
    def main(x: R.Tensor((100,), "float32")):
        s = R.memory.alloc_storage(R.shape([400]), 0, "global", "uint8")
        t = R.memory.alloc_tensor(s, 0, R.shape([100]), "float32")
        _ = R.call_packed("test.use", t, x, sinfo_args=R.Tuple())
        _1 = R.memory.kill_tensor(t)
        _2 = R.memory.kill_storage(s)
        s2 = R.vm.alloc_storage(R.shape([100]), 0, "float32")
        t2 = R.vm.alloc_tensor(s2, 0, R.shape([100]), "float32")
        _ = R.call_packed("test.use", t2, x, sinfo_args=R.Tuple())
        return t2

    @R.function(pure=False)
    def sized(shape: R.Shape(["n"]), size: R.Shape(["m"])):
        n, m = T.int64(), T.int64()
        s = R.vm.alloc_storage(R.shape([n, 2]), 0, "float16")
        t = R.vm.alloc_tensor(s, 0, R.shape([n, 2]), "float16")
        u = R.memory.alloc_storage(size, 0, "global", "uint8")
        v = R.memory.alloc_tensor(u, 0, R.shape([n]), "uint8")
        w = R.builtin.alloc_tensor(R.shape([n, 3]), R.dtype("bool"), R.prim_value(0))
        return (t, v, w)

    @R.function(pure=False)
    def alias(x: R.Tensor((100,), "float32")):
        s = R.memory.alloc_storage(R.shape([400]), 0, "global", "uint8")
        t = R.memory.alloc_tensor(s, 0, R.shape([100]), "float32")
        other = t
        _ = R.memory.kill_tensor(t)
        _1 = R.memory.kill_storage(s)
        y = R.add(other, x)
        return y


X = np.arange(100, dtype="float32")


def writes(t, x):
    t += x


def load(memory_cfg, **options):
    return rx.VirtualMachine(rx.build(Planned, target="reference"), rx.cpu(), memory_cfg, **options)


def from_pool(array):
    """Whether an array is in memory of a pool: at its root is no array."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return isinstance(array.base, memoryview)


@every_executor
def test_what_storages_hold_is_the_same_everywhere(load):
    register_func("test.use", writes)
    model = load(Planned)
    for _ in range(3):
        np.testing.assert_array_equal(model.main(X), X)
    t, v, w = model.sized(Shape([3]), Shape([5]))
    assert [(a.shape, a.dtype.name) for a in (t, v, w)] == [
        ((3, 2), "float16"), ((3,), "uint8"), ((3, 3), "bool"),
    ]  # fmt: skip
    assert [a.any() for a in (t, v, w)] == [False] * 3
    np.testing.assert_array_equal(model.alias(X), X)


@every_executor
def test_a_storage_that_is_too_large_or_too_small_for_its_tensor_fails(load):
    model = load(Planned)
    errors = [
        failure(lambda size=size: model.sized(Shape([3]), Shape([size])))
        for size in (1 << 62, 1 << 50, 2)
    ]
    assert [error.code for error in errors] == ["RX0606"] * 3


def test_a_storage_that_there_is_no_memory_for_is_named():
    error = failure(lambda: load("pooled").sized(Shape([3]), Shape([1 << 62])))
    assert error.diagnostic.message.startswith(f"cannot allocate a storage of {1 << 62} bytes: ")


def test_a_storage_that_was_killed_is_used_again():
    seen = []
    register_func("test.use", lambda t, x: seen.append(t.__array_interface__["data"][0]))
    vm = load("pooled")
    vm.main(X)
    assert seen[0] == seen[1]


@pytest.mark.parametrize("keep", [lambda t: t, lambda t: t[3:5], lambda t: t.reshape(10, 10).T])
def test_a_storage_is_not_used_again_while_a_packed_function_keeps_a_part(keep):
    kept = []
    register_func("test.use", lambda t, x: (writes(t, x), kept.append(keep(t)))[:0])
    vm = load("pooled")
    results = [vm.main(X) for _ in range(3)]
    arrays = [*kept, *results]
    expected = keep(X.copy())
    for array in kept:
        np.testing.assert_array_equal(array, expected)
    assert not any(np.shares_memory(a, b) for a in kept[::2] for b in [*kept[1::2], *results])
    for array in results:
        np.testing.assert_array_equal(array, X)
    assert all(map(from_pool, arrays))


@pytest.mark.slow
def test_a_result_keeps_its_storage_and_gives_it_back():
    seen = []
    register_func("test.use", lambda t, x: seen.append(t.__array_interface__["data"][0]))
    vm = load("pooled")
    result = vm.main(X)
    alive = weakref.ref(result)
    vm.main(X)
    assert seen[1] not in seen[2:]
    del result
    gc.collect()
    assert alive() is None
    vm.main(X)
    assert seen[4] in seen[:4]


def test_a_closure_keeps_a_storage_that_it_captured():
    @I.ir_module
    class Capturing:
        @R.function(pure=False)
        def main(x: R.Tensor((100,), "float32")):
            s = R.memory.alloc_storage(R.shape([400]), 0, "global", "uint8")
            t = R.memory.alloc_tensor(s, 0, R.shape([100]), "float32")
            _ = R.call_packed("test.use", t, x, sinfo_args=R.Tuple())

            @R.function
            def shifted(y: R.Tensor((100,), "float32")) -> R.Tensor((100,), "float32"):
                z = R.add(y, t)
                return z

            _1 = R.vm.kill_object(s)
            return shifted

    register_func("test.use", writes)
    vm = rx.jit(Capturing, target="reference")
    closures = [vm.main(X * k) for k in range(4)]
    for k, closure in enumerate(closures):
        np.testing.assert_array_equal(closure(X), X * (k + 1))


@pytest.mark.parametrize(
    ("memory_cfg", "pooled"),
    [
        (None, True), ("pooled", True), ("naive", False), ({cpu(): "naive"}, False),
        ({cpu(): "pooled"}, True), ({"cpu:0": "naive"}, False), ({}, True),
    ],
)  # fmt: skip
def test_the_allocator_is_that_of_the_host(memory_cfg, pooled):
    register_func("test.use", writes)
    assert from_pool(load(memory_cfg).main(X)) is pooled


def test_each_device_may_have_an_allocator():
    register_func("test.use", writes)
    executable = rx.build(Planned, target="reference")
    both = ["cpu:0", "cpu:1"]
    vm = rx.VirtualMachine(executable, both, {cpu(0): "pooled", cpu(1): "naive"})
    assert from_pool(vm.main(X))
    vm = rx.VirtualMachine(executable, both, {cpu(0): "naive", cpu(1): "pooled"})
    assert not from_pool(vm.main(X))


def test_a_profile_and_steps_use_the_same_kind_of_memory():
    register_func("test.use", writes)
    vm = load("pooled", profile=True)
    assert from_pool(vm.profile("main", X).result)
    assert from_pool(vm.step("main", X).run().result)
    assert not from_pool(load("naive").step("main", X).run().result)


@pytest.mark.slow
def test_a_killed_value_is_let_go_at_once():
    alive = []

    def watch(t, x):
        alive.append(weakref.ref(t))
        gc.collect()
        alive.append([one() is not None for one in alive[::2]])

    register_func("test.use", watch)
    load("naive").main(X)
    assert alive[1::2] == [[True], [False, True]]


def test_storages_may_be_asked_for_by_the_names_of_the_builtins():
    @I.ir_module
    class ByName:
        @R.function(pure=False)
        def main(x: R.Tensor(("n",), "float32")):
            n = T.int64()
            s = R.call_builtin_with_ctx(
                "vm.builtin.alloc_storage",
                (R.shape([n]), R.prim_value(0), R.dtype("float32"), R.str("global")),
                sinfo_args=R.Object(),
            )
            t = R.call_packed(
                "vm.builtin.alloc_tensor", s, R.prim_value(0), R.shape([n]), R.dtype("float32"),
                sinfo_args=R.Tensor((n,), "float32"),
            )  # fmt: skip
            _ = R.call_packed("test.use", t, x, sinfo_args=R.Tuple())
            return t

    register_func("test.use", writes)
    result = rx.jit(ByName, target="reference").main(X)
    assert from_pool(result)
    np.testing.assert_array_equal(result, X)


def test_the_memory_of_a_pool_can_be_let_go_by_the_program():
    @I.ir_module
    class Clearing:
        @R.function(pure=False)
        def main(x: R.Tensor((100,), "float32")):
            s = R.memory.alloc_storage(R.shape([400]), 0, "global", "uint8")
            t = R.memory.alloc_tensor(s, 0, R.shape([100]), "float32")
            _ = R.call_packed("test.use", t, sinfo_args=R.Tuple())
            _1 = R.memory.kill_tensor(t)
            _2 = R.memory.kill_storage(s)
            _3 = R.call_packed("vm.builtin.memory_manager.clear", sinfo_args=R.Tuple())
            return x

    roots = []
    register_func("test.use", lambda t: roots.append(weakref.ref(t.base.base.obj)))
    for memory_cfg in ("pooled", "naive"):
        if memory_cfg == "naive":
            register_func("test.use", lambda t: None, override=True)
        vm = rx.VirtualMachine(rx.build(Clearing, target="reference"), rx.cpu(), memory_cfg)
        np.testing.assert_array_equal(vm.main(X), X)
    assert [root() for root in roots] == [None]


def test_tensors_of_another_device_are_made_and_moved_there():
    @I.ir_module
    class Two:
        I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("llvm", 1)]})

        @T.prim_func
        def double(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
            for i in range(4):
                y[i] = x[i] * T.float32(2)

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Two
            there = R.to_vdevice(x, "llvm:1")
            y = R.call_tir(cls.double, (there,), R.Tensor((4,), "float32", "llvm:1"))
            return y

    x = np.arange(4, dtype="float32")
    for target in ("reference", "llvm"):
        vm = rx.VirtualMachine(rx.build(Two, target=target), [cpu(0), cpu(1)], {cpu(1): "pooled"})
        result = vm.main(x)
        assert isinstance(result, DeviceTensor)
        assert result.device == cpu(1)
        np.testing.assert_array_equal(result.numpy(), 2 * x)
