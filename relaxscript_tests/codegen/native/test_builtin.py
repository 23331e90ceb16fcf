"""Built-in functions over code of ours: their definitions, their life, and the layout of arrays."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import sys
from typing import Any

import numpy as np
import pytest

from relaxscript.codegen.native import builtin
from relaxscript.codegen.native.builtin import MethodDef, builtin_function
from relaxscript_tests.codegen.native.calls import model

ANSWER = ctypes.PYFUNCTYPE(
    ctypes.py_object, ctypes.py_object, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p
)
X, W = np.ones((3, 4), "float32"), np.ones(4, "float32")


def callback(answer: Any) -> tuple[Any, int]:
    """A C function that gives a value, and its address."""
    made = ANSWER(lambda holder, args, count, names: (holder, count, answer))
    return made, ctypes.cast(made, ctypes.c_void_p).value or 0


class Holder:
    """An object that may be a `__self__`."""


def test_a_builtin_function_is_given_its_holder_and_the_number_of_arguments() -> None:
    keep, code = callback("yes")
    holder = Holder()
    function = builtin_function(MethodDef.of("answer", code, "answer(x)\n--\n\nText."), holder)
    assert function(1, 2) == (holder, 2, "yes")
    assert (function.__name__, function.__doc__, function.__self__) == ("answer", "Text.", holder)
    assert keep


def test_a_definition_leads_to_other_code_when_that_is_wanted() -> None:
    keep, code = callback("first")
    other, second = callback("second")
    definition = MethodDef.of("f", code, "")
    function = builtin_function(definition, None)
    definition.redirect(second)
    assert function()[2] == "second"
    definition.redirect(code)
    assert function()[2] == "first"
    assert keep
    assert other


def test_a_definition_refers_to_nothing_that_the_cycle_collector_clears() -> None:
    definition = MethodDef.of("f", 0, "")
    assert gc.get_referents(definition) in ([], [MethodDef])
    assert repr(definition) == "<definition of a built-in function>"


def test_a_function_in_a_cycle_with_its_holder_is_collected() -> None:
    import weakref

    keep, code = callback("yes")
    holder: Any = Holder()
    holder.function = builtin_function(MethodDef.of("f", code, ""), holder)
    gone = weakref.ref(holder)
    del holder
    gc.collect()
    assert gone() is None
    assert keep


def test_functions_are_equal_by_what_they_are_of_and_hash() -> None:
    vm = model()
    assert vm.one == vm.one
    assert vm.one != vm.fixed
    assert len({vm.one, vm.one, vm.fixed}) == 2


def test_a_native_function_is_not_pickled_as_closures_are_not() -> None:
    vm = model()
    for function in (vm.one, vm.one.__self__):
        with pytest.raises((TypeError, ValueError, AttributeError, pickle.PicklingError)):
            pickle.dumps(function)


@pytest.mark.parametrize("name", ["DATA", "NDIM", "DIMS", "DESCR", "FLAGS", "TYPE"])
def test_an_array_that_lies_otherwise_in_memory_is_seen(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builtin, name, getattr(builtin, name) + (8 if name != "DIMS" else -8))
    known = builtin.layout_is_known.__wrapped__
    if name == "DIMS":  # what lies there is no address
        monkeypatch.setattr(builtin, name, builtin.DATA)
    assert not known()


def test_the_layout_of_this_process_is_known() -> None:
    assert builtin.layout_is_known()
    assert ctypes.c_void_p.from_address(id(X) + builtin.DATA).value == X.ctypes.data


def test_a_forked_process_calls_native_functions_as_its_parent_does() -> None:
    vm = model()
    large = np.ones((50_000, 4), "float32")
    kept = vm.one(large, W)
    child = os.fork()
    if not child:
        same = np.array_equal(vm.one(large, W), large) and np.array_equal(vm.one(X, W), X)
        fresh = model().one(X, W)
        os._exit(0 if same and np.array_equal(fresh, X) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(kept, large)


def test_a_native_function_is_called_by_python_functions_as_deep_as_python_allows() -> None:
    one = model().one

    def nested(depth: int) -> Any:
        return one(X, W) if depth == 0 else nested(depth - 1)

    assert np.array_equal(nested(sys.getrecursionlimit() // 4), X)
