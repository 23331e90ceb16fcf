"""Subtyping: the spec's rules one by one; the laws of the order are in `test_laws.py`."""

from __future__ import annotations

import pytest

from relaxscript.arith import NO, UNKNOWN, YES, Answer, Facts
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
from relaxscript.sinfo import check_compatibility, is_subtype
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
T2, T3, TN, TM = (Tensor((size,)) for size in (2, 3, N, M))
PACKED = F.opaque_func(derive_func=default_derive)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (T2, OBJECT, YES),
        (OBJECT, T2, NO),
        (T2, Shape((2,)), NO),
        (T2, Tensor(ndim=-1), YES),
        (Tensor(ndim=-1), Tensor(ndim=1), NO),
        (T2, Tensor((2,), "void"), YES),
        (Tensor((2,), "void"), T2, NO),
        (T2, Tensor((2,), "int8"), NO),
        (T2, Tensor(ndim=1), YES),
        (Tensor(ndim=1), T2, NO),
        (Tensor((N + N,)), Tensor((2 * N,)), YES),
        (TN, Tensor((M,)), UNKNOWN),
        (TN, Tensor((N + 1,)), NO),
        (Tensor((2,), "float32", CPU0), T2, YES),
        (T2, Tensor((2,), "float32", CPU0), NO),
        (Tensor((2,), "float32", CPU0), Tensor((2,), "float32", CPU1), NO),
        (Tensor(HELD), Tensor(HELD), YES),
        (Tensor(HELD), Tensor((N, M)), UNKNOWN),
        (Tensor(KNOWN), Tensor((N, 4)), YES),
        (Tensor(KNOWN), Tensor((N, 5)), NO),
        (Tensor(KNOWN), Tensor((N,)), NO),
        (Tensor(ndim=0), Tensor(()), YES),
        (Shape((N, 2)), Shape(ndim=2), YES),
        (Shape((N, 2)), Shape(), YES),
        (Shape(), Shape(ndim=2), NO),
        (Shape((N,)), Shape((M,)), UNKNOWN),
        (Shape((N,)), Shape((N, N)), NO),
        (Prim("int64"), Prim("int32"), NO),
        (Prim("int64", N), Prim("int64"), YES),
        (Prim("int64"), Prim("int64", N), NO),
        (Prim("int64", N), Prim("int64", M), UNKNOWN),
        (Prim("int64", N), Prim("int64", N + 1), NO),
        (Tuple((T2, T3)), Tuple((OBJECT, T3)), YES),
        (Tuple((T2,)), Tuple((T2, T2)), NO),
        (Tuple((TN, T2)), Tuple((Tensor((M,)), T2)), UNKNOWN),
        (F((OBJECT,), T2), F((T2,), OBJECT), YES),
        (F((T2,), OBJECT), F((OBJECT,), OBJECT), NO),
        (F((T2,), T2, purity=True), F((T2,), T2, purity=False), YES),
        (F((T2,), T2, purity=False), F((T2,), T2, purity=True), NO),
        (F((T2,), T2), F((T2, T2), T2), NO),
        (F((TN,), TN), F((Tensor((M,)),), Tensor((M,))), YES),
        (F((TN,), TN), F((T2,), T2), YES),
        (F((TN,), TN), F((T2,), T3), NO),
        (F((TN, TN), OBJECT), F((T2, T3), OBJECT), NO),
        (F((T2,), T2), PACKED, NO),
        (PACKED, F((T2,), T2), NO),
        (PACKED, F.opaque_func(derive_func=default_derive), YES),
        (PACKED, F.opaque_func(derive_func=empty_derive), YES),
        (PACKED, F.opaque_func(ret=OBJECT), YES),
        (F.opaque_func(derive_func=empty_derive), PACKED, NO),
        (F.opaque_func(ret=T2), F.opaque_func(ret=Tensor(ndim=1)), YES),
        (F.opaque_func(purity=True), F.opaque_func(purity=False), YES),
        (F.opaque_func(purity=False), F.opaque_func(purity=True), NO),
    ],
)
def test_a_rule_of_the_spec(a: StructInfo, b: StructInfo, expected: Answer) -> None:
    assert is_subtype(a, b) is expected


def test_facts_and_variables_in_scope_are_respected() -> None:
    assert is_subtype(TN, Tensor((M,)), Facts().with_equal(N, M)) is YES
    assert is_subtype(F((TN,), TN), F((T2,), T2), in_scope={N}) is UNKNOWN


def test_shared_parts_are_compared_once() -> None:
    a, b = TN, Tensor((N + 0,))
    for _ in range(60):
        a, b = Tuple((a, a)), Tuple((b, b))
    assert is_subtype(a, b) is YES


TP, TQ, TK = Tensor((P,)), Tensor((Q,)), Tensor((K,))


def test_a_function_that_takes_any_size_is_not_one_that_takes_just_one() -> None:
    any_size, one_size = F((TP, F((TK,), TK)), OBJECT), F((TP, F((TP,), TP)), OBJECT)
    assert is_subtype(one_size, any_size) is YES
    assert is_subtype(any_size, one_size) is UNKNOWN
    assert is_subtype(F((F((TN,), TN),), OBJECT), F((F((T2,), T2),), OBJECT)) is UNKNOWN


def test_what_a_function_binds_is_not_confused_with_what_another_binds() -> None:
    outer, inner = F((TP,), F((TQ,), TP)), F((TQ,), F((TK,), TK))
    assert is_subtype(outer, inner) is UNKNOWN
    assert is_subtype(outer, F((TQ,), F((TP,), TQ))) is YES


def test_a_variable_that_also_stands_outside_is_not_bound_by_a_function() -> None:
    taken, free = Tuple((TN, F((TN,), TN))), Tuple((TN, F((TM,), TM)))
    assert is_subtype(free, taken) is YES
    assert is_subtype(taken, free) is UNKNOWN


def test_a_parameter_that_says_less_does_not_make_up_a_size() -> None:
    a = F((TP, OBJECT), TP)
    b = F((Tensor(ndim=1), TP), Tensor((P + 1,)))
    assert check_compatibility(a, b) is UNKNOWN
    assert check_compatibility(F((TP,), TP), F((TP,), Tensor((P + 1,)))) is NO
