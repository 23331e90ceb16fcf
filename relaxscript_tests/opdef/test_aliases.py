"""Names of other libraries lead to what means the same here."""

from __future__ import annotations

import pytest

from relaxscript.opdef.aliases import (
    _DTYPES,
    _OPERATORS,
    meant_operator,
    nearest_dtype,
    other_dtype,
)
from relaxscript.opdef.parameters import DTYPES
from relaxscript.script import relax as R


@pytest.mark.parametrize("name", _OPERATORS)
def test_an_operator_of_others_is_one_of_ours_by_another_name(name: str):
    assert hasattr(R, meant_operator(name))
    assert name not in R.__all__


def test_an_operator_that_nobody_has_leads_nowhere():
    assert meant_operator("quaternion_fourier") is None
    assert meant_operator("softmax") is None


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("float", "float32"), ("double", "float64"), ("half", "float16"), ("long", "int64"),
        ("fp16", "float16"), ("f32", "float32"), ("i8", "int8"), ("u64", "uint64"),
        ("bf16", "bfloat16"), ("flaot32", "float32"), ("Float32", "float32"), ("i7", None),
        ("quaternion", None),
    ],
)  # fmt: skip
def test_a_data_type_of_others_is_one_of_ours(name, meant):
    assert nearest_dtype(name, DTYPES) == meant


def test_a_scalable_vector_is_one_of_as_many_lanes():
    assert nearest_dtype("int32xvscalex4", ["int32", "int32x4"]) == "int32x4"
    assert nearest_dtype("int32xvscalex4", ["float64"]) is None


def test_other_names_of_data_types_lead_to_data_types():
    assert {other_dtype(name) for name in _DTYPES} <= set(DTYPES)
    assert other_dtype("float32") is None
