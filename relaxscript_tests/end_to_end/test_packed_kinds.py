"""Whatever Python can call is a packed function, and may come, change and go while a model runs."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from relaxscript.runtime import PackedFunc, get_global_func, register_func, remove_global_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript_tests.end_to_end.executors import every_executor, failure

X = np.array([1, 2, 3], "float32")


@I.ir_module
class Calls:
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        y = R.call_packed("test.f", x, sinfo_args=R.Tensor((n,), "float32"))
        return y

    @R.function(pure=False)
    def given(x: R.Tensor((3,), "float32"), f: R.Callable) -> R.Object:
        y = f(x)
        return y

    @R.function(pure=False)
    def callback(
        x: R.Tensor((3,), "float32"),
        get: R.Callable((R.Object,), R.Object),
        put: R.Callable((R.Object, R.Object), R.Tuple([]), purity=False),
    ) -> R.Object:
        y = get(x)
        _ = put(y, x)
        return y


class Model:
    """Callable, with methods of all sorts."""

    weight = np.float32(2)

    def __call__(self, x):
        return x * self.weight

    def method(self, x):
        return x * self.weight

    @classmethod
    def of_class(cls, x):
        return x * cls.weight

    @staticmethod
    def static(x):
        return x * np.float32(2)


def scaled(x, by):
    return x * np.float32(by)


KINDS = {
    "a function": lambda x: x * np.float32(2),
    "a callable object": Model(),
    "a bound method": Model().method,
    "a class method": Model.of_class,
    "a static method": Model.static,
    "a partial function": functools.partial(scaled, by=2),
    "a cached function": functools.wraps(scaled)(lambda x: scaled(x, 2)),
    "a ufunc of numpy": lambda x: np.multiply(x, np.float32(2)),
    "a packed function": PackedFunc("another.name", Model()),
}


@pytest.mark.parametrize("kind", KINDS)
@every_executor
def test_whatever_can_be_called_is_a_packed_function(load, kind):
    model = load(Calls)
    register_func("test.f", KINDS[kind])
    np.testing.assert_array_equal(model.main(X), 2 * X)
    np.testing.assert_array_equal(model.given(X, KINDS[kind]), 2 * X)


@every_executor
def test_a_ufunc_is_a_packed_function(load):
    register_func("test.f", np.negative)
    np.testing.assert_array_equal(load(Calls).main(X), -X)
    np.testing.assert_array_equal(load(Calls).given(X, np.negative), -X)


@every_executor
def test_a_decorator_registers_methods_and_functions_alike(load):
    class Holder:
        @staticmethod
        @register_func("test.f")
        def grown(x):
            return x + 1

    np.testing.assert_array_equal(load(Calls).main(X), X + 1)
    assert Holder.grown(1) == 2
    register_func("test.f", override=True)(lambda x: x + 2)
    np.testing.assert_array_equal(load(Calls).main(X), X + 2)


@every_executor
def test_a_function_may_be_replaced_and_removed_while_a_model_holds_its_name(load):
    register_func("test.f", np.negative)
    model = load(Calls)
    held = model["main"]
    np.testing.assert_array_equal(held(X), -X)
    register_func("test.f", np.square, override=True)
    np.testing.assert_array_equal(held(X), X * X)
    function = get_global_func("test.f")
    remove_global_func("test.f")
    assert failure(lambda: held(X)).code == "RX0603"
    np.testing.assert_array_equal(model.given(X, function), X * X)
    register_func("test.f", function)
    assert get_global_func("test.f") is function
    np.testing.assert_array_equal(held(X), X * X)


@every_executor
def test_a_callable_without_a_name_is_called_by_its_class(load):
    class Broken:
        def __call__(self, x):
            raise ValueError("out of paper")

    error = failure(lambda: load(Calls).given(X, Broken()))
    assert error.code == "RX0604"
    assert "`Broken` raised ValueError: out of paper" in str(error)
    partial = functools.partial(scaled, by="much")
    assert "`partial` raised ValueError" in str(failure(lambda: load(Calls).given(X, partial)))


@every_executor
def test_a_packed_function_is_a_callback_of_which_the_result_is_any_object_or_nothing(load):
    given = []
    get, put = PackedFunc("get", len), PackedFunc("put", lambda *args: given.append(args))
    assert load(Calls).callback(X, get, put) == 3
    assert given[0][0] == 3
    assert given[0][1] is X or np.array_equal(given[0][1], X)
