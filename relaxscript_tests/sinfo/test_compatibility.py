"""Compatibility: what is kinder than subtyping, and the sentences that say why not."""

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
)
from relaxscript.sinfo import (
    can_cast,
    check_compatibility,
    explain_mismatch,
    explain_never,
)
from relaxscript_tests.sinfo.random_infos import (
    CPU0,
    CPU1,
    HELD,
    KNOWN,
    OBJECT,
    M,
    N,
)

Tensor, Shape, Prim, Tuple = TensorStructInfo, ShapeStructInfo, PrimStructInfo, TupleStructInfo
F = FuncStructInfo
PACKED = F.opaque_func(derive_func=default_derive)


@pytest.mark.parametrize(
    ("derived", "base", "expected"),
    [
        (Tensor(ndim=-1), Tensor(ndim=2), UNKNOWN),
        (Tensor(ndim=2), Tensor((N, 4)), UNKNOWN),
        (Tensor((2,), "void"), Tensor((2,)), UNKNOWN),
        (Tensor((2,)), Tensor((2,), "float32", CPU0), UNKNOWN),
        (Shape(), Shape(ndim=2), UNKNOWN),
        (Shape(ndim=1), Shape((N,)), UNKNOWN),
        (Shape(ndim=1), Shape((N, M)), NO),
        (Prim("int64"), Prim("int64", N), UNKNOWN),
        (OBJECT, Tensor((2,)), NO),
        (PACKED, F.opaque_func(derive_func="other"), UNKNOWN),
        (PACKED, F((), OBJECT), NO),
        (F((Tensor((2,)),), OBJECT), F((Tensor(ndim=-1),), OBJECT), UNKNOWN),
        (F((OBJECT,), OBJECT), F((Tensor((2,)),), OBJECT), YES),
        (F((Tensor((2,)),), OBJECT), F((OBJECT,), OBJECT), NO),
    ],
)
def test_missing_knowledge_is_possible(
    derived: StructInfo, base: StructInfo, expected: Answer
) -> None:
    assert check_compatibility(derived, base) is expected


@pytest.mark.parametrize(
    ("derived", "base", "sentence"),
    [
        (Tensor((2, 64)), Tensor((2, 63)), "dimension 1 is `64`, not `63`"),
        (Tensor((2,)), Tensor((2,), "int8"), "the dtype is float32, not int8"),
        (Tensor((2,)), Tensor((2, 2)), "the rank is 1, not 2"),
        (Tensor((N,)), Tensor((M,)), "dimension 0 is `n`, which is not known to be `m`"),
        (Tensor((N,)), Tensor((M,), "int8"), "the dtype is float32, not int8"),
        (Tensor((N, 2)), Tensor((M, 3)), "dimension 1 is `2`, not `3`"),
        (Tensor(ndim=-1), Tensor(ndim=2), "the rank is unknown, and 2 is needed"),
        (Tensor(ndim=1), Tensor((N,)), "the shape is unknown, and `(n,)` is needed"),
        (Tensor((2,), "void"), Tensor((2,)), "the dtype is unknown, and float32 is needed"),
        (Tensor(HELD), Tensor((N, M)), "the shape is `s`, which is not known to be `(n, m)`"),
        (
            Tensor((2,), "float32", CPU0),
            Tensor((2,), "float32", CPU1),
            "the device is llvm:0, not llvm:1",
        ),
        (
            Tensor((2,)),
            Tensor((2,), "float32", CPU1),
            "the device is unknown, and llvm:1 is needed",
        ),
        (Shape(ndim=1), Shape((N,)), "its dimensions are unknown, and `(n,)` is needed"),
        (Prim("int64", 3), Prim("int64", 4), "the value is `3`, not `4`"),
        (Prim("int64", N), Prim("int64", M), "the value is `n`, which is not known to be `m`"),
        (Prim("int64"), Prim("int64", 4), "the value is unknown, and `4` is needed"),
        (Prim("int64"), Prim("int32"), "the dtype is int64, not int32"),
        (Tensor((2,)), Tuple(()), "it is a tensor, not a tuple"),
        (Shape(), Prim("int64"), "it is a shape, not a scalar"),
        (OBJECT, Tensor((2,)), "nothing is known of it, and a tensor is needed"),
        (Tuple((OBJECT,)), Tuple((OBJECT, OBJECT)), "it has 1 field, not 2"),
        (
            Tuple((Prim("int64"), Tuple((Tensor((2,)),)))),
            Tuple((Prim("int64"), Tuple((Tensor((3,)),)))),
            "in field 1, in field 0, dimension 0 is `2`, not `3`",
        ),
        (F((OBJECT,), OBJECT), F((), OBJECT), "it takes 1 parameter, not 0"),
        (F((), OBJECT, False), F((), OBJECT), "it is impure, not pure"),
        (
            F((Tensor((2,)),), OBJECT),
            F((Tensor((3,)),), OBJECT),
            "in parameter 0, dimension 0 is `3`, not `2`",
        ),
        (
            F((), Tensor((2,))),
            F((), Tensor((3,))),
            "in the result, dimension 0 is `2`, not `3`",
        ),
        (
            PACKED,
            F((), OBJECT, False),
            "it is a PackedFunc, not a function with known parameters",
        ),
        (PACKED, F.opaque_func(derive_func="other"), "its result is derived in another way"),
    ],
)
def test_the_reason_is_one_sentence(derived: StructInfo, base: StructInfo, sentence: str) -> None:
    assert explain_mismatch(derived, base) == sentence


