"""What run-time values are, how they are described, and what counts as a tensor."""

from __future__ import annotations

import pickle

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from relaxscript.dtypes import DataType
from relaxscript.errors import VMError
from relaxscript.runtime.packed_func import PackedFunc
from relaxscript.runtime.values import (
    Closure,
    Device,
    DeviceTensor,
    Prim,
    Shape,
    cpu,
    device,
    format_value,
    format_values,
    is_tensor,
    kind_of,
    make_prim,
    prim_dtype,
    prim_value,
    tensor_device,
    tensor_dtype,
    to_device,
    to_tensor,
)


class Foreign:
    """A tensor of another library, known by the protocols it speaks."""

    def __init__(self, array, protocols=("__dlpack__", "__dlpack_device__")):
        for name in protocols:
            setattr(
                type(self), name, lambda self, *a, _name=name, **k: getattr(array, _name)(*a, **k)
            )


def foreign(array, protocols):
    return type("ForeignTensor", (Foreign,), {})(array, protocols)


def test_a_shape_prints_its_dimensions():
    assert repr(Shape([2, 3])) == "Shape([2, 3])"
    assert repr(Shape()) == "Shape([])"


def test_a_shape_takes_numpy_integers_as_plain_ones():
    shape = Shape(np.array([2, 3]))
    assert shape == (2, 3)
    assert all(type(dim) is int for dim in shape)


def test_a_shape_survives_pickling():
    assert repr(pickle.loads(pickle.dumps(Shape([4])))) == "Shape([4])"


@pytest.mark.parametrize("dim", [1.0, True, "2", None])
def test_a_shape_refuses_what_is_no_integer(dim):
    with pytest.raises(VMError, match="a shape consists of integers, got"):
        Shape([dim])


def test_a_shape_refuses_a_dimension_of_more_than_64_bits():
    assert Shape([(1 << 63) - 1])[0] == (1 << 63) - 1
    with pytest.raises(VMError, match="a dimension of a shape does not fit 64 bits, got 9223"):
        Shape([1 << 63])


def test_a_shape_refuses_a_negative_dimension():
    with pytest.raises(VMError, match="cannot be negative, got -1"):
        Shape([2, -1])


def test_prims_are_equal_by_value_and_dtype():
    assert Prim(5, "int32") == Prim(5, "int32") != Prim(5, "int16")
    assert len({Prim(5, "int32"), Prim(5, "int32")}) == 1
    assert repr(Prim(5, "int32")) == 'Prim(5, "int32")'
    assert Prim(5, "int32") != 5


def test_a_prim_of_a_float_type_is_rounded_to_it():
    assert Prim(0.1, "float32").value == float(np.float32(0.1))
    assert Prim(1.01, "bfloat16").value == float(ml_dtypes.bfloat16(1.01))


def test_a_prim_converts_and_pickles():
    assert (int(Prim(3, "int8")), float(Prim(3, "int8")), bool(Prim(0, "int8"))) == (3, 3.0, False)
    assert [10, 20][Prim(1, "uint8")] == 20
    assert pickle.loads(pickle.dumps(Prim(3, "int8"))) == Prim(3, "int8")


def test_a_float_prim_is_no_index():
    with pytest.raises(TypeError, match="is no integer"):
        [10, 20][Prim(1.0, "float32")]


def test_a_prim_cannot_be_changed():
    prim = Prim(5, "int32")
    with pytest.raises(AttributeError, match="a Prim is immutable; `value`"):
        prim.value = 6
    with pytest.raises(AttributeError, match="`value` cannot be deleted"):
        del prim.value


@pytest.mark.parametrize(
    ("value", "dtype", "message"),
    [
        (5, "int64", "int64 is a plain Python int"),
        (5.0, "float64", "float64 is a plain Python float"),
        (True, "bool", "bool is a plain Python bool"),
        (300, "uint8", r"300 does not fit uint8 \(0 to 255\)"),
        (-129, "int8", r"-129 does not fit int8 \(-128 to 127\)"),
        (1.5, "int32", "1.5 is no value of int32"),
        ("x", "float32", "a string is no value of float32"),
        (1, "flaot32", '"flaot32" is not a dtype'),
        (1, "handle", 'cannot have the dtype "handle"'),
    ],
)
def test_a_prim_that_cannot_be_says_why(value, dtype, message):
    with pytest.raises(VMError, match=message):
        Prim(value, dtype)


def test_make_prim_chooses_the_representation():
    assert type(make_prim(5, "int64")) is int
    assert type(make_prim(5, "float64")) is float
    assert make_prim(1, "bool") is True
    assert make_prim(5, "int32") == Prim(5, "int32")
    with pytest.raises(VMError, match="2 is no value of bool"):
        make_prim(2, "bool")


