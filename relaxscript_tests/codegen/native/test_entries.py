"""Functions that are one native call are built-in functions, and do what the machine does."""

from __future__ import annotations

import gc
import inspect
import sys
import threading
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.codegen.native import builtin, entries
from relaxscript.runtime import Closure
from relaxscript.script import from_source
from relaxscript_tests import examples
from relaxscript_tests.codegen.native.calls import (
    MODULE,
    NAMES,
    described,
    is_native,
    model,
    outcome,
)


@pytest.fixture(scope="module")
def vm() -> Any:
    return model()


X = np.arange(12, dtype="float32").reshape(3, 4)
W = np.array([1, 2, 3, 4], "float32")
GOOD: dict[str, tuple[Any, ...]] = {
    "one": (X, W),
    "fixed": (X,),
    "several": (X, np.array([1, -2, 3, 4], "int32")),
    "element": (W, np.array(2)),
}


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    made = array.copy()
    made.flags.writeable = False
    return made


def misaligned(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    made = np.zeros(array.nbytes + 1, "uint8")[1:].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


class Subclass(np.ndarray[Any, Any]):
    """Arrays that are not quite those of numpy."""


class Plain:
    """An object that has an array for numpy."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


class Lent:
    """An object that lends its array by DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **named: Any) -> Any:
        return self.array.__dlpack__(**named)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


ODD = {
    "as it is": lambda a: a,
    "read-only": read_only,
    "misaligned": misaligned,
    "every second": lambda a: np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a,
    "in the order of Fortran": np.asfortranarray,
    "transposed": lambda a: a.T,
    "backwards": lambda a: a[::-1] if a.ndim else a,
    "in foreign byte order": lambda a: a.astype(a.dtype.newbyteorder()),
    "a dtype that is equal and another object": lambda a: a.astype(
        np.dtype(a.dtype, metadata={"some": 1})
    ),
    "empty": lambda a: a[:0] if a.ndim else a,
    "without columns": lambda a: a[..., :0] if a.ndim else a,
    "longer": lambda a: np.concatenate([a, a]) if a.ndim else a,
    "wider": lambda a: np.concatenate([a, a], axis=-1) if a.ndim else a,
    "of a rank more": lambda a: a[None],
    "of a rank less": lambda a: a[0] if a.ndim else a[()],
    "flat": lambda a: a.reshape(-1),
    "of more precision": lambda a: a.astype("float64"),
    "of integers": lambda a: a.astype("int16"),
    "of objects": lambda a: a.astype(object),
    "of text": lambda a: a.astype(str),
    "a record": lambda a: a.astype([("f", a.dtype)]),
    "broadcast": lambda a: np.broadcast_to(a.reshape(-1)[:1], a.shape) if a.ndim else a,
    "of a subclass": lambda a: a.view(Subclass),
    "mapped from a file": lambda a: a.view(np.memmap),
    "masked": np.ma.array,
    "an array of ours": rx.nd.array,
    "a list": lambda a: a.tolist(),
    "a tuple": lambda a: tuple(a.tolist()) if a.ndim else (a.item(),),
    "an element": lambda a: a.reshape(-1)[0],
    "a number": lambda a: a.reshape(-1)[0].item(),
    "an object with __array__": Plain,
    "an object with __dlpack__": Lent,
    "none": lambda a: None,
    "a type": lambda a: np.ndarray,
    "text": lambda a: "x",
    "a memoryview": lambda a: memoryview(a),
    "on another device": lambda a: rx.nd.array(a, rx.cpu(1)),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_that_is_one_kernel_is_a_builtin_function(vm: Any, name: str) -> None:
    assert is_native(vm[name])
    assert getattr(vm, name) is vm[name]


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", NAMES)
def test_both_ways_take_and_refuse_the_same_arguments(vm: Any, name: str, odd: str) -> None:
    function = vm[name]
    for place in range(len(GOOD[name])):
        args = list(GOOD[name])
        args[place] = ODD[odd](args[place])
        assert outcome(function, tuple(args)) == outcome(function.__self__, tuple(args))


def test_both_ways_do_the_same_with_random_arguments(vm: Any, rng: Any) -> None:
    kinds = list(ODD.values())
    for _ in range(examples(2000)):
        name = NAMES[rng.integers(len(NAMES))]
        n, m = rng.integers(0, 6, 2)
        sized = {
            "one": (rng.random((n, 4)).astype("float32"), rng.random(4).astype("float32")),
            "fixed": (rng.random((n, 4)).astype("float32"),),
            "several": (rng.random((n, m)).astype("float32"), rng.integers(-9, 9, m, "int32")),
            "element": (rng.random(n).astype("float32"), np.array(rng.integers(-2, 7))),
        }[name]
        args = tuple(kinds[rng.integers(len(kinds))](a) if rng.random() < 0.3 and a.size else a
                     for a in sized)  # fmt: skip
        assert outcome(vm[name], args) == outcome(vm[name].__self__, args)


WRONG_CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "nothing": ((), {}),
    "too few": ((X,), {}),
    "too many": ((X, W, W), {}),
    "by name": ((), {"w": W, "x": X}),
    "one by name": ((X,), {"w": W}),
    "one twice": ((X, W), {"w": W}),
    "a name that is none": ((X,), {"v": W}),
}


