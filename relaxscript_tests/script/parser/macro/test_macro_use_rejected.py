"""Rejected programs: where macros cannot stand, macros without an end, and their decorators."""

from __future__ import annotations

import pytest

from relaxscript.script import ir as I, relax as R, tir as T
from relaxscript.testing import check_rejected, rejected

# Carets stand under what they mean, wherever a formatter would rather have them.
# fmt: off


@R.macro
def shared(x, w, *, activation=None):
    return R.matmul(x, w) if activation is None else activation(R.matmul(x, w))


@rejected
def test_a_macro_that_uses_itself_for_ever():
    @R.macro
    def forever(x):
        return forever(x)
        #      ^^^^^^^^^^ error: RX0104 macros are nested more than 40 deep here
        # help: a macro that uses itself needs a case in which it does not, decided by a Python
        # | value
        #      ---------- label: `forever` is expanded here

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = forever(x)
        #   ---------- label: `forever` is expanded here
        return y


@pytest.mark.slow
@rejected
def test_a_macro_that_grows_beyond_measure():
    @R.macro
    def doubling(x, n):
        return x if n == 0 else R.add(doubling(x, n - 1), doubling(x, n - 1))
        #                             ^^^^^^^^^^^^^^^^^^ error: RX0104 more than 5,000 uses of
        # | macros are written out
        # help: call a function instead
        #                             ------------------ label: `doubling` is expanded here
        #                                                 ------------------ label: `doubling` is
        # | expanded here

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = doubling(x, 30)
        #   --------------- label: `doubling` is expanded here
        z = doubling(x, 30)
        return z


@rejected
def test_a_macro_that_uses_itself_in_a_function_of_its_own():
    @R.macro
    def nested(x):
        @R.function
        def inner(y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            return nested(y)
            #      ^^^^^^^^^ error: RX0104 macros are nested more than 40 deep here
            # help: a macro that uses itself needs a case in which it does not, decided by a
            # | Python value
            #      --------- label: `nested` is expanded here

        return inner(x)

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        return nested(x)
        #      --------- label: `nested` is expanded here


@rejected
def test_a_macro_of_the_other_language():
    @R.macro
    def doubled(x):
        return R.add(x, x)

    @T.macro
    def cleared(A):
    #   ------- label: defined here
        A[0] = T.float32(0)

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = doubled(x)
        cleared(y)
        # <^^^^^^ error: RX0104 `cleared` is a macro for PrimFuncs, and this is a Relax function
        return y

    @T.prim_func
    def g(A: T.Buffer((4,), "float32")):
        cleared(A)
        doubled(A)


@rejected
def test_a_macro_of_the_other_language_in_a_prim_func():
    @R.macro
    def doubled(x):
    #   ------- label: defined here
        return R.add(x, x)

    @T.prim_func
    def g(A: T.Buffer((4,), "float32")):
        doubled(A)
        # <^^^^^^ error: RX0104 `doubled` is a macro for Relax functions, and this is a PrimFunc


@rejected
def test_a_macro_is_not_called_by_python():
    shared(1, 2)
    # <^^^^^^^^^^^ error: RX0104 the macro `shared` can only be used in a Relax function


@rejected
def test_axes_in_a_macro_come_before_the_statements_of_the_block():
    @T.macro
    def stored(A, i):
        vi = T.axis.spatial(4, i)
        A[vi] = T.float32(0)

    @T.prim_func
    def f(A: T.Buffer((4,), "float32")):
        for i in range(4):
            with T.block("twice"):
                stored(A, i)
                stored(A, i)
                # <^^^^^^^^^^^ error: RX0504 the axes of a block come before its statements
                # help: move this line to the beginning of the block


@rejected
def test_a_mistake_in_a_macro_of_statements():
    @T.macro
    def stored(A, i):
        A[i] = valeu
        #      ^^^^^ error: RX0101 `valeu` is not defined

    @T.prim_func
    def f(A: T.Buffer((4,), "float32")):
        for i in range(4):
            stored(A, i)
            # <----------- label: `stored` is expanded here


@rejected
def test_a_dimension_that_only_a_macro_declares_has_no_value():
    @T.macro
    def stored(A):
        n = T.int64()
        # < error: RX0109 `n` has no value: no shape gives it one
        # help: make it a whole dimension of a shape: `T.Buffer(("n",), ...)`
        A[n] = T.float32(0)

    @T.prim_func
    def f(A: T.Buffer((4,), "float32")):
        stored(A)


@rejected
def test_macros_of_a_class_and_their_mistakes():
    @I.ir_module
    class Module:
        @R.macro
        def broken(x):
        #   ^^^^^^ error: RX0105 the macro `broken` does not return anything
        # help: end it with `return ...`
            y = R.add(x, x)

        @R.macro(hygenic=False)
        #        ^^^^^^^ error: RX0103 `R.macro` has no option `hygenic`
        # help: did you mean `hygienic`?
        # fix: hygienic
        def scaled(x):
            return R.multiply(x, faktor)
            #                    ^^^^^^ error: RX0101 `faktor` is not defined

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            a = broken(x)
            b = Module.broken(x)
            c = scaled(x)
            #   --------- label: `scaled` is expanded here
            d = Module.scald(x)
            #   ^^^^^^^^^^^^ error: RX0101 the module has no function `scald`
            # help: it has `Module.main`
            return x


# ---------------------------------------------------------------- decorators


@rejected
def test_options_of_a_macro():
    @R.macro(hygenic=False)
    #        ^^^^^^^ error: RX0103 `R.macro` has no option `hygenic`
    # help: did you mean `hygienic`?
    # fix: hygienic
    def doubled(x):
        return R.add(x, x)


@rejected
def test_options_of_a_macro_are_literals_given_by_name():
    clean = True

    @T.macro(hygienic=clean)
    #                 ^^^^^ error: RX0104 `hygienic` must be written as a literal
    # help: write `hygienic=True` or `hygienic=False`
    def cleared(A):
        A[0] = T.float32(0)


@rejected
def test_a_mistake_in_a_macro_inside_a_function():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        @R.macro
        def doubled(y):
        #   ^^^^^^^ error: RX0105 the macro `doubled` does not return anything
        # help: end it with `return ...`
            z = R.add(y, y)

        return doubled(x)


def test_parameters_of_a_macro_have_names_of_their_own():
    # Python itself refuses this in a file that it runs.
    check_rejected(
        """
        @R.macro
        def sum_of(x, y, x):
        #                ^ error: RX0302 two parameters are called `x`
        #                  help: rename one of them
            return R.add(x, y)

        @R.function
        def f(x: R.Tensor((2, 3), "float32")):
            return x
        """
    )


@rejected
def test_only_functions_are_macros():
    @R.macro
    #^^^^^^^ error: RX0111 `R.macro` decorates a function
    # help: define one with `def`
    class Doubled:
        pass


@rejected
def test_a_lambda_is_no_macro():
    R.macro(lambda x: x)
    # <^^^^^^^^^^^^^^^^^^^ error: RX0111 `R.macro` decorates a function
    # help: define one with `def`


@rejected
def test_options_without_a_decorator():
    def doubled(x):
        return R.add(x, x)

    R.macro(doubled, clean=True)
    # <^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0103 `R.macro` has no option `clean`


@rejected
def test_an_async_function_is_no_macro():
    @R.macro
    async def doubled(x):
    #         ^^^^^^^ error: RX0104 only a plain function can be a macro
    # help: define it with `def`
        return R.add(x, x)
