"""The registry of packed functions, and C functions as packed functions."""

from __future__ import annotations

import ctypes
import threading

import ml_dtypes
import numpy as np
import pytest

from relaxscript.errors import VMError
from relaxscript.runtime.packed_func import (
    PackedFunc,
    convert,
    get_global_func,
    list_global_func_names,
    register_func,
    register_global_func,
    remove_global_func,
)
from relaxscript.runtime.values import DeviceTensor, Prim, Shape, cpu


class TestRegistry:
    def test_a_function_is_found_under_its_name(self):
        def double(x):
            return 2 * x

        assert register_func("test.double", double) is double
        found = get_global_func("test.double")
        assert found(4) == 8
        assert found.name == "test.double"
        assert get_global_func("test.double") is found
        assert "test.double" in list_global_func_names()
        assert repr(found) == "<packed function test.double>"

    def test_the_decorator_leaves_the_function_as_it_is(self):
        def f(x):
            return x

        assert register_func("test.f")(f) is f
        assert get_global_func("test.f").function is f

    def test_the_bare_decorator_takes_the_functions_own_name(self):
        @register_func
        def test_bare_name(x):
            return x

        assert get_global_func("test_bare_name").function is test_bare_name

    def test_a_name_is_taken_once(self):
        register_func("test.once", len)
        with pytest.raises(VMError, match=r"`test.once` is registered already; `override=True`"):
            register_func("test.once", max)
        assert get_global_func("test.once").function is len

    def test_override_replaces(self):
        register_func("test.over", len)
        register_func("test.over", max, override=True)
        assert get_global_func("test.over").function is max

    def test_a_missing_name_offers_the_nearest(self):
        register_func("test.multiply", len)
        with pytest.raises(VMError, match=r"there is no packed function `test.mutliply`") as info:
            get_global_func("test.mutliply")
        assert "did you mean `test.multiply`?" in str(info.value)
        assert info.value.code == "RX0603"
        assert get_global_func("test.mutliply", allow_missing=True) is None

    def test_a_removed_function_is_gone(self):
        register_func("test.gone", len)
        remove_global_func("test.gone")
        assert get_global_func("test.gone", allow_missing=True) is None
        with pytest.raises(VMError, match=r"there is no packed function `test.gone`"):
            remove_global_func("test.gone")

    def test_names_come_sorted(self):
        register_func("test.b", len)
        register_func("test.a", len)
        names = list_global_func_names()
        assert names == sorted(names)

    def test_what_cannot_be_called_is_refused(self):
        with pytest.raises(
            VMError, match=r"`test.five` cannot be a packed function: an int cannot"
        ):
            register_func("test.five", 5)

    @pytest.mark.parametrize(
        ("name", "got"), [("", "an empty string"), (None, "None"), (5, "an int"), ([], "a list")]
    )
    def test_a_name_is_a_text(self, name, got):
        message = f"the name of a packed function is a string, got {got}"
        for action in (
            lambda: register_func(name, len),
            lambda: get_global_func(name),
            lambda: remove_global_func(name),
        ):
            with pytest.raises(VMError, match=message) as caught:
                action()
            assert caught.value.code == "RX0610"

    def test_what_may_be_missing_must_still_be_a_name(self):
        assert get_global_func("", allow_missing=True) is None
        with pytest.raises(VMError, match="name of a packed function is a string, got an int"):
            get_global_func(5, allow_missing=True)

    def test_a_callable_without_a_name_needs_one(self):
        class Callable:
            def __call__(self):
                return 1

        with pytest.raises(VMError, match="an object of class Callable has no name of its own"):
            register_func(Callable())

    def test_a_packed_function_keeps_its_identity(self):
        packed = PackedFunc("test.packed", len)
        register_func("test.packed", packed)
        assert get_global_func("test.packed") is packed
        assert PackedFunc("again", packed).function is len

    def test_threads_register_side_by_side(self):
        failures = []

        def work(k):
            try:
                for i in range(50):
                    register_func(f"threads.{k}.{i}", len)
                    assert get_global_func(f"threads.{k}.{i}").function is len
                    list_global_func_names()
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert len([n for n in list_global_func_names() if n.startswith("threads.")]) == 400


def c_function(signature, body):
    """A C function pointer whose code is Python: what a shared library would hold."""
    pointer = signature(body)
    return pointer


