"""What the operators on two tensors compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.op import Operator


def ints(*values: int, dtype: str = "int8") -> Any:
    return np.array(values, dtype)


@pytest.mark.parametrize(
    ("operator", "a", "b", "wanted"),
    [
        (R.add, ints(127, -128), ints(1, -1), [-128, 127]),
        (R.subtract, ints(-128, 5), ints(1, 7), [127, -2]),
        (R.multiply, ints(64, -3), ints(2, 4), [-128, -12]),
        (R.divide, ints(-7, 7, -7, 7), ints(2, -2, -2, 2), [-3, -3, 3, 3]),
        (R.divide, ints(-128, 5), ints(-1, 0), [-128, 0]),
        (R.floor_divide, ints(-7, 7, -7, 7), ints(2, -2, -2, 2), [-4, -4, 3, 3]),
        (R.mod, ints(-7, 7, -7, 7), ints(2, -2, -2, 2), [-1, 1, -1, 1]),
        (R.floor_mod, ints(-7, 7, -7, 7), ints(2, -2, -2, 2), [1, -1, -1, 1]),
        (R.power, ints(2, -3, 2, 5), ints(3, 3, 7, 0), [8, -27, -128, 1]),
        (R.power, ints(1, -1, -1, 2, 0), ints(-3, -3, -2, -1, -1), [1, -1, 1, 0, 0]),
        (R.maximum, ints(1, -1), ints(0, 0), [1, 0]),
        (R.minimum, ints(1, -1), ints(0, 0), [0, -1]),
        (R.bitwise_and, ints(6), ints(3), [2]),
        (R.bitwise_or, ints(6), ints(3), [7]),
        (R.bitwise_xor, ints(6), ints(3), [5]),
        (R.left_shift, ints(3, 127), ints(2, 1), [12, -2]),
        (R.right_shift, ints(-8, 8), ints(1, 2), [-4, 2]),
    ],
)
def test_integers(operator: Operator, a: Any, b: Any, wanted: list[int]) -> None:
    result = operator(a, b)
    assert result.dtype == np.int8
    assert result.tolist() == wanted


def test_unsigned_division_and_powers() -> None:
    a, b = ints(200, 7, dtype="uint8"), ints(3, 2, dtype="uint8")
    assert R.divide(a, b).tolist() == [66, 3]
    assert R.power(a, b).tolist() == [(200**3) % 256, 49]


@pytest.mark.parametrize(
    ("operator", "a", "b", "wanted"),
    [
        (R.divide, 1.0, 0.0, np.inf),
        (R.divide, 0.0, 0.0, np.nan),
        (R.floor_divide, -7.0, 2.0, -4.0),
        (R.mod, -7.5, 2.0, -1.5),
        (R.floor_mod, -7.5, 2.0, 0.5),
        (R.maximum, np.nan, 1.0, np.nan),
        (R.minimum, 1.0, np.nan, np.nan),
        (R.power, 2.0, -1.0, 0.5),
    ],
)
def test_floats(operator: Operator, a: float, b: float, wanted: float) -> None:
    result = operator(np.array(a, np.float32), np.array(b, np.float32))
    assert result.dtype == np.float32
    assert isinstance(result, np.ndarray)
    np.testing.assert_equal(result, np.float32(wanted))


def test_bools() -> None:
    a, b = np.array([True, True, False]), np.array([True, False, False])
    assert R.logical_and(a, b).tolist() == [True, False, False]
    assert R.logical_or(a, b).tolist() == [True, True, False]
    assert R.logical_xor(a, b).tolist() == [False, True, False]
    assert R.maximum(a, b).tolist() == [True, True, False]


def test_bfloat16_stays_bfloat16() -> None:
    from relaxscript.dtypes import DataType

    x = np.array([1.5, -2], DataType("bfloat16").numpy)
    assert R.add(x, x).dtype == x.dtype
    assert R.divide(x, 2).astype(np.float32).tolist() == [0.75, -1]
