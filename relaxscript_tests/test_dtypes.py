from __future__ import annotations

import pickle

import ml_dtypes
import numpy as np
import pytest

from relaxscript.dtypes import DataType, is_dtype, promote, result_dtype


class Pretender:
    """Something with a `dtype` that is a text, as nodes and tensors of the IR have."""

    dtype = "float32"


def test_a_data_type_is_the_text_that_names_it_and_there_is_one_of_it():
    assert DataType("float32") == "float32"
    assert DataType("float32") is DataType(DataType("float32"))
    assert pickle.loads(pickle.dumps(DataType("int8"))) is DataType("int8")


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("int8", ("int", 8, 1, 1)),
        ("uint64", ("uint", 64, 1, 8)),
        ("float32x4", ("float", 32, 4, 16)),
        ("bfloat16", ("bfloat", 16, 1, 2)),
        ("float8_e4m3fn", ("float", 8, 1, 1)),
        ("float4_e2m1fn", ("float", 4, 1, 1)),
        ("bool", ("bool", 1, 1, 1)),
        ("boolx4", ("bool", 1, 4, 4)),
    ],
)
def test_kind_bits_lanes_and_bytes_are_read_off_the_name(name, facts):
    dtype = DataType(name)
    assert (dtype.kind, dtype.bits, dtype.lanes, dtype.itemsize) == facts


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (np.float32, "float32"),
        (np.dtype("int8"), "int8"),
        (ml_dtypes.bfloat16, "bfloat16"),
        (bool, "bool"),
        (float, "float64"),
        ("boolean", "bool"),
        ("", "void"),
    ],
)
def test_types_of_numpy_and_python_and_other_spellings_are_data_types(given, name):
    assert DataType(given) is DataType(name)


@pytest.mark.parametrize(
    "text",
    [
        "float",
        "float32x0",
        "int0",
        "int512",
        "float32_e4m3fn",
        "float31",
        "bfloat8",
        "str",
        "object",
        "quux",
        "Float32",
    ],
)
def test_a_text_that_names_no_data_type_is_refused(text):
    assert not is_dtype(text)
    with pytest.raises(ValueError, match=f'"{text}" is not a dtype'):
        DataType(text)


@pytest.mark.parametrize(
    ("given", "kind"),
    [(None, "NoneType"), (3, "int"), (Pretender, "type"), (Pretender(), "Pretender"),
     ((Pretender(), 2), "tuple"), ([("a", "f4")], "list")],
)  # fmt: skip
def test_what_is_neither_text_nor_data_type_is_refused_without_asking_numpy(given, kind):
    assert not is_dtype(given)
    with pytest.raises(TypeError, match=f"a string or a type of numpy, not {kind}$"):
        DataType(given)


@pytest.mark.parametrize("name", ["float32x4", "void", "handle", "int1"])
def test_a_data_type_without_a_numpy_equivalent_says_so(name):
    with pytest.raises(TypeError, match=f"{name} has no numpy equivalent"):
        _ = DataType(name).numpy


def test_an_unsigned_integer_of_one_bit_is_a_truth_value():
    assert DataType("uint1") is DataType("bool")
    assert DataType("uint1x4") is DataType("boolx4")
    assert DataType("uint1").numpy == np.dtype("bool")


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e5m2", "uint8", "bool", "int64"])
def test_arrays_of_the_numpy_equivalent_have_that_data_type(name):
    assert result_dtype(np.zeros(2, DataType(name).numpy)) is DataType(name)


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        ("bool", "int8", "int8"),
        ("int64", "float16", "float16"),
        ("int8", "int32", "int32"),
        ("uint64", "int8", "uint64"),
        ("float16", "bfloat16", "float16"),
        ("float32x4", "float16x4", "float32x4"),
    ],
)
def test_the_later_kind_and_the_wider_type_win(a, b, both):
    assert promote(DataType(a), DataType(b)) == promote(DataType(b), DataType(a)) == both


def test_pointers_and_unknown_types_do_not_mix():
    assert promote(DataType("handle"), DataType("int64")) is None
    assert promote(DataType("float32"), DataType("void")) is None
    assert promote(DataType("void"), DataType("void")) == "void"


@pytest.mark.parametrize("name", ["float32", "bool", "int16", "int1", "bfloat16", "float8_e5m2"])
def test_an_annotation_of_relax_may_name_scalars_of_the_widths_of_the_specification(name):
    assert DataType(name).in_relax


@pytest.mark.parametrize("name", ["int7", "float32x4", "float128", "handle", "float4_e2m1fn"])
def test_an_annotation_of_relax_may_not_name_other_widths_vectors_or_pointers(name):
    assert not DataType(name).in_relax


@pytest.mark.parametrize(
    ("dtype", "has"), [("int8", True), ("bfloat16", True), ("int1", False), ("void", False)]
)
def test_a_data_type_says_whether_arrays_hold_it(dtype: str, has: bool):
    assert DataType(dtype).has_numpy is has
