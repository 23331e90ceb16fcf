"""Rejected programs: names, elements of buffers, operators and calls in PrimFuncs."""

from __future__ import annotations

import math

import numpy as np

from relaxscript.script import ir as I, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- names


@rejected
def test_an_undefined_name():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = offset
        #      ^^^^^^ error: RX0101 `offset` is not defined


@rejected
def test_a_misspelt_name():
    @T.prim_func
    def f(weights: T.Buffer((4,), "float32")):
        weights[0] = wieghts[1]
        #            ^^^^^^^ error: RX0101 `wieghts` is not defined
        # help: did you mean `weights`?
        # fix: weights


@rejected
def test_a_misspelt_function_of_t():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = T.sqtr(x[1])
        #      ^^^^^^ error: RX0102 `T` has no `sqtr`
        # help: did you mean `T.sqrt`?
        # fix: T.sqrt


@rejected
def test_a_misspelt_axis():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        with T.block("b"):
            vi = T.axis.spatail(4, 0)
            #    ^^^^^^^^^^^^^^ error: RX0102 `T.axis` has no `spatail`
            # help: did you mean `T.axis.spatial`?
            # fix: T.axis.spatial
            x[vi] = 0.0


@rejected
def test_a_misspelt_annotation():
    @T.prim_func
    def f(x: T.Bufer((4,), "float32")):
    #        ^^^^^^^ error: RX0102 `T` has no `Bufer`
    # help: did you mean `T.Buffer`?
    # fix: T.Buffer
        x[0] = 0.0


@rejected
def test_a_misspelt_attribute_of_a_buffer():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(x.shap[0]):
        #              ^^^^^^ error: RX0102 a buffer has no `shap`
        # help: did you mean `x.shape`?
        # fix: x.shape
            x[i] = 0.0


@rejected
def test_an_attribute_that_no_buffer_has():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(x.wholly_unknown):
        #              ^^^^^^^^^^^^^^^^ error: RX0102 a buffer has no `wholly_unknown`
            x[i] = 0.0


@rejected
def test_an_attribute_that_no_scalar_has():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = x[1].real
        #      ^^^^^^^^^ error: RX0102 a scalar has no `real`
        # help: it has `.dtype` and `.astype("float32")`


@rejected
def test_a_loop_variable_after_its_loop():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            x[i] = 0.0
        x[i] = 1.0
        # ^ error: RX0101 `i` is not defined here
        # help: use it there, or keep the value in a buffer


@rejected
def test_every_independent_mistake_is_reported_and_no_consequence():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "flaot32")):
    #                                                     ^^^^^^^^^ error: RX0108 "flaot32" is not
    #        | a dtype
    # help: did you mean "float32"?
    # fix: "float32"
        a = first
        #   ^^^^^ error: RX0101 `first` is not defined
        for i in range(a):
            x[i] = a + y[i]
            x[i] = second
            #      ^^^^^^ error: RX0101 `second` is not defined
        for j in third:
        #        ^^^^^ error: RX0101 `third` is not defined
            x[j] = T.exp(fourth) + j
            #            ^^^^^^ error: RX0101 `fourth` is not defined
        with fifth:
        #    ^^^^^ error: RX0101 `fifth` is not defined
            x[0] = sixth
            #      ^^^^^ error: RX0101 `sixth` is not defined
        if seventh:
        #  ^^^^^^^ error: RX0101 `seventh` is not defined
            x[0] = eighth
            #      ^^^^^^ error: RX0101 `eighth` is not defined
        while ninth:
        #     ^^^^^ error: RX0101 `ninth` is not defined
            x[0] = tenth
            #      ^^^^^ error: RX0101 `tenth` is not defined


@rejected
def test_what_only_other_devices_have():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        t = T.call_kernel(x, [4])
        #   ^^^^^^^^^^^^^ error: RX0505 `T.call_kernel` belongs to the threads of a GPU
        # help: on a CPU write `T.parallel(...)`


# ---------------------------------------------------------------- loads, stores, indices


@rejected
def test_too_few_and_too_many_indices():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32"), y: T.Buffer((4,), "float32")):
        for i, j in T.grid(4, 4):
            y[i] = x[i]
            #        ^ error: RX0503 `x` takes 2 indices, not 1
            y[i, j] = x[i, j]
            # ^^^^ error: RX0503 `y` takes 1 index, not 2


@rejected
def test_an_index_that_is_no_integer():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), s: T.float32):
        x[s] = 1.0
        # ^ error: RX0503 an index is an integer
        # help: convert it: `T.cast(s, "int32")`
        x[s > 0.0] = 1.0
        # ^^^^^^^ error: RX0503 an index is an integer
        x["a"] = 1.0
        # ^^^ error: RX0503 an index is an integer


