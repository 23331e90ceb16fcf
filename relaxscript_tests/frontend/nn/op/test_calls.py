"""Tensor expressions, PrimFuncs and packed functions are called from methods."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import te
from relaxscript.errors import DiagnosticError
from relaxscript.relax.frontend import nn
from relaxscript.relax.frontend.nn import op
from relaxscript.script import tir as T
from relaxscript_tests.frontend.nn.computing import Computing, assert_near, computed, refused

X = np.arange(6, dtype="float32").reshape(2, 3)
LIKE_X = nn.Tensor.placeholder((2, 3), "float32")


@T.prim_func(private=True)
def scale(a: T.handle, factor: T.int64, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 3), "float32")
    B = T.match_buffer(b, (n, 3), "float32")
    for i, j in T.grid(n, 3):
        with T.sblock("scale"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.Cast("float32", factor)


@T.prim_func(private=True)
def double(a: T.Buffer((2, 3), "float32"), b: T.Buffer((2, 3), "float32")):
    for i, j in T.grid(2, 3):
        with T.sblock("double"):
            vi, vj = T.axis.remap("SS", [i, j])
            b[vi, vj] = a[vi, vj] * T.float32(2)


@T.prim_func(private=True)
def increase(a: T.Buffer((2, 3), "float32")):
    for i, j in T.grid(2, 3):
        with T.sblock("increase"):
            vi, vj = T.axis.remap("SS", [i, j])
            a[vi, vj] = a[vi, vj] + T.float32(1)


def test_a_function_of_tensor_expressions_becomes_a_prim_func():
    def raised(a: Any, n: int) -> Any:
        return te.compute(a.shape, lambda *i: a(*i) + float(n), "raised")

    function = lambda x: op.tensor_expr_op(raised, "raised", [x, 4])  # noqa: E731
    assert_near(computed(function, X), X + 4)
    spec = {"forward": {"operands": [nn.spec.Tensor(("n", 3), "float32")]}}
    mod, _ = Computing(lambda x: op.tensor_expr_op(
        raised, "raised", [x, 4], attrs={"op_pattern": 0}
    )).export_tvm(spec)  # fmt: skip
    assert mod["raised"].attrs["op_pattern"] == 0
    (_, binding) = mod["forward"].body.blocks[0].bindings
    assert binding.var.name_hint == "raised"


def test_a_prim_func_is_called_with_tensors_and_integers():
    assert_near(computed(lambda x: op.tensor_ir_op(double, "double", x, LIKE_X), X), X * 2)


def test_scalar_parameters_of_a_prim_func_are_integers_behind_the_tensors():
    @T.prim_func(private=True)
    def shifted(a: T.handle, b: T.handle, by: T.int64):
        A = T.match_buffer(a, (2, 3), "float32")
        B = T.match_buffer(b, (2, 3), "float32")
        for i, j in T.grid(2, 3):
            with T.sblock("shifted"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.Cast("float32", by)

    function = lambda x: op.tensor_ir_op(shifted, "shifted", [x, 5], LIKE_X)  # noqa: E731
    assert_near(computed(function, X), X + 5)


def test_a_prim_func_writes_into_its_arguments():
    def increased(x: nn.Tensor) -> Any:
        return op.tensor_ir_inplace_op(increase, "increase", [x * 2.0], 0, LIKE_X)

    assert_near(computed(increased, X), X * 2 + 1)


@pytest.fixture
def packed() -> Iterator[None]:
    @rx.register_func("tests.nn.affine")
    def affine(x: Any, factor: int, offset: float, note: str, out: Any) -> None:
        assert note == "note"
        out[:] = x * factor + offset

    @rx.register_func("tests.nn.both")
    def both(x: Any, first: Any, second: Any) -> None:
        first[:], second[:] = x + 1, x[0]

    yield
    rx.remove_global_func("tests.nn.affine")
    rx.remove_global_func("tests.nn.both")


@pytest.mark.usefixtures("packed")
def test_a_packed_function_writes_into_new_tensors():
    function = lambda x: op.extern("tests.nn.affine", [x, 3, 0.5, "note"], LIKE_X)  # noqa: E731
    assert_near(computed(function, X), X * 3 + 0.5)
    row = nn.Tensor.placeholder((3,), "float32")
    got = computed(lambda x: op.extern("tests.nn.both", x, [LIKE_X, row]), X)
    assert_near(got, (X + 1, X[0]))


# ---------------------------------------------------------------- mistakes


def test_what_is_no_prim_func_is_refused():
    found = refused(lambda x: op.tensor_ir_op(len, "length", x, LIKE_X), X)  # type: ignore[arg-type]
    assert found.message.startswith("`length` is called as a PrimFunc, this is ")
    assert "@T.prim_func" in (found.help or "")


def test_what_a_prim_func_does_not_take_is_refused():
    found = refused(lambda x: op.tensor_ir_op(double, "double", [x, "x"], LIKE_X), X)
    assert found.message.startswith("a PrimFunc takes tensors and integers, this is ")
    found = refused(lambda x: op.tensor_ir_op(double, "double", x, (2, 3)), X)
    assert found.message.startswith("`out` is a tensor like the result, or a list of them")
    found = refused(lambda x: op.tensor_ir_op(double, "double", op.reshape(x, (3, 2)), LIKE_X), X)
    assert found.code == "RX0203"


def test_what_names_no_packed_function_is_refused_where_it_is_called():
    def helper(x: Any) -> Any:
        return op.extern(3, [x], LIKE_X)  # type: ignore[arg-type]

    found = refused(lambda x: helper(x), X)
    assert found.code == "RX0201"
    assert [text for _, text in found.labels] == ["is a Python `int`, not a packed function"]
    assert found.span.text == "op.extern(3, [x], LIKE_X)"  # type: ignore[union-attr]


def test_a_call_outside_of_an_export_is_refused():
    with pytest.raises(DiagnosticError, match="`double` is called outside of an export"):
        op.tensor_ir_op(double, "double", LIKE_X, LIKE_X)
