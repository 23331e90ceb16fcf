"""Calls that write into their arguments, builtins with state, and moved tensors, everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.runtime import DeviceTensor, Prim, register_func, remove_global_func
from relaxscript.runtime.builtins import State
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import every_executor, failure

ROW = np.arange(4, dtype="float32")


@I.ir_module
class InPlace:
    @T.prim_func
    def add_to(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                x[vi] = x[vi] + y[vi]

    @T.prim_func
    def swap(x: T.Buffer((4,), "float32"), n: T.int64, old: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, i)
                old[vi] = x[vi]
                x[vi] = T.Cast("float32", n)

    @R.function
    def kernel(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        cls = InPlace
        info = R.Tensor((4,), "float32")
        z = R.call_tir_inplace(cls.add_to, (x, y), inplace_indices=[0], out_sinfo=info)
        return z

    @R.function
    def kernel_with_integers(x: R.Tensor((4,), "float32")):
        cls = InPlace
        z = R.call_tir_inplace(
            cls.swap,
            (x,),
            inplace_indices=[-1, 0],
            out_sinfo=[R.Tensor((4,), "float32"), R.Tensor((4,), "float32")],
            tir_vars=R.shape([7]),
        )
        return z

    @R.function
    def constant(y: R.Tensor((4,), "float32")):
        cls = InPlace
        c = R.const([0, 0, 0, 0], "float32")
        info = R.Tensor((4,), "float32")
        z = R.call_tir_inplace(cls.add_to, (c, y), inplace_indices=[0], out_sinfo=info)
        return z

    @R.function
    def unknown(x: R.Tensor, y: R.Tensor((4,), "float32")):
        cls = InPlace
        info = R.Tensor((4,), "float32")
        z = R.call_tir_inplace(cls.add_to, (x, y), inplace_indices=[0], out_sinfo=info)
        return z

    @R.function
    def tuple_argument(t: R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32"))):
        cls = InPlace
        info = R.Tensor((4,), "float32")
        z = R.call_tir_inplace(cls.add_to, (t[0], t[1]), inplace_indices=[0], out_sinfo=info)
        return z

    @R.function
    def packed(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        info = R.Tensor((4,), "float32")
        a = R.call_inplace_packed("test.bump", x, inplace_indices=[0], sinfo_args=info)
        b = R.call_inplace_packed(
            "test.bump_and_sum", y, a, inplace_indices=[0, -1], sinfo_args=[info, info]
        )
        return (a, b)

    @R.function
    def nothing_returned(x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")):
        info = R.Tensor((4,), "float32")
        z = R.call_inplace_packed(
            "test.bump", x, y, inplace_indices=[1, 0], sinfo_args=[info, info]
        )
        return z

    @R.function
    def function_value(f: R.Callable, x: R.Tensor((4,), "float32")):
        info = R.Tensor((4,), "float32")
        z = R.call_inplace_packed(f, x, inplace_indices=[0], sinfo_args=info)
        return z

    @R.function(pure=False)
    def with_state(x: R.Tensor((4,), "float32"), f: R.Callable):
        info = R.Tensor((4,), "float32")
        a = R.call_builtin_with_ctx("test.stateful", (x,), sinfo_args=info)
        b = R.call_builtin_with_ctx(f, (a, R.prim_value(2)), sinfo_args=info)
        return b

    @R.function
    def asked(x: R.Tensor((2, "n"), "float16"), i: R.Prim("int64")):
        s = R.inspect.tensor_shape_i(x, i)
        t = R.inspect.tensor_stride_i(x, 0)
        bits = R.inspect.tensor_dtype_bits(x)
        return (s, t, bits)


def bump(*tensors: np.ndarray) -> None:
    for tensor in tensors:
        tensor += 1


def bump_and_sum(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x += 1
    return x, x + y


def stateful(state: object, x: np.ndarray, times: int = 1) -> np.ndarray:
    assert isinstance(state, State)
    return x * (1 + times)


@pytest.fixture(autouse=True)
def _registered():
    functions = {"bump": bump, "bump_and_sum": bump_and_sum, "stateful": stateful}
    for name, function in functions.items():
        register_func(f"test.{name}", function)
    yield
    for name in functions:
        remove_global_func(f"test.{name}")


@every_executor
def test_a_kernel_writes_into_its_argument_which_becomes_the_result(load):
    x, y = ROW.copy(), np.ones(4, "float32")
    result = load(InPlace).kernel(x, y)
    assert result is x
    assert result.tolist() == [1, 2, 3, 4]


@every_executor
def test_a_kernel_takes_integers_and_new_results_beside(load):
    x = ROW.copy()
    old, same = load(InPlace).kernel_with_integers(x)
    assert same is x
    assert old.tolist() == [0, 1, 2, 3]
    assert x.tolist() == [7, 7, 7, 7]


@every_executor
def test_a_constant_that_is_written_to_is_new_in_each_call(load):
    program = load(InPlace)
    assert program.constant(ROW).tolist() == [0, 1, 2, 3]
    assert program.constant(ROW).tolist() == [0, 1, 2, 3]


@every_executor
def test_what_was_not_known_of_an_argument_is_checked_before_it_is_written_to(load):
    program = load(InPlace)
    x = ROW.copy()
    assert program.unknown(x, x.copy()) is x
    for wrong in (np.zeros(5, "float32"), np.zeros(4, "int8")):
        error = failure(lambda wrong=wrong: program.unknown(wrong, ROW))
        assert "`args[0]`, which is written in place" in str(error)
        assert not wrong.any()


@every_executor
def test_the_arguments_may_be_a_tuple_that_a_variable_holds(load):
    x = ROW.copy()
    assert load(InPlace).tuple_argument((x, ROW)) is x
    assert x.tolist() == [0, 2, 4, 6]


@every_executor
def test_a_packed_function_gives_what_it_returns_or_its_arguments(load):
    x, y = ROW.copy(), np.ones(4, "float32")
    a, (b, total) = load(InPlace).packed(x, y)
    assert a is x
    assert b is y
    assert (a.tolist(), b.tolist()) == ([1, 2, 3, 4], [2, 2, 2, 2])
    assert total.tolist() == [3, 4, 5, 6]


@every_executor
def test_a_packed_function_that_returns_nothing_gives_the_arguments_in_their_order(load):
    x, y = ROW.copy(), np.ones(4, "float32")
    first, second = load(InPlace).nothing_returned(x, y)
    assert first is y
    assert second is x


@every_executor
def test_a_function_that_is_a_value_is_called_in_place(load):
    program, x = load(InPlace), ROW.copy()
    assert program.function_value(bump, x) is x
    assert x.tolist() == [1, 2, 3, 4]


@every_executor
def test_what_a_packed_function_returns_is_what_the_call_describes(load):
    register_func("test.bump", lambda x: x.astype("int8"), override=True)
    error = failure(lambda: load(InPlace).packed(ROW.copy(), ROW.copy()))
    assert error.diagnostic.code == "RX0605"


@every_executor
def test_a_builtin_gets_the_state_of_the_call_first(load):
    assert load(InPlace).with_state(ROW, stateful).tolist() == [0, 6, 12, 18]


@I.ir_module
class OnTwoDevices:
    I.module_global_infos({"vdevice": [I.vdevice("llvm"), I.vdevice("llvm", 1)]})

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        a = R.to_vdevice((x, (x,)), "llvm:1")
        b = R.to_vdevice(a[1][0], "llvm:0")
        c = R.hint_on_device(b, R.cpu(0))
        return (a, c)


@every_executor
def test_tensors_are_moved_to_virtual_devices_and_by_hints_where_they_are_not(load):
    (first, (second,)), back = load(OnTwoDevices).main(ROW)
    for tensor in (first, second):
        assert isinstance(tensor, DeviceTensor)
        assert str(tensor.device) == "cpu:1"
        assert tensor.numpy().tolist() == ROW.tolist()
    assert isinstance(back, np.ndarray)
    assert back.tolist() == ROW.tolist()


@every_executor
def test_a_program_asks_what_a_tensor_is(load):
    program, x = load(InPlace), np.zeros((2, 3), "float16")
    assert program.asked(x, 1) == (3, 3, Prim(16, "uint8"))
    assert program.asked(x, -2) == (2, 3, Prim(16, "uint8"))
    error = failure(lambda: program.asked(x, 2))
    assert "there is no axis 2" in str(error)


@I.ir_module
class OnTunedDevice:
    I.module_global_infos({"vdevice": [I.vdevice("llvm -mcpu=znver4")]})

    @R.function
    def main(x: R.Tensor((4,), "float32", I.vdevice("llvm -mcpu=znver4"))):
        y = R.multiply(x, x)
        return y


@every_executor
def test_a_virtual_device_whose_target_has_options_is_the_device_of_its_kind(load):
    assert load(OnTunedDevice).main(ROW).tolist() == [0, 1, 4, 9]
