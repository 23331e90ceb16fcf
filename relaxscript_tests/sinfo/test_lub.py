"""Least upper bounds."""

from __future__ import annotations

import pytest

from relaxscript.arith import Facts
from relaxscript.ir import structural_equal
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    default_derive,
    empty_derive,
)
from relaxscript.sinfo import unify_struct_info
from relaxscript_tests.sinfo.random_infos import (
    CPU0,
    CPU1,
    HELD,
    KNOWN,
    OBJECT,
    K,
    M,
    N,
    P,
    Q,
)

Tensor, Shape, Prim, Tuple = TensorStructInfo, ShapeStructInfo, PrimStructInfo, TupleStructInfo
F = FuncStructInfo
T2, T3, TN, TM = Tensor((2,)), Tensor((3,)), Tensor((N,)), Tensor((M,))
TP, TQ, TK = Tensor((P,)), Tensor((Q,)), Tensor((K,))
PACKED = F.opaque_func(derive_func=default_derive)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (T2, OBJECT, OBJECT),
        (T2, Shape(), OBJECT),
        (T2, T3, Tensor(ndim=1)),
        (T2, Tensor((2,), "int8"), Tensor((2,), "void")),
        (T2, Tensor((2, 2)), Tensor(ndim=-1)),
        (Tensor((2,), "float32", CPU0), Tensor((2,), "float32", CPU1), T2),
        (Tensor((2,), "int8", CPU0), Tensor((3,), "int8", CPU0), Tensor(None, "int8", CPU0, 1)),
        (Tensor(HELD), Tensor(HELD, "int8"), Tensor(HELD, "void")),
        (Tensor(HELD), Tensor(KNOWN), Tensor(ndim=2)),
        (Tensor((N + N,)), Tensor((2 * N,)), Tensor((N + N,))),
        (Shape((N,)), Shape((M,)), Shape(ndim=1)),
        (Shape((N,)), Shape((N, N)), Shape()),
        (Shape((N,)), Shape(), Shape()),
        (Shape((N,)), Shape(ndim=1), Shape(ndim=1)),
        (Shape((N,)), Shape((N,)), Shape((N,))),
        (Prim("int64", 3), Prim("int64", 4), Prim("int64")),
        (Prim("int64", 3), Prim("int64", 3), Prim("int64", 3)),
        (Prim("int64"), Prim("int64", 3), Prim("int64")),
        (Prim("int64"), Prim("int32"), OBJECT),
        (Tuple((T2, T2)), Tuple((T3, T2)), Tuple((Tensor(ndim=1), T2))),
        (Tuple((T2,)), Tuple(()), OBJECT),
        (F((T2,), T2), F((T2,), T3, False), F((T2,), Tensor(ndim=1), False)),
        (F((T2,), T2), F((T3,), T2), OBJECT),
        (F((T2,), T2), F((), T2), OBJECT),
        (F((T2,), T2), PACKED, OBJECT),
        (F((TN,), TN), F((TM,), TM), F((TN,), TN)),
        (F((TN,), TN), F((T2,), T2), OBJECT),
        (F((TP, TP), TP), F((TP, TQ), TQ), OBJECT),
        (F((TP, TQ), TQ), F((TQ, TP), TP), F((TP, TQ), TQ)),
        (F((TP,), F((TQ,), TP)), F((TQ,), F((TK,), TK)), F((TP,), F((TQ,), Tensor(ndim=1)))),
        (F((TP,), F((TQ,), TQ)), F((TP,), F((TP,), TP)), F((TP,), OBJECT)),
        (Tuple((TN, F((TN,), TN))), Tuple((TN, F((TM,), TM))), Tuple((TN, OBJECT))),
        (PACKED, F.opaque_func(derive_func=default_derive, purity=True), PACKED),
        (PACKED, F.opaque_func(derive_func="other"), F.opaque_func(derive_func=empty_derive)),
        (F.opaque_func(ret=T2), F.opaque_func(ret=T3), F.opaque_func(ret=Tensor(ndim=1))),
    ],
)  # fmt: skip
def test_what_is_shared_is_kept(a: StructInfo, b: StructInfo, expected: StructInfo) -> None:
    assert structural_equal(unify_struct_info(a, b), expected)


def test_nothing_lost_is_the_same_object() -> None:
    for info in (T2, Shape((N,)), Prim("int64"), Tuple((T2,)), F((TN,), TN)):
        assert unify_struct_info(info, info.replace(span=None)) is info
        assert unify_struct_info(info, type(info).make(*_fields(info))) is info


def _fields(info: StructInfo) -> list[object]:
    return [getattr(info, name) for name in info.__match_args__]


def test_facts_are_used() -> None:
    assert unify_struct_info(TN, TM, Facts().with_equal(N, M)) is TN
