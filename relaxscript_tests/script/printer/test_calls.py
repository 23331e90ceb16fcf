"""Calls: operands by position, attributes by name where they are not as usual."""

from __future__ import annotations

from typing import Any

import pytest

from relaxscript.ir.relax import Call, ExternFunc, GlobalVar, ShapeExpr, Tuple, Var
from relaxscript.ir.struct_info import ObjectStructInfo, TupleStructInfo
from relaxscript.op import REGISTRY
from relaxscript.script.printer.module import script

from .programs import call, tensor

x, y, z = (Var(name, tensor(4, 4)) for name in "xyz")
OBJECT = ObjectStructInfo()


def built(name: str, *args: Any, **kwargs: Any) -> Call:
    return REGISTRY[f"relax.{name}"].build(args, kwargs)


CASES = [
    (built("add", x, y), "R.add(x, y)"),
    (built("nn.relu", x), "R.nn.relu(x)"),
    (built("matmul", x, y), "R.matmul(x, y)"),
    (built("matmul", x, y, out_dtype="float16"), 'R.matmul(x, y, out_dtype="float16")'),
    (built("nn.softmax", x), "R.nn.softmax(x)"),
    (built("nn.softmax", x, axis=0), "R.nn.softmax(x, axis=0)"),
    (built("sum", x), "R.sum(x)"),
    (built("sum", x, axis=[0, 1], keepdims=True), "R.sum(x, axis=[0, 1], keepdims=True)"),
    (built("astype", x, "float16"), 'R.astype(x, dtype="float16")'),
    (built("reshape", x, ShapeExpr([2, 8])), "R.reshape(x, R.shape([2, 8]))"),
    (built("permute_dims", x), "R.permute_dims(x)"),
    (built("concat", Tuple([x, y])), "R.concat((x, y))"),
    (built("concat", Tuple([x, y]), axis=1), "R.concat((x, y), axis=1)"),
    (built("nn.layer_norm", x, y, z, axes=[-1]), "R.nn.layer_norm(x, y, z, axes=[-1])"),
    (built("call_tir", GlobalVar("f"), (x,), out_sinfo=tensor(4)),
     'R.call_tir(cls.f, (x,), out_sinfo=R.Tensor((4,), "float32"))'),
    (built("call_tir", GlobalVar("f"), (x,), out_sinfo=tensor(4), tir_vars=ShapeExpr([3])),
     'R.call_tir(cls.f, (x,), out_sinfo=R.Tensor((4,), "float32"), tir_vars=R.shape([3]))'),
    (built("call_dps_packed", "f", (x,), out_sinfo=[tensor(4), tensor(4)]),
     'R.call_dps_packed("f", (x,), out_sinfo=[R.Tensor((4,), "float32"), R.Tensor((4,), '
     '"float32")])'),
    (built("call_pure_packed", "f", x, y, sinfo_args=OBJECT),
     'R.call_pure_packed("f", x, y, sinfo_args=R.Object)'),
    (built("print", x, y), "R.print(x, y)"),
    (built("print", x, format="{}"), 'R.print(x, format="{}")'),
    (Call(ExternFunc("f"), [x], {"k": 1, "l": "a"}, [OBJECT]),
     'R.call_packed("f", x, k=1, l="a", sinfo_args=R.Object)'),
    (Call(ExternFunc("f"), [], None, [OBJECT, TupleStructInfo([OBJECT])]),
     'R.call_packed("f", sinfo_args=(R.Object, R.Tuple(R.Object)))'),
    (Call(ExternFunc("f"), [x]), 'R.call_packed("f", x)'),
    (call("not.known", x, attrs={"k": [1, 2]}, sinfo_args=[OBJECT]),
     "R.not.known(x, k=[1, 2], sinfo_args=R.Object)"),
    (call("add", x, call("add", y, z)), "R.add(x, R.add(y, z))"),
]  # fmt: skip


@pytest.mark.parametrize(("e", "expected"), CASES, ids=[shown for _, shown in CASES])
def test_a_call_is_written(e: Call, expected: str):
    assert script(e) == expected


def test_an_attribute_that_a_call_made_by_hand_leaves_out_is_as_usual():
    assert script(call("nn.softmax", x)) == "R.nn.softmax(x)"


def test_other_prefixes_are_used_throughout():
    e = built("reshape", x, ShapeExpr([4, 4]))
    assert script(e, relax_prefix="relax") == "relax.reshape(x, relax.shape([4, 4]))"
