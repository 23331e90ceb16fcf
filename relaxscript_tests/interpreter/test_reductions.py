from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim, tir
from relaxscript.ir.prim import Var, const
from relaxscript.ir.tir_compute import CommReducer, Reduce
from relaxscript.script import from_source
from relaxscript_tests.prim_func_examples import axis
from relaxscript_tests.prim_funcs import both, load, loop, prim_func, store

X = np.array([[3, -1, 4, 1, -5], [9, 2, -6, 5, 3], [5, 8, 9, -7, 9]], "float32")


def written(statements, x=X, shape=(3,), dtype="float32", **options):
    """What some statements over `A`, `B`, `i`, `r` and `s` write into `B`, for each row of `A`."""
    rows, columns = x.shape
    func = from_source(
        f"""@T.prim_func
def f(A: T.Buffer(({rows}, {columns}), "{x.dtype}"), B: T.Buffer({shape}, "{dtype}")):
    r = T.int32()
    s = T.int32()
    total = T.comm_reducer(lambda x, y: x + y, [T.{dtype}(0)])
    first = T.comm_reducer(lambda x, y: x * T.{dtype}(10) + y, [T.{dtype}(0)])
    for i in range({rows}):
        {statements}
"""
    )
    return both(func, [x, np.zeros(shape, dtype)], **options)[1]


R = '[T.iter_var(r, T.Range(0, 5), "CommReduce", "")]'


def test_values_are_combined_over_an_axis():
    made = written(f"B[i] = T.Reduce(total, [A[i, r]], {R}, True, 0)")
    np.testing.assert_array_equal(made, X.sum(1))


def test_a_reduction_is_a_part_of_a_value():
    made = written(f"B[i] = T.Reduce(total, [A[i, r]], {R}, True, 0) * T.float32(2) + A[i, 0]")
    np.testing.assert_array_equal(made, X.sum(1) * 2 + X[:, 0])


def test_the_order_is_that_of_the_axis_and_starts_with_the_identity():
    made = written(
        'B[i] = T.Reduce(first, [r], [T.iter_var(r, T.Range(1, 4), "CommReduce", "")], True, 0)',
        dtype="int32",
    )
    assert made.tolist() == [123] * 3


def test_the_last_axis_runs_fastest():
    axes = ", ".join(
        f'T.iter_var({v}, T.Range({a}, {b}), "CommReduce", "")'
        for v, a, b in [("r", 1, 3), ("s", 3, 5)]
    )
    made = written(f"B[i] = T.Reduce(first, [r * 2 + s], [{axes}], True, 0)", dtype="int32")
    assert made.tolist() == [5678] * 3


def test_a_later_axis_may_depend_on_an_earlier_one():
    axes = ('T.iter_var(r, T.Range(0, 4), "CommReduce", ""), '
            'T.iter_var(s, T.Range(r, 4), "CommReduce", "")')  # fmt: skip
    made = written(f"B[i] = T.Reduce(total, [1], [{axes}], True, 0)", dtype="int32")
    assert made.tolist() == [4 + 3 + 2 + 1] * 3


def test_a_point_counts_only_where_the_condition_holds():
    made = written(f"B[i] = T.Reduce(total, [A[i, r]], {R}, r % 2 == 0, 0)")
    np.testing.assert_array_equal(made, X[:, ::2].sum(1))


def test_nothing_is_read_where_the_condition_does_not_hold():
    far = R.replace("5)", "9)")
    made = written(f"B[i] = T.Reduce(total, [A[i, r]], {far}, r < 5, 0)", check=True)
    np.testing.assert_array_equal(made, X.sum(1))


def test_without_points_the_identity_is_left():
    for none in (R.replace("0, 5", "0, 0"), R.replace("0, 5", "3, 1")):
        made = written(
            "B[i] = T.Reduce(T.comm_reducer(lambda x, y: x * y, [T.float32(1)]), [A[i, r]], "
            f"{none}, True, 0)"
        )
        assert made.tolist() == [1, 1, 1]


def test_without_axes_there_is_one_point():
    made = written("B[i] = T.Reduce(total, [A[i, 1]], [], True, 0)")
    np.testing.assert_array_equal(made, X[:, 1])


def test_a_start_takes_the_place_of_the_identity():
    made = written(f"B[i] = T.Reduce(total, [A[i, r]], {R}, True, 0, [A[i, 0]])")
    np.testing.assert_array_equal(made, X.sum(1) + X[:, 0])


ARGMAX = ("T.comm_reducer(lambda i, x, j, y: (T.if_then_else(x >= y, i, j), T.max(x, y)), "
          "[-1, T.min_value('float32')])")  # fmt: skip


def test_several_values_are_combined_together():
    place = written(f"B[i] = T.Reduce({ARGMAX}, [r, A[i, r]], {R}, True, 0)", dtype="int32")
    np.testing.assert_array_equal(place, X.argmax(1))
    value = written(f"B[i] = T.Reduce({ARGMAX}, [r, A[i, r]], {R}, True, 1)")
    np.testing.assert_array_equal(value, X.max(1))


def test_values_that_are_combined_together_are_replaced_at_once():
    fibonacci = "T.comm_reducer(lambda a, b, x, y: (b, a + b), [0, 1])"
    made = written(f"B[i] = T.Reduce({fibonacci}, [0, 0], {R}, True, 0)", dtype="int32")
    assert made.tolist() == [5, 5, 5]


