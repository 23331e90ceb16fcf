"""Nodes by the keys of their types: every class has one, and what does not fit is said."""

from __future__ import annotations

from typing import Any

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.ir import IRModule, make_node, prim, relax, tir
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.type_keys import class_of_key
from relaxscript.ir.types import PrimType, TensorType
from relaxscript_tests.node_samples import node_classes, sample


@pytest.mark.parametrize(
    ("key", "cls"),
    {
        "relax.expr.Var": relax.Var, "relax.expr.Call": relax.Call, "relax.Id": relax.Id,
        "relax.expr.StringImm": relax.StringImm, "relax.expr.Function": relax.Function,
        "relax.TensorStructInfo": TensorStructInfo, "relax.TensorType": TensorType,
        "tir.Var": prim.Var, "tir.Call": prim.Call, "tir.Add": prim.Add, "tir.For": tir.For,
        "tir.StringImm": prim.StringImm, "tir.Buffer": tir.Buffer, "IntImm": prim.IntImm,
        "GlobalVar": relax.GlobalVar, "Op": relax.Op, "Range": tir.Range, "PrimType": PrimType,
        "IRModule": IRModule, "DictAttrs": relax.Attrs, "ir.tir.For": tir.For,
        "ir.relax.Var": relax.Var, "ir.prim.Var": prim.Var,
    }.items(),
)  # fmt: skip
def test_a_key_of_tvm_means_the_class_that_is_its_own_here(key: str, cls: type):
    assert class_of_key(key) is cls


@pytest.mark.parametrize("name", node_classes())
def test_every_class_is_made_by_its_own_name(name: str):
    one = sample(node_classes()[name])
    fields = {f.name: getattr(one, f.name) for f in type(one)._fields}
    if name != "ir.tir.PrimFunc":  # whose constructor maps buffers by itself
        again = make_node(name, **fields, span=None)
        assert type(again) is type(one)


def test_fields_are_converted_as_by_the_constructor():
    number = make_node("IntImm", dtype="int32", value=10, span=None)
    assert (number.dtype, number.value) == ("int32", 10)
    info = make_node("relax.TensorStructInfo", shape=[2, 3], dtype="float32")
    var = make_node("relax.expr.Var", name_hint="x", struct_info=info)
    assert str(var.struct_info) == 'R.Tensor((2, 3), "float32")'
    attrs = make_node("DictAttrs", x=1, name="xyz", padding=(0, 0))
    assert dict(attrs) == {"x": 1, "name": "xyz", "padding": (0, 0)}
    module = make_node("IRModule", functions={"f": relax.ExternFunc("g")})
    assert [var.name_hint for var in module.functions] == ["f"]


@pytest.mark.parametrize(
    ("key", "fields", "message"),
    [
        ("relax.expr.Vra", {}, "there is no type key str ('relax.expr.Vra'); did you mean `relax."),
        ("Var", {}, "('Var'); did you mean `relax.expr.Var` or `tir.Var`?"),
        (3, {}, "there is no type key int (3)"),
        (
            "relax.expr.Var", {"name": "x"},
            "a node `relax.expr.Var` has no field `name`; did you mean `name_hint`?",
        ),
        ("tir.Add", {"a": 1}, "a node `tir.Add` needs its field `b`"),
        (
            "IntImm", {"dtype": "int8", "value": "x"},
            "a node `IntImm` cannot be made of these fields: `IntImm.value` cannot be str ('x')",
        ),
        ("IntImm", {"dtype": "int8", "value": 1000}, "1000 does not fit in int8"),
        ("DictAttrs", {"x": object}, "the attribute `x` cannot hold a Python function"),
        ("IRModule", {"functions": 3}, "`functions` of a module must be a mapping, not int (3)"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(key: Any, fields: dict[str, Any], message: str):
    with pytest.raises(DiagnosticError) as raised:
        make_node(key, **fields)
    assert message in raised.value.diagnostics[0].message