def test_facts_decide() -> None:
    facts = Facts().with_equal(N, M)
    assert check_compatibility(Tensor((N,)), Tensor((M,)), facts) is YES
    assert explain_mismatch(Tensor((N,)), Tensor((M,)), facts) is None


@pytest.mark.parametrize(
    ("value", "target", "expected"),
    [
        (OBJECT, Tensor((N, N)), UNKNOWN),
        (Tensor((2, 3)), Tensor((N, M)), YES),
        (Tensor((2, 2)), Tensor((N, N)), YES),
        (Tensor((2, 3)), Tensor((N, N)), NO),
        (Tensor((2,)), Tensor((3,)), NO),
        (Tensor((2,)), Tensor((2,), "int8"), NO),
        (Tensor(ndim=2), Tensor((N, M)), UNKNOWN),
        (Tensor((2,)), Tensor(ndim=1), YES),
        (Tuple((OBJECT,)), Tuple((Tensor((2,)),)), UNKNOWN),
        (Tensor(KNOWN), Tensor((M, 4)), YES),
        (F((), OBJECT), F((), Tensor((2,))), UNKNOWN),
        (F((OBJECT,), OBJECT, False), F((Tensor(),), OBJECT, True), UNKNOWN),
        (F((OBJECT,), OBJECT), F((Tensor(),), Tensor()), UNKNOWN),
        (F((Tensor((2,)),), OBJECT), F((Tensor((3,)),), OBJECT), UNKNOWN),
        (F((Tensor((N,)),), Tensor((N,))), F((Tensor((M,)),), Tensor((M + 1,))), NO),
        (F((OBJECT,), OBJECT), F((OBJECT, OBJECT), OBJECT), NO),
        (F((OBJECT,), Tensor()), F((OBJECT,), Shape()), NO),
        (Tensor((N, N)), Tensor((M, M + 1)), NO),
    ],
)
def test_a_cast_is_judged(value: StructInfo, target: StructInfo, expected: Answer) -> None:
    assert can_cast(value, target) is expected


def test_a_cast_that_never_succeeds_has_a_reason() -> None:
    taken = F((F((OBJECT,), Shape()),), Tensor((2,)))
    assert explain_never(taken, F((F((OBJECT,), Tensor()),), Tensor((N,)))) is None
    assert explain_never(Tensor((2,)), Tensor((3,))) == "dimension 0 is `2`, not `3`"
    wrong = F((OBJECT,), Tensor((3,)))
    assert explain_never(taken, wrong) == "in the result, dimension 0 is `2`, not `3`"


def test_variables_in_scope_are_not_bound_by_a_cast() -> None:
    assert can_cast(Tensor((2,)), Tensor((N,)), in_scope={N}) is UNKNOWN
