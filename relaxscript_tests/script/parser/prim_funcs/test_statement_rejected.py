"""Rejected programs: variables, loops, blocks and other statements of PrimFuncs."""

from __future__ import annotations

import math

from relaxscript.script import tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- scalar variables


@rejected
def test_variables_that_cannot_change():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        n = 3
        # < error: RX0501 `n` is a parameter; it cannot be assigned again
        # help: take another name
        total = T.float32(0)
        for i in range(4):
            total = total + x[i]
            # <^^^^ error: RX0501 `total` is a scalar variable from outside; it cannot be assigned
            #        | again
            # help: a scalar variable never changes; keep a value that does in a buffer: `acc =
            #        | T.alloc_buffer((1,), "float32")`, then `acc[0] = ...`
            i = i + 1
            # < error: RX0501 `i` is a loop variable; it cannot be assigned again
            # help: take another name
        total += 1.0


@rejected
def test_a_type_without_a_value():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        a: T.int32  # noqa: F842
        # <^^^^^^^^^ error: RX0104 `a` has a type and no value
        # help: give it one: `a: T.int32 = ...`
        b: int = 3
        #  ^^^ error: RX0108 `int` is not the type of a scalar
        # help: write for example `T.int32`
        c: T.int32 = x[0]
        #            ^^^^ error: RX0502 the value is float32, not int32
        # help: write `T.cast(x[0], "int32")`
        # fix: T.cast(x[0], "int32")
        x[0]: T.float32 = 1.0
        # <^^^ error: RX0104 only a name can have a type


@rejected
def test_unpacking_of_what_has_other_items():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        a, b = (1, 2, 3)
        # <^^^ error: RX0104 3 values cannot be given to 2 names
        c, d = x[0]
        #      ^^^^ error: RX0104 a scalar of type float32 cannot be unpacked


@rejected
def test_statements_that_give_no_value():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        a = T.evaluate(0)
        #   ^^^^^^^^^^^^^ error: RX0501 `T.evaluate` is a statement and gives no value
        # help: write it without `a =`
        with T.block("b") as c:
        #                    ^ error: RX0501 `T.block` gives no value
            x[0] = 0.0


@rejected
def test_a_let_without_a_name():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        with T.LetStmt(x[0]):
        #    ^^^^^^^^^^^^^^^ error: RX0501 this variable has no name
        # help: write `with T.LetStmt(value) as x:`
            x[0] = 0.0


# ---------------------------------------------------------------- loops and branches


@rejected
def test_loops_over_what_is_no_range():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in 4:
        #        ^ error: RX0501 a loop of a PrimFunc cannot go over a Python int
        # help: write `range(4)`
        # fix: range(4)
            x[i] = 0.0
        for i in x:
        #        ^ error: RX0501 a loop of a PrimFunc cannot go over the buffer `x`
        # help: loop over `range(n)`, `T.grid(n, m)`, `T.parallel(n)`, `T.vectorized(n)` or
        #     | `T.unroll(n)`
            x[i] = 0.0
        for i in range(x[0]):
        #              ^^^^ error: RX0501 a loop counts with integers
            x[i] = 0.0
        for i in T.grid():
        #        ^^^^^^^^ error: RX0103 `T.grid` needs an extent for each loop
        # help: write for example `T.grid(16, 16)`
            x[i] = 0.0
        for i in T.thread_binding(4):
        #        ^^^^^^^^^^^^^^^^^^^ error: RX0103 `T.thread_binding` needs the name of a thread
        # help: write `thread="threadIdx.x"`
            x[i] = 0.0
        for i in T.serial(4, annotations=3):
        #                                ^ error: RX0103 attributes are a dict with strings as keys
        # help: write `{"name": value}`
            x[i] = 0.0


@rejected
def test_loops_with_steps_that_are_no_numbers():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32):
        for i in range(0, 4, n):
        #                    ^ error: RX0501 the step of a loop is a constant number, not zero
            x[i] = 0.0


@rejected
def test_names_of_loops_that_do_not_fit():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i, j in T.grid(4, 4, 4):
        #   ^^^^ error: RX0501 3 loops cannot be given to 2 names
            x[i] = 0.0
        for i, (j, k) in T.grid(4, 4):
        #      ^^^^^^ error: RX0501 a loop variable is a name
            x[i] = 0.0
        for x[0] in range(4):
        #   ^^^^ error: RX0501 a loop variable is a name
            x[0] = 0.0


