"""Erasure of what is out of scope."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from relaxscript.arith import YES
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
from relaxscript.sinfo import (
    erase_struct_info,
    erase_to_well_defined,
    free_shape_vars,
    is_subtype,
    shape_vars,
)
from relaxscript_tests.sinfo.random_infos import CPU0, HELD, KNOWN, OBJECT, M, N, infos

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


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        (Tensor((N, 2), "int8", CPU0), Tensor(None, "int8", None, 2)),
        (Shape((N, 2)), Shape(ndim=2)),
        (Prim("int64", N), Prim("int64")),
        (Tuple((Tensor((N,)),)), Tuple((Tensor(ndim=1),))),
        (F((Tensor((N,)),), Shape((N,)), False), F((Tensor(ndim=1),), Shape(ndim=1), False)),
        (F.opaque_func(derive_func=default_derive), F.opaque_func(derive_func=empty_derive)),
        (OBJECT, OBJECT),
    ],
)
def test_the_traditional_type_has_no_expressions(info: StructInfo, expected: StructInfo) -> None:
    assert structural_equal(erase_struct_info(info), expected)


@given(infos(), st.sets(st.sampled_from([N, M])))
def test_an_erased_one_is_in_scope_and_a_supertype(info: StructInfo, scope: set) -> None:
    erased = erase_to_well_defined(info, {KNOWN}, scope)
    assert set(free_shape_vars(erased)) <= scope
    assert is_subtype(info, erased) is YES
    assert erase_to_well_defined(erased, {KNOWN}, scope) is erased


@given(infos())
def test_a_traditional_type_has_no_variables(info: StructInfo) -> None:
    erased = erase_struct_info(info)
    assert shape_vars(erased) == []
    assert structural_equal(erase_struct_info(erased), erased)