@pytest.mark.parametrize("case", WRONG_CALLS)
def test_both_ways_take_the_same_numbers_and_names_of_arguments(vm: Any, case: str) -> None:
    args, named = WRONG_CALLS[case]
    assert outcome(vm.one, args, named) == outcome(vm.one.__self__, args, named)


def test_one_array_may_be_given_for_several_parameters(vm: Any) -> None:
    square = np.ascontiguousarray(X[:1, :4].reshape(1, 4))
    both = square, square.reshape(4)
    assert outcome(vm.one, both) == outcome(vm.one.__self__, both)


def test_a_kernel_that_fails_says_what_it_says_in_the_machine(vm: Any) -> None:
    beyond = W, np.array(4)
    text = outcome(vm.element, beyond)
    assert "[RX0614]" in text
    assert "from `element`" in text
    assert text == outcome(vm.element.__self__, beyond)


def test_results_that_no_memory_holds_are_a_clear_error(vm: Any) -> None:
    huge = np.empty((1 << 58, 0), "float32"), np.empty(0, "int32")
    text = outcome(vm.several, huge)
    assert "cannot allocate a tensor of shape (288230376151711744,)" in text
    assert text == outcome(vm.several.__self__, huge)


COMPUTED = """
@I.ir_module
class Model:
    @T.prim_func
    def fill(
        x: T.Buffer(("n", "m"), "int8"), y: T.Buffer(("n * 4 - 8", "m"), "int8"),
        z: T.Buffer(("n // 3", "n % 3"), "int8"),
        w: T.Buffer(("T.min(n, m)", "T.max(n, 2)"), "int8"),
    ):
        n = T.int64()
        m = T.int64()
        for i, j in T.grid(n // 3, n % 3):
            with T.block("fill"):
                vi, vj = T.axis.remap("SS", [i, j])
                z[vi, vj] = T.int8(1)

    @R.function
    def main(x: R.Tensor(("n", "m"), "int8"), same: R.Tensor(("m * 2 - n", "n"), "int8")):
        n = T.int64()
        m = T.int64()
        y = R.call_tir(Model.fill, (x,), out_sinfo=[
            R.Tensor((n * 4 - 8, m), "int8"), R.Tensor((n // 3, n % 3), "int8"),
            R.Tensor((T.min(n, m), T.max(n, 2)), "int8"),
        ])
        return y
"""


@pytest.mark.parametrize(
    ("n", "m", "other"),
    [(5, 4, 3), (4, 4, 4), (2, 2, 2), (1, 1, 1), (0, 0, 0), (5, 4, 4), (5, 2, -1)],
)
def test_dimensions_are_computed_as_the_machine_computes_them(n: int, m: int, other: int) -> None:
    vm = model(COMPUTED)
    args = np.ones((n, m), "int8"), np.ones((max(other, 0), n), "int8")
    assert is_native(vm.main)
    assert outcome(vm.main, args) == outcome(vm.main.__self__, args)


@pytest.mark.parametrize("n", [(1 << 63) - 1, (1 << 61) + 1, 1 << 62])
def test_dimensions_beyond_64_bits_are_told_as_the_machine_tells_them(n: int) -> None:
    vm = model(COMPUTED)
    args = np.empty((n, 0), "int8"), np.empty((0, n), "int8")
    assert outcome(vm.main, args) == outcome(vm.main.__self__, args)


def test_a_parameter_that_is_returned_is_the_array_itself(vm: Any) -> None:
    assert vm.several(*GOOD["several"])[1][0] is X


