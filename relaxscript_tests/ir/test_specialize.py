"""PrimFuncs with some of their parameters fixed."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import tir
from relaxscript.errors import DiagnosticError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, tir as T


@T.prim_func
def scaled(a: T.handle, c: T.handle, k: T.int32):
    m, n = T.int32(), T.int32()
    A = T.match_buffer(a, (m, n), "float32")
    C = T.match_buffer(c, (m, n), "float32")
    for i, j in T.grid(m, n // 8 * 8):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + T.cast(k * 2, "float32")


@T.prim_func
def expected(A: T.Buffer((4, 16), "float32"), C: T.Buffer((4, 16), "float32")):
    T.func_attr({"global_symbol": "scaled"})
    for i, j in T.grid(4, 16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj] + T.Cast("float32", 6)


a, c, k = scaled.params


def test_a_buffer_gives_its_sizes_and_a_scalar_its_value():
    made = scaled.specialize({a: tir.decl_buffer((4, 16)), k: 3})
    assert_structural_equal(made, expected)
    assert_structural_equal(from_source(made.script()), made)
    assert len(scaled.params) == 3  # the function itself is as it was


def test_a_buffer_names_its_parameter_too():
    by_buffer = scaled.specialize({scaled.buffer_map[a]: tir.decl_buffer((4, 16)), k: 3})
    assert_structural_equal(by_buffer, expected)


def test_what_is_left_open_stays_open():
    n = tir.Var("n", "int32")
    made = scaled.specialize({a: tir.decl_buffer((4, n))})
    assert made.params[2] is k
    assert made.buffer_map[c].shape[0].value == 4
    assert made.buffer_map[c].shape[1] is n


def test_a_specialized_function_computes_the_same():
    x = np.arange(64, dtype="float32").reshape(4, 16)
    general, special = np.zeros_like(x), np.zeros_like(x)
    evaluate(scaled, [x, general, 3])
    evaluate(scaled.specialize({a: tir.decl_buffer((4, 16)), k: 3}), [x, special])
    assert np.array_equal(general, special)


@T.prim_func
def fixed(A: T.Buffer((4,), "float32"), s: T.Buffer(("n", "n"), "float32")):
    A[0] = s[0, 0]


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        (scaled, {tir.Var("z"): 3}, "Var (z) is no parameter of the function"),
        (scaled, {a: 3}, "`a` is a buffer: give it a buffer, as by `tir.decl_buffer(shape)`"),
        (scaled, {k: tir.decl_buffer((2,))}, "`k` is a scalar of int32, which no buffer can be"),
        (scaled, {a: tir.decl_buffer((2,))}, "`A` has 2 dimensions, the given buffer 1"),
        (scaled, {a: tir.decl_buffer((2, 2), "int8")}, "`A` holds float32, the given buffer int8"),
        (fixed, {fixed.params[0]: tir.decl_buffer((5,))},
         "`A` has a dimension of 4, the given buffer one of 5"),
        (fixed, {fixed.params[1]: tir.decl_buffer((5, 6))},
         "`n` would be IntImm (T.int64(5)) and IntImm (T.int64(6))"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(function, given, message):
    with pytest.raises(DiagnosticError) as caught:
        function.specialize(given)
    assert isinstance(caught.value, ValueError)
    assert caught.value.diagnostics[0].message == message
