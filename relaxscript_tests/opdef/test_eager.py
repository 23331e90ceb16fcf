"""Operators called with numpy arrays compute at once, after the checks that programs get."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.dtypes import DataType
from relaxscript.errors import DiagnosticError, InternalError
from relaxscript.ir import prim, relax
from relaxscript.opdef.eager import finish_result, make_quiet, run
from relaxscript_tests.op.inference import dim, tensor


def test_lists_of_arrays_and_keywords_compute() -> None:
    x = np.arange(3.0)
    assert R.concat([x, x], axis=0).tolist() == [0, 1, 2, 0, 1, 2]
    assert R.sum(x=x, axis=[0]).tolist() == 3


def test_shapes_and_prim_values_are_written_as_in_programs() -> None:
    x = np.arange(6)
    assert R.reshape(x, (2, -1)).shape == (2, 3)
    assert R.reshape(x, relax.ShapeExpr([3, 2]).values).shape == (3, 2)
    assert R.clip(x, 1, prim.const(2, "int64")).tolist() == [0 + 1, 1, 2, 2, 2, 2]


def test_an_expression_among_the_operands_builds_a_call() -> None:
    assert isinstance(R.add(tensor(3), np.ones(3, np.float32)), relax.Call)
    assert isinstance(R.concat([tensor(3), np.ones(3, np.float32)]), relax.Call)
    assert isinstance(R.reshape(np.ones(6), (dim("n"), 2)), relax.Call)


def test_what_never_fits_is_refused_as_in_a_program() -> None:
    with pytest.raises(DiagnosticError) as caught:
        R.add(np.ones(2, np.float32), np.ones(3, np.float32))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.notes == ("`x2` has shape (3,)", "`x1` has shape (2,)")
    with pytest.raises(DiagnosticError, match="cannot take these operands"):
        R.add(np.ones(2), np.ones(2, np.int64))


def test_nothing_warns() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(R.divide(np.ones(2), np.zeros(2))).all()
        assert R.floor_divide(np.ones(2, np.int8), np.zeros(2, np.int8)).dtype == np.int8
        assert np.isinf(R.exp(np.array([1e4]))).all()
        assert np.isnan(R.mean(np.zeros((0, 2)), 0)).all()
        assert R.astype(np.array([np.nan, 1e30]), "int8").dtype == np.int8


def test_a_result_is_never_an_operand() -> None:
    x = np.array([1, 2])
    y = R.floor(x)
    assert y is not x
    assert not np.shares_memory(x, y)
    z = R.squeeze(np.ones((1, 2)), 0)
    assert z.base is None


def test_results_are_contiguous() -> None:
    assert R.permute_dims(np.ones((2, 3))).flags.c_contiguous
    assert R.add(np.ones((2, 3)).T, np.ones((2, 3)).T).flags.c_contiguous


def test_what_has_no_value_is_our_mistake() -> None:
    with pytest.raises(InternalError, match="Var was taken for an operand that has a value"):
        run(R.exp, (tensor(2),), {})


def test_an_undecided_precondition_is_our_mistake() -> None:
    with pytest.raises(InternalError, match="it is not decided for arrays whether `n`"):
        run(R.add, (tensor("n"), tensor("m")), {})


def test_texts_and_data_types_are_values_too(capsys: pytest.CaptureFixture[str]) -> None:
    R.print(np.array(1), DataType("int8"), "text", format="{} {} {}")
    assert capsys.readouterr().out == "1 int8 text\n"


def test_several_results_are_new_arrays() -> None:
    x = np.arange(4)
    for piece in R.split(x, 2):
        assert not np.shares_memory(piece, x)


def test_an_operator_inside_another_is_quiet_too() -> None:
    def outer(x: np.ndarray) -> np.ndarray:
        return make_quiet(np.log)(x) + make_quiet(np.divide)(x, x)

    with np.errstate(all="raise"):
        assert np.isnan(make_quiet(outer)(np.zeros(2))).all()
        with pytest.raises(FloatingPointError, match="divide by zero"):
            np.log(np.zeros(2))


def test_an_operator_that_fails_leaves_numpy_as_it_was() -> None:
    def fail(x: np.ndarray) -> np.ndarray:
        raise ValueError("no")

    with np.errstate(all="raise"):
        with pytest.raises(ValueError, match="no"):
            make_quiet(fail)(np.zeros(2))
        assert set(np.geterr().values()) == {"raise"}


def test_a_new_array_seen_in_another_shape_is_not_copied_and_an_operand_is() -> None:
    operand = np.ones((2, 3))
    new = np.ones(6)
    assert finish_result(new.reshape(2, 3), (operand,)).base is new
    for view in (operand.reshape(3, 2), operand.reshape(6), operand[:]):
        assert not np.shares_memory(finish_result(view, (operand,)), operand)
    part = operand[:1]
    assert not np.shares_memory(finish_result(operand.reshape(6), (part,)), operand)
    assert finish_result(new[:3], ()).base is None  # it would keep the whole of `new` alive
    assert not np.shares_memory(finish_result(operand.reshape(6), ((operand,),)), operand)
    lent = np.frombuffer(bytearray(8), np.uint8)
    assert not np.shares_memory(finish_result(lent.reshape(2, 4), (lent,)), lent)
