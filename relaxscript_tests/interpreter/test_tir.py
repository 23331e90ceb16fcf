from __future__ import annotations

import sys

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError, Source, VMError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir import prim, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var, const
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.scalar_functions import FUNCTIONS as T
from relaxscript_tests.prim_func_examples import (
    EXAMPLES,
    block,
    f32,
    reduction,
    run_example,
    zeros,
)
from relaxscript_tests.prim_func_mistakes import REFUSED, I, Y
from relaxscript_tests.prim_funcs import both, elementwise, load, loop, prim_func, store


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_mean_what_they_say(name):
    run_example(EXAMPLES[name](), lambda made: evaluate(made.func, made.args, made.module))


def failing(body, args=None, error=VMError, **kwargs):
    """The error of running a statement over `y`."""
    with pytest.raises(error) as caught:
        evaluate(prim_func([Y], body), [zeros(4)] if args is None else args, **kwargs)
    return caught.value


def test_memory_that_was_never_written_shows():
    t, z = tir.Buffer("t", (2,), "int32"), tir.Buffer("z", (2,))
    y, w = tir.Buffer("y", (2,), "int32"), tir.Buffer("w", (2,))
    copy = loop(I, 2, tir.SeqStmt([store(y, load(t, I), I), store(w, load(z, I), I)]))
    args = [zeros(2, dtype="int32"), zeros(2)]
    evaluate(prim_func([y, w], block([], [], copy, alloc_buffers=(t, z))), args)
    assert args[0].tolist() == [-(2**31)] * 2
    assert np.isnan(args[1]).all()


@pytest.mark.parametrize(("index", "shown"), [(4, "4"), (-1, "-1"), (1 << 40, "1099511627776")])
def test_a_load_out_of_bounds_names_buffer_and_index(index, shown):
    error = failing(store(Y, load(Y, index), 0))
    assert error.code == "RX0614"
    assert str(error).startswith(
        f"index {shown} is outside of dimension 0 of buffer `y`, which has 4 elements"
    )


@pytest.mark.parametrize("index", [4, -1])
def test_a_store_out_of_bounds_names_buffer_and_index(index):
    error = failing(store(Y, const(1.0), index))
    assert f"index {index} is outside of dimension 0 of buffer `y`" in str(error)


def test_the_dimension_that_is_left_is_named():
    x = tir.Buffer("x", (2, 3))
    with pytest.raises(VMError, match="index 3 is outside of dimension 1 of buffer `x`"):
        evaluate(prim_func([x], store(x, const(1.0), 1, 3)), [zeros(2, 3)])


def test_a_failure_has_the_place_of_its_statement():
    source = Source("model.py", "y[4] = 1.0\n")
    at = source.between(0, 4)
    statement = store(Y, const(1.0), 4).replace(span=at)
    assert failing(statement).span is at


@pytest.mark.parametrize("kind", [prim.Div, prim.Mod, prim.FloorDiv, prim.FloorMod])
def test_division_of_integers_by_zero_is_an_error(kind):
    value = prim.Cast("float32", kind(const(1), I))
    error = failing(loop(I, 1, store(Y, value, I)))
    assert "an integer was divided by zero" in str(error)


