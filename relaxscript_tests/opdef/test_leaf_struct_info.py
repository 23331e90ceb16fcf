"""What is known of variables and literals."""

from __future__ import annotations

import numpy as np

from relaxscript.ir import prim, relax
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, default_derive
from relaxscript.op import struct_info_of_leaf
from relaxscript_tests.op.inference import described, dim, tensor


def test_literals() -> None:
    n = dim("n")
    found = [
        relax.Constant(np.ones((2, 3), np.int8)),
        relax.PrimValue(prim.const(3, "int32")),
        relax.ShapeExpr([n, 2]),
        relax.Tuple([tensor(2), relax.ShapeExpr([n])]),
        relax.StringImm("a"),
        relax.DataTypeImm("int8"),
    ]
    assert [described(struct_info_of_leaf(e)) for e in found] == [
        "(2, 3) int8",
        "int32 3",
        "shape (n, 2)",
        "[(2,) float32; shape (n,)]",
        "object",
        "object",
    ]


def test_a_packed_function_derives_by_its_struct_info_arguments() -> None:
    info = struct_info_of_leaf(relax.ExternFunc("f"))
    assert isinstance(info, FuncStructInfo)
    assert info.derive_func is default_derive
    assert not info.purity


def test_another_answers_for_other_expressions() -> None:
    x = tensor(2)
    answer = ObjectStructInfo()
    assert struct_info_of_leaf(x) is x.struct_info
    assert struct_info_of_leaf(x, lambda e: answer) is answer
    nested = relax.Tuple([x])
    assert struct_info_of_leaf(nested, lambda e: answer).fields == (answer,)  # type: ignore[attr-defined]
