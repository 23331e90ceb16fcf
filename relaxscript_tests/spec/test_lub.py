"""Spec "Subtyping for StructInfo": the least upper bound, kind by kind.

It is what the section defines, where its pseudocode says something else: with Object it is Object,
shapes of unknown rank give unknown rank, what differs is lost while the rest is kept, and pure with
impure is impure.
"""

from __future__ import annotations

from relaxscript.analysis import struct_info_lca
from relaxscript.ir import structural_equal

from .described import described
from .rules import accepts, symbolic


def unified(a: str, b: str, expected: str) -> bool:
    """Whether the least upper bound of both, in either order, is what is expected."""
    x, y, bound = described(a, b, expected)
    found = [struct_info_lca(x, y), struct_info_lca(y, x)]
    assert all(f.is_base_of(x) and f.is_base_of(y) for f in found)
    assert found[0].is_base_of(found[1])
    assert found[1].is_base_of(found[0])
    return structural_equal(found[0], bound)


@accepts("lub object")
def test_the_bound_with_an_object_is_an_object():
    # Section "Subtyping for StructInfo": the pseudocode returns the other one.
    assert unified("R.Tensor((2,))", "R.Object", "R.Object")
    assert unified("R.Object", "R.Object", "R.Object")


@accepts("lub kinds")
def test_the_bound_of_different_kinds_is_an_object():
    assert unified("R.Tensor((2,))", "R.Shape([2])", "R.Object")
    assert unified('R.Prim("int64")', "R.Tuple()", "R.Object")


@accepts("lub prim")
def test_the_bound_of_scalars_keeps_the_data_type_and_a_common_value():
    assert unified("R.Prim(value=3)", "R.Prim(value=3)", "R.Prim(value=3)")
    assert unified("R.Prim(value=3)", "R.Prim(value=4)", 'R.Prim("int64")')
    assert unified("R.Prim(value=3)", 'R.Prim("int64")', 'R.Prim("int64")')
    assert unified('R.Prim("int32")', 'R.Prim("int64")', "R.Object")


@symbolic("lub prim")
def test_the_bound_of_scalars_keeps_a_value_that_is_proved_to_be_the_same():
    assert unified('R.Prim(value="n + n")', 'R.Prim(value="2 * n")', 'R.Prim(value="n + n")')
    assert unified('R.Prim(value="n")', 'R.Prim(value="m")', 'R.Prim("int64")')


@accepts("lub shape")
def test_the_bound_of_shapes_keeps_the_rank_and_common_dimensions():
    # Section "Subtyping for StructInfo": the pseudocode returns the one whose dimensions are known.
    assert unified("R.Shape([2, 3])", "R.Shape([2, 3])", "R.Shape([2, 3])")
    assert unified("R.Shape([2, 3])", "R.Shape([2, 4])", "R.Shape(ndim=2)")
    assert unified("R.Shape([2, 3])", "R.Shape(ndim=2)", "R.Shape(ndim=2)")
    assert unified("R.Shape([2, 3])", "R.Shape([2])", "R.Shape")
    assert unified("R.Shape(ndim=2)", "R.Shape", "R.Shape")


@symbolic("lub shape")
def test_the_bound_of_shapes_keeps_dimensions_that_are_proved_to_be_the_same():
    assert unified('R.Shape(["n + m"])', 'R.Shape(["m + n"])', 'R.Shape(["n + m"])')
    assert unified('R.Shape(["n"])', 'R.Shape(["m"])', "R.Shape(ndim=1)")


