"""Spec "Auxiliary Procedures": derivation by `derive_func`, and erasure of what is out of scope.

The slips of the pseudocode are mended: erasing the shape of a tensor keeps its dtype and
device, a scalar loses a value that is out of scope, and the type of a function keeps its purity.
"""

from __future__ import annotations

from relaxscript import from_source
from relaxscript.analysis import (
    definable_tir_vars_in_struct_info,
    erase_to_well_defined,
    get_static_type,
)
from relaxscript.ir import structural_equal
from relaxscript.ir.struct_info import StructInfo

from .described import described
from .rules import accepts, symbolic


def erased(info: str, expected: str) -> bool:
    """Whether `info`, where only `n` is in scope, becomes what is expected."""
    n, before, after = described('R.Shape(["n"])', info, expected)
    scope = {v: v for v in definable_tir_vars_in_struct_info(n)}
    found = erase_to_well_defined(before, scope)
    assert found.is_base_of(before)
    return structural_equal(found, after)


def result(body: str) -> StructInfo | None:
    """What is known of the result of a function whose body binds `k` in a scope of its own."""
    return from_source(f"""
@R.function(pure=False)
def main(x: R.Tensor(("n",), "int8"), y: R.Tensor(ndim=1, dtype="int8"), b: R.Prim("bool")):
    n = T.int64()
    k = T.int64()
    {body}
""").ret_struct_info


@accepts("derive_func default_derive")
def test_the_result_of_a_packed_call_is_what_its_sinfo_args_say():
    assert structural_equal(*result_of_call("", "R.Object"))
    assert structural_equal(*result_of_call("R.Shape", "R.Shape"))
    assert structural_equal(
        *result_of_call("(R.Shape, R.Tensor((2,)))", "R.Tuple(R.Shape, R.Tensor((2,)))")
    )


def result_of_call(sinfo_args: str, expected: str) -> tuple[StructInfo | None, StructInfo]:
    given = f", sinfo_args={sinfo_args}" if sinfo_args else ""
    (wanted,) = described(expected)
    return result(f'return R.call_packed("f", x{given})'), wanted


@accepts("derive_func empty_derive")
def test_nothing_is_known_of_what_a_function_without_a_derivation_gives():
    found = from_source("""
@R.function(pure=False)
def main(f: R.Callable, x: R.Tensor(("n",), "int8")):
    return f(x, sinfo_args=R.Shape)
""")
    (wanted,) = described("R.Object")
    assert structural_equal(found.ret_struct_info, wanted)


@accepts("erasure object")
def test_an_object_has_nothing_to_erase():
    assert erased("R.Object", "R.Object")


@accepts("erasure prim")
def test_a_scalar_keeps_its_data_type_and_a_value_that_is_known():
    assert erased('R.Prim("int32")', 'R.Prim("int32")')
    assert erased("R.Prim(value=3)", "R.Prim(value=3)")


@symbolic("erasure prim")
def test_a_scalar_loses_a_value_that_is_out_of_scope():
    assert erased('R.Prim(value="n + 1")', 'R.Prim(value="n + 1")')
    assert erased('R.Prim(value="n + m")', 'R.Prim("int64")')


@accepts("erasure tensor")
def test_a_tensor_whose_shape_is_known_stays_as_it_is():
    assert erased('R.Tensor((2,), "int8", "llvm:1")', 'R.Tensor((2,), "int8", "llvm:1")')


@symbolic("erasure tensor")
def test_a_tensor_loses_a_shape_that_is_out_of_scope_and_nothing_else():
    assert erased('R.Tensor(("n",), "int8")', 'R.Tensor(("n",), "int8")')
    assert erased(
        'R.Tensor(("n", "m"), "int8", "llvm:1")',
        'R.Tensor(dtype="int8", vdevice="llvm:1", ndim=2)',
    )
    assert erased('R.Tensor(sizes, "int8")', 'R.Tensor(dtype="int8", ndim=2)')


@symbolic("erasure tensor")
def test_a_size_that_a_branch_binds_is_not_known_after_it():
    found = result("""if b:
        z = R.match_cast(y, R.Tensor((k,), "int8"))
        w = z
    else:
        w = R.add(y, y)
    return w""")
    (wanted,) = described('R.Tensor(dtype="int8", ndim=1)')
    assert structural_equal(found, wanted)


@accepts("erasure shape")
def test_a_shape_whose_dimensions_are_known_stays_as_it_is():
    assert erased("R.Shape([2, 3])", "R.Shape([2, 3])")
    assert erased("R.Shape(ndim=2)", "R.Shape(ndim=2)")


@symbolic("erasure shape")
def test_a_shape_loses_its_dimensions_where_one_is_out_of_scope():
    assert erased('R.Shape(["n", 2])', 'R.Shape(["n", 2])')
    assert erased('R.Shape(["m", 2])', "R.Shape(ndim=2)")


@accepts("erasure tuple")
def test_a_tuple_of_known_fields_stays_as_it_is():
    assert erased("R.Tuple(R.Shape([2]), R.Object)", "R.Tuple(R.Shape([2]), R.Object)")


@symbolic("erasure tuple")
def test_each_field_of_a_tuple_is_erased_by_itself():
    assert erased(
        'R.Tuple(R.Shape(["n"]), R.Shape(["m"]))', 'R.Tuple(R.Shape(["n"]), R.Shape(ndim=1))'
    )


@accepts("erasure function")
def test_the_type_of_a_function_keeps_its_purity_and_derivation():
    impure = "R.Callable((R.Tensor((2,)),), R.Tensor((2,)), purity=False)"
    assert erased(impure, impure)
    derived = 'R.Callable(derive_func="default_derive")'
    assert erased(derived, derived)


@symbolic("erasure function")
def test_what_a_function_binds_is_known_inside_it():
    assert erased(
        'R.Callable((R.Tensor(("k",)),), R.Tensor(("k", "m")), purity=False)',
        'R.Callable((R.Tensor(("k",)),), R.Tensor(ndim=2), purity=False)',
    )


@symbolic("erasure function")
def test_a_function_that_takes_what_is_out_of_scope_is_an_object():
    # Section "Auxiliary Procedures": the pseudocode generalises parameters, which makes a function
    # that takes more, a subtype and no supertype.
    assert erased('R.Callable((R.Tensor(("m + 1",)),), R.Object)', "R.Object")


@symbolic("erasure function")
def test_a_local_function_does_not_bind_again_what_it_has_captured():
    found = result("""z = R.match_cast(y, R.Tensor((k,), "int8"))
    @R.function
    def g(a: R.Tensor((k,), "int8")) -> R.Tensor((k,), "int8"):
        return a
    return g""")
    (wanted,) = described("R.Object")
    assert structural_equal(found, wanted)


def test_a_traditional_type_has_no_expressions():
    # Section "Traditional Types".
    (info,) = described('R.Tuple(R.Tensor(("n", 2), "int8", "llvm:1"), R.Callable)')
    assert repr(get_static_type(info)) == 'R.Tuple(R.Tensor(dtype="int8", ndim=2), R.Callable)'
