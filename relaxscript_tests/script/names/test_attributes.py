"""Values of attributes: what scripts write in short is what it stands for."""

from __future__ import annotations

from relaxscript.dtypes import DataType
from relaxscript.ir import structural_equal
from relaxscript.ir.struct_info import ObjectStructInfo
from relaxscript.script import relax as R, tir as T
from relaxscript.script.names.attributes import attribute


def test_annotations_are_struct_infos():
    assert structural_equal(attribute(R.Object), ObjectStructInfo())


def test_scalar_types_are_data_types():
    found = attribute(T.float16)
    assert isinstance(found, DataType)
    assert found == "float16"


def test_values_inside_of_others_are_meant_too():
    found = attribute({"a": [T.int8, (T.int32, 1)], "b": {"c": T.bool}})
    assert found == {"a": ("int8", ("int32", 1)), "b": {"c": "bool"}}
    assert isinstance(found["a"][1][0], DataType)
    assert isinstance(found["b"]["c"], DataType)


def test_other_values_are_themselves():
    value = object()
    assert attribute(value) is value