@rejected
def test_a_loop_with_else():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            x[i] = 0.0
        else:
            x[0] = 1.0
            # <^^^^^^^^^ error: RX0501 a loop of a PrimFunc has no `else`
            # help: put these statements after the loop
        while x[0] < 1.0:
            x[0] = 1.0
        else:
            x[0] = 1.0
            # <^^^^^^^^^ error: RX0501 a loop of a PrimFunc has no `else`
            # help: put these statements after the loop


@rejected
def test_scopes_that_if_does_not_hold():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        with T.If(x[0] > 0.0):
            x[0] = 1.0
            # <^^^^^^^^^ error: RX0501 `T.If` holds `T.Then` and `T.Else` only
            # help: write `with T.Then():`
        with T.If(x[0] > 0.0):
        # <^^^^^^^^^^^^^^^^^^^^^ error: RX0501 `T.If` needs `with T.Then():`
            with T.Else():
                x[0] = 1.0


@rejected
def test_statements_that_are_not_part_of_tir():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        import os  # noqa: F401
        # <^^^^^^^^ error: RX0501 `import` is not part of a PrimFunc
        # help: import at the top of the file
        for i in range(4):
            if x[i] > 0.0:
                break
                # <^^^^ error: RX0501 `break` is not part of a PrimFunc
                # help: write `while` with the condition to go on, or guard the rest with `if`
            continue
            # <^^^^^^^ error: RX0501 `continue` is not part of a PrimFunc
            # help: guard the rest of the loop with `if`
        try:
        # <^^^ error: RX0501 `try` is not part of a PrimFunc
        # help: nothing can be caught; check before: `assert condition, "message"`
            x[0] = 0.0
        finally:
            x[0] = 1.0
        del x
        # <^^^^ error: RX0501 `del` is not part of a PrimFunc
        # help: names end with the statement around them
        raise ValueError
        # <^^^^^^^^^^^^^^^ error: RX0501 `raise` is not part of a PrimFunc
        # help: write `assert condition, "message"`
        def inner():
        # <^^^^^^^^^^^ error: RX0501 a function inside a function is not part of a PrimFunc
        # help: define it outside, and call it as `cls.f(...)`
            pass


@rejected
def test_scopes_that_with_cannot_open():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        with math:
        #    ^^^^ error: RX0501 `with` cannot open the module `math`
        # help: it opens scopes such as `T.block("name")`, `T.init()` and `T.grid(...)`
            x[0] = 0.0


# ---------------------------------------------------------------- blocks


@rejected
def test_axes_and_loops_that_do_not_match():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32")):
        for i, j in T.grid(4, 4):
            with T.block("b"):
                vi, vj = T.axis.remap("SSR", [i, j])
                #                     ^^^^^ error: RX0504 there are 3 kinds for 2 loop variables
                # help: one letter for each loop variable: `S` spatial, `R` reduction
                x[vi, vj] = 0.0
            with T.block("b"):
                vi = T.axis.remap("SX", [i, j])
                #                 ^^^^ error: RX0504 there is no kind of axis `X`
                # help: `S` is spatial, `R` reduction, `C` scan, `O` opaque
                x[vi, 0] = 0.0
            with T.block("b"):
                vi, vj, vk = T.axis.remap("SS", [i, j])
                #                               ^^^^^^ error: RX0504 there are 3 names for 2 loop
                #        | variables
                x[vi, vj] = 0.0
            with T.block("b"):
                vi = T.axis.remap("S", i)
                #                      ^ error: RX0504 the loop variables are given as a list
                # help: write `[i]`
                x[vi, 0] = 0.0
            with T.block("b"):
                vi = T.axis.remap(1, [i])
                #                 ^ error: RX0504 the kinds of axes are a string such as "SSR"
                x[vi, 0] = 0.0
            with T.block("b"):
                vi = T.axis.remap("S", [i + 1])
                #                       ^^^^^ error: RX0504 this is not the variable of a loop
                #        | around the block
                # help: give the domain yourself: `T.axis.spatial(extent, value)`
                x[vi, 0] = 0.0
            with T.block("b"):
                (vi, x[0, 0]) = T.axis.remap("SS", [i, j])
                #    ^^^^^^^ error: RX0504 an axis is bound to a name
                x[vi, 0] = 0.0


