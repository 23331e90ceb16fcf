"""Rejected programs: Python that a PrimFunc does not have, and what to write in its place."""

from __future__ import annotations

import math

import numpy as np

from relaxscript.script import tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


@rejected
def test_python_that_prints():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        print(x[0])
        # <^^^^^^^^^^ error: RX0501 `print` would print now, while the program is read
        # help: store the value into a buffer, and print that after the call
        print(x)
        # <^^^^^^^ error: RX0501 `print` computes with Python values now, and `x` is a buffer


@rejected
def test_python_functions_of_whole_buffers():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(len(x)):
        #              ^^^^^^ error: RX0501 `len` computes with Python values now, and `x` is a
        #        | buffer
        # help: write `x.shape[0]`
            x[i] = 0.0
        x[0] = sum(x)
        #          ^ error: RX0501 `x` is a whole buffer, and a scalar is needed here
        # help: take an element: `x[i]`
        x[1] = max(x)
        #          ^ error: RX0501 `x` is a whole buffer, and a scalar is needed here
        # help: take an element: `x[i]`
        x[2] = sorted(x)[0]
        #      ^^^^^^^^^ error: RX0501 `sorted` computes with Python values now, and `x` is a
        #        | buffer


@rejected
def test_functions_of_math():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = math.sqrt(x[1])
        #      ^^^^^^^^^ error: RX0501 `math.sqrt` computes with Python numbers only
        # help: write `T.sqrt`
        # fix: T.sqrt
        x[1] = math.gamma(x[2])
        #      ^^^^^^^^^^ error: RX0501 `math.gamma` computes with Python numbers only
        x[2] = np.maximum(x[1], x[2])
        #      ^^^^^^^^^^ error: RX0501 `np.maximum` computes with Python numbers only
        # help: write `T.max`
        # fix: T.max


@rejected
def test_a_text_made_of_what_is_known_later():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        with T.block(f"block_{n}"):
        #                     ^ error: RX0104 `n` is known only later, and an f-string is made now
        # help: a string is made while the program is read: leave the value out
            x[0] = 0.0


@rejected
def test_a_comprehension_over_what_is_known_later():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        x[0] = sum([x[i] for i in x])
        #                         ^ error: RX0104 a comprehension goes over what is known now: a
        #        | list, a tuple, a range
        # help: loop in a statement of its own: `for i in range(n):`
        x[1] = sum([x[i] for i in range(4) if x[i] > 0.0])
        #                                     ^^^^^^^^^^ error: RX0104 a comprehension chooses by
        #        | values known now
        # help: choose between values: `a if c else b`
        x[2] = sum(x[i] for i in range(n))
        #                        ^^^^^^^^ error: RX0104 a comprehension goes over what is known
        #        | now: a list, a tuple, a range
        # help: loop in a statement of its own: `for i in range(n):`


@rejected
def test_a_lambda_takes_what_it_names():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        double = lambda v: v * 2.0  # noqa: E731
        x[0] = double(x[1], x[2])
        #                   ^^^^ error: RX0103 `double` takes 1 argument, not 2
        # help: it is called as `double(v)`
        x[1] = double(w=x[1])
        #             ^ error: RX0103 `double` has no parameter `w`
        # help: it is called as `double(v)`


@rejected
def test_a_mistake_in_a_lambda():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        shifted = lambda v: v + ofset  # noqa: E731
        #                       ^^^^^ error: RX0101 `ofset` is not defined
        x[0] = shifted(x[1])


@rejected
def test_definitions_inside():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        def helper(v):
        # <^^^^^^^^^^^^^ error: RX0501 a function inside a function is not part of a PrimFunc
        # help: define it outside, and call it as `cls.f(...)`
            return v + 1.0
        class Inner:
        # <^^^^^^^^^^^ error: RX0501 a class is not part of a PrimFunc
            pass
        import math  # noqa: F401
        # <^^^^^^^^^^ error: RX0501 `import` is not part of a PrimFunc
        # help: import at the top of the file
        x[0] = 0.0


@rejected
def test_statements_of_python_without_a_meaning():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        del n
        # <^^^^ error: RX0501 `del` is not part of a PrimFunc
        # help: names end with the statement around them
        try:
        # <^^^ error: RX0501 `try` is not part of a PrimFunc
        # help: nothing can be caught; check before: `assert condition, "message"`
            x[0] = 0.0
        except ValueError:
            pass
        raise ValueError("too large")
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0501 `raise` is not part of a PrimFunc
        # help: write `assert condition, "message"`


@rejected
def test_a_match():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        match n:
        # <^^^^^^^ error: RX0501 `match` is not part of a PrimFunc
        # help: write `if` and `elif`
            case 0:
                x[0] = 0.0


@rejected
def test_expressions_of_python_without_a_meaning():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x[0] = (y := x[1])
        #       ^^^^^^^^^ error: RX0104 `:=` cannot be used here
        # help: assign in a statement of its own
        x[1] = x[2] @ x[3]
        #      ^^^^^^^^^^^ error: RX0501 `@` has no meaning for scalars
        x[3] = x[0] in (1.0, 2.0)
        #              ^^^^^^^^^^ error: RX0501 a scalar is needed here, this is a Python tuple


