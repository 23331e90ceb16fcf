"""What users pass and packed functions return, as run-time values."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime.coercion import (
    coerce,
    coerce_argument,
    coerce_result,
    require_written,
    to_runtime_value,
)
from relaxscript.runtime.packed_func import PackedFunc
from relaxscript.runtime.run_check import (
    AnyCheck,
    FuncCheck,
    PrimCheck,
    ShapeCheck,
    TensorCheck,
    TupleCheck,
)
from relaxscript.runtime.values import Closure, DeviceTensor, Prim, Shape, cpu, is_tensor


class Speaks:
    """A tensor of another library."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class HasArray:
    def __array__(self, dtype=None, copy=None):
        return np.arange(3)


class Elsewhere(Speaks):
    def __dlpack__(self, **options):
        raise BufferError("on another device")


@pytest.mark.parametrize("check", [TensorCheck(), AnyCheck()])
def test_a_tensor_of_another_library_shares_its_memory(check):
    array = np.arange(3.0)
    assert np.shares_memory(coerce(Speaks(array), check), array)


def test_array_like_objects_are_tensors_only_where_one_is_wanted():
    thing = HasArray()
    assert coerce(thing, TensorCheck()).tolist() == [0, 1, 2]
    assert coerce(thing, AnyCheck()) is thing


def test_arrays_are_made_plain_wherever_they_go():
    swapped = np.array([1, 2], ">i4")
    for check in (TensorCheck(), AnyCheck()):
        assert coerce(swapped, check).dtype == np.int32
    view = np.arange(3).view(type("Sub", (np.ndarray,), {}))
    assert type(coerce(view, AnyCheck())) is np.ndarray
    objects = np.array([None])
    assert coerce(objects, AnyCheck()) is objects
    tensor = DeviceTensor(np.ones(1), cpu(1))
    assert coerce(tensor, TensorCheck()) is tensor


def test_numpy_scalars_become_tensors_or_prims():
    assert coerce(np.float32(2), TensorCheck()).shape == ()
    assert coerce(np.float32(2), AnyCheck()).shape == ()
    assert coerce(np.int32(5), PrimCheck("int32")) == Prim(5, "int32")
    assert type(coerce(np.int64(5), PrimCheck("int64"))) is int
    assert coerce(np.bool_(True), PrimCheck("bool")) is True
    scalar = np.int32(5)
    assert coerce(scalar, PrimCheck("int64")) is scalar


def test_integers_make_a_shape_where_one_is_wanted():
    assert repr(coerce([2, np.int64(3)], ShapeCheck())) == "Shape([2, 3])"
    assert repr(coerce((), ShapeCheck())) == "Shape([])"
    for odd in ([2.0], [True], ["n"]):
        assert coerce(odd, ShapeCheck()) is odd
    with pytest.raises(VMError, match="cannot be negative"):
        coerce([-1], ShapeCheck())


def test_a_list_makes_a_tuple_where_one_is_wanted():
    check = TupleCheck((ShapeCheck(), AnyCheck()))
    assert coerce([[1], [2]], check) == (Shape([1]), [2])
    assert coerce([1], check) == (1,)
    assert coerce((1,), check) == (1,)
    shape = Shape([1, 2])
    assert coerce(shape, check) is shape


def test_a_python_function_is_packed_where_that_is_wanted():
    packed = coerce(len, FuncCheck(True))
    assert isinstance(packed, PackedFunc)
    assert packed.name == "len"
    assert coerce(len, FuncCheck(False)) is len
    closure = Closure("f", len)
    assert coerce(closure, FuncCheck(None)) is closure
    assert coerce(5, FuncCheck(True)) == 5


def test_results_of_packed_functions_are_run_time_values():
    array = np.arange(3.0)
    assert to_runtime_value(array) is array
    assert to_runtime_value(np.float32(1)).shape == ()
    assert np.shares_memory(to_runtime_value(Speaks(array)), array)
    for same in (
        None,
        True,
        5,
        5.5,
        "s",
        Shape([1]),
        (1, array),
        [np.float32(1)],
        {},
        Closure("f", len),
    ):
        assert to_runtime_value(same) is same


