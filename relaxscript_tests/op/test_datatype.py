"""Conversion between dtypes."""

from __future__ import annotations

import numpy as np

import relaxscript.op as R

from .inference import held, infer, ranked, refused, result, shape, tensor


def test_astype_changes_the_data_type_only() -> None:
    assert result(R.astype, tensor("n", 2), "float16") == "(n, 2) float16"
    assert result(R.astype, ranked(2, "void"), "int8") == "rank 2 int8"
    s = shape(ndim=2)
    assert infer(R.astype, held(s), "int8").shape is s  # type: ignore[attr-defined]


def test_a_conversion_that_changes_nothing_keeps_what_is_known() -> None:
    x = tensor("n", 2)
    assert infer(R.astype, x, "float32") is x.struct_info


def test_an_unknown_data_type_is_refused() -> None:
    error = refused(R.astype, tensor(2), "flaot16")
    assert (error.operand, error.code) == ("dtype", "RX0204")


def test_numbers_are_converted_as_in_c() -> None:
    assert R.astype(np.array([-1.7, 1.7]), "int32").tolist() == [-1, 1]
    assert R.astype(np.array([300, -1]), "uint8").tolist() == [44, 255]
    assert R.astype(np.array([0.0, 0.5]), "bool").tolist() == [False, True]
    assert R.astype(np.array(1.0000001), "float32").dtype == np.float32


def test_a_conversion_is_always_a_copy() -> None:
    x = np.ones(2, np.float32)
    assert R.astype(x, "float32") is not x


def test_a_parameter_is_wrapped_as_the_dtype_of_the_model() -> None:
    x = np.array([1.5, -2.25], "float16")
    assert R.wrap_param(x).dtype == np.float32
    assert R.wrap_param(x, "int8").tolist() == [1, -2]
    assert result(R.wrap_param, tensor("n", dtype="float16")) == "(n,) float32"