def test_a_select_evaluates_both_values():
    chosen = prim.Select(prim.NE(I, const(0)), 12 // I, const(0))
    error = failing(loop(I, 1, store(Y, prim.Cast("float32", chosen), I)))
    assert "divided by zero" in str(error)


def test_an_assertion_that_fails_gives_its_message():
    check = tir.AssertStmt(const(False), prim.StringImm("n must be even"), tir.Evaluate(const(0)))
    assert str(failing(check)).startswith("n must be even [RX0611]")


def test_an_assertion_without_message():
    check = tir.AssertStmt(const(False), prim.StringImm(""), tir.Evaluate(const(0)))
    assert "an assertion does not hold" in str(failing(check))


def test_a_view_beyond_its_memory_is_an_error():
    data = Var("data", "handle")
    view = tir.Buffer("view", (3, 2), data=data)
    body = tir.DeclBuffer(view, store(view, const(1.0), 0, 0))
    error = failing(tir.Allocate(data, "float32", [const(5)], const(True), body))
    assert "buffer `view` reaches beyond the memory" in str(error)


def test_a_negative_size_is_an_error():
    t, n = tir.Buffer("t", (Var("n"),)), Var("n")
    t = tir.Buffer("t", (n,))
    body = block([], [], tir.Evaluate(const(0)), alloc_buffers=(t,))
    assert "buffer `t` reaches beyond" in str(failing(tir.LetStmt(n, const(-1), body)))


def test_memory_that_there_is_not():
    n = Var("n", "int64")
    t = tir.Buffer("t", (n, n, n))
    body = block([], [], tir.Evaluate(const(0)), alloc_buffers=(t,))
    error = failing(tir.LetStmt(n, const(1 << 20, "int64"), body))
    assert "there is no memory for buffer `t`" in str(error)


def region(start, extent, buffer):
    part = tir.BufferRegion(Y, [tir.Range.from_min_extent(start, extent)])
    match = tir.MatchBufferRegion(buffer, part)
    return block([], [], tir.Evaluate(const(0)), match_buffers=(match,))


def test_a_region_lies_in_its_buffer():
    error = failing(region(2, 3, tir.Buffer("part", (3,))))
    assert "index 4 is outside of dimension 0 of buffer `y`" in str(error)


def test_a_region_has_the_shape_of_its_name():
    error = failing(region(0, 3, tir.Buffer("part", (2,))))
    assert "buffer `part` does not have the shape of its region, (3,)" in str(error)


def test_a_region_has_as_many_dimensions_and_the_data_type_of_its_name():
    error = failing(region(0, 3, tir.Buffer("part", (1, 3))), error=DiagnosticError)
    assert "buffer `part` has more dimensions than its region" in error.msg
    error = failing(region(0, 3, tir.Buffer("part", (3,), "int8")), error=DiagnosticError)
    assert "`part` holds int8, but its region of `y` holds" in error.msg


def test_recursion_without_end_is_an_error():
    module = IRModule({})
    call = prim.Call("void", GlobalVar("f"), ())
    module["f"] = tir.PrimFunc([], tir.Evaluate(call))
    with pytest.raises(VMError, match="calls itself or nests expressions too deeply") as caught:
        evaluate(module["f"], [], module)
    assert caught.value.code == "RX0609"


def test_a_call_of_nothing_is_refused():
    call = tir.Evaluate(prim.Call("void", GlobalVar("f"), ()))
    error = failing(call, error=DiagnosticError)
    assert "the PrimFunc `f` is not defined here" in error.msg


@pytest.mark.parametrize("message", REFUSED)
def test_what_has_no_meaning_is_refused(message):
    assert message in failing(REFUSED[message], error=DiagnosticError).msg


def test_a_statement_of_no_known_kind_is_refused():
    assert "`T.Stmt` cannot be run" in failing(tir.Stmt(), error=DiagnosticError).msg


def test_a_buffer_of_vectors_is_refused():
    x = tir.Buffer("x", (4,), "float32x4")
    with pytest.raises(DiagnosticError, match="buffer `x` holds float32x4"):
        evaluate(prim_func([x], tir.Evaluate(const(0))), [zeros(4)])


@pytest.mark.parametrize("dtype", ["int4", "float8_e4m3fn", "float8_e5m2"])
def test_small_types_of_ml_dtypes_are_evaluated(dtype):
    kind = prim.DataType(dtype)
    func = elementwise(3, [dtype, dtype], dtype, lambda a, b: a * b)
    given = np.array([1, -2, 3]).astype(kind.numpy)
    out = np.zeros(3, kind.numpy)
    evaluate(func, [given, given, out])
    assert out.astype("float32").tolist() == [1, 4, (9 - 16 if dtype == "int4" else out[2])]


def test_numbers_of_numpy_are_scalars():
    n, x = Var("n", "int32"), Var("x", "float32")
    func = prim_func([], tir.Evaluate(T["ret"](prim.Cast("float32", n) + x)), [n, x])
    assert evaluate(func, [np.int64(3), np.float64(0.5)]) == 3.5


def test_deep_expressions_end_in_an_error_not_in_a_crash():
    value = load(Y, 0)
    for _ in range(2 * sys.getrecursionlimit()):
        value = prim.Add.make(value, const(1.0))
    error = failing(store(Y, value, 0))
    assert "nests expressions too deeply" in str(error)


def test_a_product_of_matrices_is_that_of_numpy(rng):
    a, b = (rng.integers(-8, 8, s).astype("float32") for s in ((6, 5), (5, 4)))
    c = zeros(6, 4)
    evaluate(reduction(6, 4, 5), [a, b, c])
    np.testing.assert_array_equal(c, a @ b)


def test_a_product_of_matrices_is_evaluated_by_value_not_by_row():
    c = np.full((2, 2), 7, "float32")
    evaluate(reduction(2, 2, 1), [f32(2, 1), f32(1, 2), c])
    assert c.tolist() == [[1, 2], [2, 4]]


@pytest.mark.parametrize(
    ("condition", "written"),
    [
        (lambda i, x: prim.And(i > 0, x > 3.0), [0.0, 0.0, 1.0, 1.0]),
        (lambda i, x: prim.Or(i < 1, x > 3.0), [1.0, 0.0, 1.0, 1.0]),
        (lambda i, x: prim.And(i > 0, prim.EQ(6 // i, 3)), [0.0, 0.0, 1.0, 0.0]),
    ],
)
def test_the_second_condition_is_evaluated_only_where_the_first_does_not_decide(condition, written):
    x, y, i = tir.Buffer("x", (4,)), tir.Buffer("y", (4,)), Var("i")
    test = condition(i, load(x, i - 1))
    body = loop(i, 4, tir.IfThenElse(test, store(y, const(1.0), i)))
    given = np.array([3, 4, 5, 6], "float32")
    assert both(prim_func([x, y], body), [given, np.zeros(4, "float32")])[1].tolist() == written
