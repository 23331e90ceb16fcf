"""The four steps of `struct_info_base_check`, and `is_base_of`."""

from __future__ import annotations

import pytest

from relaxscript.ir.struct_info import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
    default_derive,
)
from relaxscript.sinfo import BaseCheckResult, struct_info_base_check
from relaxscript_tests.sinfo.random_infos import CPU0, CPU1, HELD, OBJECT, M, N

Tensor, Shape, Prim, Tuple = TensorStructInfo, ShapeStructInfo, PrimStructInfo, TupleStructInfo
F = FuncStructInfo
L0, L1, L2, PASS = BaseCheckResult
T2, TN = Tensor((2,)), Tensor((N,))


@pytest.mark.parametrize(
    ("base", "derived", "level"),
    [
        (OBJECT, T2, PASS),
        (T2, OBJECT, L1),
        (T2, Shape((2,)), L0),
        (Tensor(ndim=-1), T2, PASS),
        (T2, Tensor(ndim=-1), L1),
        (T2, Tensor(ndim=1), L2),
        (T2, Tensor(ndim=2), L0),
        (T2, Tensor((2,), "void"), L1),
        (T2, Tensor((2,), "int8"), L0),
        (T2, Tensor((3,)), L0),
        (TN, Tensor((M,)), L2),
        (TN, Tensor((N + 1,)), L0),
        (Tensor((2 * N,)), Tensor((N + N,)), PASS),
        (Tensor(HELD), Tensor(HELD), PASS),
        (Tensor(HELD), Tensor((2, 2)), L2),
        (Tensor((2,), "float32", CPU0), T2, L1),
        (Tensor((2,), "float32", CPU0), Tensor((2,), "float32", CPU1), L0),
        (Shape((2,)), Shape(ndim=1), L2),
        (Shape((2,)), Shape(), L1),
        (Shape(ndim=1), Shape(ndim=2), L0),
        (Prim("int64"), Prim(value=3), PASS),
        (Prim(value=3), Prim("int64"), L2),
        (Prim(value=3), Prim(value=4), L0),
        (Prim("int64"), Prim("int32"), L0),
        (Tuple([T2, T2]), Tuple([OBJECT, T2]), L1),
        (Tuple([T2, T2]), Tuple([OBJECT, Tensor((3,))]), L0),
        (Tuple([T2, T2]), Tuple([Tensor(ndim=1), T2]), L2),
        (Tuple([T2]), Tuple([]), L0),
        (F([T2], OBJECT), F([OBJECT], OBJECT), PASS),
        (F([OBJECT], OBJECT), F([T2], OBJECT), L1),
        (F([T2], T2), F([T2], Tensor(ndim=1)), L2),
        (F([T2], T2, True), F([T2], T2, False), L1),
        (F([T2], T2, False), F([T2], T2, True), PASS),
        (F([T2], T2), F([T2, T2], T2), L0),
        (F([T2], T2), F([Tensor((3,))], T2), L1),
        (F([T2], T2), F([T2], Tensor((3,))), L0),
        (F.opaque_func(derive_func=default_derive), F.opaque_func(ret=T2), L1),
        (F.opaque_func(), F.opaque_func(derive_func=default_derive), PASS),
    ],
)  # fmt: skip
def test_the_level_says_how_far_a_struct_info_is_from_its_base(base, derived, level):
    assert struct_info_base_check(base, derived) is level
    assert base.is_base_of(derived) is (level is PASS)


def test_is_base_of_compares_with_a_struct_info_only():
    with pytest.raises(TypeError, match="`is_base_of` compares with a StructInfo, not with int"):
        T2.is_base_of(3)
