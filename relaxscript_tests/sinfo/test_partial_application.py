"""The type of a function whose last arguments are given."""

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
from relaxscript.sinfo import apply_partially
from relaxscript_tests.sinfo.random_infos import HELD, OBJECT, K, M, N, integer

Tensor, Shape, Prim, Tuple = TensorStructInfo, ShapeStructInfo, PrimStructInfo, TupleStructInfo
F = FuncStructInfo


@pytest.mark.parametrize(
    ("info", "given", "expected"),
    [
        (F((Tensor((2,)), OBJECT), Shape((3,))), (OBJECT,), F((Tensor((2,)),), Shape((3,)))),
        (F((OBJECT, OBJECT), OBJECT, False), (OBJECT, OBJECT), F((), OBJECT, False)),
        (F((Tensor((N,)), Tensor((N,))), Shape((N,))), (), None),
        (
            F((Tensor((N, M)), Tensor((N,))), Shape((N * 2, M))),
            (Tensor((K,)),),
            F((Tensor((K, M)),), Shape((K * 2, M))),
        ),
        (
            F((OBJECT, Tuple((Shape((N,)), Prim("int64", M)))), Shape((N, M))),
            (Tuple((Shape((integer(3),)), Prim("int64", K + 1))),),
            F((OBJECT,), Shape((integer(3), K + 1))),
        ),
        (F((Tensor((N,)),), OBJECT), (Tensor((K,)),), F((), OBJECT)),
    ],
)
def test_what_the_arguments_say_is_known_of_the_rest(
    info: FuncStructInfo, given: tuple[StructInfo, ...], expected: StructInfo | None
) -> None:
    assert structural_equal(apply_partially(info, given), expected or info)


def test_what_the_arguments_do_not_say_is_forgotten() -> None:
    unknown = (Tensor(ndim=1),)
    result = F((OBJECT, Tensor((N,))), Shape((N,)))
    assert structural_equal(apply_partially(result, unknown), F((OBJECT,), Shape(ndim=1)))
    parameter = F((Tensor((N + 1,)), Tensor((N,))), OBJECT)
    assert structural_equal(apply_partially(parameter, unknown), OBJECT)
    bound = F((Tensor((N,)), Tensor((N,))), Shape((N,)))
    expected = F((Tensor((N,)),), Shape((N,)))
    assert structural_equal(apply_partially(bound, unknown), expected)


def test_a_shape_in_a_variable_may_be_that_of_an_argument_that_is_gone() -> None:
    result = F((OBJECT, Shape(ndim=2)), Tensor(HELD))
    applied = apply_partially(result, (Shape(ndim=2),))
    assert structural_equal(applied, F((OBJECT,), Tensor(ndim=2)))
    parameter = F((Tensor(HELD), Shape(ndim=2)), OBJECT)
    assert structural_equal(apply_partially(parameter, (Shape(ndim=2),)), OBJECT)


def test_there_are_not_more_arguments_than_parameters() -> None:
    with pytest.raises(ValueError, match="2 arguments for 1 parameters"):
        apply_partially(F((OBJECT,), OBJECT), (OBJECT, OBJECT))


def test_a_function_that_is_given_says_what_the_rest_takes() -> None:
    takes = F((Tensor((N,)), F((Tensor((N,)),), OBJECT)), Tensor((N,)))
    applied = apply_partially(takes, (F((Tensor((3,)),), OBJECT),))
    assert structural_equal(applied, F((Tensor((3,)),), Tensor((3,))))