@accepts("lub tensor")
def test_the_bound_of_tensors_loses_what_differs_and_keeps_the_rest():
    # Section "Subtyping for StructInfo": the pseudocode loses the device or keeps one dtype.
    assert unified('R.Tensor((2,), "int8")', 'R.Tensor((2,), "int16")', "R.Tensor((2,))")
    assert unified(
        'R.Tensor((2,), "int8")', 'R.Tensor((3,), "int8")', 'R.Tensor(None, "int8", ndim=1)'
    )
    assert unified('R.Tensor((2,), "int8")', 'R.Tensor((2, 2), "int8")', 'R.Tensor(None, "int8")')
    assert unified(
        'R.Tensor((2,), "int8", "llvm:0")',
        'R.Tensor((2,), "int8", "llvm:1")',
        'R.Tensor((2,), "int8")',
    )
    assert unified(
        'R.Tensor((2,), "int8", "llvm:0")', 'R.Tensor(dtype="int8", vdevice="llvm:0")',
        'R.Tensor(dtype="int8", vdevice="llvm:0")',
    )  # fmt: skip


@symbolic("lub tensor")
def test_the_bound_of_tensors_keeps_a_shape_that_is_proved_to_be_the_same():
    assert unified('R.Tensor(("n * 2",))', 'R.Tensor(("n + n",))', 'R.Tensor(("n * 2",))')
    assert unified('R.Tensor(("n", "m"))', "R.Tensor(sizes)", 'R.Tensor(("n", "m"))')
    assert unified('R.Tensor(("n", 2))', 'R.Tensor(("m", 2))', "R.Tensor(ndim=2)")


@accepts("lub tuple")
def test_the_bound_of_tuples_is_that_of_their_fields():
    assert unified(
        "R.Tuple(R.Tensor((2,)), R.Shape)", "R.Tuple(R.Tensor((3,)), R.Object)",
        "R.Tuple(R.Tensor(ndim=1), R.Object)",
    )  # fmt: skip
    assert unified("R.Tuple(R.Tensor)", "R.Tuple(R.Tensor, R.Tensor)", "R.Object")


@symbolic("lub tuple")
def test_the_bound_of_tuples_keeps_the_fields_that_are_proved_to_be_the_same():
    assert unified(
        'R.Tuple(R.Shape(["n"]), R.Shape(["n"]))', 'R.Tuple(R.Shape(["n"]), R.Shape(["m"]))',
        'R.Tuple(R.Shape(["n"]), R.Shape(ndim=1))',
    )  # fmt: skip


@accepts("lub function")
def test_the_bound_of_functions_that_take_the_same_gives_what_both_give():
    assert unified(
        "R.Callable((R.Tensor,), R.Tensor((2,)))",
        "R.Callable((R.Tensor,), R.Tensor((3,)), purity=False)",
        "R.Callable((R.Tensor,), R.Tensor(ndim=1), purity=False)",
    )


@accepts("lub function")
def test_functions_that_take_something_else_have_no_bound_but_an_object():
    # Section "Subtyping for StructInfo": not the least, which would need a greatest lower bound.
    two = "R.Callable((R.Tensor((2,)),), R.Object)"
    assert unified(two, "R.Callable((R.Tensor((3,)),), R.Object)", "R.Object")
    assert unified(two, "R.Callable((), R.Object)", "R.Object")
    assert unified(two, "R.Callable", "R.Object")


@accepts("lub function")
def test_packed_functions_with_different_derivations_derive_nothing_together():
    derived = 'R.Callable(derive_func="default_derive")'
    assert unified(derived, derived, derived)
    assert unified(derived, 'R.Callable(derive_func="other")', "R.Callable")


@symbolic("lub function")
def test_functions_that_take_any_size_have_a_bound_whatever_they_call_it():
    assert unified(
        'R.Callable((R.Tensor(("j",)),), R.Tensor(("j",)))',
        'R.Callable((R.Tensor(("k",)),), R.Tensor(("k + 0",)))',
        'R.Callable((R.Tensor(("j",)),), R.Tensor(("j",)))',
    )
    assert unified(
        'R.Callable((R.Shape(["j"]),), R.Object)', 'R.Callable((R.Shape(["n + 1"]),), R.Object)',
        "R.Object",
    )  # fmt: skip
