"""Comparing programs, results and executors: what counts as the same, what a difference says."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import cpu, nd
from relaxscript.errors import VMError
from relaxscript.ir.module import IRModule
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, TensorStructInfo
from relaxscript.ir.structural_equality import StructuralMismatch
from relaxscript.runtime import PackedFunc
from relaxscript.runtime.values import Closure, Prim, Shape
from relaxscript.script import ir as I, relax as R
from relaxscript.testing import compare
from relaxscript.testing.compare import (
    assert_allclose,
    assert_allclose_tree,
    assert_same,
    check_executors_agree,
)
from relaxscript.testing.effects import current_effects

X = np.arange(3, dtype="float32")
UNARY = FuncStructInfo((TensorStructInfo((3,), "float32"),), ObjectStructInfo())


@I.ir_module
class Double:
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        return R.add(x, x)


@I.ir_module
class DoubleToo:
    @R.function
    def main(y: R.Tensor((3,), "float32")):
        z = R.add(y, y)
        return z


def test_programs_are_the_same_whatever_their_names():
    assert_same(Double, DoubleToo)


def test_programs_that_differ_are_shown():
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        return R.multiply(x, x)

    with pytest.raises(StructuralMismatch, match=r"relax\.add"):
        assert_same(Double["main"], main)


@pytest.mark.parametrize(
    "value",
    [
        X, np.float64("nan") * X, (X, (X, ())), Shape((2, 3)), 3, 2.5, float("nan"), True, None,
        "text", Prim(1, "int32"), Prim(float("nan"), "float32"),
    ],
    ids=repr,
)  # fmt: skip
def test_a_value_is_itself(value):
    assert_allclose_tree(value, value)


@pytest.mark.parametrize(
    ("actual", "expected", "words"),
    [
        (X, X.astype("float64"), "float32 of shape"),
        (X, X[:2], r"float32 of shape \(3,\), not float32 of shape \(2,\)"),
        (X, X + 1, "Not equal to tolerance"),
        ((X, X), (X,), "the result: 2 fields, not 1"),
        ((X, (X, 1)), (X, (X, 2)), r"the result\[1\]\[1\]"),
        (Shape((2,)), (2,), "the result"),
        ((2,), Shape((2,)), "the result"),
        (1, True, "the result"),
        (1, 1.0, "the result"),
        (X[:1].reshape(()), 0.0, "the result"),
        (Prim(1, "int32"), Prim(1, "int8"), "int32 of shape"),
        (None, (), "the result"),
    ],
)
def test_a_difference_is_told_with_its_place(actual, expected, words):
    with pytest.raises(AssertionError, match=words):
        assert_allclose_tree(actual, expected)


def test_numbers_may_differ_within_a_tolerance():
    assert_allclose_tree((X + 1e-6, 1.0), (X, 1.0 + 1e-6), rtol=1e-5, atol=1e-5)


def test_small_floats_are_compared_by_value():
    x = X.astype("bfloat16") if "bfloat16" in np.sctypeDict else X
    assert_allclose_tree(x, x.copy())


def test_the_executors_agree_on_a_program():
    np.testing.assert_array_equal(check_executors_agree(Double, [X]), X + X)


def test_arguments_are_copied_for_each_executor():
    x = X.copy()
    check_executors_agree(Double, [x])
    np.testing.assert_array_equal(x, X)


def test_the_executors_agree_on_an_error():
    error = check_executors_agree(Double, [X[:2]])
    assert isinstance(error, VMError)
    assert error.code == "RX0601"


def executors(monkeypatch, **runs):
    made = {name: (lambda mod, run=run: run) for name, run in runs.items()}
    monkeypatch.setattr(compare, "EXECUTORS", made)
    return tuple(made)


def fail(code, words="it failed"):
    def run(name, x):
        raise VMError(words, code=code)

    return run


def test_an_executor_that_differs_is_named(monkeypatch):
    names = executors(monkeypatch, one=lambda name, x: x, other=lambda name, x: x + 1)
    with pytest.raises(AssertionError, match="other and one differ: "):
        check_executors_agree(IRModule(), [X], executors=names)


def into(x, value):
    x[...] = value
    return X


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (lambda *_: print("a"), lambda *_: print("b"), r"printed 'b\\n', not 'a\\n'"),
        (lambda *_: None, lambda *_: current_effects().add("x"), "the effects.0.: 1 fields, not 0"),
        (
            lambda *_: current_effects().add("x", 1),
            lambda *_: current_effects().add("x", 2),
            r"the effects\[0\]\[0\]\[1\]: 2, not 1",
        ),
        (lambda _, x: into(x, 1), lambda _, x: into(x, 2), r"the arguments afterwards\[0\]"),
        (
            lambda *_: Closure("f", lambda y: y + 1, UNARY),
            lambda *_: Closure("f", lambda y: y + 2, UNARY),
            r"what the results give\[0\]",
        ),
        (
            lambda *_: (X, PackedFunc("f", print)),
            lambda *_: (X, PackedFunc("g", print)),
            r"the result\[1\]",
        ),
    ],
    ids=["output", "number of effects", "effects", "arguments", "closures", "packed functions"],
)
def test_whatever_can_be_seen_of_a_run_must_agree(monkeypatch, one, other, words):
    names = executors(monkeypatch, one=one, other=other)
    with pytest.raises(AssertionError, match="(?s)other and one differ: .*" + words):
        check_executors_agree(IRModule(), [X], executors=names)
    check_executors_agree(IRModule(), [X], executors=["one", "one"])


def test_effects_before_an_error_must_agree(monkeypatch):
    def late(name, x):
        print("before")
        raise VMError("it failed", code="RX0606")

    names = executors(monkeypatch, one=fail("RX0606"), other=late)
    with pytest.raises(AssertionError, match="printed"):
        check_executors_agree(IRModule(), [X], executors=names)


def test_an_executor_that_fails_alone_is_named(monkeypatch):
    names = executors(monkeypatch, one=lambda name, x: x, other=fail("RX0606"))
    with pytest.raises(AssertionError, match="other ends in RX0606, one in no error"):
        check_executors_agree(IRModule(), [X], executors=names)


def test_failures_must_have_the_same_code(monkeypatch):
    names = executors(monkeypatch, one=fail("RX0601"), other=fail("RX0606"))
    with pytest.raises(AssertionError, match="other ends in RX0606, one in RX0601"):
        check_executors_agree(IRModule(), [X], executors=names)


def test_failures_must_have_the_same_words(monkeypatch):
    names = executors(monkeypatch, one=fail("RX0601"), other=fail("RX0601", "it broke"))
    with pytest.raises(AssertionError, match="other and one fail in other words"):
        check_executors_agree(IRModule(), [X], executors=names)


def test_exceptions_that_are_no_vm_error_are_not_caught(monkeypatch):
    def run(name, x):
        raise ZeroDivisionError

    names = executors(monkeypatch, one=run)
    with pytest.raises(ZeroDivisionError):
        check_executors_agree(IRModule(), [X], executors=names)


def test_tensors_are_compared_as_tvm_compares_them():
    assert_allclose(nd.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-8]))
    assert_allclose(nd.array([1.0], cpu(1)), [1.0])
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        assert_allclose([1.0], [1.1])
    with pytest.raises(AssertionError, match="mismatch"):
        assert_allclose([1.0], 1.0)
