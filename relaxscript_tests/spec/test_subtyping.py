"""Spec "Subtyping for StructInfo", rule by rule.

`base.is_base_of(derived)` says that `derived <: base` definitely holds. Where it only possibly
does, `struct_info_base_check` says FAIL_L2. "Definitely not equal" is read as: for no values of the
shape variables. The section has "in at least one case", which would make every program with two
variables an error.
"""

from __future__ import annotations

from relaxscript.analysis import BaseCheckResult, struct_info_base_check

from .described import described
from .rules import accepts, rejects, symbolic

FAIL_L0, FAIL_L1, FAIL_L2, PASS = BaseCheckResult


def below(derived: str, base: str) -> bool:
    """Whether `derived <: base` definitely holds."""
    lower, upper = described(derived, base)
    assert upper.is_base_of(lower) is (struct_info_base_check(upper, lower) is PASS)
    return upper.is_base_of(lower)


def possibly_below(derived: str, base: str) -> bool:
    """Whether `derived <: base` depends on the values of the shape variables."""
    lower, upper = described(derived, base)
    return struct_info_base_check(upper, lower) is FAIL_L2


def unrelated(derived: str, base: str) -> bool:
    lower, upper = described(derived, base)
    return struct_info_base_check(upper, lower) is FAIL_L0


EVERY_KIND = (
    'R.Tensor((2,), "int8", "llvm:1")', "R.Shape([3, 4])", 'R.Prim("float32")', "R.Object",
    "R.Tuple(R.Tensor, R.Tuple())", "R.Callable((R.Object,), R.Object, purity=False)", "R.Callable",
)  # fmt: skip


@accepts("subtyping 1")
def test_every_struct_info_is_a_subtype_of_itself():
    assert all(below(info, info) for info in EVERY_KIND)


@symbolic("subtyping 1")
def test_a_struct_info_is_a_subtype_of_itself_whatever_its_variables_are():
    assert below('R.Tensor(("n", "n * m"))', 'R.Tensor(("n", "m * n"))')
    assert below(
        'R.Callable((R.Tensor(("j",)),), R.Tensor(("j",)))',
        'R.Callable((R.Tensor(("k",)),), R.Tensor(("k",)))',
    )


@accepts("subtyping 2")
def test_subtyping_is_transitive():
    steps = ['R.Tensor((2,), "int8")', 'R.Tensor(ndim=1, dtype="int8")', "R.Tensor", "R.Object"]
    for i, lower in enumerate(steps):
        assert all(below(lower, upper) for upper in steps[i:])


@symbolic("subtyping 2")
def test_subtyping_is_transitive_where_functions_take_variables_for_sizes():
    steps = [
        'R.Callable((R.Tensor(("k",)),), R.Tensor(("k",)))',
        'R.Callable((R.Tensor(("n",)),), R.Tensor(("n",)))',
        'R.Callable((R.Tensor(("n",)),), R.Tensor(ndim=1))',
    ]
    assert below(steps[0], steps[1])
    assert below(steps[1], steps[2])
    assert below(steps[0], steps[2])


@accepts("subtyping 3")
def test_everything_is_an_object():
    assert all(below(info, "R.Object") for info in EVERY_KIND)


@rejects("subtyping 3")
def test_an_object_is_nothing_else():
    assert not any(below("R.Object", info) for info in EVERY_KIND if info != "R.Object")


@accepts("subtyping 4.1")
def test_a_tensor_is_one_of_unknown_rank():
    assert below('R.Tensor((2, 3), "int8")', 'R.Tensor(dtype="int8")')
    assert below('R.Tensor(sizes, "int8", "llvm:0")', 'R.Tensor(dtype="int8", vdevice="llvm:0")')


@rejects("subtyping 4.1")
def test_a_tensor_of_unknown_rank_is_not_one_of_a_known_rank():
    assert not below('R.Tensor(dtype="int8")', 'R.Tensor(ndim=2, dtype="int8")')
    assert unrelated("R.Tensor(ndim=1)", "R.Tensor(ndim=2)")


@accepts("subtyping 4.2")
def test_a_tensor_is_one_of_unknown_data_type():
    assert below('R.Tensor((2,), "bfloat16")', "R.Tensor((2,))")


@rejects("subtyping 4.2")
def test_a_tensor_of_unknown_data_type_is_not_one_of_a_known_data_type():
    assert not below("R.Tensor((2,))", 'R.Tensor((2,), "int8")')
    assert unrelated('R.Tensor((2,), "int16")', 'R.Tensor((2,), "int8")')


