"""Erasure of what is out of scope."""

from __future__ import annotations

import pytest

from relaxscript.ir import structural_equal
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.sinfo import erase_to_well_defined
from relaxscript_tests.sinfo.random_infos import CPU0, HELD, KNOWN, OBJECT, M, N

Tensor, Shape, Prim, Tuple = TensorStructInfo, ShapeStructInfo, PrimStructInfo, TupleStructInfo
F = FuncStructInfo


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (Tensor((N, M), "int8", CPU0), Tensor(None, "int8", CPU0, 2)),
        (Tensor(HELD), Tensor(ndim=2)),
        (Shape((N, M)), Shape(ndim=2)),
        (Prim("int64", M + 1), Prim("int64")),
        (Tuple((Tensor((M,)), Tensor((N,)))), Tuple((Tensor(ndim=1), Tensor((N,))))),
        (F((Tensor((N,)),), Tensor((M,)), False), F((Tensor((N,)),), Tensor(ndim=1), False)),
        (F((Tensor((M + 1,)),), OBJECT), OBJECT),
        (F.opaque_func(ret=Tensor((M,))), F.opaque_func(ret=Tensor(ndim=1))),
    ],
)
def test_what_is_out_of_scope_goes_and_the_rest_stays(
    info: StructInfo, expected: StructInfo
) -> None:
    assert structural_equal(erase_to_well_defined(info, {KNOWN}, {N}), expected)


@pytest.mark.parametrize(
    "info",
    [OBJECT, Tensor((N, 2)), Tensor(KNOWN), Tensor(ndim=2), Shape((N,)), Prim("int64", N + 1),
     Tuple((Tensor((N,)),)), F((Tensor((M,)),), Tensor((M + N,))), F.opaque_func()],
)  # fmt: skip
def test_what_is_in_scope_is_returned_as_it_is(info: StructInfo) -> None:
    assert erase_to_well_defined(info, {KNOWN}, {N}) is info


def test_scopes_are_sets_predicates_or_everything() -> None:
    info = Tensor((N, M))
    assert erase_to_well_defined(info, (), lambda v: True) is info
    assert erase_to_well_defined(info, (), None) is info
    assert structural_equal(erase_to_well_defined(info), Tensor(ndim=2))


def test_a_function_does_not_bind_what_it_has_captured() -> None:
    function = F((Tensor((M,)),), Tensor((M,)))
    assert erase_to_well_defined(function, (), {N}) is function
    assert structural_equal(erase_to_well_defined(function, (), {N}, leaving={M}), OBJECT)
    beside = erase_to_well_defined(Tuple((Tensor((M,)), function)), (), {N})
    assert structural_equal(beside, Tuple((Tensor(ndim=1), OBJECT)))
