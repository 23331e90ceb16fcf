"""Spec "Checking Compatibility": what is an error and what a warning, rule by rule.

A value described by the first is bound to a variable that is annotated by the second. "Definitely
different" is read as: for no values of the shape variables.
"""

from __future__ import annotations

import relaxscript as relax
from relaxscript import ir
from relaxscript.analysis import BaseCheckResult, struct_info_base_check

from .described import COMPATIBLE, INCOMPATIBLE, POSSIBLE, judged
from .rules import accepts, rejects, symbolic

KINDS = ("R.Tensor", "R.Shape", 'R.Prim("int64")', "R.Tuple()", "R.Callable")


@accepts("compatibility 1")
def test_everything_goes_where_an_object_is_expected():
    assert all(judged(kind, "R.Object") == COMPATIBLE for kind in KINDS)


@rejects("compatibility 2")
def test_no_kind_goes_where_another_is_expected():
    assert all(judged(a, b) == INCOMPATIBLE for a in KINDS for b in KINDS if a != b)
    assert all(judged("R.Object", kind) == INCOMPATIBLE for kind in KINDS)


@rejects("compatibility 3.1")
def test_tuples_of_different_lengths_are_incompatible():
    assert judged("R.Tuple(R.Shape)", "R.Tuple(R.Shape, R.Shape)") == INCOMPATIBLE


@accepts("compatibility 3.2")
def test_tuples_are_compatible_where_their_fields_are():
    assert judged("R.Tuple(R.Shape, R.Tensor)", "R.Tuple(R.Object, R.Tensor)") == COMPATIBLE


@rejects("compatibility 3.2")
def test_one_incompatible_field_makes_tuples_incompatible():
    assert judged("R.Tuple(R.Shape, R.Tensor)", "R.Tuple(R.Shape(ndim=1), R.Shape)") == INCOMPATIBLE


@symbolic("compatibility 3.2")
def test_one_possible_field_makes_tuples_possibly_compatible():
    given, wanted = 'R.Tuple(R.Object, R.Shape(["n"]))', 'R.Tuple(R.Object, R.Shape(["m"]))'
    assert judged(given, wanted) == POSSIBLE


@accepts("compatibility 4.1")
def test_a_shape_goes_where_one_of_unknown_rank_is_expected():
    assert judged("R.Shape([2, 3])", "R.Shape") == COMPATIBLE


@rejects("compatibility 4.2")
def test_shapes_of_different_ranks_are_incompatible():
    assert judged("R.Shape(ndim=1)", "R.Shape(ndim=2)") == INCOMPATIBLE
    assert judged("R.Shape([2])", "R.Shape([2, 2])") == INCOMPATIBLE


@accepts("compatibility 4.2")
def test_a_shape_of_unknown_rank_possibly_goes_where_a_rank_is_expected():
    # Section "Checking Compatibility", 4.2, taken word for word, would make it an error.
    assert judged("R.Shape", "R.Shape(ndim=2)") == POSSIBLE


@accepts("compatibility 4.3")
def test_a_shape_goes_where_one_of_unknown_dimensions_is_expected():
    assert judged("R.Shape([2, 3])", "R.Shape(ndim=2)") == COMPATIBLE


@accepts("compatibility 4.4")
def test_a_shape_of_unknown_dimensions_possibly_goes_where_some_are_expected():
    assert judged("R.Shape(ndim=2)", "R.Shape([2, 3])") == POSSIBLE


@symbolic("compatibility 4.4")
def test_a_shape_of_unknown_dimensions_possibly_has_symbolic_ones():
    assert judged("R.Shape(ndim=2)", 'R.Shape(["n", "m"])') == POSSIBLE


@accepts("compatibility 4.5")
def test_shapes_of_equal_dimensions_are_compatible():
    assert judged("R.Shape([2, 3])", "R.Shape([2, 1 + 2])") == COMPATIBLE


@rejects("compatibility 4.5")
def test_shapes_with_a_different_dimension_are_incompatible():
    assert judged('R.Shape(["n", 3])', 'R.Shape(["m", 4])') == INCOMPATIBLE


@symbolic("compatibility 4.5")
def test_symbolic_shapes_are_compatible_possible_or_incompatible():
    assert judged('R.Shape(["n + n"])', 'R.Shape(["2 * n"])') == COMPATIBLE
    assert judged('R.Shape(["n"])', 'R.Shape(["m"])') == POSSIBLE
    assert judged('R.Shape(["n"])', 'R.Shape(["n + 1"])') == INCOMPATIBLE


