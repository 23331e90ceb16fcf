"""Shape variables: which there are and what they stand for."""

from __future__ import annotations

from relaxscript.ir import structural_equal
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
    substitute_shape_vars,
)
from relaxscript_tests.sinfo.random_infos import HELD, KNOWN, OBJECT, K, M, N, integer

Tensor, Shape, Prim, Tuple = TensorStructInfo, ShapeStructInfo, PrimStructInfo, TupleStructInfo
F = FuncStructInfo


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


def test_parameters_and_results_of_functions_are_matched() -> None:
    mine, theirs = F((Tensor((N,)),), Tensor((M,))), F((Tensor((K,)),), Tensor((K,)))
    assert shape_var_mapping((mine,), (theirs,)) == {N: K, M: K}


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
