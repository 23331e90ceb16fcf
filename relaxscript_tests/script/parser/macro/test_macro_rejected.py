"""Rejected programs: macros, blamed both where they are written and where they are used."""

from __future__ import annotations

from relaxscript.script import relax as R, tir as T
from relaxscript.testing import rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off

# ---------------------------------------------------------------- mistakes inside


@rejected
def test_a_mistake_in_a_macro_is_shown_where_it_is_written_and_at_every_use():
    @R.macro
    def scaled(x):
        y = R.multiply(x, faktor)
        #                 ^^^^^^ error: RX0101 `faktor` is not defined
        return y

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        a = scaled(x)
        #   --------- label: `scaled` is expanded here
        b = scaled(a)
        return b


@rejected
def test_names_of_the_use_are_not_defined_in_a_hygienic_macro():
    @R.macro
    def shifted(x):
        return R.add(x, offset)
        #               ^^^^^^ error: RX0101 `offset` is not defined where the macro is
        # help: give it as an argument, or write `@R.macro(hygienic=False)`

    @R.function
    def f(x: R.Tensor((2, 3), "float32"), offset: R.Tensor((2, 3), "float32")):
        return shifted(x)
        #      ---------- label: `shifted` is expanded here


@rejected
def test_names_of_the_use_that_are_not_there():
    @R.macro(hygienic=False)
    def shifted(x):
        return R.add(x, offset)
        #               ^^^^^^ error: RX0101 `offset` is not defined

    @R.function
    def f(x: R.Tensor((2, 3), "float32"), offset: R.Tensor((2, 3), "float32")):
        y = shifted(x)
        return y

    @R.function
    def g(x: R.Tensor((2, 3), "float32")):
        y = shifted(x)
        #   ---------- label: `shifted` is expanded here
        return y


@rejected
def test_what_a_macro_binds_is_not_defined_outside():
    @R.macro(hygienic=False)
    def doubled(x):
        twice = R.add(x, x)
        return twice

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = doubled(x)
        return R.add(y, twice)
        #               ^^^^^ error: RX0101 `twice` is not defined


@rejected
def test_operands_that_disagree_inside_a_macro_in_a_macro():
    @R.macro
    def product(a, b):
        return R.matmul(a, b)
        #                  ^ error: RX0203 `R.matmul` cannot multiply these operands
        # help: the last axis of `a` must equal the last-but-one axis of `b`
        #                  - label: has 3 rows
        #               - label: has 4 columns

    @R.macro
    def activated(x, w):
        y = product(x, w)
        #   ------------- label: `product` is expanded here
        return R.nn.relu(y)

    @R.function
    def f(x: R.Tensor((2, 4), "float32"), w: R.Tensor((3, 5), "float32")):
    #                                                  - label: `b` has 3 rows here
    #        --------------------------- label: `a` has 4 columns here
        h = activated(x, w)
        #   --------------- label: `activated` is expanded here
        return h


@rejected
def test_what_cannot_be_decided_inside_a_macro():
    @R.macro
    def product(a, b):
        return R.matmul(a, b)
        #      ^^^^^^^^^^^^^^ warning: RX0207 `a` has m columns, `b` has k rows; it is checked
        # | when the program runs
        #               - label: has m columns
        #                  - label: has k rows

    @R.function
    def f(x: R.Tensor(("n", "m"), "float32"), w: R.Tensor(("k", "n"), "float32")):
    #        ------------------------------- label: `a` has m columns here
    #                                                      --- label: `b` has k rows here
        return product(x, w)
        #      ------------- label: `product` is expanded here


@rejected
def test_a_side_effect_in_a_macro_that_is_used_in_a_pure_function():
    @R.macro
    def shown(x):
        y = R.call_packed("show", x, sinfo_args=R.Tensor((2, 3), "float32"))
        #   ^^^^^^^^^^^^^ error: RX0401 `show` is impure and cannot be called in a pure function
        # help: if it has no side effects, call it by `R.call_pure_packed`; else
        # | declare the function impure: `@R.function(pure=False)`
        #   ------------- label: has side effects
        return y

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = shown(x)
        #   -------- label: `shown` is expanded here
        return y


@rejected
def test_a_branch_in_a_macro_that_is_used_in_a_dataflow_block():
    @R.macro
    def chosen(c, x):
        if c:
        #  ^ error: RX0307 `if` is not allowed in a dataflow block
        # help: close the block with `R.output(...)` first, or use `R.where`
            y = R.exp(x)
        else:
            y = R.log(x)
        return y

    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            y = chosen(c, x)
            #   ------------ label: `chosen` is expanded here
            R.output(y)
        return y


@rejected
def test_the_result_of_a_macro_that_does_not_fit_is_blamed_on_its_use():
    @R.macro
    def doubled(x):
        return R.add(x, x)

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y: R.Tensor((2, 4), "float32") = doubled(x)
        #                                ^^^^^^^^^^ error: RX0205 the value does not fit the
        # | annotation
        # help: it is `R.Tensor((2, 3), "float32")`, declared as `R.Tensor((2, 4), "float32")`
        #                                ---------- label: dimension 1 is `3`, not `4`
        #  --------------------------- label: declared here
        return y


# ---------------------------------------------------------------- arguments