@rejects("compatibility 5.1")
def test_scalars_of_different_data_types_are_incompatible():
    assert judged('R.Prim("int32")', 'R.Prim("int64")') == INCOMPATIBLE


@accepts("compatibility 5.2")
def test_a_scalar_goes_where_one_of_unknown_value_is_expected():
    assert judged("R.Prim(value=3)", 'R.Prim("int64")') == COMPATIBLE


@accepts("compatibility 5.3")
def test_a_scalar_of_unknown_value_possibly_goes_where_a_value_is_expected():
    assert judged('R.Prim("int64")', "R.Prim(value=3)") == POSSIBLE


@symbolic("compatibility 5.3")
def test_a_scalar_of_unknown_value_possibly_has_a_symbolic_one():
    assert judged('R.Prim("int64")', 'R.Prim(value="n")') == POSSIBLE


@accepts("compatibility 5.4")
def test_scalars_of_equal_values_are_compatible():
    assert judged("R.Prim(value=3)", "R.Prim(value=1 + 2)") == COMPATIBLE


@rejects("compatibility 5.4")
def test_scalars_of_different_values_are_incompatible():
    assert judged("R.Prim(value=3)", "R.Prim(value=4)") == INCOMPATIBLE


@symbolic("compatibility 5.4")
def test_scalars_of_symbolic_values_are_compatible_possible_or_incompatible():
    assert judged('R.Prim(value="n + m")', 'R.Prim(value="m + n")') == COMPATIBLE
    assert judged('R.Prim(value="n")', 'R.Prim(value="m")') == POSSIBLE
    assert judged('R.Prim(value="n")', 'R.Prim(value="n + 1")') == INCOMPATIBLE


@rejects("compatibility 6.1")
def test_tensors_of_different_data_types_are_incompatible():
    assert judged('R.Tensor((2,), "int8")', 'R.Tensor((2,), "bfloat16")') == INCOMPATIBLE


@rejects("compatibility 6.2")
def test_tensors_of_different_ranks_are_incompatible():
    assert judged("R.Tensor(ndim=1)", "R.Tensor(ndim=2)") == INCOMPATIBLE


@accepts("compatibility 6.2")
def test_a_tensor_of_unknown_rank_possibly_goes_where_a_rank_is_expected():
    # Section "Checking Compatibility", 6.4, makes it compatible, against the invariant at its head.
    assert judged("R.Tensor", "R.Tensor(ndim=2)") == POSSIBLE


@rejects("compatibility 6.3")
def test_tensors_on_different_devices_are_incompatible():
    given, wanted = 'R.Tensor((2,), "int8", "llvm:0")', 'R.Tensor((2,), "int8", "llvm:1")'
    assert judged(given, wanted) == INCOMPATIBLE


@accepts("compatibility 6.4")
def test_a_tensor_goes_where_one_of_unknown_shape_is_expected():
    assert judged("R.Tensor((2,))", "R.Tensor(ndim=1)") == COMPATIBLE
    assert judged("R.Tensor(sizes)", "R.Tensor") == COMPATIBLE


@accepts("compatibility 6.5")
def test_a_tensor_of_unknown_shape_possibly_goes_where_a_shape_is_expected():
    assert judged("R.Tensor(ndim=1)", "R.Tensor((2,))") == POSSIBLE


@symbolic("compatibility 6.5")
def test_a_tensor_of_unknown_shape_possibly_has_a_symbolic_one():
    assert judged("R.Tensor(ndim=1)", "R.Tensor((n,))") == POSSIBLE


@accepts("compatibility 6.6")
def test_tensors_whose_shape_one_variable_holds_are_compatible():
    assert judged("R.Tensor(sizes)", "R.Tensor(sizes)") == COMPATIBLE


@rejects("compatibility 6.6")
def test_a_tensor_whose_shape_a_variable_holds_is_incompatible_with_another_shape():
    assert judged("R.Tensor(sizes)", "R.Tensor((n, m + 1))") == INCOMPATIBLE


@symbolic("compatibility 6.6")
def test_the_shape_that_a_variable_holds_is_compared_by_its_dimensions():
    assert judged("R.Tensor(sizes)", "R.Tensor((n, m))") == COMPATIBLE
    assert judged("R.Tensor((m, n))", "R.Tensor(sizes)") == POSSIBLE


@accepts("compatibility 6.7")
def test_tensors_of_equal_shapes_are_compatible():
    assert judged("R.Tensor((2, 3))", "R.Tensor((2, 1 + 2))") == COMPATIBLE


