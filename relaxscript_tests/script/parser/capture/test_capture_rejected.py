"""Rejected programs: what Python holds and a script cannot take, blamed in both where both are."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


@T.prim_func
def relu(x: T.Buffer((2, 4), "float32"), y: T.Buffer((2, 4), "float32")):
    for i, j in T.grid(2, 4):
        y[i, j] = T.max(x[i, j], T.float32(0))


@R.function
def tripled(x: R.Tensor((2, 4), "float32")):
    return R.multiply(x, R.const(3.0))


@I.ir_module
class Library:
    @R.function
    def inner(x: R.Tensor((2, 4), "float32")):
        return R.exp(x)

    @R.function
    def outer(x: R.Tensor((2, 4), "float32")):
        cls = Library
        return cls.inner(x)


OUTER = Library["outer"]


@dataclass
class Config:
    hidden: int = 4


CONFIG = Config()


@rejected
def test_a_function_on_its_own_has_no_place_for_a_prim_func():
    @R.function
    def f(x: R.Tensor((2, 4), "float32")):
        y = R.call_tir(relu, (x,), out_sinfo=R.Tensor((2, 4), "float32"))
        #              ^^^^ error: RX0201 `relu` is a PrimFunc that is outside, and a function
        # | on its own has no place for it
        # help: put both in a class under `@I.ir_module`
        return y


@rejected
def test_a_function_on_its_own_has_no_place_for_a_relax_function():
    @R.function
    def f(x: R.Tensor((2, 4), "float32")):
        y = tripled(x)
        #   ^^^^^^^ error: RX0201 `tripled` is a Relax function that is outside, and a
        # | function on its own has no place for it
        # help: put both in a class under `@I.ir_module`
        z = Library.inner(x)
        #   ^^^^^^^^^^^^^ error: RX0201 `inner` is a Relax function that is outside, and a
        # | function on its own has no place for it
        # help: put both in a class under `@I.ir_module`
        return z


@rejected
def test_a_prim_func_on_its_own_has_no_place_for_another():
    @T.prim_func
    def f(x: T.Buffer((2, 4), "float32"), y: T.Buffer((2, 4), "float32")):
        relu(x, y)
        # <^^^ error: RX0201 `relu` is a PrimFunc that is outside, and a function on its own
        # | has no place for it
        # help: put both in a class under `@I.ir_module`


@rejected
def test_a_function_that_calls_others_is_not_taken_without_them():
    @I.ir_module
    class Module:
        kept = OUTER
        #      ^^^^^ error: RX0201 this function calls `inner` of the module it comes from
        # help: capture that module, and write `Module.name_of_the_function`

        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            y = OUTER(x)
            #   ^^^^^ error: RX0201 this function calls `inner` of the module it comes from
            # help: capture that module, and write `Module.name_of_the_function`
            return y


@rejected
def test_a_captured_module_has_no_such_function():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            y = Library.iner(x)
            #   ^^^^^^^^^^^^ error: RX0101 the module `Library` has no function `iner`
            # help: did you mean `inner`?
            # fix: Library.inner
            z = Library["absent"](x)
            #   ^^^^^^^^^^^^^^^^^ error: RX0101 the module `Library` has no function `absent`
            return x

        @T.prim_func
        def kernel(x: T.Buffer((2, 4), "float32"), y: T.Buffer((2, 4), "float32")):
            Library.gone(x, y)
            # <^^^^^^^^^^^ error: RX0101 the module `Library` has no function `gone`


@rejected
def test_a_captured_prim_func_that_takes_other_tensors():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3, 4), "float32")):
        #           --------------------------- label: `x` has shape (3, 4) here
            y = R.call_tir(relu, (x,), out_sinfo=R.Tensor((2, 4), "float32"))
            #                     ^ error: RX0203 `relu` takes another shape there
            #                     - label: has shape (3, 4)
            #              ---- label: takes shape (2, 4) as its buffer 0
            return y


@rejected
def test_a_captured_function_that_takes_other_arguments():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3, 4), "float32")):
        #           --------------------------- label: `x`: dimension 0 is `3`, not `2`
            y = tripled(x)
            #           ^ error: RX0206 argument 1 does not fit the function's parameter
            # help: the parameter is `R.Tensor((2, 4), "float32")`
            #           - label: dimension 0 is `3`, not `2`
            z = tripled(x, x)
            #   ^^^^^^^ error: RX0206 `tripled` takes 1 argument, not 2
            #   ------- label: takes 1 argument
            return x


@rejected
def test_a_captured_prim_func_is_called_with_its_arguments():
    @I.ir_module
    class Module:
        @T.prim_func
        def kernel(x: T.Buffer((2, 4), "float32"), y: T.Buffer((2, 4), "float32")):
            relu(x)
            # <^^^^^^ error: RX0103 `relu` takes 2 arguments, not 1
            Library.inner(x)
            # <^^^^^^^^^^^^ error: RX0103 `Library.inner` is no PrimFunc


@rejected
def test_a_module_is_no_function():
    @I.ir_module
    class Module:
        whole = Library
        #       ^^^^^^^ error: RX0104 only functions can be members of a module
        # help: define it outside of the class, where functions can use it as well

        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            y = R.call_tir(Library, (x,), out_sinfo=R.Tensor((2, 4), "float32"))
            #              ^^^^^^^ error: RX0201 `R.call_tir` cannot take these operands
            #              ------- label: is a module, not a function
            z = R.add(x, Library)
            #            ^^^^^^^ error: RX0201 `R.add` cannot take these operands
            #            ------- label: is a module, not a tensor
            return x


@rejected
def test_a_variable_of_another_function():
    other = tripled.params[0]

    @R.function
    def f(x: R.Tensor((2, 4), "float32")):
        y = R.add(x, other)
        #            ^^^^^ error: RX0101 `x` is a variable of another function
        # help: give it to this function as a parameter
        return y


@rejected
def test_what_captured_python_raises_is_shown_where_it_is_raised():
    unknown = KeyError("three")

    def scaled(x, name):
        if name == "two":
            return R.multiply(x, R.const(2.0))
        raise unknown
        # <------------ label: raised here

    @R.function
    def f(x: R.Tensor((2, 4), "float32")):
        y = scaled(x, "two")
        z = scaled(x, "three")
        #   ^^^^^^^^^^^^^^^^^^ error: RX0112 evaluating this Python raised KeyError: 'three'
        return z


@rejected
def test_what_captured_python_makes_of_values_that_do_not_go_together():
    def product(w, x):
    #   ------- label: `product` is defined here
        return R.matmul(x, w)

    def sum_of_products(x, w):
    #   --------------- label: `sum_of_products` is defined here
        return R.add(R.matmul(x, w), w)

    def added(x, y):
    #   ----- label: `added` is defined here
        return R.add(x, y)

    @R.function
    def f(x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 3), "float32")):
    #                  - label: `x2` has 2 rows here
        a = product(x, w)
        #   ^^^^^^^^^^^^^ error: RX0203 `R.matmul` cannot multiply these operands
        # note: `x1` has 3 columns
        # help: the last axis of `x1` must equal the last-but-one axis of `x2`
        #   ------------- label: `x2` has 2 rows
        b = sum_of_products(x, w)
        #   ^^^^^^^^^^^^^^^^^^^^^ error: RX0203 `R.add` cannot take these operands
        # note: `x1` has shape (2, 3)
        # help: shapes are compared from the right: dimensions are equal, or one of them is 1
        #   --------------------- label: `x2` has shape (4, 3)
        c = added(x, w)
        #   ^^^^^^^^^^^ error: RX0203 `R.add` cannot take these operands
        # note: `x1` has shape (2, 4)
        # help: shapes are compared from the right: dimensions are equal, or one of them is 1
        #   ----------- label: `x2` has shape (4, 3)
        return x


@rejected
def test_what_captured_python_raises_in_a_prim_func():
    unknown = KeyError("three")

    def scaled(x, name):
        raise unknown
        # <------------ label: raised here

    @T.prim_func
    def f(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = scaled(A[i], "three")
            #      ^^^^^^^^^^^^^^^^^^^^^ error: RX0112 evaluating this Python raised KeyError:
            # | 'three'


@rejected
def test_attributes_and_items_that_are_not_there():
    sizes = {"hidden": 4}

    @R.function
    def f(x: R.Tensor((2, 4), "float32")):
        y = R.zeros((2, CONFIG.hiden), "float32")
        #               ^^^^^^^^^^^^ error: RX0112 evaluating this Python raised AttributeError:
        # | 'Config' object has no attribute 'hiden'
        z = R.zeros((2, sizes["hiden"]), "float32")
        #               ^^^^^^^^^^^^^^ error: RX0112 evaluating this Python raised KeyError: 'hiden'
        return x


@rejected
def test_values_that_are_no_values_of_a_program():
    words = np.array(["a", "b"])
    halves = np.array([1, 2], ml_dtypes.int4)
    nothing = object()

    @R.function
    def f(x: R.Tensor((2, 4), "float32")):
        y = R.add(x, nothing)
        #            ^^^^^^^ error: RX0201 `R.add` cannot take these operands
        #            ------- label: is a Python `object`, not a tensor
        z = R.add(x, R.const(words))
        #            ^^^^^^^^^^^^^^ error: RX0201 a constant is made of numbers, a string is none
        v = R.add(x, R.const(halves))
        #            ^^^^^^^^^^^^^^^ error: RX0201 "int4" is not a dtype
        # help: did you mean "int8"?
        w = R.add(x, {"a": x})
        #            ^^^^^^^^ error: RX0201 `R.add` cannot take these operands
        #            -------- label: is a Python `dict`, not a tensor
        return x


@rejected
def test_a_class_takes_over_functions_only():
    @I.ir_module
    class Module:
        size = 4
        #      ^ error: RX0104 only functions can be members of a module
        other = Library["inner"]
        missing = CONFIG.hidden
        #         ^^^^^^^^^^^^^ error: RX0104 only functions can be members of a module

        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            return Module.other(x)