def test_prim_dtype_knows_the_prim_values():
    assert prim_dtype(True) == "bool"
    assert prim_dtype(5) == "int64"
    assert prim_dtype(5.0) == "float64"
    assert prim_dtype(Prim(5, "int32")) == "int32"
    for other in (np.float64(5), np.int64(5), "5", None, 1 << 63, np.array(5)):
        assert prim_dtype(other) is None


def test_prim_value_takes_the_number_out():
    assert prim_value(Prim(5, "int32")) == 5
    assert prim_value(2.5) == 2.5
    assert prim_value(np.float64(2.5)) is None


def test_llvm_is_an_alias_of_cpu():
    assert device("llvm:1") == device("cpu:1") == cpu(1) == device("cpu", 1)
    assert str(device("cpu")) == "cpu:0"
    assert device("llvm:0:global").is_host
    assert device(cpu(1)) == cpu(1)
    assert len({cpu(), device("llvm")}) == 1
    assert repr(cpu(1)) == 'device("cpu:1")'
    assert cpu() != cpu(1) != "cpu:1"


def test_an_unknown_device_is_refused():
    with pytest.raises(VMError, match="no device of kind `abacus`; known: cpu, cuda"):
        device("abacus:0")
    with pytest.raises(VMError, match='"cpu:" names no device'):
        device("cpu:")
    with pytest.raises(VMError, match="cannot be negative, got -1"):
        Device("cpu", -1)
    for index in ("1", 1.0, True):
        with pytest.raises(VMError, match="the index of a device is an int, got a"):
            device("cpu", index)


def test_the_index_of_a_device_may_be_named_and_come_from_numpy():
    assert device("cpu", dev_id=1) == cpu(dev_id=np.int64(1)) == cpu(1)


def test_a_device_tensor_shares_its_memory_by_dlpack():
    tensor = DeviceTensor(np.arange(3.0), cpu(1))
    assert tensor.__dlpack_device__() == (1, 1)
    assert np.shares_memory(np.from_dlpack(tensor), tensor.data)
    tensor.numpy()[0] = 8  # a copy
    assert tensor.data[0] == 0
    assert (tensor.shape, tensor.dtype, tensor.ndim) == ((3,), np.float64, 1)
    assert repr(tensor) == "DeviceTensor(shape=(3,), dtype=float64, device=cpu:1)"


def test_moving_to_a_device_copies_and_staying_does_not():
    host = np.arange(3)
    there = to_device(host, cpu(1))
    assert tensor_device(there) == cpu(1)
    assert to_device(there, cpu(1)) is there
    back = to_device(there, cpu())
    assert type(back) is np.ndarray
    back[0] = 9
    assert host[0] == 0
    assert there.data[0] == 0
    assert to_device(host, cpu()) is host


def test_an_array_is_taken_as_it_is():
    array = np.ones((2, 3), "float32")
    assert to_tensor(array) is array
    tensor = DeviceTensor(array, cpu(1))
    assert to_tensor(tensor) is tensor


def test_a_numpy_scalar_is_a_tensor_of_rank_0():
    tensor = to_tensor(np.float32(1.5))
    assert (type(tensor), tensor.shape, tensor.dtype) == (np.ndarray, (), np.float32)


@pytest.mark.parametrize("protocols", [("__dlpack__", "__dlpack_device__"), ("__array__",)])
def test_tensors_of_other_libraries_share_their_memory(protocols):
    array = np.arange(6.0).reshape(2, 3)
    tensor = to_tensor(foreign(array, protocols))
    assert type(tensor) is np.ndarray
    assert np.shares_memory(tensor, array)


def test_a_subclass_of_ndarray_becomes_a_plain_array():
    matrix = np.arange(4.0).reshape(2, 2).view(type("Sub", (np.ndarray,), {}))
    tensor = to_tensor(matrix)
    assert type(tensor) is np.ndarray
    assert np.shares_memory(tensor, matrix)


def test_foreign_byte_order_is_converted():
    tensor = to_tensor(np.array([1, 2], ">i4"))
    assert tensor.dtype == np.int32
    assert tensor.tolist() == [1, 2]
    assert not is_tensor(np.array([1, 2], ">i4"))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1, 2], "got a list of 2; `numpy.array"),
        (5, "got an int; `numpy.array"),
        (Shape([2]), "expected a tensor, got the shape \\(2,\\) \\["),
        ("x", "got a string"),
        (None, r"got None \(the null object\)"),
        (np.ma.masked_array([1, 2], [0, 1]), "a masked array is no tensor"),
        (np.array(["a"]), "an array of <U1 is no tensor"),
        (np.array([None]), "an array of object is no tensor"),
        (np.array([1j]), "an array of complex128 is no tensor"),
    ],
)
def test_what_stands_for_no_tensor_is_refused(value, message):
    with pytest.raises(VMError, match=message):
        to_tensor(value)


