"""Numbers as whole multiples of a scale."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.dtypes import DataType

from .inference import obliged, ranked, refused, result, tensor

DATA = np.array([[-1.0, 0.25, 0.75], [100.0, np.nan, 0.0]], "float32")
HALF, THREE = np.array(0.5, "float32"), np.array(3, "int8")


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_small_floats_are_rounded_once_and_held_in_range(name: str) -> None:
    found = R.quantize(DATA * 1000, HALF, THREE, out_dtype=name)
    dtype = DataType(name).numpy
    exact = DATA.astype(np.float64) * 2000 + 3
    most = float(ml_dtypes.finfo(dtype).max)
    wanted = np.clip(exact, -most, most).astype(dtype)
    assert found.dtype == dtype
    assert np.array_equal(found.astype(float), wanted.astype(float), equal_nan=True)
    assert result(R.quantize, tensor("n"), tensor(), tensor(dtype="int8"), out_dtype=name) == (
        f"(n,) {name}"
    )
    back = R.dequantize(found, HALF, THREE)
    assert back.dtype == np.float32


def test_numbers_are_rounded_to_even_and_held_in_range() -> None:
    found = R.quantize(DATA, HALF, THREE)
    assert found.tolist() == [[1, 3, 5], [127, 0, 3]]
    assert found.dtype == np.int8
    assert R.quantize(DATA, HALF, THREE, out_dtype="uint8").tolist()[1][0] == 203


def test_each_place_along_an_axis_has_a_scale() -> None:
    scale, zero = np.array([1.0, 0.25], "float32"), np.array([0, 1], "int8")
    whole = R.quantize(DATA[:, :1], scale, zero, 0)
    assert whole.tolist() == [[-1], [127]]
    assert R.dequantize(whole, scale, zero, 0).tolist() == [[-1], [31.5]]
    assert R.dequantize(whole, HALF, THREE, out_dtype="float16").tolist() == [[-2], [62]]


def test_what_is_known_of_the_result() -> None:
    x, s, z = tensor("n", 3), tensor(), tensor(dtype="int8")
    assert result(R.quantize, x, s, z) == "(n, 3) int8"
    assert result(R.quantize, x, ranked(-1), z, out_dtype="uint8") == "(n, 3) uint8"
    assert result(R.dequantize, tensor("n", dtype="int8"), s, z) == "(n,) float32"
    assert obliged(R.quantize, x, tensor("m"), z, 0) == ["scale: n equal m"]


@pytest.mark.parametrize("operator", [R.quantize, R.dequantize], ids=repr)
def test_what_does_not_fit(operator: R.Operator) -> None:
    x = tensor(2, 3) if operator is R.quantize else tensor(2, 3, dtype="int8")
    s, z = tensor(), tensor(dtype="int8")
    assert refused(operator, x, tensor(2), z).fact == "has 2 elements"
    assert refused(operator, x, tensor(2, 3), z).fact == "has shape (2, 3)"
    assert refused(operator, x, tensor(3), z, 2).message == "there is no axis 2"
    assert refused(operator, x, z, z).operand == "scale"
    wrong = "float32" if operator is R.quantize else "int8"
    assert refused(operator, x, s, z, out_dtype=wrong).operand == "out_dtype"
