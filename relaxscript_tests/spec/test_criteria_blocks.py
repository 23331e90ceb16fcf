"""Criteria 7 to 13 of "Well-Formedness Criteria", in scripts: blocks, calls, modules."""

from __future__ import annotations

import numpy as np

import relaxscript as relax
from relaxscript.analysis import ill_formed
from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing import rejected

from .rules import accepts, rejects

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- 7, 8: recursion and control flow


@accepts("criterion 7.1", "criterion 7.2", "criterion 8")
def test_functions_may_call_themselves_and_each_other_outside_of_dataflow_blocks():
    @I.ir_module
    class Parity:
        @R.function
        def even(n: R.Tensor((), "int64")) -> R.Tensor((), "bool"):
            cls = Parity
            if n == R.const(0, "int64"):
                r = R.const(True)
            else:
                r = cls.odd(n - R.const(1, "int64"))
            return r

        @R.function
        def odd(n: R.Tensor((), "int64")) -> R.Tensor((), "bool"):
            cls = Parity
            if n == R.const(0, "int64"):
                r = R.const(False)
            else:
                r = cls.even(n - R.const(1, "int64"))
            return r

        @R.function
        def double(n: R.Tensor((), "int64")) -> R.Tensor((), "int64"):
            cls = Parity
            if n == R.const(0, "int64"):
                r = n
            else:
                less = cls.double(n - R.const(1, "int64"))
                r = less + R.const(2, "int64")
            return r

    assert not ill_formed(Parity)
    made = relax.jit(Parity)
    assert made.even(np.int64(6))
    assert not made.odd(np.int64(6))
    assert made.double(np.int64(6)) == 12


@rejects("criterion 7.1")
@rejected
def test_a_function_cannot_call_itself_in_a_dataflow_block():
    @I.ir_module
    class Module:
        @R.function
        def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            cls = Module
            with R.dataflow():
                y = cls.f(x)
                #   ^^^^^^^^ error: RX0307 `cls.f` is recursive and cannot be called in a dataflow
                #        | block
                R.output(y)
            return y


