"""Loops and branches of PrimFuncs, as they are written and what they mean."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import tir
from relaxscript.ir.structural_equality import assert_structural_equal, structural_equal
from relaxscript.ir.tir import For
from relaxscript.script import from_source, tir as T
from relaxscript_tests.script.parser.reading import nodes

# Programs are written as users write them, whatever a formatter would rather have.
# fmt: off

SCALE = 3


def test_kinds_of_loops():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in range(4):
            for j in T.serial(4):
                for k in T.parallel(4):
                    for m in T.vectorized(4):
                        for n in T.unroll(4):
                            for t in T.thread_binding(4, thread="threadIdx.x"):
                                x[i] = 0.0

    kinds = ["serial", "serial", "parallel", "vectorized", "unrolled", "thread_binding"]
    assert [loop.kind for loop in nodes(f, For)] == kinds
    assert nodes(f, For)[-1].thread_binding.thread_tag == "threadIdx.x"


def test_a_text_in_second_place_is_the_thread():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in T.thread_binding(4, "threadIdx.x"):
            x[i] = 0.0

    @T.prim_func
    def g(x: T.Buffer((4,), "float32")):
        for i in T.thread_binding(0, 4, thread="threadIdx.x"):
            x[i] = 0.0

    assert_structural_equal(f, g.with_attr("global_symbol", "f"))


def test_a_loop_variable_has_the_data_type_of_the_extent():
    @T.prim_func
    def f(x: T.Buffer(("n",), "float32"), m: T.int32):
        n = T.int64()
        for i, j, k in T.grid(n, 4, m):
            x[i] = 0.0
        for i in range(1, n):
            x[i] = 0.0

    loops = nodes(f, For)
    assert [loop.loop_var.dtype for loop in loops] == ["int64", "int32", "int32", "int64"]
    assert loops[3].min.dtype == "int64"


def test_a_loop_that_begins_elsewhere_has_the_rest_as_extent():
    @T.prim_func
    def f(x: T.Buffer((64,), "float32"), a: T.int32, b: T.int32):
        for i in range(2, 10):
            x[i] = 0.0
        for i in range(a, a + b * 2):
            x[i] = 0.0
        for i in range(a, b):
            x[i] = 0.0

    a, b = f.params[1:]
    first, second, third = nodes(f, For)
    assert (int(first.min), int(first.extent)) == (2, 8)
    assert structural_equal(second.extent, b * 2)
    assert structural_equal(third.extent, b - a)


@pytest.mark.parametrize(
    "loop", ["range(1, 8, 3)", "range(7, 0, -2)", "range(0, n, 3)", "range(n, 0, -3)"]
)
def test_a_step_means_what_it_means_in_python(loop):
    f = from_source(
        f"@T.prim_func\ndef f(x: T.Buffer((9,), 'int32'), n: T.int32):\n"
        f"    for i in {loop}:\n        x[i] = x[i] + i + 1"
    )
    found, expected = np.zeros(9, "int32"), np.zeros(9, "int32")
    evaluate(f, [found, 8])
    for i in eval(loop, {"n": 8}):
        expected[i] += i + 1
    np.testing.assert_array_equal(found, expected)


def test_one_name_for_several_loops_is_a_tuple():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32")):
        for at in T.grid(4, 4):
            x[at[0], at[1]] = 0.0

    assert [loop.loop_var.name for loop in nodes(f, For)] == ["at_0", "at_1"]


def test_loops_keep_annotations():
    @T.prim_func
    def f(x: T.Buffer((4,), "float32")):
        for i in T.serial(4, annotations={"pragma": 1}):
            x[i] = 0.0

    assert dict(nodes(f, For)[0].annotations) == {"pragma": 1}


def test_a_grid_of_with_is_a_nest_of_loops():
    @T.prim_func
    def f(x: T.Buffer((4, 4), "float32")):
        with T.grid(4, 4) as (i, j):
            x[i, j] = 0.0

    @T.prim_func
    def g(x: T.Buffer((4, 4), "float32")):
        for i in range(4):
            for j in range(4):
                x[i, j] = 0.0

    assert_structural_equal(f.with_attr("global_symbol", "g"), g)




def test_branches():
    @T.prim_func
    def f(x: T.Buffer((4,), "int32"), n: T.int32):
        if n > 2:
            x[0] = 1
        elif n > 1 and not n == 2:
            x[0] = 2
        else:
            x[0] = 3

    @T.prim_func
    def g(x: T.Buffer((4,), "int32"), n: T.int32):
        with T.If(n > 2):
            with T.Then():
                x[0] = 1
            with T.Else():
                with T.If(T.And(n > 1, T.Not(T.EQ(n, 2)))):
                    with T.Then():
                        x[0] = 2
                    with T.Else():
                        x[0] = 3

    assert_structural_equal(f.with_attr("global_symbol", "g"), g)


def test_a_condition_that_python_knows_chooses_while_parsing():
    @T.prim_func
    def f(x: T.Buffer((4,), "int32"), n: T.int32):
        if SCALE > 2:
            a = n
        else:
            b = missing
        if n > 1:
            x[0] = a
        elif SCALE == 3:
            x[1] = a
        else:
            x[2] = missing

    (branch,) = nodes(f, tir.IfThenElse)
    assert int(branch.else_case.indices[0]) == 1


def test_long_chains_of_elif_are_read():
    cases = "".join(f"    elif n == {i}:\n        x[0] = {i}\n" for i in range(1, 900))
    f = from_source(
        "@T.prim_func\ndef f(x: T.Buffer((4,), 'int32'), n: T.int32):\n"
        f"    if n == 0:\n        x[0] = 0\n{cases}"
    )
    assert len(nodes(f, tir.IfThenElse)) == 900


def test_loops_over_numbers_of_numpy_count_in_int32():
    sizes = tuple(np.array([2, 3]))

    @T.prim_func
    def f(x: T.Buffer((2, 3), "float32")):
        for i, j in T.grid(*sizes):
            x[i, j] = 0.0

    assert [loop.extent.dtype for loop in nodes(f, For)] == ["int32", "int32"]
    assert "T.grid(2, 3)" in f.script()


def test_a_name_with_a_star_has_the_loops_that_are_left_over():
    @T.prim_func
    def f(x: T.Buffer((2, 3, 4, 5), "float32")):
        for i, *idx, j in T.grid(2, 3, 4, 5):
            x[(i, *idx, j)] = 0.0

    @T.prim_func
    def g(x: T.Buffer((2, 3, 4, 5), "float32")):
        for i, k, m, j in T.grid(2, 3, 4, 5):
            x[i, k, m, j] = 0.0

    assert_structural_equal(f, g.with_attr("global_symbol", "f"))


def test_a_name_with_a_star_may_have_no_loop():
    @T.prim_func
    def f(x: T.Buffer((2,), "float32")):
        for i, *idx in T.grid(2):
            x[(i, *idx)] = 0.0

    assert len(nodes(f, For)) == 1
