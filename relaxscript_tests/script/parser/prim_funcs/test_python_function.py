"""Python that runs while a PrimFunc is read: loops over Python values, comprehensions, lambdas."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import prim, tir
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, tir as T
from relaxscript_tests.prim_funcs import both
from relaxscript_tests.script.parser.reading import nodes

# Programs are written as users write them, whatever a formatter would rather have.
# fmt: off

WEIGHTS = [0.25, 0.5, 0.25]
TABLE = {"a": 0, "b": 3}


def same(f, g):
    """Two functions of different names mean the same."""
    assert_structural_equal(f.with_attr("global_symbol", "g"), g)


def test_a_loop_over_python_values_is_written_out():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
        for i in range(6):
            for k, w in enumerate(WEIGHTS):
                y[i] += x[i + k] * T.float32(w)

    @T.prim_func
    def g(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
        for i in range(6):
            y[i] += x[i + 0] * T.float32(0.25)
            y[i] += x[i + 1] * T.float32(0.5)
            y[i] += x[i + 2] * T.float32(0.25)

    same(f, g)


def test_names_of_such_a_loop_live_on_as_in_python():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        total = x[0]
        for k in (1, 2):
            total = total + x[k]
        x[k] = total

    @T.prim_func
    def g(x: T.Buffer((8,), "float32")):
        total = x[0]
        total_1 = total + x[1]
        total_2 = total_1 + x[2]
        x[2] = total_2

    same(f, g)


def test_such_a_loop_goes_over_buffers_pairs_and_items_of_dicts():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
        for a, b in [(x, y), (y, x)]:
            a[0] = b[1]
        for _, k in TABLE.items():  # noqa: PERF102
            y[k] = 1.0
        for i, j in zip(range(2), (5, 6)):
            y[i] = x[j]

    @T.prim_func
    def g(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
        x[0] = y[1]
        y[0] = x[1]
        y[0] = 1.0
        y[3] = 1.0
        y[0] = x[5]
        y[1] = x[6]

    same(f, g)


def test_break_and_continue_mean_what_they_mean_where_python_knows_them():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        for k in (0, 1, 2, 3):
            if k == 1:
                continue
            if k == 3:
                break
            x[k] = 1.0

    @T.prim_func
    def g(x: T.Buffer((8,), "float32")):
        x[0] = 1.0
        x[2] = 1.0

    same(f, g)


def test_a_loop_over_an_array_of_numpy_is_written_out():
    table = np.array([[1, 2], [3, 4]], "int32")

    @T.prim_func
    def f(x: T.Buffer((8,), "int32")):
        for i, (a, b) in enumerate(table):
            x[i] = a * b

    x = np.zeros(8, "int32")
    assert both(f, [x])[0].tolist() == [2, 12, 0, 0, 0, 0, 0, 0]


def test_comprehensions_are_written_out():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
        taps = [x[k] * T.float32(w) for k, w in enumerate(WEIGHTS) if k != 1]
        y[0] = T.max(taps[0], taps[1])
        where = {name: k + 1 for name, k in TABLE.items()}
        y[where["b"]] = max(x[k] for k in (1, 2))
        for i, j in T.grid(*[2 for _ in range(2)]):
            y[i + j] = 0.0

    @T.prim_func
    def g(x: T.Buffer((8,), "float32"), y: T.Buffer((8,), "float32")):
        a = T.meta_var(x[0] * T.float32(0.25))
        b = T.meta_var(x[2] * T.float32(0.25))
        y[0] = T.max(a, b)
        y[4] = T.max(x[1], x[2])
        for i, j in T.grid(2, 2):
            y[i + j] = 0.0

    same(f, g)


def test_a_lambda_is_called_while_the_program_is_read():
    @T.prim_func
    def g(x: T.Buffer((8,), "float32")):
        square = lambda v: v * v  # noqa: E731
        x[0] = square(x[1]) + square(v=x[2])

    @T.prim_func
    def h(x: T.Buffer((8,), "float32")):
        x[0] = x[1] * x[1] + x[2] * x[2]

    same(g.with_attr("global_symbol", "f"), h.with_attr("global_symbol", "g"))


def test_a_value_that_several_targets_take_is_computed_once():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        a = b = x[0] * x[1]
        x[0] = x[1] = a + b

    x = np.arange(2, 10).astype("float32")
    assert both(f, [x])[0][:2].tolist() == [12.0, 12.0]
    assert len(nodes(f, tir.LetStmt)) == 2
    assert_structural_equal(from_source(f.script()), f)


def test_what_is_written_out_too_often_is_refused():
    with pytest.raises(DiagnosticError, match="more than 100,000 steps are written out"):
        from_source(
            """@T.prim_func
def f(x: T.Buffer((8,), "int32")):
    for i in list(range(100_001)):
        pass
"""
        )


def test_a_scalar_that_is_only_read_is_no_variable_of_the_loop():
    @T.prim_func
    def f(x: T.Buffer((8,), "int32")):
        for k in [1, 2]:
            x[0] = k

    assert [s.value.value for s in nodes(f, tir.BufferStore)] == [1, 2]
    assert not [n for n in nodes(f, prim.Var) if n.name == "k"]


def test_several_elements_take_their_values_at_once():
    @T.prim_func
    def f(x: T.Buffer((8,), "float32")):
        for i in range(4):
            x[i], x[7 - i] = x[7 - i], x[i]

    x = np.arange(8).astype("float32")
    assert both(f, [x])[0].tolist() == [7, 6, 5, 4, 3, 2, 1, 0]
