"""What the comparisons compute."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.op import Operator

from .inference import result, tensor


@pytest.mark.parametrize(
    ("operator", "wanted"),
    [
        (R.equal, [False, True, False, False]),
        (R.not_equal, [True, False, True, True]),
        (R.less, [True, False, False, False]),
        (R.less_equal, [True, True, False, False]),
        (R.greater, [False, False, True, False]),
        (R.greater_equal, [False, True, True, False]),
    ],
)
def test_comparisons_are_false_for_nan(operator: Operator, wanted: list[bool]) -> None:
    a, b = np.array([1.0, 2.0, 3.0, np.nan]), np.array([2.0, 2.0, 2.0, np.nan])
    result = operator(a, b)
    assert result.dtype == bool
    assert result.tolist() == wanted


def test_bools_are_ordered() -> None:
    assert R.less(np.array(False), np.array(True)).tolist() is True


def test_large_integers_are_compared_exactly() -> None:
    a = np.array([(1 << 62) + 1])
    assert R.equal(a, np.array([1 << 62])).tolist() == [False]


def test_two_data_types_are_compared_as_numbers() -> None:
    whole, broken = np.array([0, 1, 2], "int32"), np.array([0, 1.5, np.nan], "float32")
    assert R.equal(whole, broken).tolist() == [True, False, False]
    assert R.less(whole, broken).tolist() == [False, True, False]
    assert R.greater(np.array([-1], "int64"), np.array([2**64 - 1], "uint64")).tolist() == [False]
    assert result(R.equal, tensor("n"), tensor("n", dtype="int32")) == "(n,) bool"