@rejected
def test_loops_with_else():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            x[i] = 0.0
        else:
            x[0] = 1.0
            # <^^^^^^^^^ error: RX0501 a loop of a PrimFunc has no `else`
            # help: put these statements after the loop
        while x[0] > 0.0:
            x[0] = 0.0
        else:
            x[1] = 0.0
            # <^^^^^^^^^ error: RX0501 a loop of a PrimFunc has no `else`
            # help: put these statements after the loop


@rejected
def test_a_scalar_does_not_change_in_a_loop():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        total = T.float32(0)
        for i in range(4):
            total += x[i]
            # <^^^^ error: RX0501 `total` is a scalar variable from outside; it cannot be assigned
            #        | again
            # help: a scalar variable never changes; keep a value that does in a buffer: `acc =
            #        | T.alloc_buffer((1,), "float32")`, then `acc[0] = ...`
        x[0] = total


@rejected
def test_a_buffer_is_not_assigned_as_a_whole():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        y = x
        # < error: RX0501 `y` is a buffer; it cannot be bound again
        # help: store into its elements: `y[i] = ...`
        y = x + x
        #   ^ error: RX0501 `x` is a whole buffer, and a scalar is needed here
        # help: take an element: `x[i]`
        y[:] = x
        #      ^ error: RX0501 `x` is a whole buffer, and a scalar is needed here
        # help: take an element: `x[i]`
        y += x
        # < error: RX0501 `y` is a buffer; it cannot be bound again
        # help: store into its elements: `y[i] = ...`


@rejected
def test_several_values_are_not_returned():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        return x[0], x[1]
        #      ^^^^^^^^^^ error: RX0105 a PrimFunc returns one scalar
        # help: write the others into the elements of a buffer parameter


@rejected
def test_a_function_does_not_stop_in_the_middle():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            if x[i] > 0.0:
                return
                # <^^^^^ error: RX0105 a PrimFunc cannot stop in the middle
                # help: put the rest under `if`: it runs only where the condition holds
        x[0] = 0.0


@rejected
def test_conditions_are_bools():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        if x[0]:
        #  ^^^^ error: RX0502 a condition is a bool, this is float32
        # help: compare it: `x[0] != 0`
            x[0] = 0.0
        while x[1] - 1.0:
        #     ^^^^^^^^^^ error: RX0502 a condition is a bool, this is float32
        # help: compare it: `x[1] - 1.0 != 0`
            x[1] = 0.0
        x[2] = 1.0 if x[2] else 0.0
        #             ^^^^ error: RX0502 a condition is a bool, this is float32
        # help: compare it: `x[2] != 0`
        assert x[3], "not zero"
        #      ^^^^ error: RX0502 a condition is a bool, this is float32
        # help: compare it: `x[3] != 0`
        x[3] = not x[3]
        #          ^^^^ error: RX0502 a condition is a bool, this is float32
        # help: compare it: `x[3] != 0`


@rejected
def test_operands_are_converted_by_hand():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.Buffer((4,), "int32")):
        n[0] = n[1] / n[2]
        #      ^^^^^^^^^^^ error: RX0502 `/` is ambiguous for integers
        # help: write `n[1] // n[2]`, or `T.truncdiv(n[1], n[2])`, or `T.cast(n[1], "float32") /
        #        | n[2]`
        x[0] = x[1] // x[2]
        #      ^^^^^^^^^^^^ error: RX0502 `//` divides integers, these are float32
        # help: write `T.floor(x[1] / x[2])`
        x[1] = n[0]
        #      ^^^^ error: RX0502 the value is int32, not float32
        # help: write `T.cast(n[0], "float32")`
        # fix: T.cast(n[0], "float32")
        n[1] = x[0] % 2
        #      ^^^^^^^^ error: RX0502 `%` divides integers, these are float32
        # help: write `T.fmod(x[0], 2)`
        n[2] += 0.5
        #       ^^^ error: RX0502 `+=` gives float32 here, and `n` holds int32
        # help: write `n[2] = T.cast(n[2] + 0.5, "int32")`


@rejected
def test_several_targets_of_what_is_made():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        a = b = T.alloc_buffer((4,), "float32")
        #   ^ error: RX0104 what is made here has one name
        # help: write one line for each: `a = ...` and `b = ...`
        c = x[9, 9] = x[0]
        #     ^^^^ error: RX0503 `x` takes 1 index, not 2
        x[0], x[1] = x[1]
        #            ^^^^ error: RX0104 a scalar of type float32 cannot be unpacked


@rejected
def test_parameters_of_python():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), scale=2.0, *rest, **options):
    #                                   ^^^^^ error: RX0108 the parameter `scale` has no annotation
    # help: write `T.Buffer((16,), "float32")`, `T.handle`, or a scalar such as `T.int64`
    #                                         ^^^ error: RX0104 a parameter of a PrimFunc has no
    #        | default value
    # help: pass the value at every call
    #                                               ^^^^ error: RX0104 a PrimFunc has no `*rest`
    # help: name each parameter
    #                                                       ^^^^^^^ error: RX0104 a PrimFunc has
    #        | no `**options`
    # help: name each parameter
        x[0] = 0.0
