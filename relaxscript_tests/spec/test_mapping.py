"""Spec "Auxiliary Procedures": which sizes the shape variables of a function stand for.

A variable that stands alone in a parameter is mapped to what stands there in the argument: for
shapes and scalars, too, where the pseudocode of get_shape_var_mapping maps it to itself or nothing.
"""

from __future__ import annotations

from relaxscript.ir import structural_equal

from .described import called
from .rules import accepts, symbolic


def gives(expected: str, result: str, *places: tuple[str, str]) -> bool:
    """Whether a call is known to give what is expected, in the words of its arguments."""
    found, wanted = called(expected, result, *places)
    return structural_equal(found, wanted)


@accepts("mapping kinds")
def test_values_of_different_kinds_say_nothing_of_sizes():
    assert gives(
        "R.Shape([4])",
        'R.Shape(["k"])',
        ("R.Object", "R.Shape([3])"),
        ('R.Shape(["k"])', "R.Shape([4])"),
    )


@accepts("mapping prim")
def test_the_value_of_a_scalar_is_a_size():
    assert gives("R.Shape([3])", 'R.Shape(["k"])', ('R.Prim(value="k")', "R.Prim(value=3)"))


@symbolic("mapping prim")
def test_the_symbolic_value_of_a_scalar_is_a_size():
    assert gives(
        'R.Shape(["n * m"])', 'R.Shape(["k * m"])', ('R.Prim(value="k")', 'R.Prim(value="n")')
    )


@accepts("mapping tuple")
def test_the_fields_of_a_tuple_say_sizes():
    assert gives(
        "R.Shape([2, 3])", 'R.Shape(["j", "k"])',
        ('R.Tuple(R.Shape(["j"]), R.Shape(["k"]))', "R.Tuple(R.Shape([2]), R.Shape([3]))"),
    )  # fmt: skip


@symbolic("mapping tuple")
def test_the_first_place_of_a_tuple_says_a_size():
    assert gives(
        'R.Shape(["n"])', 'R.Shape(["k"])',
        ('R.Tuple(R.Shape(["k"]), R.Shape(["k"]))', 'R.Tuple(R.Shape(["n"]), R.Shape(["m"]))'),
    )  # fmt: skip


@accepts("mapping function")
def test_what_a_function_among_the_arguments_takes_says_a_size_that_no_value_does():
    assert gives(
        "R.Shape([3])", 'R.Shape(["k"])', ('R.Tensor(("k",))', "R.Tensor(ndim=1)"),
        ('R.Callable((R.Tensor(("k",)),), R.Object)', "R.Callable((R.Tensor((3,)),), R.Object)"),
    )  # fmt: skip


@symbolic("mapping function")
def test_values_say_a_size_before_functions_do():
    assert gives(
        'R.Shape(["n"])', 'R.Shape(["k"])', ('R.Tensor(("k",))', 'R.Tensor(("n",))'),
        ('R.Callable((R.Tensor(("k",)),), R.Object)', 'R.Callable((R.Tensor(("j",)),), R.Object)'),
    )  # fmt: skip


@accepts("mapping shape")
def test_the_dimensions_of_a_shape_are_sizes():
    assert gives(
        "R.Tensor((3, 2))", 'R.Tensor(("k", "j"))', ('R.Shape(["j", "k"])', "R.Shape([2, 3])")
    )


@symbolic("mapping shape")
def test_a_variable_of_a_shape_stands_for_the_dimension_of_the_argument():
    assert gives(
        'R.Tensor(("n + 1",))', 'R.Tensor(("k + 1",))', ('R.Shape(["k"])', 'R.Shape(["n"])')
    )


@accepts("mapping tensor")
def test_the_dimensions_of_a_tensor_are_sizes():
    assert gives("R.Shape([5])", 'R.Shape(["j + k"])', ('R.Tensor(("j", "k"))', "R.Tensor((2, 3))"))


@symbolic("mapping tensor")
def test_a_variable_of_a_tensor_stands_for_the_dimension_of_the_argument():
    assert gives(
        'R.Shape(["n * m"])', 'R.Shape(["k"])', ('R.Tensor(("k",))', 'R.Tensor(("n * m",))')
    )
    assert gives(
        'R.Shape(["m", "n"])', 'R.Shape(["k", "j"])', ('R.Tensor(("j", "k"))', "R.Tensor(sizes)")
    )