@accepts("subtyping 4.3")
def test_a_tensor_is_one_of_unknown_shape():
    assert below("R.Tensor((2, 3))", "R.Tensor(ndim=2)")
    assert below("R.Tensor(sizes)", "R.Tensor(ndim=2)")


@rejects("subtyping 4.3")
def test_a_tensor_of_unknown_shape_is_not_one_of_a_known_shape():
    assert not below("R.Tensor(ndim=2)", "R.Tensor((2, 3))")


@accepts("subtyping 4.4")
def test_tensors_of_equal_shapes_are_subtypes_of_each_other():
    assert below("R.Tensor((2, 3))", "R.Tensor((1 + 1, 3))")
    assert below("R.Tensor(sizes)", "R.Tensor(sizes)")


@rejects("subtyping 4.4")
def test_tensors_of_different_shapes_are_unrelated():
    assert unrelated("R.Tensor((2, 3))", "R.Tensor((2, 4))")
    assert unrelated("R.Tensor(sizes)", 'R.Tensor(("n + 1", "m"))')


@symbolic("subtyping 4.4")
def test_whether_tensors_of_symbolic_shapes_are_subtypes_is_yes_possible_or_no():
    assert below('R.Tensor(("n + n",))', 'R.Tensor(("2 * n",))')
    assert below("R.Tensor(sizes)", 'R.Tensor(("n", "m"))')
    assert possibly_below('R.Tensor(("n",))', 'R.Tensor(("m",))')
    assert unrelated('R.Tensor(("n",))', 'R.Tensor(("n + 1",))')


@accepts("subtyping 4.5")
def test_a_tensor_on_a_device_is_one_on_an_unknown_device():
    assert below('R.Tensor((2,), "int8", "llvm:1")', 'R.Tensor((2,), "int8")')


@rejects("subtyping 4.5")
def test_a_tensor_on_an_unknown_device_is_not_one_on_a_known_device():
    assert not below('R.Tensor((2,), "int8")', 'R.Tensor((2,), "int8", "llvm:1")')
    assert unrelated('R.Tensor((2,), "int8", "llvm:0")', 'R.Tensor((2,), "int8", "llvm:1")')


@accepts("subtyping 5.1")
def test_a_shape_is_one_of_unknown_rank():
    assert below("R.Shape([2, 3])", "R.Shape")
    assert below("R.Shape(ndim=2)", "R.Shape")


@rejects("subtyping 5.1")
def test_a_shape_of_unknown_rank_is_not_one_of_a_known_rank():
    assert not below("R.Shape", "R.Shape(ndim=2)")
    assert unrelated("R.Shape(ndim=1)", "R.Shape(ndim=2)")


@accepts("subtyping 5.2")
def test_a_shape_is_one_of_unknown_dimensions():
    assert below("R.Shape([2, 3])", "R.Shape(ndim=2)")


@rejects("subtyping 5.2")
def test_a_shape_of_unknown_dimensions_is_not_one_of_known_dimensions():
    assert not below("R.Shape(ndim=2)", "R.Shape([2, 3])")


@accepts("subtyping 5.3")
def test_shapes_of_equal_dimensions_are_subtypes_of_each_other():
    assert below("R.Shape([2, 1 + 2])", "R.Shape([2, 3])")


@rejects("subtyping 5.3")
def test_shapes_of_different_dimensions_are_unrelated():
    assert unrelated("R.Shape([2, 3])", "R.Shape([2, 4])")


@symbolic("subtyping 5.3")
def test_whether_symbolic_shapes_are_subtypes_is_yes_possible_or_no():
    assert below('R.Shape(["n * 4 // 4"])', 'R.Shape(["n"])')
    assert possibly_below('R.Shape(["n"])', "R.Shape([3])")
    assert unrelated('R.Shape(["2 * n"])', 'R.Shape(["2 * m + 1"])')


@accepts("subtyping 6")
def test_tuples_are_subtypes_where_all_their_fields_are():
    assert below("R.Tuple(R.Tensor((2,)), R.Shape)", "R.Tuple(R.Tensor, R.Object)")


@rejects("subtyping 6")
def test_tuples_are_unrelated_where_a_field_or_their_number_differs():
    assert unrelated("R.Tuple(R.Tensor, R.Shape)", "R.Tuple(R.Tensor, R.Tensor)")
    assert unrelated("R.Tuple(R.Tensor)", "R.Tuple(R.Tensor, R.Tensor)")


@symbolic("subtyping 6")
def test_tuples_are_possibly_subtypes_where_a_field_possibly_is():
    assert possibly_below(
        'R.Tuple(R.Tensor(("n",)), R.Shape)', 'R.Tuple(R.Tensor(("m",)), R.Shape)'
    )


