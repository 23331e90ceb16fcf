"""Accepted programs: what Python holds, functions and modules above all, in scripts."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, ir as I, relax as R, tir as T

WEIGHT = np.arange(12, dtype="float32").reshape(4, 3)
SHAPE = (2, 4)


def check(program):
    """A program prints as one that parses back to it, and prints again as the same text."""
    text = program.script(show_meta=True)
    again = from_source(text)
    assert_structural_equal(again, program)
    assert again.script(show_meta=True) == text
    return text


def names(module):
    return sorted(var.name_hint for var in module)


@T.prim_func
def relu(x: T.Buffer((2, 4), "float32"), y: T.Buffer((2, 4), "float32")):
    for i, j in T.grid(2, 4):
        with T.block("relu"):
            vi, vj = T.axis.remap("SS", [i, j])
            y[vi, vj] = T.max(x[vi, vj], T.float32(0))


@T.prim_func(private=True)
def doubled(x: T.Buffer((2, 4), "float32"), y: T.Buffer((2, 4), "float32")):
    for i, j in T.grid(2, 4):
        y[i, j] = x[i, j] * T.float32(2)


@R.function
def tripled(x: R.Tensor((2, 4), "float32")):
    return R.multiply(x, R.const(3.0))


@I.ir_module
class Library:
    @T.prim_func
    def relu(x: T.Buffer((2, 4), "float32"), y: T.Buffer((2, 4), "float32")):
        for i, j in T.grid(2, 4):
            y[i, j] = T.max(x[i, j], T.float32(1))

    @R.function
    def activated(x: R.Tensor((2, 4), "float32")) -> R.Tensor((2, 4), "float32"):
        cls = Library
        return R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((2, 4), "float32"))

    @R.function
    def main(x: R.Tensor((2, 4), "float32")) -> R.Tensor((2, 4), "float32"):
        cls = Library
        return cls.activated(x)

    @R.function
    def unused(x: R.Tensor((2, 4), "float32")) -> R.Tensor((2, 4), "float32"):
        return x


def test_a_captured_prim_func_joins_the_module_under_its_name():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            a = R.call_tir(relu, (x,), out_sinfo=R.Tensor((2, 4), "float32"))
            b = R.call_tir(relu, (a,), out_sinfo=R.Tensor((2, 4), "float32"))
            return b

    assert names(Module) == ["main", "relu"]
    assert_structural_equal(Module["relu"], relu)
    check(Module)


def test_a_private_function_stays_private():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            held = doubled
            return R.call_tir(held, (x,), out_sinfo=R.Tensor((2, 4), "float32"))

    assert names(Module) == ["doubled", "main"]
    assert "@T.prim_func(private=True)" in check(Module)


def test_a_captured_relax_function_is_called():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            with R.dataflow():
                y = tripled(x)
                z = R.add(tripled(y), y)
                R.output(z)
            return z

    assert names(Module) == ["main", "tripled"]
    check(Module)
    x = np.ones((2, 4), "float32")
    np.testing.assert_array_equal(rx.jit(Module).main(x), x * 12)


def test_a_name_that_is_taken_gets_a_number():
    @I.ir_module
    class Module:
        @T.prim_func
        def relu(x: T.Buffer((2, 4), "float32"), y: T.Buffer((2, 4), "float32")):
            for i, j in T.grid(2, 4):
                y[i, j] = x[i, j] - T.float32(1)

        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            cls = Module
            a = R.call_tir(cls.relu, (x,), out_sinfo=R.Tensor((2, 4), "float32"))
            b = R.call_tir(relu, (a,), out_sinfo=R.Tensor((2, 4), "float32"))
            return b

    assert names(Module) == ["main", "relu", "relu_1"]
    assert Module["relu_1"].attrs["global_symbol"] == "relu_1"
    check(Module)
    x = np.array([[-1, 0, 1, 2]] * 2, "float32")
    np.testing.assert_array_equal(rx.jit(Module).main(x), np.maximum(x - 1, 0))


def test_functions_that_are_equal_are_one():
    def made():
        @R.function
        def shifted(x: R.Tensor((2, 4), "float32")):
            return R.add(x, R.const(1.0))

        return shifted

    first, second = made(), made()

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            return second(first(x))

    assert names(Module) == ["main", "shifted"]
    check(Module)


def test_a_member_of_a_captured_module_brings_what_it_calls():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            y = Library.main(x)
            z = Library["main"](y)
            return R.call_tir(relu, (z,), out_sinfo=R.Tensor((2, 4), "float32"))

    # `main` is taken by the class, and `relu` is another function than that of the library.
    assert names(Module) == ["activated", "main", "main_1", "relu", "relu_1"]
    check(Module)
    x = np.zeros((2, 4), "float32")
    np.testing.assert_array_equal(rx.jit(Module).main(x), x + 1)


def test_a_class_takes_over_functions_under_names_of_its_own():
    @I.ir_module
    class Module:
        negative = R.ExternFunc("test.negative")
        three_times = tripled
        second = Library.activated
        first = Library["main"]

        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            cls = Module
            a = cls.three_times(x)
            b = tripled(a)
            c = cls.first(b)
            return cls.second(c)

    assert names(Module) == ["first", "main", "negative", "relu", "second", "three_times"]
    assert Module["three_times"].attrs["global_symbol"] == "three_times"
    check(Module)


def test_a_prim_func_calls_one_that_python_holds():
    @T.prim_func
    def increased(n: T.int32) -> T.int32:
        return n + 1

    @I.ir_module
    class Module:
        @T.prim_func
        def main(A: T.Buffer((4,), "int32")):
            for i in range(4):
                A[i] = increased(i)

    assert names(Module) == ["increased", "main"]
    check(Module)


def test_functions_in_lists_dicts_and_attributes():
    @dataclass
    class Kernels:
        steps: list[object] = field(default_factory=lambda: [tripled, tripled])
        by_name: dict[str, object] = field(default_factory=lambda: {"relu": relu})

    kernels = Kernels()

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            y = kernels.steps[1](x)
            z = R.call_tir(kernels.by_name["relu"], (y,), out_sinfo=R.Tensor((2, 4), "float32"))
            return z

    assert names(Module) == ["main", "relu", "tripled"]
    check(Module)


def test_a_macro_takes_functions_in():
    @R.macro
    def applied(kernel, x):
        return R.call_tir(kernel, (x,), out_sinfo=R.Tensor((2, 4), "float32"))

    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            y = applied(relu, x)
            return applied(doubled, y)

    assert names(Module) == ["doubled", "main", "relu"]
    check(Module)


def test_another_decorated_class_is_captured_whole_or_in_part():
    def build(library):
        @I.ir_module
        class Module:
            @R.function
            def main(x: R.Tensor((2, 4), "float32")):
                lib = library
                return lib.unused(x)

        return Module

    module = build(Library)
    assert names(module) == ["main", "unused"]
    check(module)


def test_later_definitions_of_a_text_capture_earlier_ones():
    module = from_source(
        """
