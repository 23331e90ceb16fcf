"""Rejected runs: what packed functions give, take and raise."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.runtime import PackedFunc, Shape, register_func, remove_global_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing import rejected
from relaxscript_tests.rejected.running import fails

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

X = np.ones((2, 3), "float32")


@pytest.fixture(autouse=True)
def _forget():
    register_func("tests.given", lambda: None, override=True)
    yield
    remove_global_func("tests.given")


@rejected
def test_a_packed_function_that_gives_another_size():
    register_func("tests.given", lambda x: x[:1], override=True)

    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor(("n", 3), "float32")):
            n = T.int64()
            row = R.Tensor((n, 3), "float32")
            y = R.call_packed("tests.given", x, sinfo_args=row)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 `shape[0]` of the
            #        | result of `tests.given` is 1; must be `n = 2` from `x.shape[0]`
            return y

    fails(Module, X)


@rejected
def test_a_packed_function_that_gives_another_data_type():
    register_func("tests.given", lambda x: x.astype("int8"), override=True)

    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor(("n", 3), "float32")):
            n = T.int64()
            row = R.Tensor((n, 3), "float32")
            y = R.call_packed("tests.given", x, sinfo_args=row)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 `dtype` of the result
            #        | of `tests.given` is int8; must be float32
            # help: `.astype("float32")` converts an array
            return y

    fails(Module, X)


@rejected
def test_a_packed_function_that_gives_nothing():
    register_func("tests.given", lambda x: None, override=True)

    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor(("n", 3), "float32")):
            n = T.int64()
            row = R.Tensor((n, 3), "float32")
            y = R.call_packed("tests.given", x, sinfo_args=row)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 the result of
            #        | `tests.given` is None (the null object); must be a tensor of shape (n, 3)
            #        | and dtype float32
            return y

    fails(Module, X)


@rejected
def test_a_packed_function_that_gives_a_list():
    register_func("tests.given", lambda x: [1.0], override=True)

    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor(("n", 3), "float32")):
            n = T.int64()
            row = R.Tensor((n, 3), "float32")
            y = R.call_packed("tests.given", x, sinfo_args=row)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 the result of
            #        | `tests.given` is a list of 1; must be a tensor of shape (n, 3) and dtype
            #        | float32
            # help: `numpy.array(value, dtype)` makes a tensor
            return y

    fails(Module, X)


@rejected
def test_a_packed_function_that_gives_something_for_nothing():
    register_func("tests.given", lambda x: x, override=True)

    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor(("n", 3), "float32")):
            n = T.int64()
            y = R.call_packed("tests.given", x, sinfo_args=R.Tuple())
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 the result of
            #        | `tests.given` is a tensor of shape (2, 3) and dtype float32; must be the
            #        | empty tuple
            return y

    fails(Module, X)


@rejected
def test_a_packed_function_that_gives_another_tuple():
    register_func("tests.given", lambda x: (x, Shape([1, 2])), override=True)

    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor(("n", 3), "float32")):
            n = T.int64()
            y = R.call_packed("tests.given", x, sinfo_args=R.Tuple(R.Object, R.Shape(ndim=1)))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
            #        | error: RX0605 the length of `[1]` of the result of `tests.given` is 2; must
            #        | be 1
            return y

    fails(Module, X)


@rejected
def test_a_packed_function_of_other_arguments():
    register_func("tests.given", lambda x, y: x, override=True)

    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor(("n", 3), "float32")):
            n = T.int64()
            row = R.Tensor((n, 3), "float32")
            y = R.call_packed("tests.given", x, sinfo_args=row)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
            #        | error: RX0604 `tests.given` raised
            #        | TypeError: test_a_packed_function_of_other_arguments.<locals>.<lambda>()
            #        | missing 1 required positional argument: 'y'
            return y

    fails(Module, X)


@rejected
def test_a_result_that_is_returned_and_not_written():
    register_func("tests.given", lambda x, y: x + 1, override=True)

    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor(("n", 3), "float32")):
            n = T.int64()
            row = R.Tensor((n, 3), "float32")
            y = R.call_dps_packed("tests.given", (x,), out_sinfo=row)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 `tests.given`
            #        | returned its result, but `R.call_dps_packed` has it written into the last
            #        | argument
            return y

    fails(Module, X)


@rejected
def test_a_function_that_is_no_packed_function_in_place():
    register_func("tests.given", lambda x: x[:1], override=True)

    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor(("n", 3), "float32")):
            n = T.int64()
            row = R.Tensor((n, 3), "float32")
            y = R.call_inplace_packed("tests.given", x, inplace_indices=[0], sinfo_args=row)
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
            #        | error: RX0605 `shape[0]` of the result of `tests.given` is 1; must be `n =
            #        | 2` from `x.shape[0]`
            return y

    fails(Module, X)


@rejected
def test_a_closure_that_a_packed_function_calls():
    register_func("tests.given", lambda f, x: f(x[:1]), override=True)

    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor((2, 3), "float32")):

            @R.function
            def inner(y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            #         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601 `y.shape[0]` is 1; must be 2
                return R.add(y, y)

            z = R.call_packed("tests.given", inner, x, sinfo_args=R.Object)
            return z

    fails(Module, X)


@rejected
def test_a_packed_function_of_a_value_that_raises():
    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor((2, 3), "float32"), f: R.Callable):
            y = f(x)
            #   ^^^^ error: RX0604 `broken` raised IndexError: index 10 is out of bounds for axis 0
            #        | with size 2
            return y

    fails(Module, X, PackedFunc("broken", lambda x: x[10]))
