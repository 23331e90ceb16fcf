"""Accepted programs: macros, and that nothing of them is left in what they make."""

from __future__ import annotations

import numpy as np

import relaxscript as rx
from relaxscript.ir.relax import DataflowBlock
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, ir as I, relax as R, tir as T
from relaxscript_tests.script.parser.macro import shared_macros

FACTOR = 2.0


def check(program, expected=None):
    """A program prints as one that parses back to it, and is the one that was expected."""
    text = program.script(show_meta=True)
    again = from_source(text)
    assert_structural_equal(again, program)
    assert again.script(show_meta=True) == text
    assert "macro" not in text
    if expected is not None:
        assert_structural_equal(program, expected)
    return text


@R.macro
def dense(x, w, /, bias=None, *more, activation=None, **named):
    h = R.matmul(x, w)
    if bias is not None:
        h = R.add(h, bias)
    for_each = [R.add(h, other) for other in more]
    if activation is not None:
        h = activation(h)
    return R.multiply(h, R.const(named.get("factor", 1.0)))


def test_arguments_are_bound_as_python_binds_them():
    options = {"factor": 5.0}

    @R.function
    def f(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32")):
        a = dense(x, w)
        b = dense(x, w, a, activation=R.nn.relu)
        c = dense(*(x, w), bias=b, **options)
        return c

    @R.function
    def expected(x: R.Tensor((2, 3), "float32"), w: R.Tensor((3, 4), "float32")):
        h = R.matmul(x, w)
        a = R.multiply(h, R.const(1.0))
        h1 = R.matmul(x, w)
        h2 = R.add(h1, a)
        h3 = R.nn.relu(h2)
        b = R.multiply(h3, R.const(1.0))
        h4 = R.matmul(x, w)
        h5 = R.add(h4, b)
        c = R.multiply(h5, R.const(5.0))
        return c

    check(f.with_attr("global_symbol", "expected"), expected)


def test_an_argument_that_is_computed_is_computed_once():
    @R.macro
    def square(x):
        return R.multiply(x, x)

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        return square(R.exp(x))

    assert check(f).count("R.exp") == 1


def test_a_hygienic_macro_means_the_names_of_its_definition():
    @R.macro
    def scaled(x):
        y = R.multiply(x, R.const(FACTOR))
        return y

    @R.function
    def f(x: R.Tensor((2, 3), "float32"), FACTOR: R.Tensor((2, 3), "float32")):
        y = R.add(x, FACTOR)
        z = scaled(x)
        return R.add(y, z)

    text = check(f)
    assert "R.multiply(x, R.const(2.0" in text


def test_names_of_a_definition_keep_the_values_they_had():
    factor = 2.0

    @R.macro
    def scaled(x):
        return R.multiply(x, R.const(factor))

    factor = 9.0

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        return scaled(x)

    assert "R.const(2.0" in check(f)
    assert factor == 9.0


def test_another_macro_means_the_names_of_its_use():
    @R.macro(hygienic=False)
    def increased(x):
        return R.add(x, offset)

    @R.function
    def f(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        offset = R.exp(y)
        a = increased(x)
        offset = R.log(y)
        return increased(a)

    @R.function
    def expected(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")):
        offset = R.exp(y)
        a = R.add(x, offset)
        offset1 = R.log(y)
        b = R.add(a, offset1)
        return b

    check(f.with_attr("global_symbol", "expected"), expected)


def test_what_a_macro_binds_is_not_seen_outside():
    @R.macro(hygienic=False)
    def doubled(x):
        y = R.add(x, x)
        return y

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = R.exp(x)
        z = doubled(x)
        return R.add(y, z)

    @R.function
    def expected(x: R.Tensor((2, 3), "float32")):
        y = R.exp(x)
        y1 = R.add(x, x)
        z = y1
        r = R.add(y, z)
        return r

    check(f.with_attr("global_symbol", "expected"), expected)


def test_macros_of_another_file_mean_the_names_of_that_file():
    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        y = shared_macros.scaled(x)
        return shared_macros.scaled_there(y)

    text = check(f)
    assert "R.multiply(x, R.const(3.0" in text
    assert "R.multiply(y, R.const(2.0" in text

    @T.prim_func
    def g(A: T.Buffer((4,), "float32")):
        shared_macros.filled(A, 4)

    assert "A[i] = T.float32(3.0)" in check(g)


def test_a_macro_calls_macros_and_itself_over_python_values():
    @R.macro
    def power(x, n):
        if n == 0:
            return R.ones_like(x)
        if n == 1:
            return x
        half = power(x, n // 2)
        squared = R.multiply(half, half)
        return R.multiply(squared, x) if n % 2 else squared

    @R.macro
    def cubed_and_more(x, n=3):
        return R.add(power(x, n), x)

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        return cubed_and_more(x)

    check(f)
    x = np.arange(6, dtype="float32").reshape(2, 3)
    np.testing.assert_array_equal(rx.jit(rx.IRModule({"f": f}))["f"](x), x**3 + x)


def test_a_macro_in_a_dataflow_block_is_part_of_it():
    @R.macro
    def twice(x):
        with R.dataflow():
            a = R.add(x, x)
            b = R.exp(a)
            R.output(b)
        return R.add(b, x)

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        with R.dataflow():
            y = twice(x)
            z = R.log(y)
            R.output(z)
        return z

    @R.function
    def g(x: R.Tensor((2, 3), "float32")):
        return twice(x)

    check(f)
    check(g)
    (block,) = f.body.blocks
    assert isinstance(block, DataflowBlock)
    assert len(block.bindings) == 4
    first, second = g.body.blocks
    assert isinstance(first, DataflowBlock)
    assert not isinstance(second, DataflowBlock)


def test_a_macro_may_give_several_values_and_values_of_python():
    @R.macro
    def halves(x):
        a, b = R.split(x, 2, axis=1)
        return a, R.exp(b)

    @R.macro
    def shape_of_result(n):
        return R.Tensor((n, 3), "float32")

    @R.function(pure=False)
    def f(x: R.Tensor((2, 6), "float32")):
        a, b = halves(x)
        c = R.add(a, b)
        d = R.call_packed("some.function", c, sinfo_args=shape_of_result(2))
        return d

    check(f)


def test_a_macro_binds_dimensions_and_branches():
    @R.macro
    def checked(x, m):
        n = T.int64()
        y = R.match_cast(x, R.Tensor((n, m), "float32"))
        return R.reshape(y, (m, n))

    @R.macro
    def chosen(c, x):
        if c:
            y = R.exp(x)
        else:
            y = R.log(x)
        return y

    @R.function
    def f(x: R.Tensor(ndim=2, dtype="float32"), c: R.Tensor((), "bool"), m: R.Prim(value="m")):
        m = T.int64()
        a = checked(x, m)
        b = chosen(c, a)
        return b

    check(f)


def test_a_macro_holds_functions_of_its_own():
    @R.macro
    def through(x):
        @R.function
        def inner(y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            z = R.exp(y)
            return z

        return inner(x)

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        return through(x)

    check(f)


def test_a_macro_inside_a_function_sees_what_was_bound_before_it():
    @R.function
    def f(x: R.Tensor((2, 3), "float32"), w: R.Tensor((2, 3), "float32")):
        @R.macro
        def shifted(y):
            return R.add(y, w)

        a = shifted(x)
        w1 = R.exp(w)
        return R.add(shifted(a), w1)

    assert check(f).count("R.add") == 3

    @T.prim_func
    def g(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        @T.macro
        def copied(i):
            B[i] = A[i]

        for j in range(4):
            copied(j)

    assert "B[j] = A[j]" in check(g)


def test_macros_of_a_class_are_known_by_their_plain_names_and_by_the_class():
    @I.ir_module
    class Module:
        @R.macro
        def scaled(x, factor=2.0):
            cls = Module
            return cls.kept(R.multiply(x, R.const(factor)))

        @T.macro
        def cleared(A, count):
            for i in range(count):
                A[i] = T.float32(0)

        @T.prim_func
        def clear(A: T.Buffer((4,), "float32")):
            cleared(A, 2)
            Module.cleared(A, 4)

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            cls = Module
            y = scaled(x)
            z = cls.scaled(y, factor=3.0)
            return z

        @R.function
        def kept(x: R.Tensor((4,), "float32")):
            return x

    check(Module)
    assert sorted(gv.name_hint for gv in Module) == ["clear", "kept", "main"]


def test_a_class_takes_over_a_macro_under_a_name():
    @R.macro
    def doubled(x):
        return R.add(x, x)

    @I.ir_module
    class Module:
        twice = doubled

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return Module.twice(x)

    check(Module)
    assert len(Module) == 1


def test_a_macro_as_a_method_of_a_python_object():
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        @R.macro
        def apply(self, x):
            return R.multiply(x, R.const(self.factor))

    by_two = Scale(2.0)

    @R.function
    def f(x: R.Tensor((2, 3), "float32")):
        return by_two.apply(x)

    assert "R.const(2.0" in check(f)


def test_macros_of_a_text_need_no_python():
    f = from_source(
        """
from relaxscript.script import ir as I, relax as R, tir as T

@R.macro
def scaled(x, *, factor=2.0, **others):
    return R.multiply(x, R.const(factor))

@T.macro(hygienic=False)
def cleared(A):
    for i in range(count):
        A[i] = T.float32(0)

@T.prim_func
def clear(A: T.Buffer((4,), "float32")):
    count = T.meta_var(4)
    cleared(A)

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        y = scaled(x)
        z = scaled(y, factor=3.0, unused=1)
        c = R.call_tir(clear, (), out_sinfo=R.Tensor((4,), "float32"))
        return R.add(z, c)
"""
    )
    check(f)
    assert sorted(gv.name_hint for gv in f) == ["clear", "main"]


def test_a_macro_says_what_it_is():
    assert repr(shared_macros.filled) == "<T.macro filled(A, count)>"
    assert shared_macros.scaled.__name__ == "scaled"


def test_functions_without_a_declared_result_are_known_to_macros():
    @R.macro
    def outside(x, module):
        return module.last(x)

    @I.ir_module
    class Module:
        @R.macro
        def inside(x):
            return Module.last(x)

        @R.function
        def main(x: R.Tensor((2, 3), "float32")):
            cls = Module
            y = inside(x)
            return outside(y, cls)

        @R.function
        def last(x: R.Tensor((2, 3), "float32")):
            return R.exp(x)

    check(Module)


def test_a_macro_gives_annotations():
    @R.macro
    def matrix(rows, columns=3):
        return R.Tensor((rows, columns), "float32")

    text = """
@R.macro
def matrix(rows, columns=3):
    return R.Tensor((rows, columns), "float32")

@R.function
def f(x: matrix(2), y: matrix(2, columns=4)) -> matrix(2):
    z: matrix(2) = R.exp(x)
    return z
"""

    @R.function
    def f(x: matrix(2), y: matrix(2, columns=4)) -> matrix(2):
        z: matrix(2) = R.exp(x)
        return z

    check(f, from_source(text))
    assert "y: R.Tensor((2, 4)" in f.script()