@rejected
def test_elements_that_a_buffer_does_not_have():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[4] = 1.0
        # ^ error: RX0503 `x` has no element 4 here: axis 0 has extent 4
        # help: indices go from 0 to 3
        x[-1] = 1.0
        # ^^ error: RX0503 `x` has no element -1 here: axis 0 has extent 4
        # help: indices do not count from the end


@rejected
def test_elements_that_a_buffer_does_not_have_where_code_may_never_run():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        if n > 4:
            x[4] = 1.0
            # ^ warning: RX0503 `x` has no element 4 here: axis 0 has extent 4
        x[-1 if n > 0 else 0] = 1.0


@rejected
def test_a_slice_of_unknown_length():
    @T.prim_func
    def f(x: T.Buffer(("n",), "float32"), y: T.Buffer(("n",), "float32")):
        n = T.int64()
        x[0:n] = y[0:n]
        # ^^^ error: RX0503 the number of elements of this slice is not a constant
        # help: loop over the elements: `for i in range(...)`
        x[0:8:-1] = 1.0
        # ^^^^^^ error: RX0503 the step of a slice is a positive number
        x[4:4] = 1.0
        # ^^^ error: RX0503 this slice has no elements


@rejected
def test_a_vector_that_is_not_the_last_index():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32"), y: T.Buffer((4,), "float32")):
        x[0:4, 0] = 1.0
        # ^^^ error: RX0503 only the last index can be a vector
        y[0] = x[0:4, 0]
        #      ^^^^^^^^^ error: RX0503 only the last index can be a vector


@rejected
def test_a_whole_buffer_where_an_element_is_needed():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        y = x + x
        #   ^ error: RX0501 `x` is a whole buffer, and a scalar is needed here
        # help: take an element: `x[i]`
        y[0] = x
        #      ^ error: RX0501 `x` is a whole buffer, and a scalar is needed here
        # help: take an element: `x[i]`
        y[0] = T.exp(x)
        #            ^ error: RX0501 `x` is a whole buffer, and a scalar is needed here
        # help: take an element: `x[i]`


@rejected
def test_a_buffer_that_is_bound_again():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32")):
        x = 1.0
        # < error: RX0501 `x` is a buffer; it cannot be bound again
        # help: store into its elements: `x[i, j] = ...`


@rejected
def test_a_value_of_another_data_type():
    @T.prim_func
    def f(
        x: T.Buffer((4,), "float32"),
        y: T.Buffer((4,), "float64"),
        k: T.Buffer((4,), "int32"),
    ):
        for i in range(4):
            y[i] = x[i]
            #      ^^^^ error: RX0502 the value is float32, not float64
            # help: write `T.cast(x[i], "float64")`
            # fix: T.cast(x[i], "float64")
            k[i] = x[i] * 2.0
            #      ^^^^^^^^^^ error: RX0502 the value is float32, not int32
            # help: write `T.cast(x[i] * 2.0, "int32")`
            # fix: T.cast(x[i] * 2.0, "int32")
            k[i] = 1.5
            #      ^^^ error: RX0502 the value is a floating-point number, not int32
            # help: write `1`
            # fix: 1
            x[i] = i
            #      ^ error: RX0502 the value is int32, not float32
            # help: write `T.cast(i, "float32")`
            # fix: T.cast(i, "float32")
            k[i] += 0.5
            #       ^^^ error: RX0502 `+=` gives float32 here, and `k` holds int32
            # help: write `k[i] = T.cast(k[i] + 0.5, "int32")`


@rejected
def test_a_number_that_does_not_fit():
    @T.prim_func
    def f(x: T.Buffer(("n",), "int8"), b: T.Buffer((4,), "bool")):
        x[99999999999999999999] = 1
        # ^^^^^^^^^^^^^^^^^^^^ error: RX0502 99999999999999999999 does not fit in int64
        x[0] = 300
        #      ^^^ error: RX0502 300 does not fit in int8
        b[0] = 2
        #      ^ error: RX0502 the value is 2, not bool
        # help: write `2 != 0`
        # fix: 2 != 0
        x[0] = x[1] + 1000
        #             ^^^^ error: RX0502 `+` cannot combine these operands: 1000 does not fit in
        #        | int8
        x[0] = T.int8(500)
        #             ^^^ error: RX0502 `T.int8` cannot take this: 500 does not fit in int8


@rejected
def test_a_number_where_an_address_is_needed():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        p: T.handle = 0
        #             ^ error: RX0502 the value is a number, not handle


