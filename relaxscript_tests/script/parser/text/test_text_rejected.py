"""Rejected programs: what stands around the definitions of a text, in data mode and Python mode."""

from __future__ import annotations

import pytest

from relaxscript.testing import check_rejected

# Carets stand under what they mean, wherever a formatter would rather have them; no line is broken.
# ruff: noqa: E501
# fmt: off

# ---------------------------------------------------------------- data mode evaluates nothing


def data(program):
    check_rejected(program, mode="data")


def test_a_value_that_has_to_be_computed():
    data(
        """
        import os
        #      ^^ error: RX0104 `os` is imported, and in data mode nothing is
        #         help: Python is run with `mode="python"`, or by `relaxscript run FILE`
        N = len(os.sep)

        @R.function
        def f(x: R.Tensor((N,), "float32")):
            return x
        """
    )


def test_a_call_of_python():
    data(
        """
        names = open("names.txt")
        #       ^^^^^^^^^^^^^^^^^ error: RX0104 only plain values can be assigned where no Python is evaluated
        #                       help: Python is run with `mode="python"`, or by `relaxscript run FILE`
        first = names[0]

        @R.function
        def f(x: R.Tensor((first,), "float32")):
            return x
        """
    )


def test_a_call_of_pythons_own_functions():
    data(
        """
        N: int = len("abcd")
        #        ^^^^^^^^^^^ error: RX0104 only plain values can be assigned where no Python is evaluated
        #                    help: Python is run with `mode="python"`, or by `relaxscript run FILE`

        @R.function
        def f(x: R.Tensor((N,), "float32")):
            return x
        """
    )


def test_a_lambda():
    data(
        """
        double = lambda x: R.add(x, x)
        #        ^^^^^^^^^^^^^^^^^^^^^ error: RX0104 only plain values can be assigned where no Python is evaluated
        #                              help: Python is run with `mode="python"`, or by `relaxscript run FILE`

        @R.function
        def f(x: R.Tensor((2,), "float32")):
            return double(x)
        """
    )


def test_an_annotation_that_has_to_be_computed():
    data(
        """
        n = R.dim("n")
        Image = make(n)
        #       ^^^^^^^ error: RX0104 only plain values can be assigned where no Python is evaluated
        #               help: Python is run with `mode="python"`, or by `relaxscript run FILE`

        @R.function
        def f(x: Image, w: R.Tensor((n * 2,), "float32")):
            y = R.matmul(x, w)
            return y
        """
    )


def test_a_value_that_is_huge():
    data(
        """
        mask = [0] * 10 ** 9
        #      ^^^^^^^^^^^^^ error: RX0104 only plain values can be assigned where no Python is evaluated
        #                    help: Python is run with `mode="python"`, or by `relaxscript run FILE`

        @R.function
        def f(x: R.Tensor((2,), "float32")):
            return x
        """
    )


def test_an_assignment_to_an_attribute():
    data(
        """
        R.add = R.multiply
        # <^^^^^^^^^^^^^^^^^ error: RX0104 only imports, modules and functions are allowed here
        #                     help: Python is run with `mode="python"`, or by `relaxscript run FILE`

        @R.function
        def f(x: R.Tensor((2,), "float32")):
            return R.add(x, x)
        """
    )


def test_a_loop_around_definitions():
    data(
        """
        for n in (1, 2):
        # <^^ error: RX0104 only imports, modules and functions are allowed here
        #      help: Python is run with `mode="python"`, or by `relaxscript run FILE`
            pass

        @R.function
        def f(x: R.Tensor((n,), "float32")):
            return x
        """
    )


def test_a_plain_function():
    data(
        """
        def width(n):
        #   ^^^^^ error: RX0104 `width` is neither a Relax function nor a PrimFunc
        #         help: decorate it with `@R.function` or `@T.prim_func`
            return n * 2

        @R.function
        def f(x: R.Tensor((width(2),), "float32")):
            return x
        """
    )


def test_imports_are_reported_once_and_only_where_they_are_used():
    data(
        """
        import sys
        import numpy as np
        #      ^^^^^^^^^^^ error: RX0104 `np` is imported, and in data mode nothing is
        #                  help: Python is run with `mode="python"`, or by `relaxscript run FILE`
        from math import pi, tau
        #                ^^ error: RX0104 `pi` is imported, and in data mode nothing is
        #                   help: Python is run with `mode="python"`, or by `relaxscript run FILE`

        @R.function
        def f(x: R.Tensor((2,), "float32")):
            return R.add(x, R.const(np.ones(2), "float32"))

        @R.function
        def g(x: R.Tensor((2,), "float32")):
            y = R.add(x, R.const(np.ones(2), "float32"))
            return R.multiply(y, R.const(pi, "float32"))
        """
    )