@rejects("compatibility 6.7")
def test_tensors_with_a_different_dimension_are_incompatible():
    assert judged("R.Tensor((2, 3))", "R.Tensor((2, 4))") == INCOMPATIBLE


@symbolic("compatibility 6.7")
def test_tensors_of_symbolic_shapes_are_compatible_possible_or_incompatible():
    assert judged('R.Tensor(("n * m + n",))', "R.Tensor((n * (m + 1),))") == COMPATIBLE
    assert judged('R.Tensor(("n",))', "R.Tensor((m,))") == POSSIBLE
    assert judged('R.Tensor(("n",))', "R.Tensor((n + 1,))") == INCOMPATIBLE


@accepts("compatibility 6.8")
def test_a_tensor_of_unknown_data_type_or_device_possibly_has_the_one_that_is_expected():
    assert judged("R.Tensor((2,))", 'R.Tensor((2,), "int8")') == POSSIBLE
    # Section "Checking Compatibility": 6.3 says incompatible, 6.8 possibly compatible. A script of
    # a module that lists devices is not warned of it: propagation finds out where the tensor is.
    somewhere = relax.TensorStructInfo((2,), "int8")
    there = relax.TensorStructInfo((2,), "int8", ir.VDevice("llvm", 1))
    assert struct_info_base_check(there, somewhere) == BaseCheckResult.FAIL_L1


@rejects("compatibility 7.1")
def test_functions_and_packed_functions_are_incompatible():
    assert judged("R.Callable((), R.Object)", "R.Callable") == INCOMPATIBLE
    assert judged("R.Callable", "R.Callable((), R.Object)") == INCOMPATIBLE


@accepts("compatibility 7.2")
def test_packed_functions_with_different_derivations_are_possibly_compatible():
    derived = 'R.Callable(derive_func="default_derive")'
    assert judged(derived, derived) == COMPATIBLE
    assert judged('R.Callable(derive_func="other")', derived) == POSSIBLE


@rejects("compatibility 7.3.1")
def test_functions_of_different_numbers_of_parameters_are_incompatible():
    assert judged("R.Callable((), R.Object)", "R.Callable((R.Object,), R.Object)") == INCOMPATIBLE


@rejects("compatibility 7.3.2")
def test_an_impure_function_does_not_go_where_a_pure_one_is_expected():
    given, wanted = "R.Callable((), R.Object, purity=False)", "R.Callable((), R.Object)"
    assert judged(given, wanted) == INCOMPATIBLE
    assert judged(wanted, given) == COMPATIBLE


@accepts("compatibility 7.3.3")
def test_a_function_that_takes_any_size_goes_where_a_certain_one_is_passed():
    given = 'R.Callable((R.Tensor(("k",)),), R.Tensor(("k",)))'
    assert judged(given, "R.Callable((R.Tensor((2,)),), R.Tensor((2,)))") == COMPATIBLE


@symbolic("compatibility 7.3.3")
def test_what_a_function_calls_its_sizes_does_not_matter():
    given = 'R.Callable((R.Tensor(("j", "k")),), R.Tensor(("k + j",)))'
    wanted = 'R.Callable((R.Tensor(("k", "j")),), R.Tensor(("k + j",)))'
    assert judged(given, wanted) == COMPATIBLE


@accepts("compatibility 7.3.4")
def test_a_function_that_takes_more_and_gives_less_is_compatible():
    given, wanted = (
        "R.Callable((R.Tensor,), R.Shape([2]))",
        "R.Callable((R.Tensor((2,)),), R.Shape)",
    )
    assert judged(given, wanted) == COMPATIBLE
    assert judged(wanted, given) == POSSIBLE


@rejects("compatibility 7.3.4")
def test_a_function_that_takes_or_gives_something_else_is_incompatible():
    given = "R.Callable((R.Tensor((2,)),), R.Shape)"
    assert judged(given, "R.Callable((R.Tensor((3,)),), R.Shape)") == INCOMPATIBLE
    assert judged(given, "R.Callable((R.Tensor((2,)),), R.Tensor)") == INCOMPATIBLE


@symbolic("compatibility 7.3.4")
def test_a_function_that_takes_a_certain_size_possibly_takes_another():
    given, wanted = (
        "R.Callable((R.Tensor((2,)),), R.Shape)",
        "R.Callable((R.Tensor((n,)),), R.Shape)",
    )
    assert judged(given, wanted) == POSSIBLE
    assert judged('R.Callable((), R.Shape(["n"]))', "R.Callable((), R.Shape([m]))") == POSSIBLE