@rejected
def test_stores_into_what_is_no_buffer():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        T.exp[0] = 1.0
        # <^^^^ error: RX0501 only elements of buffers are stored, this is a Python function
        x.shape = (3,)
        # <^^^^^^ error: RX0104 `x.shape` cannot be assigned
        # help: assign to a name, or to an element of a buffer: `A[i] = ...`
        a = b = T.alloc_buffer((4,), "float32")
        #   ^ error: RX0104 what is made here has one name
        # help: write one line for each: `a = ...` and `b = ...`
        a, x.shape = 1, 2
        #  ^^^^^^^ error: RX0104 `x.shape` cannot be assigned
        x.shape += 1
        # <^^^^^^ error: RX0104 `x.shape` cannot be assigned


@rejected
def test_a_region_where_a_value_is_needed():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        y = x[0:2]
        #   ^^^^^^ error: RX0501 a region of a buffer is no value
        # help: give it a name in a block: `y = T.match_buffer(x[0:2], shape)`


@rejected
def test_buffer_store_of_what_is_no_buffer():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), s: T.float32):
        T.buffer_store(s, 1.0, [0])
        #              ^ error: RX0501 this is a scalar of type float32, not a buffer
        T.buffer_store(x, 1.0, [0, 1])
        #                      ^^^^^^ error: RX0503 `x` takes 1 index, not 2


@rejected
def test_a_python_tuple_with_an_index_of_run_time():
    weights = (1.0, 2.0)

    @T.prim_func
    def f(x: T.Buffer((2,), "float32")):
        for i in range(2):
            x[i] = weights[i]
            #              ^ error: RX0503 this index is known only when the program runs
            # help: a Python sequence is indexed while the program is parsed; use a buffer


# ---------------------------------------------------------------- operators and calls


@rejected
def test_divisions_that_are_ambiguous():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), k: T.Buffer((4,), "int32")):
        k[0] = k[1] / 2
        #      ^^^^^^^^ error: RX0502 `/` is ambiguous for integers
        # help: write `k[1] // 2`, or `T.truncdiv(k[1], 2)`, or `T.cast(k[1], "float32") / 2`
        x[0] = x[1] // x[2]
        #      ^^^^^^^^^^^^ error: RX0502 `//` divides integers, these are float32
        # help: write `T.floor(x[1] / x[2])`
        x[0] = x[1] % 2.0
        #      ^^^^^^^^^^ error: RX0502 `%` divides integers, these are float32
        # help: write `T.fmod(x[1], 2.0)`
        k[0] /= 2
        # <^^^^^^^^ error: RX0502 `/` is ambiguous for integers
        # help: write `k[0] // 2`, or `T.truncdiv(k[0], 2)`, or `T.cast(k[0], "float32") / 2`


@rejected
def test_operators_without_a_meaning():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = x[1] @ x[2]
        #      ^^^^^^^^^^^ error: RX0501 `@` has no meaning for scalars
        if x[0] is x[1]:
        #  ^^^^^^^^^^^^ error: RX0501 `is` has no meaning for scalars
        # help: write `==`
            x[0] = 0.0
        x[0] = x[0] & x[1]
        #      ^^^^ error: RX0502 each operand of `&` is an integer or a bool
        x[0] = ~x[0]
        #       ^^^^ error: RX0502 each operand of `~` is an integer or a bool


@rejected
def test_operands_that_cannot_be_combined():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), a: T.handle):
        x[0] = x[1] + a
        #             ^ error: RX0502 `+` cannot combine these operands


@rejected
def test_conditions_that_are_no_bools():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        if n:
        #  ^ error: RX0502 a condition is a bool, this is int32
        # help: compare it: `n != 0`
            x[0] = 0.0
        while n:
        #     ^ error: RX0502 a condition is a bool, this is int32
        # help: compare it: `n != 0`
            x[0] = 0.0
        if x[0] > 0.0 and n:
        #                 ^ error: RX0502 a condition is a bool, this is int32
        # help: compare it: `n != 0`
            x[0] = 1.0
        if not n:
        #      ^ error: RX0502 a condition is a bool, this is int32
        # help: compare it: `n != 0`
            x[0] = 1.0
        assert n
        #      ^ error: RX0502 a condition is a bool, this is int32
        # help: compare it: `n != 0`
        x[0] = 1.0 if n else 2.0
        #             ^ error: RX0502 a condition is a bool, this is int32
        # help: compare it: `n != 0`


