"""Calls between the PrimFuncs of a module: both executors do and say the same."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import VMError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.structural_equality import structural_equal, structural_hash
from relaxscript.script import ir as I, tir as T


def executors(module):
    """What runs the function `k` of a module."""
    kernel = compile_prim_func(module["k"], module=module)
    return [lambda *args: evaluate(module["k"], args, module), kernel]


@I.ir_module
class Realized:
    @T.prim_func
    def k(out: T.Buffer((3,), "int32")):
        z = T.Buffer((16,), "int32")
        with T.realize(z[2:5], "local"):
            for i in range(3):
                z[2 + i] = 7
            Realized.f(z)
            for i in range(3):
                out[i] = z[2 + i]

    @T.prim_func
    def f(a: T.Buffer((3,), "int32")):
        a[1] = 3


def test_the_memory_of_a_region_is_passed_on():
    for run in executors(Realized):
        out = np.zeros(3, "int32")
        run(out)
        assert out.tolist() == [7, 3, 7]


@pytest.mark.parametrize("maker", ["T.alloc_buffer", "T.decl_buffer"])
def test_new_memory_is_passed_on(maker):
    text = f"""
@I.ir_module
class M:
    @T.prim_func
    def k(out: T.Buffer((3,), "int32")):
        t = {maker}((3,), "int32")
        M.f(t, 2)
        for i in range(3):
            out[i] = t[i]

    @T.prim_func
    def f(a: T.Buffer(("n",), "int32"), by: T.int32):
        n = T.int64()
        for i in range(n):
            a[i] = T.cast(i, "int32") * by
"""
    module = rx.from_source(text)
    assert structural_equal(rx.from_source(module.script()), module)
    for run in executors(module):
        out = np.zeros(3, "int32")
        run(out)
        assert out.tolist() == [0, 2, 4]


def test_a_region_that_is_passed_on_reads_back_as_the_same_program():
    back = rx.from_source(Realized.script())
    assert structural_equal(back, Realized)
    assert structural_hash(back) == structural_hash(Realized)


def test_the_region_that_is_passed_on_must_have_the_shape_that_is_wanted():
    module = rx.from_source(Realized.script().replace("z[2:5]", "z[2:6]"))
    for run in executors(module):
        with pytest.raises(VMError, match=r"dimension 0 of argument `a` .* is 4, not 3") as caught:
            run(np.zeros(3, "int32"))
        assert caught.value.span.text == "Realized.f(z.data)"


@I.ir_module
class Unreturned:
    @T.prim_func
    def k(out: T.Buffer((1,), "int64"), n: T.int64):
        out[0] = Unreturned.half(n) + 1

    @T.prim_func(private=True)
    def half(n: T.int64) -> T.int64:
        if n % 2 == 0:
            return n // 2


def test_a_function_that_ends_without_its_number_is_told_at_the_call():
    for run in executors(Unreturned):
        out = np.zeros(1, "int64")
        run(out, 6)
        assert out.tolist() == [4]
        with pytest.raises(
            VMError, match="`half` ends without returning the int64 that it declares"
        ) as caught:
            run(out, 7)
        assert (caught.value.code, caught.value.span.text) == ("RX0605", "Unreturned.half(n)")
