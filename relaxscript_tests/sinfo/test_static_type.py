"""Traditional types: what they are of StructInfos, and their order."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import op
from relaxscript.errors import DiagnosticError, InternalError
from relaxscript.ir import relax
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    default_derive,
)
from relaxscript.ir.types import (
    FuncType,
    ObjectType,
    PackedFuncType,
    PointerType,
    PrimType,
    ShapeType,
    TensorType,
    TupleType,
    Type,
)
from relaxscript.sinfo import erase_struct_info, is_static_subtype, struct_info_of_type
from relaxscript_tests.sinfo.random_infos import CPU0, HELD, OBJECT, N, cases

Tensor, Shape, Prim, Tuple = TensorStructInfo, ShapeStructInfo, PrimStructInfo, TupleStructInfo
F = FuncStructInfo
ANY, PACKED = ObjectType(), PackedFuncType()
T1, T2 = TensorType(1, "int8"), TensorType(2, "int8")


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (Tensor((N, 2), "int8", CPU0), T2),
        (Tensor(HELD, "int8"), T2),
        (Tensor(None, "void"), TensorType(-1, "void")),
        (Shape((N, 2)), ShapeType(2)),
        (Prim("int64", N), PrimType("int64")),
        (Tuple((Tensor((N,), "int8"),)), TupleType((T1,))),
        (F((Tensor((N,), "int8"),), Shape((N,)), False), FuncType((T1,), ShapeType(1))),
        (F.opaque_func(derive_func=default_derive), PACKED),
        (F.opaque_func(ret=Shape((2,))), PACKED),
        (OBJECT, ANY),
    ],
)
def test_a_type_says_kind_rank_and_data_type_only(info: StructInfo, expected: Type) -> None:
    assert erase_struct_info(info) == expected


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (T2, ANY),
        (T2, TensorType(-1, "int8")),
        (T2, TensorType(2, "void")),
        (ShapeType(2), ShapeType()),
        (TupleType((T2, T1)), TupleType((ANY, T1))),
        (FuncType((ANY,), T2), FuncType((T2,), ANY)),
        (PACKED, ANY),
    ],
)
def test_what_says_less_is_above(a: Type, b: Type) -> None:
    assert is_static_subtype(a, b)
    assert not is_static_subtype(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (T1, T2),
        (T2, TensorType(2, "float32")),
        (PrimType("int64"), PrimType("int32")),
        (PrimType("int64"), TensorType(0, "int64")),
        (TupleType((T2,)), TupleType((T2, T2))),
        (FuncType((T1,), ANY), FuncType((T2,), ANY)),
        (FuncType((), ANY), PACKED),
    ],
)
def test_what_says_something_else_is_unrelated(a: Type, b: Type) -> None:
    assert not is_static_subtype(a, b)
    assert not is_static_subtype(b, a)


@pytest.mark.slow
def test_a_type_is_that_of_the_struct_info_that_says_the_same(rng: np.random.Generator) -> None:
    for draw in cases(rng):
        static = erase_struct_info(draw.info())
        assert erase_struct_info(struct_info_of_type(static)) == static
        assert is_static_subtype(static, static)


def test_a_pointer_is_no_value_of_relax() -> None:
    with pytest.raises(InternalError, match=r"no value of Relax has the type T.handle"):
        struct_info_of_type(PointerType(PrimType("int8")))


def test_the_checked_type_of_an_expression_is_the_type_of_its_struct_info() -> None:
    x = relax.Var("x", TensorStructInfo((N, 3), "float32"))
    assert x.checked_type == TensorType(2, "float32")
    assert op.sum(x, axis=0).checked_type == TensorType(1, "float32")
    assert relax.Tuple([x, relax.PrimValue(2)]).checked_type == TupleType(
        [TensorType(2, "float32"), PrimType("int64")]
    )
    assert relax.ShapeExpr([N, 3]).checked_type == ShapeType(2)


def test_a_variable_of_which_nothing_is_known_has_no_type() -> None:
    with pytest.raises(ValueError, match="nothing is known of this variable") as caught:
        relax.Var("x").checked_type
    assert isinstance(caught.value, DiagnosticError)
    assert caught.value.diagnostics[0].code == "RX0201"