@accepts("subtyping 7.1")
def test_scalars_of_one_data_type_are_subtypes():
    assert below('R.Prim("int32")', 'R.Prim("int32")')


@rejects("subtyping 7.1")
def test_scalars_of_different_data_types_are_unrelated():
    assert unrelated('R.Prim("int32")', 'R.Prim("int64")')


@accepts("subtyping 7.2")
def test_a_scalar_of_a_known_value_is_one_of_an_unknown_value():
    assert below("R.Prim(value=3)", 'R.Prim("int64")')


@rejects("subtyping 7.2")
def test_a_scalar_of_an_unknown_value_is_not_one_of_a_known_value():
    assert not below('R.Prim("int64")', "R.Prim(value=3)")


@accepts("subtyping 7.3")
def test_scalars_of_equal_values_are_subtypes_of_each_other():
    assert below("R.Prim(value=3)", "R.Prim(value=1 + 2)")


@rejects("subtyping 7.3")
def test_scalars_of_different_values_are_unrelated():
    assert unrelated("R.Prim(value=3)", "R.Prim(value=4)")


@symbolic("subtyping 7.3")
def test_whether_scalars_of_symbolic_values_are_subtypes_is_yes_possible_or_no():
    assert below('R.Prim(value="n + m")', 'R.Prim(value="m + n")')
    assert possibly_below('R.Prim(value="n")', 'R.Prim(value="m")')
    assert unrelated('R.Prim(value="n")', 'R.Prim(value="n + 1")')


@accepts("subtyping 8.1")
def test_every_packed_function_is_one_of_which_nothing_is_derived():
    assert below(
        'R.Callable(derive_func="default_derive")', 'R.Callable(derive_func="empty_derive")'
    )
    assert below('R.Callable(derive_func="other")', "R.Callable")


@rejects("subtyping 8.1")
def test_a_packed_function_of_which_nothing_is_derived_is_not_one_with_a_derivation():
    assert not below("R.Callable", 'R.Callable(derive_func="default_derive")')


@accepts("subtyping 8.2")
def test_packed_functions_with_one_derivation_are_subtypes():
    # Section "Subtyping for StructInfo", 8.2: a corollary of reflexivity.
    assert below('R.Callable(derive_func="other")', 'R.Callable(derive_func="other")')


@rejects("subtyping 8.2")
def test_packed_functions_with_different_derivations_are_not_subtypes():
    assert not below('R.Callable(derive_func="other")', 'R.Callable(derive_func="default_derive")')


@accepts("subtyping 8.3")
def test_a_pure_function_is_one_that_may_be_impure():
    assert below(
        "R.Callable((R.Tensor,), R.Tensor)", "R.Callable((R.Tensor,), R.Tensor, purity=False)"
    )


@rejects("subtyping 8.3")
def test_an_impure_function_is_not_a_pure_one():
    assert not below(
        "R.Callable((R.Tensor,), R.Tensor, purity=False)", "R.Callable((R.Tensor,), R.Tensor)"
    )


@accepts("subtyping 8.4")
def test_a_function_that_takes_more_and_gives_less_is_a_subtype():
    assert below("R.Callable((R.Object,), R.Tensor((2,)))", "R.Callable((R.Tensor,), R.Tensor)")


@rejects("subtyping 8.4")
def test_a_function_that_takes_less_or_gives_more_is_not_a_subtype():
    assert not below("R.Callable((R.Tensor,), R.Tensor)", "R.Callable((R.Object,), R.Tensor)")
    assert not below("R.Callable((R.Tensor,), R.Object)", "R.Callable((R.Tensor,), R.Tensor)")
    assert unrelated("R.Callable((R.Object,), R.Object)", "R.Callable((), R.Object)")
    assert unrelated("R.Callable((R.Object,), R.Object)", "R.Callable")


@symbolic("subtyping 8.4")
def test_a_function_that_takes_any_size_takes_a_certain_one_but_not_the_other_way_round():
    any_size = 'R.Callable((R.Tensor(("k",)),), R.Tensor(("k",)))'
    assert below(any_size, "R.Callable((R.Tensor((2,)),), R.Tensor((2,)))")
    assert possibly_below("R.Callable((R.Tensor((2,)),), R.Tensor((2,)))", any_size)
    assert unrelated(any_size, "R.Callable((R.Tensor((2,)),), R.Tensor((3,)))")
    # Where such a function is a parameter, the roles are exchanged.
    takes_any, takes_two = (
        f"R.Callable(({any_size},), R.Object)",
        ("R.Callable((R.Callable((R.Tensor((2,)),), R.Tensor((2,))),), R.Object)"),
    )
    assert below(takes_two, takes_any)
    assert possibly_below(takes_any, takes_two)
