"""Rejected runs: arguments, packed functions and values that fail when a program runs (RX06)."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.compiler import build
from relaxscript.errors import VMError
from relaxscript.ir.module import IRModule
from relaxscript.runtime import VirtualMachine, cpu, register_func, remove_global_func
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing import rejected
from relaxscript_tests.rejected.running import fails

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

X = np.ones((2, 3), "float32")


def machine(mod: IRModule, target: str = "llvm") -> VirtualMachine:
    return VirtualMachine(build(mod, target=target), cpu())


@pytest.fixture
def failing():
    """A packed function that raises, registered under "tests.failing"."""

    @register_func("tests.failing")
    def fail(x):
        return x[10]

    yield
    remove_global_func("tests.failing")


@I.ir_module
class Rows:
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(("n", 3), "float32")):
        return R.add(x, y)


# ---------------------------------------------------------------- arguments


@rejected
def test_an_argument_of_another_shape():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(("n", 3), "float32")):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601
        #        | `x.shape[1]` is 4; must be 3
            return R.add(x, y)

    fails(Module, np.ones((2, 4), "float32"), X)


@rejected
def test_arguments_that_ask_for_two_values_of_one_dimension():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(("n", 3), "float32")):
        #                                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601
        #        | `y.shape[0]` is 5; must be `n = 2` from `x.shape[0]`
            return R.add(x, y)

    fails(Module, X, np.ones((5, 3), "float32"))


@rejected
def test_an_argument_of_another_data_type():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(("n", 3), "float32")):
        #                                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601
        #        | `y.dtype` is float64; must be float32
            return R.add(x, y)

    fails(Module, X, np.ones((2, 3)))


@rejected
def test_an_argument_of_another_rank():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(("n", 3), "float32")):
        #                                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601
        #        | `y.ndim` is 1; must be 2
            return R.add(x, y)

    fails(Module, X, np.ones(3, "float32"))


@rejected
def test_too_few_arguments():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(("n", 3), "float32")):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0602
        #        | `main` takes 2 arguments (x, y), got 1
            return R.add(x, y)

    fails(Module, X)


@rejected
def test_too_many_arguments():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(("n", 3), "float32")):
        #        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0602
        #        | `main` takes 2 arguments (x, y), got 3
            return R.add(x, y)

    fails(Module, X, X, X)


@rejected
def test_an_argument_of_another_kind():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(("n", 3), "float32")):
        #                                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601
        #        | `y` is a string; must be a tensor of shape (n, 3) and dtype float32
            return R.add(x, y)

    fails(Module, X, "rows")


@rejected
def test_an_argument_that_no_value_can_be_made_of():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 3), "float32"), y: R.Tensor(("n", 3), "float32")):
        #                                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601
        #        | `y` is an object of class dict; must be a tensor of shape (n, 3)
        #        | and dtype float32
            return R.add(x, y)

    fails(Module, X, {"rows": X})


@rejected
def test_a_shape_of_another_rank():
    @I.ir_module
    class Module:
        @R.function
        def main(s: R.Shape(("n", 3)), x: R.Tensor(("n",), "float32")):
        #        ^^^^^^^^^^^^^^^^^^^^ error: RX0601
        #        | `len(s)` is 3; must be 2
            return x

    fails(Module, (2, 3, 4), np.ones(2, "float32"))


@rejected
def test_a_tuple_with_another_number_of_fields():
    @I.ir_module
    class Module:
        @R.function
        def main(k: R.Prim("int64"), t: R.Tuple(R.Tensor((2,), "int32"), R.Object)):
        #                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601
        #        | `len(t)` is 1; must be 2
            return k

    fails(Module, 1, (np.ones(2, "int32"),))


@rejected
def test_a_field_of_another_shape():
    @I.ir_module
    class Module:
        @R.function
        def main(k: R.Prim("int64"), t: R.Tuple(R.Tensor((2,), "int32"), R.Object)):
        #                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0601
        #        | `t[0].shape[0]` is 3; must be 2
            return k

    fails(Module, 1, (np.ones(3, "int32"), None))


@rejected
def test_a_float_where_an_integer_is_needed():
    @I.ir_module
    class Module:
        @R.function
        def main(k: R.Prim("int64"), t: R.Tuple(R.Tensor((2,), "int32"), R.Object)):
        #        ^^^^^^^^^^^^^^^^^^ error: RX0601
        #        | `k` is 1.5 of dtype float64; must be of dtype int64
            return k

    fails(Module, 1.5, (np.ones(2, "int32"), None))


@rejected
def test_a_function_that_there_is_not():
# error: RX0607 there is no function `mian`
#         note: did you mean `main`?
#         note: public functions: main
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
            return x

    fails(Module, X, name="mian")


@rejected
def test_a_private_function():
    @I.ir_module
    class Module:
        @R.function(private=True)
        def hidden(x: R.Tensor((2,), "float32")):
        #          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0607 `hidden` is private: only functions
        #        | of its module can call it
            return x

        @R.function
        def main(x: R.Object):
            return x

    fails(Module, X, name="hidden")


# ---------------------------------------------------------------- packed functions


@I.ir_module
class Packed:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.call_packed("tests.failing", x, sinfo_args=R.Tensor((2, 3), "float32"))
        return y

    @R.function
    def good(x: R.Tensor((2, 3), "float32")):
        return R.add(x, x)


@rejected
def test_a_packed_function_that_is_not_registered():
    @I.ir_module
    class Module:
        @R.function(pure=False)
        def main(x: R.Tensor((2, 3), "float32")):
            y = R.call_packed("tests.missing", x, sinfo_args=R.Tensor((2, 3), "float32"))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
            #        | error: RX0603 there is no packed function `tests.missing`
            return y

    fails(Module, X)


@pytest.mark.usefixtures("failing")
def test_a_packed_function_that_raises():
    @rejected
    def program():
        @I.ir_module
        class Module:
            @R.function(pure=False)
            def main(x: R.Tensor((2, 3), "float32")):
                y = R.call_packed("tests.failing", x, sinfo_args=R.Tensor((2, 3), "float32"))
                #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
                #        | error: RX0604 `tests.failing` raised IndexError: index 10 is out of
                #        | bounds for axis 0 with size 2
                return y

        fails(Module, X)


@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_the_traceback_of_a_packed_function_is_kept(target):
    with pytest.raises(VMError) as caught:
        machine(Packed, target)["main"](X)
    cause = caught.value.__cause__
    assert isinstance(cause, IndexError)
    entry = cause.__traceback__
    while entry.tb_next is not None:
        entry = entry.tb_next
    assert entry.tb_frame.f_code.co_name == "fail"


# ---------------------------------------------------------------- values


@rejected
def test_a_match_cast_that_fails():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(ndim=2, dtype="float32")):
            n = T.int64()
            y = R.match_cast(x, R.Tensor((n, n), "float32"))
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0605 `x.shape[1]` is 3;
            #        | must be `n = 2` from `x.shape[0]`
            return y

    fails(Module, X)


@rejected
def test_operands_that_turn_out_not_to_go_together():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
            z = R.add(x, y)
            #   ^^^^^^^^^^^ warning: RX0207 `n` and `m` must be equal, or one of them 1; it is
            #        | checked when the program runs
            #   ^^^^^^^^^^^ error: RX0606 `R.add` cannot take these operands: `y` has shape
            #        | (3,); `x` has shape (2,)
            return z

    fails(Module, np.ones(2, "float32"), np.ones(3, "float32"))


@rejected
def test_a_result_that_is_not_what_was_declared():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n",), "float32")) -> R.Tensor((4,), "float32"):
            return x
            #      ^ error: RX0605 `shape[0]` of the result of `main` is 2; must be 4
            #      ^ warning: RX0207 dimension 0 is `n`, which is not known to be `4`; it is
            #        | checked when the program runs

    fails(Module, np.ones(2, "float32"))


@pytest.mark.slow
@rejected
def test_a_recursion_without_end():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            cls = Module
            y = cls.main(x)
            #   ^^^^^^^^^^^ error: RX0609 calls nest deeper than 10000; does the recursion end?
            return y

    fails(Module, np.ones(2, "float32"))


# ---------------------------------------------------------------- afterwards


@pytest.mark.usefixtures("failing")
@pytest.mark.parametrize("target", ["llvm", "reference"])
def test_the_machine_stays_usable_after_every_failure(target):
    packed = machine(Packed, target)
    rows = machine(Rows, target)
    failures = [
        lambda: packed["main"](X),
        lambda: packed["good"](X[:1]),
        lambda: packed["nothing"](X),
        lambda: rows["main"](X),
        lambda: rows["main"](X, X[:1]),
        lambda: rows["main"](X, X.astype("int8")),
        lambda: rows["main"](X, X[0]),
        lambda: rows["main"](X, "rows"),
    ]
    for fail in failures:
        with pytest.raises(VMError, match=r"RX060[1247]"):
            fail()
        np.testing.assert_array_equal(packed["good"](X), X + X)
        np.testing.assert_array_equal(rows["main"](X, X), X + X)