def test_a_reduction_may_stand_in_another_by_the_same_combiner():
    inner = 'T.Reduce(total, [A[s, r]], [T.iter_var(s, T.Range(0, 3), "CommReduce", "")], True, 0)'
    made = written(f"B[i] = T.Reduce(total, [{inner}], {R}, True, 0)")
    np.testing.assert_array_equal(made, [X.sum()] * 3)


def test_a_condition_may_hold_a_reduction():
    made = written(
        f"if T.Reduce(total, [A[i, r]], {R}, True, 0) > T.float32(10):\n"
        "            B[i] = T.float32(1)"
    )
    assert made.tolist() == [0, 1, 1]


def test_integers_wrap_as_elsewhere():
    x = np.full((1, 5), 100, "int8")
    made = written(f"B[i] = T.Reduce(total, [A[i, r]], {R}, True, 0)", x, (1,), "int8")
    assert made.tolist() == [500 - 512]


def test_narrow_floats_are_rounded_at_each_step():
    x = np.array([[2048, 1, 1, 1, 1]], "float16")
    made = written(f"B[i] = T.Reduce(total, [A[i, r]], {R}, True, 0)", x, (1,), "float16")
    assert made.tolist() == [2048]


def test_vectors_are_combined_lane_by_lane():
    a, b, r = tir.Buffer("a", (3, 4)), tir.Buffer("b", (4,)), Var("r")
    run = prim.Ramp(const(0), const(1), 4)
    x, y = Var("x", "float32x4"), Var("y", "float32x4")
    total = CommReducer((x,), (y,), (prim.Add(x, y),), (prim.Broadcast(const(0.0), 4),))
    value = Reduce(total, (load(a, r, run),), (axis(r, 3),), const(True), 0)
    given = np.arange(12, dtype="float32").reshape(3, 4)
    made = both(prim_func([a, b], store(b, value, run)), [given, np.zeros(4, "float32")])
    np.testing.assert_array_equal(made[1], given.sum(0))


def test_an_index_out_of_bounds_is_an_error_with_its_number():
    a, r = tir.Buffer("a", (4,)), Var("r")
    func = prim_func([a], store(a, summed(load(a, r), axis(r, 6)), 0))
    for run in (lambda x: evaluate(func, [x]), compile_prim_func(func, options={"check": True})):
        with pytest.raises(VMError, match="index 4 is outside of dimension 0 of buffer `a`"):
            run(np.ones(4, "float32"))


@pytest.mark.slow
@given(st.lists(st.integers(0, 4), min_size=1, max_size=3), st.sampled_from(["Add", "Mul", "Max"]),
       st.sampled_from(["int16", "float16", "float32", "float64"]), st.integers(1, 3))  # fmt: skip
def test_random_reductions_are_the_same_in_both_executors(shape, operation, dtype, step):
    names = [Var(f"r{k}", "int64") for k in range(len(shape))]
    a, b = tir.Buffer("a", shape, dtype), tir.Buffer("b", (2,), dtype)
    x, y = Var("x", dtype), Var("y", dtype)
    made = CommReducer((x,), (y,), (getattr(prim, operation)(x, y),), (const(1, dtype),))
    where = prim.EQ(sum(names, const(0, "int64")) % step, const(0, "int64"))
    axes = tuple(axis(v, n) for v, n in zip(names, shape, strict=True))
    i = Var("i")
    value = Reduce(made, (load(a, *names),), axes, where, 0)
    given_a = np.random.default_rng(sum(shape)).uniform(-9, 9, shape).astype(dtype)
    both(prim_func([a, b], loop(i, 2, store(b, value, i))), [given_a, np.zeros(2, dtype)])


# ---------------------------------------------------------------- what is refused


def summed(value, *axes, where=True, start=(), of="float32"):
    """A sum, as a careless pass may make it."""
    x, y = Var("x", of), Var("y", of)
    total = CommReducer((x,), (y,), (prim.Add(x, y),), (const(0, of),))
    return Reduce.make(total, (value,), axes, prim.as_prim(where), 0, tuple(start))


R5 = Var("r")
ONE = const(1.0)
WRONG = {
    "the axis `r` of a T.Reduce has no domain": summed(ONE, tir.IterVar(None, R5, "CommReduce")),
    "the axis `q` of a T.Reduce is float32, not an integer": summed(
        ONE, tir.IterVar(tir.Range(const(0.0), ONE), Var("q", "float32"), "CommReduce")
    ),
    "a T.Reduce of float32 has a combiner or a start of int32": summed(ONE, of="int32"),
    "a T.Reduce of float32 has a combiner or a start of float64": summed(
        ONE, start=[const(0.0, "float64")]
    ),
    "a T.Reduce of 1 values has 2 to start from": summed(ONE, start=[ONE, ONE]),
    "the condition of a T.Reduce is int32, not a bool": summed(ONE, where=const(1)),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_has_no_meaning_is_refused(message):
    b = tir.Buffer("b", (1,))
    func = prim_func([b], store(b, WRONG[message], 0))
    for run in (lambda f: evaluate(f, [np.zeros(1, "float32")]), compile_prim_func):
        with pytest.raises(DiagnosticError) as caught:
            run(func)
        assert message in caught.value.msg


def test_a_dimension_is_no_reduction():
    b = tir.Buffer("b", (summed(const(1), axis(Var("r"), 3), of="int32"),))
    func = prim_func([b], tir.Evaluate(const(0)))
    with pytest.raises(DiagnosticError, match="has no meaning in a dimension"):
        evaluate(func, [np.zeros(3, "float32")])