class TestCFunctions:
    def test_it_writes_into_the_array_it_is_given(self):
        memset = ctypes.CDLL(None).memset
        array = np.ones(4, "int32")
        assert PackedFunc.from_ctypes("memset", memset)(array, 0, array.nbytes) is None
        assert array.tolist() == [0, 0, 0, 0]

    def test_an_array_that_is_not_contiguous_is_written_back(self):
        memset = ctypes.CDLL(None).memset
        array = np.ones((4, 4), "int8")
        PackedFunc.from_ctypes("memset", memset)(array[:, 1], 0, 4)
        assert array.sum(axis=0).tolist() == [4, 0, 4, 4]

    def test_declared_arguments_and_results_win(self):
        signature = ctypes.CFUNCTYPE(
            ctypes.c_double, ctypes.POINTER(ctypes.c_float), ctypes.c_int32, ctypes.c_char_p
        )
        add = c_function(signature, lambda p, i, s: p[0] + i + len(s))
        array = np.array([1.5], "float32")
        assert PackedFunc.from_ctypes("add", add)(array, 2, "abc") == 6.5

    def test_undeclared_values_go_in_their_own_width(self):
        seen = []
        signature = ctypes.CFUNCTYPE(
            None, ctypes.c_int64, ctypes.c_double, ctypes.c_float, ctypes.c_void_p, ctypes.c_char_p
        )
        record = c_function(signature, lambda *args: seen.append(args))
        undeclared = ctypes.cast(record, ctypes.CFUNCTYPE(None))
        undeclared.argtypes = None
        call = PackedFunc.from_ctypes("record", undeclared)
        call(1 << 40, 2.5, Prim(1.5, "float32"), None, "text")
        assert seen == [(1 << 40, 2.5, 1.5, None, b"text")]

    def test_a_tensor_of_another_device_is_passed_by_its_memory(self):
        tensor = DeviceTensor(np.ones(2, "int8"), cpu(1))
        PackedFunc.from_ctypes("memset", ctypes.CDLL(None).memset)(tensor, 0, 2)
        assert tensor.data.tolist() == [0, 0]

    def test_a_declared_prim_is_passed_as_a_number(self):
        signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)
        double = c_function(signature, lambda i: 2 * i)
        assert PackedFunc.from_ctypes("double", double)(Prim(4, "int8")) == 8

    @pytest.mark.parametrize(
        ("element", "dtype", "fits"),
        [
            (ctypes.c_float, "float32", True), (ctypes.c_float, "float64", False),
            (ctypes.c_float, "int32", False), (ctypes.c_uint32, "int32", True),
            (ctypes.c_uint16, "float16", False), (ctypes.c_uint16, ml_dtypes.bfloat16, True),
            (ctypes.c_uint8, "bool", True), (ctypes.c_char, "float64", True),
        ],
    )  # fmt: skip
    def test_a_pointer_takes_tensors_of_such_elements(self, element, dtype, fits):
        seen = []
        signature = ctypes.CFUNCTYPE(None, ctypes.POINTER(element))
        look = PackedFunc.from_ctypes("look", c_function(signature, lambda p: seen.append(1)))
        if fits:
            look(np.zeros(2, dtype))
        else:
            with pytest.raises(VMError, match="`look` takes a pointer to c_") as caught:
                look(np.zeros(2, dtype))
            assert caught.value.code == "RX0610"
        assert len(seen) == fits

    def test_a_class_that_checks_arrays_itself_gets_the_array(self):
        strlen = ctypes.CDLL(None).strlen
        strlen.restype, strlen.argtypes = ctypes.c_size_t, [np.ctypeslib.ndpointer("u1", 1)]
        length = PackedFunc.from_ctypes("strlen", strlen)
        assert length(np.array([7, 7, 0], "u1")) == 2
        with pytest.raises(ctypes.ArgumentError, match="must have data type uint8"):
            length(np.zeros(2, "int16"))

    def test_what_c_cannot_take_is_refused(self):
        memset = PackedFunc.from_ctypes("memset", ctypes.CDLL(None).memset)
        with pytest.raises(VMError, match="`memset` is a C function and cannot take the shape"):
            memset(Shape([1]))
        with pytest.raises(VMError, match="C has no type for a bfloat16 scalar"):
            memset(Prim(1.0, "bfloat16"))


def test_the_functions_of_every_program_are_found_by_their_names():
    shape_of = get_global_func("vm.builtin.shape_of")
    assert shape_of(np.zeros((2, 3))) == Shape([2, 3])
    assert get_global_func("vm.builtin.shape_of") is shape_of
    reshape = get_global_func("vm.builtin.reshape")
    assert reshape(np.zeros((2, 3)), Shape([6])).shape == (6,)
    assert get_global_func("vm.builtin.no_such", allow_missing=True) is None
    with pytest.raises(VMError, match=r"there is no packed function `vm\.builtin\.no_such`"):
        get_global_func("vm.builtin.no_such")


def test_functions_are_registered_under_both_names_that_tvm_had():
    assert register_global_func is register_func


def test_convert_makes_packed_functions_of_functions_and_leaves_values_alone():
    made = convert([len, 2, "a"])
    assert isinstance(made[0], PackedFunc)
    assert made[0]("abc") == 3
    assert made[1:] == (2, "a")
    assert convert(made[0]) is made[0]