@rejected
def test_arguments_that_the_parameters_of_a_macro_do_not_take():
    options = {"other": 1}

    @R.macro
    def dense(x, w, /, bias=None, *, activation=None):
    #   ----- label: defined here
    #   ----- label: defined here
    #   ----- label: defined here
    #   ----- label: defined here
    #   ----- label: defined here
    #   ----- label: defined here
        return R.matmul(x, w)

    @R.function
    def f(x: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 5), "float32")):
        a = dense(x)
        #   ^^^^^^^^ error: RX0103 `dense` needs `w`
        # help: it is called as `dense(x, w, /, bias=None, *, activation=None)`
        b = dense(x, w, x, w)
        #                  ^ error: RX0103 `dense` takes 3 arguments by position, not 4
        # help: it is called as `dense(x, w, /, bias=None, *, activation=None)`
        c = dense(x, w, activatoin=R.nn.relu)
        #               ^^^^^^^^^^ error: RX0103 `dense` has no parameter `activatoin`
        # help: did you mean `activation`?
        # fix: activation
        d = dense(x, w=w)
        #            ^ error: RX0103 `dense` has no parameter `w`
        # help: it is called as `dense(x, w, /, bias=None, *, activation=None)`
        e = dense(x, w, x, bias=x)
        #                  ^^^^ error: RX0103 `dense` is given `bias` twice
        # help: leave out one of them, in its place or as `bias=`
        g = dense(x, wrong)
        #            ^^^^^ error: RX0101 `wrong` is not defined
        h = dense(x, w, **options)
        #   ^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `dense` has no parameter `other`
        # help: it is called as `dense(x, w, /, bias=None, *, activation=None)`
        return x


@rejected
def test_arguments_of_a_macro_of_statements():
    @T.macro
    def stored(A, i, *, value):
    #   ------ label: defined here
    #   ------ label: defined here
    #   ------ label: defined here
        A[i] = value

    @T.prim_func
    def f(A: T.Buffer((4,), "float32")):
        stored(A, 1)
        # <^^^^^^^^^^^ error: RX0103 `stored` needs `value`
        # help: it is called as `stored(A, i, *, value)`
        stored(A, 1, T.float32(2))
        #            ^^^^^^^^^^^^ error: RX0103 `stored` takes 2 arguments by position, not 3
        # help: it is called as `stored(A, i, *, value)`
        stored(A, 1, valeu=T.float32(2))
        #            ^^^^^ error: RX0103 `stored` has no parameter `valeu`
        # help: did you mean `value`?
        # fix: value


# ---------------------------------------------------------------- return


@rejected
def test_a_macro_of_relax_returns():
    @R.macro
    def doubled(x):
    #   ^^^^^^^ error: RX0105 the macro `doubled` does not return anything
    # help: end it with `return ...`
        y = R.add(x, x)


@rejected
def test_a_macro_of_relax_returns_a_value():
    @R.macro
    def doubled(x):
        return
        # <^^^^^ error: RX0105 a macro of Relax functions returns a value
        # help: write `return ...`


@rejected
def test_a_macro_that_ends_without_return():
    @R.macro
    def chosen(x, n):
    #   ^^^^^^ error: RX0105 the macro `chosen` ended without `return`
    # help: every way through it ends with `return ...`
        if n > 1:
            return R.add(x, x)

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = chosen(x, 2)
        z = chosen(y, 1)
        #   ------------ label: `chosen` is expanded here
        return z


@rejected
def test_a_macro_returns_at_its_end():
    @R.macro
    def early(c, x):
        if c:
            y = R.exp(x)
            return y
            # <^^^^^^^ error: RX0105 a branch cannot return from the function
            # help: bind the value in both branches, and return it after the `if`
        else:
            y = R.log(x)
        return y

    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((2, 3), "float32")):
        y = early(c, x)
        #   ----------- label: `early` is expanded here
        return y


@rejected
def test_a_macro_does_not_return_out_of_a_dataflow_block():
    @R.macro
    def inside(x):
        with R.dataflow():
            y = R.exp(x)
            return y
            # <^^^^^^^ error: RX0105 `return` is not allowed in a dataflow block of a macro
            # help: close the block with `R.output(...)`, then return

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = inside(x)
        #   --------- label: `inside` is expanded here
        return y


@rejected
def test_a_macro_does_not_return_where_only_python_decides_inside_a_branch():
    @R.macro
    def inside(c, x, n):
        if c:
            if n:
                return x
                # <^^^^^^^ error: RX0105 `return` is not allowed in a branch of a macro
                # help: bind the value in both branches, and return it after the `if`
            y = R.exp(x)
        else:
            y = R.log(x)
        return y

    @R.function
    def f(c: R.Tensor((), "bool"), x: R.Tensor((2, 3), "float32")):
        y = inside(c, x, 1)
        #   --------------- label: `inside` is expanded here
        return y


@rejected
def test_a_macro_of_statements_returns_nothing():
    @T.macro
    def loaded(A, i):
        return A[i]
        # <^^^^^^^^^^ error: RX0105 a macro of PrimFuncs stands for statements, and has no value
        # help: give it a buffer in which it stores the result


@rejected
def test_a_macro_of_statements_has_no_value():
    @T.macro
    def cleared(A):
    #   ------- label: defined here
        A[0] = T.float32(0)

    @T.prim_func
    def f(A: T.Buffer((4,), "float32")):
        x = cleared(A)
        #   ^^^^^^^^^^ error: RX0105 the macro `cleared` stands for statements and has no value
        # help: write `cleared(A)` in a line of its own


@rejected
def test_a_macro_of_statements_does_not_stop_in_a_loop():
    @T.macro
    def cleared(A, n):
        for i in range(n):
            A[i] = T.float32(0)
            return
            # <^^^^^ error: RX0105 a macro cannot stop in the middle of a loop or a branch
            # help: put the rest under `if`: it runs only where the condition holds

    @T.prim_func
    def f(A: T.Buffer((4,), "float32")):
        cleared(A, 4)
        # <------------ label: `cleared` is expanded here
