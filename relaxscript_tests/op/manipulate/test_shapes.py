"""Tensors of another shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.arith import evaluate
from relaxscript.ir import relax
from relaxscript.ir.struct_info import StructInfo
from relaxscript.op import PlainContext
from relaxscript_tests.op.inference import (
    described,
    dim,
    held,
    infer,
    obliged,
    ranked,
    refused,
    result,
    shape,
    tensor,
)

n, m = dim("n"), dim("m")


# ---------------------------------------------------------------- reshape


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ((2, 6), (3, 4), "(3, 4)"),
        ((2, 6), (3, -1), "(3, 4)"),
        ((2, 6), -1, "(12,)"),
        (("n", 4, "m"), (n, -1), "(n, m * 4)"),
        (("n", 4), (-1, 2), "(n * 2, 2)"),
        (("n", 4), (-1,), "(n * 4,)"),
        ((), (1, -1), "(1, 1)"),
        ((0, 3), (0, 5), "(0, 5)"),
        (("n", "m"), (n * m,), "(n * m,)"),
    ],
)
def test_the_number_of_elements_stays(old: Any, new: Any, wanted: str) -> None:
    assert result(R.reshape, tensor(*old), new) == f"{wanted} float32"
    assert obliged(R.reshape, tensor(*old), new) == []


def test_another_number_of_elements_is_an_error() -> None:
    error = refused(R.reshape, tensor(2, 6), (5,))
    assert error.code == "RX0203"
    assert error.message == "`R.reshape` keeps the number of elements"
    assert error.facts == {
        "x": "has 12 elements, in shape (2, 6)",
        "shape": "has 5 elements, in shape (5,)",
    }


def test_a_number_of_elements_that_may_be_right_is_a_deferred_check() -> None:
    assert obliged(R.reshape, tensor("n", 4), (8, m)) == ["x: n * 4 equal m * 8"]
    assert result(R.reshape, tensor("n", 4), (8, m)) == "(8, m) float32"


def test_the_open_dimension_is_the_quotient() -> None:
    info = infer(R.reshape, tensor("n", 4), (8, -1))
    (_, last) = info.dims  # type: ignore[attr-defined]
    assert evaluate(last, {n: 6}) == 3
    assert len(obliged(R.reshape, tensor("n", 4), (8, -1))) == 1


def test_a_shape_in_a_variable() -> None:
    s = shape(ndim=3)
    info = infer(R.reshape, tensor("n"), s)
    assert info.shape is s  # type: ignore[attr-defined]
    assert info.ndim == 3  # type: ignore[attr-defined]
    assert result(R.reshape, tensor(2, 3), shape(6)) == "(6,) float32"
    assert refused(R.reshape, tensor(2, 3), shape(7)).operand == "x"


def test_a_tensor_that_has_the_shape_already_stays_what_it_is() -> None:
    x, s = tensor("n", 2), shape(ndim=2)
    assert infer(R.reshape, x, (n, 2)) is x.struct_info
    y = held(s)
    assert infer(R.reshape, y, s) is y.struct_info
    assert result(R.reshape, held(shape("n", 2)), (n, 2)) == "(n, 2) float32"


def test_a_shape_that_is_computed_says_the_rank() -> None:
    class Context(PlainContext):
        def struct_info(self, expr: relax.Expr) -> StructInfo:
            if isinstance(expr, relax.Call):
                return R.shape_of.infer(expr, self)
            return super().struct_info(expr)

    call = R.reshape.build((tensor("n"), R.shape_of.build((ranked(2),))))
    assert described(R.reshape.infer(call, Context())) == "rank 2 float32"


def test_the_open_dimension_of_an_array_or_a_number() -> None:
    assert R.reshape.build((np.ones(6), (2, -1))).args[1].values[1].value == 3  # type: ignore[attr-defined]
    assert R.reshape.build((1.5, (1, -1))).args[1].values[1].value == 1  # type: ignore[attr-defined]


def test_no_dimension_may_be_below_minus_1_and_one_only_minus_1() -> None:
    error = refused(R.reshape, tensor(6), (-1, -1))
    assert error.message == "`(-1, -1)` is not a shape to reshape to"
    assert error.fact == "has several dimensions that are -1"
    assert refused(R.reshape, tensor(6), (-2, 3)).fact == "has the dimension -2"


def test_an_open_dimension_needs_a_known_shape() -> None:
    error = refused(R.reshape, ranked(2), (2, -1))
    assert error.operand == "x"
    assert error.fact == "has a shape that is not known"
    assert error.help == 'say its shape first: `R.match_cast(x, R.Tensor(("n", "m")))`'


@pytest.mark.parametrize(("dims", "shape"), [((2, 3), (4, -1)), ((0, 3), (0, -1))])
def test_an_open_dimension_that_makes_up_nothing(
    dims: tuple[int, ...], shape: tuple[int, ...]
) -> None:
    error = refused(R.reshape, tensor(*dims), shape)
    assert error.message == "no dimension makes up the elements of `x`"
    assert error.facts["x"] == f"has shape {dims}"


def test_an_open_dimension_for_an_operand_that_is_no_tensor() -> None:
    error = refused(R.reshape, shape(2), (-1,))
    assert error.operand == "x"


def test_reshape_copies() -> None:
    x = np.arange(6)
    y = R.reshape(x, (2, -1))
    assert y.tolist() == [[0, 1, 2], [3, 4, 5]]
    y[0, 0] = 9
    assert x[0] == 0


# ---------------------------------------------------------------- flatten


def test_flatten() -> None:
    assert result(R.flatten, tensor(2, 3)) == "(6,) float32"
    assert result(R.flatten, tensor("n", 3)) == "(n * 3,) float32"
    assert result(R.flatten, tensor()) == "(1,) float32"
    x = tensor("n")
    assert infer(R.flatten, x) is x.struct_info
    assert result(R.flatten, ranked(3)) == "rank 1 float32"
    assert result(R.flatten, ranked(0)) == "(1,) float32"
    assert R.flatten(np.zeros((0, 3))).shape == (0,)


# ---------------------------------------------------------------- broadcast_to


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ((1, 3), (2, 3), "(2, 3)"),
        ((), (2, 3), "(2, 3)"),
        ((3,), ("n", 3), "(n, 3)"),
        (("n", 1), ("n", "m"), "(n, m)"),
    ],
)
def test_axes_of_one_element_are_repeated(old: Any, new: Any, wanted: str) -> None:
    new = [dim(d) for d in new]
    assert result(R.broadcast_to, tensor(*old), new) == f"{wanted} float32"
    assert obliged(R.broadcast_to, tensor(*old), new) == []


def test_a_dimension_can_only_be_repeated_where_it_is_1() -> None:
    error = refused(R.broadcast_to, tensor(2, 3), (2, 4))
    assert error.facts == {"x": "has shape (2, 3)", "shape": "is (2, 4)"}
    assert error.help == "each dimension of `x` must be 1, or that of the shape"
    assert refused(R.broadcast_to, tensor(2, 3), (2, 1)).operand == "x"


def test_axes_cannot_be_taken_away() -> None:
    error = refused(R.broadcast_to, tensor(2, 3), (3,))
    assert error.facts == {"x": "has shape (2, 3)", "shape": "has 1 dimension"}
    assert refused(R.broadcast_to, ranked(2), shape(ndim=1)).facts["x"] == "has rank 2"


def test_what_may_be_repeated_is_a_deferred_check() -> None:
    assert obliged(R.broadcast_to, tensor(3), (n,)) == ["x: 3 equal n"]
    (duty,) = obliged(R.broadcast_to, tensor("n"), (m,))
    assert duty == "x: (n - m) * (n - 1) equal 0"
    assert obliged(R.broadcast_to, tensor("n"), (3,)) == ["x: (n - 3) * (n - 1) equal 0"]


def test_broadcast_to_a_shape_in_a_variable() -> None:
    s = shape(ndim=2)
    assert infer(R.broadcast_to, tensor(3), s).shape is s  # type: ignore[attr-defined]
    assert result(R.broadcast_to, ranked(-1), shape("n", 2)) == "(n, 2) float32"
    assert R.broadcast_to(np.ones((1, 2)), (3, 2)).flags.writeable


def test_a_zero_is_the_dimension_in_its_place() -> None:
    assert result(R.reshape, tensor(2, 10, 4), (0, -1)) == "(2, 40) float32"
    assert result(R.reshape, tensor("n", 10, 4), (0, 5, 8)) == "(n, 5, 8) float32"
    assert R.reshape(np.zeros((2, 3)), (0, 3)).shape == (2, 3)
    assert R.reshape(np.zeros((5, 0)), (0, 7)).shape == (0, 7)
