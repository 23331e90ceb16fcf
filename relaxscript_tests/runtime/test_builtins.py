"""The builtin packed functions, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime.builtins import BUILTINS, State, read_if_cond
from relaxscript.runtime.packed_func import PackedFunc
from relaxscript.runtime.run_check import DimBind, DimConst, DimExpr, DimLoad, TensorCheck
from relaxscript.runtime.values import Closure, DeviceTensor, Prim, Shape, cpu


def call(name, *args):
    return BUILTINS[name](*args)


@pytest.fixture
def state():
    return State("main", [4, 0], lambda: {0: ("n", "`x`"), 1: ("m", "`y`")})


def test_a_shape_is_made_of_numbers_or_of_variables(state):
    assert call("vm.builtin.make_shape", 2, 3) == Shape([2, 3])
    assert call("vm.builtin.make_shape") == Shape()
    dims = (DimConst(2), DimLoad(0, "n"), DimExpr(lambda h: h[0] * 2, "n * 2"))
    assert repr(call("vm.builtin.make_shape", state, dims)) == "Shape([2, 4, 8])"


def test_a_shape_that_cannot_be_says_why(state):
    negative = DimExpr(lambda h: h[0] - 5, "n - 5")
    with pytest.raises(
        VMError, match=r"dimension 0 of a shape, `n - 5`, is -1 with `n = 4` from `x`"
    ):
        call("vm.builtin.make_shape", state, (negative,))
    by_zero = DimExpr(lambda h: h[0] // h[1], "n // m")
    with pytest.raises(
        VMError, match=r"`n // m`, cannot be computed with .* and `m = 0` from `y`: "
    ):
        call("vm.builtin.make_shape", state, (by_zero,))


def test_a_prim_value_is_made_of_variables(state):
    assert call("vm.builtin.make_prim_value", state, DimLoad(0, "n"), "int32") == Prim(4, "int32")
    assert call("vm.builtin.make_prim_value", state, DimLoad(0, "n"), "int64") == 4


def test_match_cast_gives_the_value_and_binds(state):
    x = np.ones(7)
    assert call("vm.builtin.match_cast", state, x, TensorCheck(dims=(DimBind(1, "m"),)), "x") is x
    assert state.heap == [4, 7]


def test_shapes_become_tensors_and_tensors_shapes():
    assert repr(call("vm.builtin.shape_of", np.ones((2, 3)))) == "Shape([2, 3])"
    tensor = call("relax.run.shape_to_tensor", Shape([2, 3]))
    assert (tensor.dtype, tensor.tolist()) == (np.int64, [2, 3])
    assert repr(call("vm.builtin.tensor_to_shape", tensor)) == "Shape([2, 3])"
    assert call("vm.builtin.tensor_to_shape", DeviceTensor(tensor, cpu(1))) == Shape([2, 3])


def test_a_storage_is_bytes_from_which_a_tensor_is_cut(state):
    storage = call("vm.builtin.alloc_storage", Shape([2, 3]), 0, "float32")
    assert (storage.dtype, storage.tolist()) == (np.uint8, [0] * 24)
    tensor = call("vm.builtin.alloc_tensor", storage, 8, Shape([2, 4]), "float16")
    assert (tensor.dtype, tensor.shape) == (np.float16, (2, 4))
    tensor[0, 0] = 1
    assert storage.tolist() == [0] * 9 + [60] + [0] * 14
    with_state = call("vm.builtin.alloc_storage", state, Shape([2]), 0, "uint8", "global")
    assert with_state.nbytes == 2
    assert call("vm.builtin.memory_manager.clear") == ()


def test_a_storage_that_cannot_be_says_why():
    with pytest.raises(VMError, match=r"cannot allocate a storage of \d+ bytes: ") as caught:
        call("vm.builtin.alloc_storage", Shape([1 << 60, 1 << 10]), 0, "float32")
    assert caught.value.code == "RX0606"
    with pytest.raises(VMError, match=r"alloc_storage`: expected a shape, got an int"):
        call("vm.builtin.alloc_storage", 3, 0, "float32")
    with pytest.raises(VMError, match=r"a shape, a device, a dtype and a scope, got 1"):
        call("vm.builtin.alloc_storage", Shape([3]))


@pytest.mark.parametrize("offset", [-1, 9, "x"])
def test_a_tensor_lies_in_its_storage(offset):
    storage = call("vm.builtin.alloc_storage", Shape([4]), 0, "float32")
    with pytest.raises(VMError, match=f"8 bytes from {offset} on are not in a storage of 16 bytes"):
        call("vm.builtin.alloc_tensor", storage, offset, Shape([2]), "float32")


def test_a_tuple_gives_its_fields():
    assert call("vm.builtin.tuple_getitem", call("vm.builtin.make_tuple", 1, "b"), 1) == "b"


def test_values_are_moved_not_copied():
    x = np.ones(1)
    assert call("vm.builtin.copy", x) is x
    assert call("vm.builtin.null_value") is None


def test_a_constant_is_new_each_time_with_all_its_tensors():
    x = np.zeros(2)
    nested = (x, (DeviceTensor(x, cpu(1)), Shape([1]), "s"))
    new, (there, shape, text) = call("vm.builtin.constant", nested)
    new[0] = there.data[0] = 1
    assert x.tolist() == [0, 0]
    assert (repr(shape), text, there.device) == ("Shape([1])", "s", cpu(1))


def test_closures_are_made_described_and_called():
    closure = Closure("f", lambda *args: args, "info")
    assert call("vm.builtin.make_closure", closure, 8)(1) == (1, 8)
    assert call("vm.builtin.closure_info", closure, "other").info == "other"
    assert call("vm.builtin.invoke_closure", closure, 1) == (1,)
    assert call("vm.builtin.invoke_closure", PackedFunc("p", max), 1, 2) == 2
    assert call("vm.builtin.invoke_closure", State("f", [], dict), closure, 1) == (1,)


def test_a_kernel_gets_the_dimensions_of_a_shape():
    seen = []
    kernel = PackedFunc("k", lambda *args: seen.append(args))
    call("vm.builtin.call_tir_dyn", kernel, "x", "y", Shape([2, 3]))
    assert seen == [("x", "y", 2, 3)]


def test_a_condition_is_read():
    assert read_if_cond(np.array(True)) is True
    assert read_if_cond(False) is False
    assert read_if_cond(DeviceTensor(np.array(True), cpu(1))) is True


def test_tensors_are_allocated_reshaped_and_moved():
    tensor = call("vm.builtin.alloc_tensor", Shape([2, 3]), "bfloat16")
    assert (tensor.shape, tensor.dtype.name) == ((2, 3), "bfloat16")
    there = call("vm.builtin.alloc_tensor", Shape([2]), "int8", "cpu:1")
    assert there.device == cpu(1)
    x = np.arange(6)
    flat = call("vm.builtin.reshape", x, Shape([3, 2]))
    assert np.shares_memory(flat, x)
    assert call("vm.builtin.reshape", there, Shape([1, 2])).device == cpu(1)
    assert call("vm.builtin.to_device", x, "llvm:1").device == cpu(1)
    assert call("vm.builtin.to_device", x, cpu()) is x


def test_printing_goes_to_standard_output(capsys):
    call("relax.run.print", "", np.array([1, 2]), Shape([3]), Prim(1, "int8"))
    call("relax.run.print", "x is {}, n is {:.1f}", np.array([1, 2]), 4)
    call("relax.run.print", "")
    assert capsys.readouterr().out == "[1 2] (3,) 1\nx is [1 2], n is 4.0\n\n"


def test_an_assertion_that_holds_says_nothing():
    assert call("relax.run.assert_op", np.array(True), "never") is None


@pytest.mark.parametrize(
    ("form", "values", "message"),
    [
        ("", (), r"^Assertion Failed \["),
        ("n is {}", (4,), "Assertion Failed: n is 4"),
        ("", ("a", 4), "Assertion Failed: a 4"),
        ("sizes differ", (), "Assertion Failed: sizes differ"),
    ],
)
def test_an_assertion_that_fails_says_its_message(form, values, message):
    with pytest.raises(VMError, match=message) as info:
        call("relax.run.assert_op", np.array(False), form, *values)
    assert info.value.code == "RX0611"


@pytest.mark.parametrize(
    ("name", "args", "message"),
    [
        ("vm.builtin.shape_of", (Shape([1]),), "expected a tensor, got the shape"),
        ("vm.builtin.tensor_to_shape", (np.ones(2),), "tensor of integers of rank 1, got a tensor"),
        (
            "vm.builtin.tensor_to_shape",
            (np.array(2),),
            "tensor of integers of rank 1, got a tensor",
        ),
        ("relax.run.shape_to_tensor", ((1,),), "expected a shape, got a tuple of 1"),
        ("vm.builtin.tuple_getitem", (Shape([1]), 0), "expected a tuple, got the shape"),
        ("vm.builtin.tuple_getitem", ((1,), 1), "a tuple of 1 has no field 1"),
        ("vm.builtin.tuple_getitem", ((1,), -1), "a tuple of 1 has no field -1"),
        ("vm.builtin.make_closure", (5,), "expected a closure, got an int"),
        ("vm.builtin.closure_info", (5, "info"), "expected a closure, got an int"),
        ("vm.builtin.reshape", (np.ones(6), Shape([4])), r"cannot take the shape \(4,\)"),
        ("vm.builtin.reshape", (5, Shape([4])), "expected a tensor, got an int"),
        ("vm.builtin.to_device", ("x", "cpu"), "expected a tensor, got a string"),
        ("relax.run.assert_op", (np.array([True]),), "the condition must be a Bool scalar, got"),
    ],
)
def test_wrong_operands_are_refused_by_the_builtins_name(name, args, message):
    with pytest.raises(VMError, match=f"`{name}`: .*{message}") as info:
        call(name, *args)
    assert info.value.code == "RX0606"


def test_what_is_no_function_cannot_be_called():
    with pytest.raises(VMError, match=r"the shape \(1,\) cannot be called"):
        call("vm.builtin.invoke_closure", Shape([1]))


def test_a_tensor_too_large_to_allocate_is_named():
    with pytest.raises(VMError, match=r"cannot allocate a tensor of shape \(1152921504606846976,"):
        call("vm.builtin.alloc_tensor", Shape([1 << 60, 1 << 10]), "float32")
