"""Values and StructInfos in a few words."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.graph.wording import columns, fit, info_in_brief, literal
from relaxscript.ir import prim
from relaxscript.ir.relax import Constant, ExternFunc, GlobalVar, PrimValue, ShapeExpr, StringImm
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
)

n = prim.Var("n", "int64")
MATRIX = TensorStructInfo((n, 64), "float32")


@pytest.mark.parametrize(
    ("info", "said"),
    [
        (MATRIX, "(n, 64) float32"),
        (TensorStructInfo((n + 1,), "int8"), "(n + 1,) int8"),
        (TensorStructInfo((), "bool"), "() bool"),
        (TensorStructInfo(None, "float32", ndim=3), "3-D float32"),
        (TensorStructInfo(None, "float32"), "tensor float32"),
        (TensorStructInfo(None, "void"), "tensor"),
        (ShapeStructInfo((n, 4)), "shape (n, 4)"),
        (ShapeStructInfo(ndim=2), "shape"),
        (PrimStructInfo("int64"), "int64"),
        (PrimStructInfo(value=n), "int64 n"),
        (TupleStructInfo((MATRIX, TupleStructInfo(()))), "[(n, 64) float32, []]"),
        (TupleStructInfo((ObjectStructInfo(),) * 5), "[object, object, object, 2 more]"),
        (FuncStructInfo((MATRIX,), MATRIX), "function"),
        (ObjectStructInfo(), "object"),
        (None, ""),
    ],
    ids=str,
)
def test_a_struct_info_is_said_in_brief(info, said):
    assert info_in_brief(info) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Constant(np.float32(0.5)), "0.5"),
        (Constant(np.zeros((2,))), None),
        (PrimValue(3), "3"),
        (ShapeExpr((n, 4)), "(n, 4)"),
        (StringImm("a'b"), '"a\'b"'),
        (GlobalVar("f"), "f"),
        (ExternFunc("my.f"), "my.f"),
    ],
    ids=["scalar", "tensor", "prim value", "shape", "string", "function", "packed"],
)
def test_what_is_small_is_told_where_it_is_used(value, said):
    assert literal(value) == said


def test_a_long_text_is_cut_to_the_columns_that_there_are():
    assert fit("a" * 40, 10) == "a" * 9 + "\u2026"
    assert fit("\u5f35" * 40, 10) == "\u5f35" * 4 + "\u2026"
    assert columns(fit("\u5f35" * 40, 10)) <= 10
    assert fit("short", 10) == "short"


def test_what_would_not_be_seen_has_a_sign():
    assert fit("a\nb\x1b") == "a\u23ceb\u241b"