@rejected
def test_intrinsics_with_the_wrong_operands():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        x[0] = T.exp(n)
        #            ^ error: RX0502 each operand of `T.exp` is a floating-point number
        # help: convert with `T.cast(n, "float32")`
        # fix: T.cast(n, "float32")
        x[0] = T.exp(x[0], x[1])
        #                  ^^^^ error: RX0103 `T.exp` takes 1 argument, not 2
        # help: it is called as `T.exp(x)`
        x[0] = T.atan2(x[0])
        #      ^^^^^^^^^^^^^ error: RX0103 `T.atan2` needs `b`
        # help: it is called as `T.atan2(a, b)`
        x[0] = T.exp(x[0], base=2)
        #                  ^^^^ error: RX0103 `T.exp` has no parameter `base`
        # help: it is called as `T.exp(x)`
        x[0] = T.shift_left(x[0], 1)
        #                   ^^^^ error: RX0502 each operand of `T.shift_left` is an integer


@rejected
def test_calls_that_do_not_fit():
    weights = 3

    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in T.serial():
        #        ^^^^^^^^^^ error: RX0103 `T.serial` needs `start`
        # help: it is called as `T.serial(start, stop=None)`
            x[i] = 0.0
        for i in T.serial(4, anotations={}):
        #                    ^^^^^^^^^^ error: RX0103 `T.serial` has no parameter `anotations`
        # help: did you mean `annotations`?
        # fix: annotations
            x[i] = 0.0
        with T.init(1):
        #           ^ error: RX0103 `T.init` takes 0 arguments, not 1
        # help: it is called as `T.init()`
            x[0] = 0.0
        x[0] = T.cast(x[0], "flaot32")
        #                   ^^^^^^^^^ error: RX0502 "flaot32" is not a dtype
        # help: did you mean "float32"?
        # fix: "float32"
        x[0] = T.float32("pi")
        #                ^^^^ error: RX0502 `T.float32` cannot take this: "pi" is not a number
        x[0] = T.Ramp(x, 1, 4)
        #             ^ error: RX0501 `x` is a whole buffer, and a scalar is needed here
        # help: take an element: `x[i]`
        x[0] = weights(x[0])
        #      ^^^^^^^ error: RX0103 a Python int cannot be called


@rejected
def test_functions_of_python_that_know_no_scalars():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = math.exp(x[0])
        #      ^^^^^^^^ error: RX0501 `math.exp` computes with Python numbers only
        # help: write `T.exp`
        # fix: T.exp
        x[0] = np.tanh(x[1])
        #      ^^^^^^^ error: RX0501 `np.tanh` computes with Python numbers only
        # help: write `T.tanh`
        # fix: T.tanh
        x[0] = len(x[1])
        #      ^^^^^^^^^ error: RX0112 evaluating this Python raised TypeError: what is known only
        #     | later has no len()


@rejected
def test_a_python_value_that_is_no_scalar():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = None
        #      ^^^^ error: RX0501 a scalar is needed here, this is `None`
        x[0] = T.float32
        #      ^^^^^^^^^ error: RX0501 a scalar is needed here, this is the dtype `T.float32`
        # help: `T.float32(x)` is `x` as float32
        x[0] = T.grid(4)
        #      ^^^^^^^^^ error: RX0501 a scalar is needed here, this is `T.grid(...)`
        # help: it is a statement of its own
        x[0] = math
        #      ^^^^ error: RX0501 a scalar is needed here, this is the module `math`


@rejected
def test_python_that_builds_no_scalar():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = [a + 1 for a in (1, 2)]
        #      ^^^^^^^^^^^^^^^^^^^^^^^ error: RX0501 a scalar is needed here, this is a Python list
        x[0] = (lambda: 1)
        #       ^^^^^^^^^ error: RX0501 a scalar is needed here, this is a function


@rejected
def test_a_function_that_the_module_does_not_have():
    @I.ir_module
    class Module:
        @T.prim_func
        def scale(x: T.Buffer((4,), "float32"), s: T.float32):
            x[0] = x[0] * s

        @T.prim_func
        def main(x: T.Buffer((4,), "float32")):
            cls = Module
            cls.scal(x, T.float32(2))
            # <^^^^^^^ error: RX0102 the module has no function `scal`
            # help: did you mean `cls.scale`?
            # fix: cls.scale
            cls.unknown_to_all(x)
            # <^^^^^^^^^^^^^^^^^ error: RX0102 the module has no function `unknown_to_all`
            cls.scale(x)
            # <^^^^^^^^^^^ error: RX0103 `cls.scale` takes 2 arguments, not 1
            cls.scale(x, s=1.0)
            #            ^^^^^ error: RX0103 arguments of PrimFuncs are given by position
