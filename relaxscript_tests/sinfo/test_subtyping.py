"""Subtyping: the spec's rules one by one, and the laws of an order."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, strategies as st

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
from relaxscript.sinfo import free_shape_vars, is_subtype, substitute_shape_vars
from relaxscript_tests.sinfo.random_infos import (
    CPU0,
    CPU1,
    HELD,
    KNOWN,
    OBJECT,
    M,
    N,
    copied,
    infos,
    integer,
    weaker,
)

Tensor, Shape, Prim, Tuple = TensorStructInfo, ShapeStructInfo, PrimStructInfo, TupleStructInfo
F = FuncStructInfo
T2, T3, TN = Tensor((2,)), Tensor((3,)), Tensor((N,))
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


@given(infos())
def test_subtyping_is_reflexive(info: StructInfo) -> None:
    assert is_subtype(info, copied(info)) is YES


@given(infos().flatmap(lambda i: st.tuples(st.just(i), weaker(i))))
def test_less_knowledge_is_a_supertype(pair: tuple[StructInfo, StructInfo]) -> None:
    assert is_subtype(*pair) is YES


@given(infos(), infos(), infos())
def test_subtyping_is_transitive(a: StructInfo, b: StructInfo, c: StructInfo) -> None:
    for x, y, z in itertools.permutations((a, b, c)):
        if is_subtype(x, y) is YES and is_subtype(y, z) is YES:
            assert is_subtype(x, z) is YES


@given(infos(functions=False), infos(functions=False))
def test_an_answer_is_true_for_all_values_of_the_variables(a: StructInfo, b: StructInfo) -> None:
    answer = is_subtype(a, b)
    if answer is UNKNOWN or {*free_shape_vars(a), *free_shape_vars(b)} - {N, M}:
        return
    for n, m in itertools.product(range(4), repeat=2):
        values = {N: integer(n), M: integer(m)}
        x, y = substitute_shape_vars(a, values), substitute_shape_vars(b, values)
        # A shape that a variable holds cannot be substituted, and stays undecided.
        assert is_subtype(x, y) in (answer, UNKNOWN)