def test_a_hidden_attribute():
    data(
        """
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            y = "x".__class__
            #   ^^^^^^^^^^^^^ error: RX0104 attributes of Python values are not read in data mode
            return x
        """
    )


def test_a_text_of_great_width():
    data(
        """
        @R.function(pure=False)
        def f(x: R.Tensor((2,), "float32")):
            _ = R.print(x, format=f"{1:99999}")
            #                     ^^^^^^^^^^^^ error: RX0104 this string is too long for a script
            return x
        """
    )


@pytest.mark.slow
def test_sequences_that_grow():
    data(
        """
        A = [0] * 1000
        B = [A] * 900

        @R.function
        def f(x: R.Tensor((2,), "float32")):
            y = A * 1000
            #   ^^^^^^^^ error: RX0104 this number or sequence is too large for a script
            z = [B, B]
            #   ^^^^^^ error: RX0104 this number or sequence is too large for a script
            a = R.const(B + B)
            #           ^^^^^ error: RX0104 this number or sequence is too large for a script
            b = f"{B}{B}{B}{B}{B}{B}{B}{B}{B}"
            #   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0104 this number or sequence is too large for a script
            return x
        """
    )


# ---------------------------------------------------------------- Python mode runs the text


def test_python_that_fails():
    check_rejected(
        """
        import math
        N = 4

        int("four")
        # <^^^^^^^^^^ error: RX0112 evaluating this Python raised ValueError: invalid literal for int() with base 10: 'four'

        @R.function
        def f(x: R.Tensor((N,), "float32")):
            return R.add(x, y)
            #               ^ error: RX0101 `y` is not defined
        """
    )


def test_what_depends_on_python_that_failed():
    check_rejected(
        """
        N = int("four")
        #   ^^^^^^^^^^^ error: RX0112 evaluating this Python raised ValueError: invalid literal for int() with base 10: 'four'
        M = N + 1
        print("this is not run any more")

        @R.function
        def f(x: R.Tensor((N, M), "float32")):
            return x
        """
    )


def test_an_import_that_fails():
    check_rejected(
        """
        from relaxscript.script import relax as R
        import a_module_that_nobody_has
        # <^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ error: RX0112 evaluating this Python raised ModuleNotFoundError: No module named 'a_module_that_nobody_has'

        @R.function
        def f(x: R.Tensor((2,), "float32")):
            return a_module_that_nobody_has.f(x)
        """
    )


def test_a_failure_inside_a_function_of_the_text():
    check_rejected(
        """
        def width(text):
            return int(text)
            #      ^^^^^^^^^ error: RX0112 evaluating this Python raised ValueError: invalid literal for int() with base 10: 'four'

        N = width("four")

        @R.function
        def f(x: R.Tensor((N,), "float32")):
            return x
        """
    )


def test_a_text_that_wants_to_leave():
    check_rejected(
        """
        import sys

        sys.exit("enough")
        # <^^^^^^^^^^^^^^^^^ error: RX0112 evaluating this Python raised SystemExit: enough
        """
    )


def test_a_statement_that_cannot_stand_in_a_module():
    check_rejected(
        """
        return 4
        # <^^^^^^^ error: RX0113 this is not Python: 'return' outside function
        """
    )


def test_a_mistake_in_a_function_that_the_text_makes():
    check_rejected(
        """
        def make(n):
            @R.function
            def f(x: R.Tensor((n, 3), "float32")):
                return R.exp(z)
                #            ^ error: RX0101 `z` is not defined

            return f

        two = make(2)
        three = make(3)
        """
    )


def test_a_misspelt_decorator_in_python_mode():
    check_rejected(
        """
        @R.functoin
        #^^^^^^^^^^ error: RX0102 `R` has no `functoin`
        #           help: did you mean `R.function`?
        #           fix: R.function
        def f(x: R.Tensor((2,), "float32")):
            return x
        """
    )


def test_a_decorator_that_fails_above_ours():
    check_rejected(
        """
        def checked(function):
            return len(3)
            #      ^^^^^^ error: RX0112 evaluating this Python raised TypeError: object of type 'int' has no len()

        @checked
        @R.function
        def f(x: R.Tensor((2,), "float32")):
            return x
        """
    )


def test_a_text_whose_function_was_not_decorated():
    check_rejected(
        """
        def f(x: R.Tensor((2, 3), "float32")):
        #   ^ error: RX0111 the script defines no module and no function
        # help: decorate it with `@R.function`
        # fix: @R.function\\n
            return x
        """,
        mode="python",
    )


def test_a_text_whose_class_was_not_decorated():
    check_rejected(
        """
        class Plain:
            pass

        class Module:
        #     ^^^^^^ error: RX0111 the script defines no module and no function
        # help: decorate it with `@I.ir_module`
        # fix: @I.ir_module\\n
            @R.function
            def f(x: R.Tensor((2, 3), "float32")):
                return x
        """,
        mode="python",
    )
