"""Numbers as whole multiples of a scale."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import relaxscript.op as R
from relaxscript import jit
from relaxscript.builder import BlockBuilder
from relaxscript.dtypes import DataType
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.transform import LegalizeOps

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


@pytest.mark.parametrize("name", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("source", ["float16", "float32"])
def test_the_outermost_integers_are_held_where_no_float_is_one(name: str, source: str) -> None:
    x = np.array([np.inf, -np.inf, np.nan], source)
    one, zero = np.array(1, source), np.array(0, "int8")
    limits = np.iinfo(name)
    assert R.quantize(x, one, zero, out_dtype=name).tolist() == [limits.max, limits.min, 0]


@pytest.mark.parametrize("name", ["int8", "uint32", "int64", "float8_e4m3fn"])
def test_loops_hold_what_is_beyond_the_range_as_the_operator_does(name: str) -> None:
    x = np.array([np.inf, -np.inf, np.nan, -0.0, 1e30, -1e30, 2.5, 448.0], "float32")
    builder = BlockBuilder()
    params = [Var(f"x{k}", TensorStructInfo(s, "float32")) for k, s in enumerate([(8,), (), ()])]
    with builder.function("main", params):
        builder.emit_func_output(builder.emit(R.quantize(*params, out_dtype=name)))
    legal = LegalizeOps()(builder.finalize())
    assert "call_tir" in legal.script()
    operands = x, np.array(0.5, "float32"), np.array(1.0, "float32")
    found, expected = jit(legal).main(*operands), R.quantize(*operands, out_dtype=name)
    np.testing.assert_array_equal(found.astype(float), expected.astype(float))


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