@rejects("criterion 7.1")
@rejected
def test_a_local_function_cannot_call_itself_in_a_dataflow_block():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        @R.function
        def g(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            with R.dataflow():
                b = g(a)
                #   ^^^^ error: RX0307 `g` is recursive and cannot be called in a dataflow block
                R.output(b)
            return b

        return g(x)


@accepts("criterion 7.1")
def test_another_function_may_be_called_in_a_dataflow_block():
    @I.ir_module
    class Module:
        @R.function
        def g(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            return R.exp(a)

        @R.function
        def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            cls = Module
            with R.dataflow():
                y = cls.g(x)
                R.output(y)
            return y

    assert not ill_formed(Module)


@rejects("criterion 7.2")
@rejected
def test_a_function_cannot_call_one_that_calls_back_in_a_dataflow_block():
    @I.ir_module
    class Module:
        @R.function
        def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            cls = Module
            with R.dataflow():
                y = cls.g(x)
                #   ^^^^^^^^ error: RX0307 `cls.g` is recursive and cannot be called in a dataflow
                #        | block
                R.output(y)
            return y

        @R.function
        def g(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            cls = Module
            return cls.f(x)


@accepts("criterion 7.3")
def test_a_choice_stands_between_dataflow_blocks():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)
            R.output(y)
        if c:
            z = R.exp(y)
        else:
            z = y
        return z

    assert not ill_formed(f)


@rejects("criterion 7.3")
@rejected
def test_a_choice_cannot_stand_in_a_dataflow_block():
    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((4,), "float32")):
        with R.dataflow():
            if c:
            #  ^ error: RX0307 `if` is not allowed in a dataflow block
                y = R.add(x, x)
            else:
                y = x
            R.output(y)
        return y


@rejects("criterion 8")
@rejected
def test_a_function_that_calls_itself_declares_its_result():
    @I.ir_module
    class Module:
        @R.function
        def f(x: R.Tensor((4,), "float32")):
        #   ^ error: RX0308 `f` is recursive and has no return annotation
            cls = Module
            return cls.f(x)


@rejects("criterion 8")
@rejected
def test_of_functions_that_call_each_other_those_without_declared_result_are_named():
    @I.ir_module
    class Module:
        @R.function
        def f(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            cls = Module
            return cls.g(x)

        @R.function
        def g(x: R.Tensor((4,), "float32")):
        #   ^ error: RX0308 `g` is recursive (through `f`, `h`) and has no return annotation
            cls = Module
            return cls.h(x)

        @R.function
        def h(x: R.Tensor((4,), "float32")):
        #   ^ error: RX0308 `h` is recursive (through `f`, `g`) and has no return annotation
            cls = Module
            return cls.f(x)


@rejects("criterion 8")
@rejected
def test_a_local_function_that_calls_itself_declares_its_result():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        @R.function
        def g(a: R.Tensor((4,), "float32")):
        #   - label: annotate it here: `-> R.Tensor(...)`
            return g(a)
            #      ^ error: RX0308 `g` is recursive and has no return annotation

        return g(x)


# ---------------------------------------------------------------- 9 to 13


@accepts("criterion 9")
def test_a_function_around_an_operator_is_a_value():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        @R.function
        def double(a: R.Tensor((4,), "float32")):
            return R.add(a, a)

        pair = (double, x)
        return pair[0](x)

    assert not ill_formed(f)


@rejects("criterion 9")
@rejected
def test_an_operator_is_no_value():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        pair = (x, R.add)
        #          ^^^^^ error: RX0309 the operator `R.add` may only be called
        #                help: write a function around it
        return pair


@rejects("criterion 9")
@rejected
def test_an_operator_is_no_argument():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        return R.call_pure_packed("map", R.exp, x, sinfo_args=R.Object)
        #                                ^^^^^ error: RX0309 the operator `R.exp` may only be called


@accepts("criterion 10")
def test_a_rank_may_stand_beside_as_many_dimensions():
    @R.function
    def f(x: R.Tensor((2, 3), "float32", ndim=2), s: R.Shape([2, 3], ndim=2)):
        return (x, s)

    assert not ill_formed(f)


@rejects("criterion 10")
@rejected
def test_a_rank_cannot_stand_beside_another_number_of_dimensions():
    @R.function
    def f(
        x: R.Tensor((2, 3), "float32", ndim=3),
        #                                   ^ error: RX0310 ndim is 3, but the shape has 2
        #        | dimensions
        s: R.Shape([2, 3], ndim=1),
        #                       ^ error: RX0310 ndim is 1, but the shape has 2 dimensions
    ):
        return x


@accepts("criterion 11")
def test_a_function_in_a_dataflow_block_may_use_what_stands_outside_of_it():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        y = R.add(x, x)
        with R.dataflow():
            @R.function
            def g(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                return R.add(a, y)

            z = g(x)
            R.output(z)
        return z

    assert not ill_formed(f)
    made = relax.jit(relax.IRModule({"f": f}))
    assert made.f(np.ones(4, "float32")).tolist() == [3.0] * 4


@rejects("criterion 11")
@rejected
def test_a_function_in_a_dataflow_block_cannot_use_its_variables():
    @R.function
    def f(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.add(x, x)

            @R.function
            def g(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                return R.add(a, y)
                #               ^ error: RX0311 `y` belongs to the dataflow block around this
                #        | function

            z = g(x)
            R.output(z)
        return z


@accepts("criterion 12", "criterion 13")
def test_one_public_function_is_enough_and_its_symbol_is_its_name():
    @I.ir_module
    class Module:
        @R.function(private=True)
        def helper(x: R.Tensor((4,), "float32")):
            return R.exp(x)

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            R.func_attr({"global_symbol": "main"})
            cls = Module
            return cls.helper(x)

    assert not ill_formed(Module)
    assert Module["helper"].is_private
    assert Module["main"].attrs["global_symbol"] == "main"
    assert relax.jit(Module).main(np.zeros(4, "float32")).tolist() == [1.0] * 4


@accepts("criterion 12")
def test_a_module_of_prim_funcs_has_no_entry_of_relax():
    @I.ir_module
    class Kernels:
        @T.prim_func(private=True)
        def copy(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
            for i in range(4):
                y[i] = x[i]

    assert not ill_formed(Kernels)


@rejects("criterion 12")
@rejected
def test_a_module_of_private_functions_cannot_be_entered():
    @I.ir_module
    class Module:
    #     ^^^^^^ error: RX0312 every function of `Module` is private, so none can be called
        @R.function(private=True)
        def main(x: R.Tensor((4,), "float32")):
            return x


@rejects("criterion 13")
@rejected
def test_a_symbol_cannot_be_another_name_than_that_of_the_function():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((4,), "float32")):
        #   ^^^^ error: RX0313 the global symbol of `main` is `entry`
        #        help: use one name for both
            R.func_attr({"global_symbol": "entry"})
            return x
