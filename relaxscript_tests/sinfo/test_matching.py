"""Shape variables: which there are and what they stand for."""

from __future__ import annotations

import pytest

from relaxscript.ir import structural_equal
from relaxscript.ir.relax import ShapeExpr
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
)
from relaxscript.sinfo import (
    definable_shape_vars,
    free_shape_vars,
    shape_var_mapping,
    shape_vars,
    substitute_held_shapes,
    substitute_shape_vars,
)
from relaxscript_tests.sinfo.random_infos import ANY_RANK, HELD, KNOWN, OBJECT, K, M, N, integer

Tensor, Shape, Prim, Tuple = TensorStructInfo, ShapeStructInfo, PrimStructInfo, TupleStructInfo
F = FuncStructInfo
TK = Tensor((K,))


def test_a_variable_is_bound_where_it_stands_alone() -> None:
    info = Tuple((Tensor((N * M, 2)), Shape((M,)), Prim("int64", K), F((Tensor((N,)),), OBJECT)))
    assert definable_shape_vars(info) == [M, K]
    assert shape_vars(info) == [N, M, K]


def test_a_function_type_binds_the_variables_of_its_parameters() -> None:
    info = F((Tensor((N,)), Tensor((N + M,))), Tensor((N, K)))
    assert definable_shape_vars(info.params[0]) == [N]
    assert free_shape_vars(info) == [M, K]
    assert shape_vars(info) == [N, M, K]


def test_a_variable_alone_in_the_result_of_a_function_type_is_bound_by_a_closure() -> None:
    info = F((Tensor((N,)),), Tuple((Tensor((N, K)), Tensor((M * 2,)))))
    assert definable_shape_vars(info) == [K]
    assert definable_shape_vars(F((info,), Tensor((K, M)))) == [M]


def test_variables_are_mapped_to_what_arrives() -> None:
    params = (Tensor((N, M + 1)), Shape((M,)), Prim("int64", K))
    args = (Tensor((2, 5)), Shape((integer(4),)), Prim("int64", N + 1))
    found = shape_var_mapping(params, args)
    assert list(found) == [N, M, K]
    assert found[M] is args[1].values[0]
    assert found[K] is args[2].value


def test_the_first_place_decides() -> None:
    found = shape_var_mapping((Tensor((N, N)),), (Tensor((M, K)),))
    assert found == {N: M}


def test_values_decide_before_the_parameters_of_functions() -> None:
    function = F((Tensor((N,)),), OBJECT)
    found = shape_var_mapping((function, Tensor((N,))), (F((Tensor((K,)),), OBJECT), Tensor((M,))))
    assert found == {N: M}


def test_what_the_argument_does_not_say_is_left_out() -> None:
    params = (Tensor((N,)), Tensor((M,)), Tuple((Tensor((K,)),)), Tensor((K,)))
    args = (Tensor(ndim=1), Tensor((2, 2)), Tuple(()), OBJECT)
    assert shape_var_mapping(params, args) == {}


def test_variables_in_scope_have_their_value_already() -> None:
    assert shape_var_mapping((Tensor((N, M)),), (Tensor((K, K)),), {N}) == {M: K}


def test_the_shape_in_a_variable_is_looked_at() -> None:
    assert shape_var_mapping((Tensor((M, K)),), (Tensor(KNOWN),)) == {
        M: N,
        K: KNOWN.struct_info.values[1],
    }
    assert shape_var_mapping((Tensor((M, K)),), (Tensor(HELD),)) == {}


def test_parameters_of_functions_are_matched() -> None:
    params = (F((Tensor((N,)), Tensor((M,))), OBJECT), Tensor((N,)))
    args = (F((Tensor((3,)), Tensor((4,))), OBJECT), Tensor(ndim=1))
    found = shape_var_mapping(params, args)
    assert list(found) == [N]  # the function binds `m` itself
    assert structural_equal(found[N], integer(3))


def test_results_of_functions_are_matched() -> None:
    mine, theirs = F((Tensor((N,)),), Tensor((M,))), F((Tensor((4,)),), Tensor((3,)))
    found = shape_var_mapping((mine,), (theirs,))
    assert list(found) == [M]  # the function binds `n` itself
    assert structural_equal(found[M], integer(3))


def test_what_a_function_binds_itself_stands_for_nothing_outside() -> None:
    params = (F((Tensor((N,)),), OBJECT), Tensor((N,)))
    args = (F((Tensor((K,)),), OBJECT), Tensor(ndim=1))
    assert shape_var_mapping(params, args) == {}
    assert shape_var_mapping(params, args, {K}) == {N: K}


def test_substitution_reaches_everything_at_once_and_simplifies() -> None:
    info = Tuple(
        (Tensor((N * 4, M), "int8"), F((Shape((N,)),), Prim("int64", N + M)), Tensor(HELD))
    )
    result = substitute_shape_vars(info, {N: integer(2), M: N})
    expected = Tuple(
        (Tensor((8, N), "int8"), F((Shape((2,)),), Prim("int64", 2 + N)), Tensor(HELD))
    )
    assert structural_equal(
        substitute_shape_vars(result, {N: 5}), substitute_shape_vars(expected, {N: 5})
    )
    assert result.fields[2] is info.fields[2]


def test_substituting_nothing_changes_nothing() -> None:
    info = Tuple((Tensor((N * 4 + 0,)), OBJECT))
    assert substitute_shape_vars(info, {}) is info
    assert substitute_shape_vars(info, {M: 2}) is info


def test_what_arrives_is_not_captured_by_a_function_inside() -> None:
    function = F((Tensor((K,)),), Tensor((N,)))
    result = substitute_shape_vars(function, {N: K})
    assert free_shape_vars(result) == [K]
    assert structural_equal(substitute_shape_vars(function, {N: K}, {K}), F((TK,), TK))


def test_the_known_dimensions_of_a_shape_take_its_place_when_they_change() -> None:
    result = substitute_shape_vars(Tensor(KNOWN, "int8"), {N: 3})
    assert structural_equal(result, Tensor((3, 4), "int8"))
    info = Tensor(KNOWN)
    assert substitute_shape_vars(info, {M: 3}) is info


def test_shapes_take_the_place_of_the_variables_that_hold_them() -> None:
    info = Tuple((Tensor(ANY_RANK, "int8"), F((Tensor(HELD),), OBJECT), TK))
    result = substitute_held_shapes(info, {ANY_RANK: ShapeExpr((3, N)), HELD: KNOWN})
    expected = Tuple((Tensor((3, N), "int8"), F((Tensor(KNOWN),), OBJECT), TK))
    assert structural_equal(result, expected)
    assert result.fields[0].ndim == 2
    assert substitute_held_shapes(info, {KNOWN: HELD}) is info
    with pytest.raises(ValueError, match=r"ndim` is 2, but the shape has 1 dim"):
        substitute_held_shapes(Tensor(HELD), {HELD: ShapeExpr((3,))})


def test_names_that_change_leave_dimensions_as_they_were_written() -> None:
    found = substitute_shape_vars(Tensor((N + N, 1 + N)), {N: M})
    assert structural_equal(found, Tensor((M + M, 1 + M)))
    assert structural_equal(
        substitute_shape_vars(Tensor((N + N,)), {N: M + 1}), Tensor((M * 2 + 2,))
    )