@rejected
def test_axes_with_values_that_are_no_integers():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("b"):
                vi = T.axis.spatial(4, x[i])
                #                      ^^^^ error: RX0504 the value of an axis is an integer
                vj = T.axis.spatial(x[i], i)
                #                   ^^^^ error: RX0504 the domain of an axis is given by integers
                x[vi] = 0.0


@rejected
def test_axes_outside_of_blocks():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            vi = T.axis.spatial(4, i)
            #    ^^^^^^^^^^^^^^^^^^^^ error: RX0504 `T.axis.spatial` belongs in a block
            # help: open one: `with T.block("name"):`
            x[vi] = 0.0
            T.where(i < 3)
            # <^^^^^^^^^^^^^ error: RX0504 `T.where` belongs in a block
            # help: open one: `with T.block("name"):`
            with T.init():
            #    ^^^^^^^^ error: RX0504 `T.init()` belongs in a block
            # help: open one: `with T.block("name"):`
                x[i] = 0.0


@rejected
def test_axes_after_statements():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        with T.block("b"):
            x[0] = 0.0
            vi = T.axis.spatial(4, 0)
            #    ^^^^^^^^^^^^^^^^^^^^ error: RX0504 the axes of a block come before its statements
            # help: move this line to the beginning of the block


@rejected
def test_two_inits_in_one_block():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        with T.block(7):
        #    ^^^^^^^^^^ error: RX0504 the name of a block is a string
            x[0] = 0.0
        with T.block("b"):
            with T.init():
                x[0] = 0.0
            with T.init():
            #    ^^^^^^^^ error: RX0504 this block has an `init` already
                x[0] = 0.0


@rejected
def test_regions_that_are_none():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        with T.block("b"):
            T.reads(x[0] + 1.0)
            #       ^^^^^^^^^^ error: RX0504 a region of a buffer is needed here, this is a scalar
            #        | of type float32
            # help: write for example `A[0:4, vi]`
            T.writes([x, 3])
            #            ^ error: RX0504 a region of a buffer is needed here, this is a Python int
            # help: write for example `A[0:4, vi]`
            T.block_attr([1])
            #            ^^^ error: RX0103 attributes are a dict with strings as keys
            # help: write `{"name": value}`
            x[0] = 0.0


# ---------------------------------------------------------------- statements that are expressions


@rejected
def test_expressions_that_do_nothing():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        x
        # < error: RX0501 the buffer `x` does nothing by itself
        # help: a statement stores, loops, or calls something
        T.block("b")
        # <^^^^^^^^^^^ error: RX0501 `T.block` opens a scope
        # help: write `with T.block("b"):`
        T.grid(4)
        # <^^^^^^^^ error: RX0501 `T.grid` is what a loop goes over
        # help: write `for i in T.grid(4):`
        T.alloc_buffer((4,), "float32")
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0501 a buffer needs a name here
        # help: write `x = T.alloc_buffer((4,), "float32")`
        T.allocate([4], "float32")
        # <^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0501 `T.allocate` needs a name here
        # help: write `x = T.allocate([4], "float32")`
        T.float32
        # <^^^^^^^^ error: RX0501 the dtype `T.float32` does nothing by itself
        # help: a statement stores, loops, or calls something
        lambda: 1
        # <^^^^^^^^ error: RX0501 a function does nothing by itself
        # help: a statement stores, loops, or calls something


@rejected
def test_hints_that_say_nothing():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        T.attr(x, 3, 1)
        #         ^ error: RX0103 the name of a hint is a string
        T.attr(T.grid(4), "key", 1)
        #      ^^^^^^^^^ error: RX0501 a hint cannot be about `T.grid(...)`
        T.func_attr(3)
        #           ^ error: RX0103 attributes are a dict with strings as keys
        # help: write `{"name": value}`
        assert x[0] > 0.0, 3  # noqa: RUF040
        #                  ^ error: RX0501 the message of an assertion is a string, this is a Python
        #        | int


@rejected
def test_returns_that_a_prim_func_does_not_have():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32"), n: T.int32) -> T.int32:
        if n > 3:
            return
            # <^^^^^ error: RX0105 a PrimFunc cannot stop in the middle
            # help: put the rest under `if`: it runs only where the condition holds
        if n > 2:
            return x
            #      ^ error: RX0105 a PrimFunc writes into its parameters, it does not return
            #        | buffers
            # help: add a parameter for the result, and leave `return` out
        return x[0]
        #      ^^^^ error: RX0502 the value is float32, not int32
        # help: write `T.cast(x[0], "int32")`
        # fix: T.cast(x[0], "int32")