@T.prim_func
def relu(x: T.Buffer((2, 4), "float32"), y: T.Buffer((2, 4), "float32")):
    for i, j in T.grid(2, 4):
        y[i, j] = T.max(x[i, j], T.float32(0))

@I.ir_module
class Library:
    @R.function
    def exp(x: R.Tensor((2, 4), "float32")):
        return R.exp(x)

@I.ir_module
class Module:
    kept = relu

    @R.function
    def main(x: R.Tensor((2, 4), "float32")):
        y = R.call_tir(relu, (x,), out_sinfo=R.Tensor((2, 4), "float32"))
        return Library.exp(y)
"""
    )
    assert names(module) == ["exp", "kept", "main"]
    check(module)


@dataclass
class Config:
    hidden: int = 3
    dtype: str = "float32"
    weights: list[np.ndarray] = field(default_factory=lambda: [WEIGHT, WEIGHT + 1])
    options: dict[str, object] = field(default_factory=lambda: {"axis": 1})


CONFIG = Config()
ADD = R.add
NN = R.nn


def projected(x, index):
    return R.matmul(x, R.const(CONFIG.weights[index]))


def result(rows):
    return R.Tensor((rows, CONFIG.hidden), CONFIG.dtype)


def test_arrays_numbers_and_attributes():
    @R.function
    def f(x: R.Tensor((2, 4), "float32")) -> result(2):
        a = R.matmul(x, R.const(CONFIG.weights[0]))
        b = projected(x, 1)
        c = ADD(a, b)
        d = NN.softmax(c, **CONFIG.options)
        e: result(2) = R.multiply(d, R.const(np.float32(0.5)))
        z = R.zeros((2, CONFIG.hidden), CONFIG.dtype)
        return R.add(e, z)

    check(f)


def test_shapes_and_lists_of_values():
    @R.function
    def f(x: R.Tensor(SHAPE, "float32")):
        parts = [R.multiply(x, R.const(float(i))) for i in range(3)]
        total = R.concat(parts, axis=0)
        flat = R.reshape(total, (3 * SHAPE[0], SHAPE[1]))
        return R.matmul(flat, R.const(WEIGHT)) if SHAPE[1] == 4 else flat

    assert check(f).count("R.multiply") == 3


def test_functions_of_python_get_values_of_the_program_and_give_them_back():
    def residual(x, *layers):
        for layer in layers:
            x = R.add(layer(x), x)
        return x

    @R.function
    def f(x: R.Tensor((2, 4), "float32")):
        return residual(x, R.exp, R.nn.relu)

    text = check(f)
    assert text.index("R.exp") < text.index("R.nn.relu")


def test_an_extern_function_that_python_holds():
    ext = R.ExternFunc("test.ext")

    @R.function(pure=False)
    def f(x: R.Tensor((2, 4), "float32")):
        y = ext(x)
        z = R.match_cast(y, R.Tensor((2, 4), "float32"))
        return z

    check(f)


def test_a_module_gives_functions_as_attributes():
    assert_structural_equal(Library.main, Library["main"])
    assert Library.main is Library.main
    with pytest.raises(AttributeError, match="no function or attribute `absent`"):
        Library.absent
    with pytest.raises(AttributeError, match="_hidden"):
        Library._hidden