def test_the_closure_behind_a_builtin_function_is_its_self(vm: Any) -> None:
    closure = vm.one.__self__
    assert isinstance(closure, Closure)
    assert closure.name == "one"
    assert closure.info is not None
    bound = closure.bind((W,))
    assert np.array_equal(bound(X), X * W)


def test_a_builtin_function_tells_its_name_and_parameters(vm: Any) -> None:
    assert vm.one.__name__ == "one"
    assert list(inspect.signature(vm.one).parameters) == ["x", "w"]
    assert "native code" in vm.one.__doc__


def test_instruments_see_the_calls_of_a_native_function(vm: Any) -> None:
    seen: list[str] = []
    before = vm.one
    vm.set_instrument(lambda func, name, before_run, result, *args: seen.append(name) or 0)
    assert np.array_equal(before(X, W), X * W)
    vm.set_instrument(None)
    assert "scale" in seen
    count = len(seen)
    assert np.array_equal(before(X, W), X * W)
    assert len(seen) == count


def test_a_function_that_is_asked_for_first_under_an_instrument_is_watched() -> None:
    watched, seen = model(), list[str]()
    watched.set_instrument(lambda func, name, before_run, result, *args: seen.append(name) or 0)
    watched.one(X, W)
    assert "scale" in seen


def test_native_functions_can_be_stepped_profiled_timed_saved_and_bound(vm: Any) -> None:
    assert np.array_equal(vm.step("one", X, W).run().result, X * W)
    assert "scale" in str(vm.profile("one", X, W))
    assert vm.time_evaluator("one", number=2)(X, W).mean > 0
    vm.save_function("one", "again", X, W)
    assert np.array_equal(vm.again(), X * W)
    vm.set_input("one", X, W)
    vm.invoke_stateful("one")
    assert np.array_equal(vm.get_outputs("one"), X * W)
    with pytest.raises(rx.VMError, match="must be 2"):
        vm.set_input("one", W, W)
    assert np.array_equal(vm.bind_params({"w": W}, "one")(X), X * W)


HIGHER = """
@I.ir_module
class Model:
    @R.function(pure=False)
    def apply(
        f: R.Callable((R.Tensor((3, 4), "float32"),), R.Tensor((3, 4), "float32"), False),
        x: R.Tensor((3, 4), "float32"),
    ) -> R.Tensor((3, 4), "float32"):
        y = f(x)
        return y

    @R.function(pure=False)
    def give(f: R.Object) -> R.Object:
        return f
"""


def test_a_native_function_is_a_closure_where_programs_take_functions(vm: Any) -> None:
    other = model(HIGHER)
    assert np.array_equal(other.apply(vm.fixed, X), vm.fixed(X))
    assert isinstance(other.give(vm.fixed), Closure)
    assert np.array_equal(other.invoke_closure(vm.fixed, X), vm.fixed(X))


def test_a_packed_function_may_give_a_native_function(vm: Any) -> None:
    from relaxscript.runtime.coercion import to_runtime_value

    assert to_runtime_value(vm.fixed) is vm.fixed.__self__
    assert to_runtime_value(len) is len


def test_functions_of_modules_that_are_called_are_native_too() -> None:
    module = from_source(MODULE)
    assert np.array_equal(module.one(X, W), X * W)
    assert np.array_equal(rx.build(module)["one"](X, W), X * W)


def test_results_and_functions_outlive_their_machine() -> None:
    gone = model()
    function, result = gone.one, gone.fixed(X)
    del gone
    gc.collect()
    assert np.array_equal(function(X, W), X * W)
    assert described(result) == described(X * np.array([1, -2, 0.5, 3], "float32"))


def test_a_machine_that_is_in_a_cycle_with_its_functions_goes() -> None:
    class Owner:
        function: Any
        me: Any

    def make() -> Any:
        owner = Owner()
        owner.function, owner.me = model().one, owner
        return owner.function.__self__

    import weakref

    gone = weakref.ref(make())
    gc.collect()
    assert gone() is None


def test_calls_leak_nothing(vm: Any) -> None:
    cases = [(vm[name], GOOD[name]) for name in NAMES]

    def run(times: int) -> None:
        for function, args in cases:
            for _ in range(times):
                function(*args)
            for bad in ((), (W, *args[1:]), (None, *args[1:]), *([(W, np.array(9))] * 2)):
                outcome(function, bad)

    run(10)
    gc.collect()
    counts = [[sys.getrefcount(a) for a in args] for _, args in cases]
    tracemalloc.start()
    run(10)
    gc.collect()
    before, blocks = tracemalloc.get_traced_memory()[0], sys.getallocatedblocks()
    run(examples(25_000))
    gc.collect()
    after, left = tracemalloc.get_traced_memory()[0], sys.getallocatedblocks()
    tracemalloc.stop()
    assert abs(after - before) < 20_000
    assert abs(left - blocks) < 200
    assert [[sys.getrefcount(a) for a in args] for _, args in cases] == counts