def test_a_tensor_that_its_library_does_not_give_away_is_refused():
    class OnTheMoon:
        def __dlpack__(self, **options):
            raise BufferError("too far away")

        def __dlpack_device__(self):
            return (1, 0)

    with pytest.raises(
        VMError, match=r"cannot take an object of class OnTheMoon .*: too far"
    ) as info:
        to_tensor(OnTheMoon())
    assert isinstance(info.value.__cause__, BufferError)


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e4m3fn", "bool", "int8", "uint64"])
def test_every_data_type_of_relax_makes_tensors(name):
    assert tensor_dtype(np.zeros(2, DataType(name).numpy)) == name


def test_objects_are_no_tensors():
    assert tensor_dtype([1]) is None
    assert not is_tensor(np.array([None]))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.ones((2, 3), "float32"), "a tensor of shape (2, 3) and dtype float32"),
        (np.array(1, ">i2"), "an array of shape () and dtype int16 in foreign byte order"),
        (np.array(["a"]), "an array of shape (1,) and dtype str32"),
        (np.ma.masked_array([1.0]), "a masked array of shape (1,) and dtype float64"),
        (DeviceTensor(np.ones(2), cpu(1)), "a tensor of shape (2,) and dtype float64 on cpu:1"),
        (np.float32(1), "a numpy scalar of dtype float32"),
        ((1, 2), "a tuple of 2"),
        ((), "the empty tuple"),
        ([1], "a list of 1"),
        (Shape([1]), "the shape (1,)"),
        (True, "a bool"),
        (5, "an int"),
        (1 << 63, "an int that does not fit 64 bits"),
        (5.0, "a float"),
        (Prim(5, "int32"), "an int32 scalar"),
        (Prim(5, "uint8"), "a uint8 scalar"),
        ("s", "a string"),
        (DataType("int8"), "the dtype int8"),
        (None, "None (the null object)"),
        (Closure("f", len), "a closure (`f`)"),
        (PackedFunc("my.f", len), "a packed function (`my.f`)"),
        ({}, "an object of class dict"),
    ],
)
def test_every_value_has_a_description(value, words):
    assert kind_of(value) == words


@given(st.lists(st.integers(0, 5)))
def test_a_shape_is_its_dimensions(dims):
    assert list(Shape(dims)) == dims
    assert tuple(Shape(dims)) == tuple(dims)


def test_a_closure_calls_and_binds_its_last_arguments():
    closure = Closure("f", lambda *args: args, info="info")
    assert closure(1, 2) == (1, 2)
    bound = closure.bind((8, 9))
    assert bound(1) == (1, 8, 9)
    assert bound.info == "info"
    assert closure.bind((), "other").info == "other"
    assert repr(closure) == "<closure f>"


def test_values_are_written_for_printing():
    assert format_value((np.array([1, 2]), Shape([3]), Prim(5, "int8"))) == "([1 2], (3,), 5)"
    assert format_value((1,)) == "(1,)"
    assert format_value(DeviceTensor(np.array([1]), cpu(1))) == "[1]"
    assert format_value("x") == "x"


def test_a_format_gets_texts_and_numbers_as_numbers():
    values = [np.array(0.125, "float32"), Prim(5, "int8"), np.array([1, 2]), (1,), 2.5]
    assert format_values("", values) == "0.125 5 [1 2] (1,) 2.5"
    assert format_values("{:.1f} {:03d} {} {:>5} {:.2e}", values) == "0.1 005 [1 2]  (1,) 2.50e+00"
    assert format_values("{1} {0:g}", [DeviceTensor(np.array(0.5), cpu(1)), True]) == "True 0.5"


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ("{} {}", "there is no value 1"),
        ("{name}", "no position of a value"),
        ("{:d}", "format code"),
        ("{", "Single"),
        ("{0.x}", "no position of a value"),
    ],
)
def test_a_format_that_does_not_go_with_the_values_is_refused(form, why):
    with pytest.raises(VMError, match=f"does not go with 1 value: .*{why}") as caught:
        format_values(form, [np.array([1, 2])])
    assert caught.value.code == "RX0606"


@pytest.mark.parametrize("given", [5, None, ["cpu"]])
def test_a_device_is_named_by_a_text(given):
    with pytest.raises(VMError, match="names no device; write a kind and an index"):
        device(given)


def test_a_device_has_done_all_that_was_called():
    assert cpu().sync() is None