def test_a_result_in_foreign_byte_order_is_converted():
    assert to_runtime_value(np.array([1, 2], ">i4")).dtype == np.int32


def test_a_masked_array_is_no_tensor_but_an_object():
    masked = np.ma.masked_array([1.0, 2.0], [0, 1])
    assert to_runtime_value(masked) is masked
    assert not is_tensor(masked)


def test_a_result_that_is_no_tensor_of_the_host_is_an_object():
    there = Elsewhere(np.ones(1))
    assert to_runtime_value(there) is there
    objects = np.array([None])
    assert to_runtime_value(objects) is objects


def test_a_tuple_for_any_value_is_looked_through():
    array, text, number = coerce((np.float32(2), "x", 3), AnyCheck())
    assert (type(array), array.shape, text, number) == (np.ndarray, (), "x", 3)
    kept = (np.ones(2), [1])
    assert coerce(kept, AnyCheck()) is kept


ZEROS = np.zeros(2)


def refusal(result, args):
    """What is wrong with the result of a destination-passing function; None where nothing is."""
    try:
        require_written("f", result, args)
    except VMError as error:
        return f"{error.code}: {error.diagnostic.message}"
    return None


@pytest.mark.parametrize(
    "result",
    [None, 5, ZEROS, ZEROS[:], np.zeros(2), np.ones(3, "int64"), np.ones(()), (np.ones(2),)],
)
def test_what_a_destination_passing_function_may_return(result):
    assert refusal(result, [np.ones(2), ZEROS]) is None


@pytest.mark.parametrize("result", [np.ones(2), np.ones(2, "int64"), np.ones(3), np.ones((1, 2))])
def test_a_result_beside_its_untouched_destination_is_refused(result):
    message = refusal(result, [np.ones(2), ZEROS])
    assert message.startswith("RX0605: `f` returned its result, but ")
    assert " has it written" in message


def test_a_result_beside_a_written_destination_or_of_an_argument_is_no_mistake():
    given = np.ones(2)
    assert refusal(given, [given, ZEROS]) is None
    assert refusal(np.ones(2), [ZEROS, np.ones(2)]) is None
    assert refusal(np.ones(2), []) is None


def test_a_result_that_numpy_can_make_a_tensor_of_is_one_where_one_is_wanted():
    class Series:
        def __array__(self, dtype=None, copy=None):
            return np.ones(2)

    one, tensor = Series(), TensorCheck()
    assert coerce_result(one, AnyCheck()) is one
    assert type(coerce_result(one, tensor)) is np.ndarray
    first, second = coerce_result((one, one), TupleCheck((tensor, AnyCheck())))
    assert (type(first), second) == (np.ndarray, one)
    for kept in ((1, 2), (np.ones(2),), [1.0], None, 5, "text", DeviceTensor(np.ones(2), cpu(1))):
        assert coerce_result(kept, tensor) is kept
        assert coerce_result(kept, TupleCheck((tensor,))) is kept


@pytest.mark.slow
def test_a_tuple_that_is_deeper_than_python_allows_is_named():
    deep = ()
    for _ in range(100_000):
        deep = (deep,)
    with pytest.raises(VMError, match="`x` nests deeper than Python") as caught:
        coerce_argument(deep, AnyCheck(), "x", "main", 3)
    assert (caught.value.code, caught.value.argument) == ("RX0609", 3)


def test_what_cannot_be_converted_is_named_with_the_path_into_it():
    check = TupleCheck((AnyCheck(), TupleCheck((TensorCheck(), TensorCheck()))))
    masked = np.ma.masked_array(np.ones(2))
    with pytest.raises(VMError, match=r"`x\[1\]\[1\]`: a masked") as caught:
        coerce_argument((5, [np.ones(2), masked]), check, "x", "main", 0)
    assert (caught.value.code, caught.value.argument) == ("RX0608", 0)


def test_an_object_that_fails_when_it_is_asked_speaks_no_protocol():
    class Touchy:
        def __getattr__(self, name):
            raise ValueError(f"touched {name}")

    touchy = Touchy()
    assert coerce(touchy, TensorCheck()) is touchy
    assert to_runtime_value(touchy) is touchy