def test_builtin_functions_that_are_made_and_dropped_leak_nothing() -> None:
    program = rx.build(from_source(MODULE))

    def run(times: int) -> None:
        for _ in range(times):
            rx.VirtualMachine(program).one(X, W)
        gc.collect()

    run(20)
    before = sys.getallocatedblocks()
    run(300)
    assert abs(sys.getallocatedblocks() - before) < 100


def test_threads_may_call_one_function_at_once(vm: Any) -> None:
    large = np.tile(X, (20_000, 1))
    wanted = described(large * W)
    wrong: list[Any] = []

    def work(array: Any, expected: Any) -> None:
        wrong.extend(1 for _ in range(50) if described(vm.one(array, W)) != expected)

    cases = [(large, wanted), (X, described(X * W))] * 2
    threads = [threading.Thread(target=work, args=case) for case in cases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_where_arrays_lie_in_memory_in_another_way_all_is_bytecode(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from relaxscript.codegen.native import entries

    assert builtin.layout_is_known()
    monkeypatch.setattr(entries, "layout_is_known", lambda: False)
    other = model()
    assert not is_native(other.one)
    assert np.array_equal(other.one(X, W), X * W)


def test_large_results_have_memory_that_earlier_ones_had(vm: Any) -> None:
    large = np.ones((50_000, 4), "float32")
    first = vm.one(large, W)
    place = first.ctypes.data
    assert place % 64 == 0
    del first
    assert vm.one(large, W).ctypes.data == place


def test_a_large_result_looks_like_one_of_the_machine_but_for_who_owns_it(vm: Any) -> None:
    large = np.ones((50_000, 4), "float32")
    native, other = vm.one(large, W), vm.one.__self__(large, W)
    names = ("c_contiguous", "f_contiguous", "aligned", "writeable", "writebackifcopy")
    assert [getattr(native.flags, n) for n in names] == [getattr(other.flags, n) for n in names]
    assert native.strides == other.strides


def test_what_refers_to_a_result_finds_it_unchanged_after_a_thousand_calls(vm: Any) -> None:
    large = np.arange(200_000, dtype="float32").reshape(50_000, 4)
    keepers: list[Callable[[Any], Any]] = [
        lambda result: result,
        lambda result: result[7:, ::2],
        lambda result: result.view("int32"),
        memoryview,
        np.from_dlpack,
        lambda result: result.base,
    ]
    kept = [keep(vm.one(large, W)) for keep in keepers]
    before = [np.array(one) for one in kept]
    for i in range(1000):
        vm.one(large[: 50_000 - i], W[::1])
    assert all(np.array_equal(a, b) for a, b in zip(kept, before, strict=True))


def test_a_large_result_outlives_its_machine() -> None:
    large = np.ones((50_000, 4), "float32")
    result = model().one(large, W)
    gc.collect()
    model().one(large + 1, W)
    assert np.array_equal(result, large * W)


def test_elements_that_a_kernel_leaves_are_zeros_also_in_memory_that_was_used(vm: Any) -> None:
    x, y = np.ones((300, 400), "float32"), np.ones(400, "int32")
    for _ in range(3):
        transposed = vm.several(x, y)[1][1]
        assert not transposed[:, 0].any()
        transposed[...] = 7


def test_results_of_all_sizes_are_right(vm: Any, rng: Any) -> None:
    for n in [4095, 4096, 4097, 5119, 5120, 5121, 8192, *rng.integers(1, 40_000, examples(200))]:
        x = np.full((n, 4), n, "float32")
        assert np.array_equal(vm.one(x, W), x * W)


def test_a_program_of_arrays_needs_no_code_that_tests_scalars(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needed: list[str] = []
    code_of = entries._code_of
    monkeypatch.setattr(
        entries, "_code_of", lambda text: needed.extend(text.functions) or code_of(text)
    )
    assert is_native(model()["one"])
    assert "relaxscript_take" in needed
    assert "relaxscript_int" not in needed
