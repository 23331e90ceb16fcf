"""Accepted programs: macros of statements."""

from __future__ import annotations

import numpy as np

import relaxscript as rx
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, tir as T


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


def test_statements_of_a_macro_stand_in_the_place_of_its_use():
    @T.macro
    def added(A, B, i, amount=1.0):
        B[i] = A[i] + T.float32(amount)

    @T.prim_func
    def f(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            added(A, B, i)
            added(B, B, i, amount=2.0)

    @T.prim_func
    def expected(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        for i in range(4):
            B[i] = A[i] + T.float32(1)
            B[i] = B[i] + T.float32(2)

    check(f.with_attr("global_symbol", "expected"), expected)


def test_the_two_kinds_of_names_in_a_macro_of_statements():
    position = 128

    @T.macro(hygienic=True)
    def fixed(A, B):
        B[()] = A[position]

    @T.macro(hygienic=False)
    def moving(A, B):
        B[()] = A[position]

    @T.prim_func(private=True)
    def f(A: T.Buffer((1024,), "int32"), B: T.Buffer((), "int32")) -> None:
        for position in T.serial(10):
            fixed(A, B)
            moving(A, B)

    text = check(f)
    assert "B[()] = A[128]" in text
    assert "B[()] = A[position]" in text


def test_a_macro_holds_whole_blocks_with_their_axes():
    @T.macro
    def product(A, B, C, n, m, k):
        for i, j, r in T.grid(n, m, k):
            with T.block("product"):
                vi, vj, vr = T.axis.remap("SSR", [i, j, r])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vr] * B[vr, vj]

    @T.prim_func
    def f(
        A: T.Buffer((2, 3), "float32"), B: T.Buffer((3, 4), "float32"),
        C: T.Buffer((2, 4), "float32"), D: T.Buffer((2, 4), "float32"),
    ):  # fmt: skip
        E = T.alloc_buffer((2, 4), "float32")
        product(A, B, E, 2, 4, 3)
        product(A, B, C, 2, 4, 3)
        for i, j in T.grid(2, 4):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = E[vi, vj]

    assert check(f).count('T.block("product")') == 2


def test_what_a_macro_opens_ends_with_it():
    @T.macro
    def stored(A, i):
        x = A[i] * T.float32(2)
        A[i] = x

    @T.prim_func
    def f(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = T.float32(0)
            stored(A, i)
            stored(A, i)
            A[i] = A[i] + T.float32(1)

    check(f)
    out = np.ones(4, "float32")
    rx.jit(rx.IRModule({"f": f}))["f"](out)
    np.testing.assert_array_equal(out, np.ones(4, "float32"))


def test_a_macro_of_statements_stops_by_values_of_python():
    @T.macro
    def unrolled(A, n):
        if n == 0:
            return
        unrolled(A, n - 1)
        A[n - 1] = T.float32(n)

    @T.prim_func
    def f(A: T.Buffer((4,), "float32")):
        unrolled(A, 4)

    text = check(f)
    assert [line.strip() for line in text.splitlines() if "A[" in line and "=" in line] == [
        f"A[{i}] = T.float32({i + 1}.0)" for i in range(4)
    ]


def test_a_parameter_of_a_macro_of_statements_may_be_bound_anew():
    @T.macro
    def stored(A, n):
        n = n + 1
        A[n] = T.float32(n)

    @T.prim_func
    def f(A: T.Buffer((4,), "float32"), k: T.int32):
        stored(A, 1)
        stored(A, k)

    check(f)


def test_a_python_object_holds_buffers_that_its_macros_use():
    class Cache:
        def __init__(self, like):
            self.kept = T.alloc_buffer(like.shape, like.dtype)

        @T.macro
        def load(self, source):
            rows, columns = T.meta_var(self.kept.shape)
            for i, j in T.grid(rows, columns):
                with T.block("load"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    self.kept[vi, vj] = source[vi, vj]

    @T.prim_func
    def f(a: T.handle):
        A = T.match_buffer(a, (2, 3))
        first = T.meta_var(Cache(A))
        first.load(A)
        second = T.meta_var(Cache(A))
        second.load(first.kept)

    text = check(f)
    assert text.count("T.alloc_buffer((2, 3)") == 2
    assert "kept[vi, vj] = A[vi, vj]" in text
