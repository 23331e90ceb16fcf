"""What operators of a family have in common."""

from __future__ import annotations

import pytest

import relaxscript.op as R
from relaxscript.ir import relax
from relaxscript_tests.op.inference import dim, held, infer, obliged, ranked, result, shape, tensor

X = tensor("n", 64)


def test_a_result_like_an_operand_is_the_same_object() -> None:
    assert infer(R.add, X, X) is X.struct_info
    assert infer(R.exp, X) is X.struct_info
    assert infer(R.add, X, tensor("n", 64)) is X.struct_info
    assert infer(R.add, X, tensor()) is X.struct_info
    assert infer(R.add, tensor(1), X) is X.struct_info
    assert infer(R.nn.softmax, X) is X.struct_info


def test_a_comparison_gives_bools_of_the_shape() -> None:
    assert result(R.less, X, tensor(64)) == "(n, 64) bool"
    assert result(R.equal, tensor(2, dtype="bool"), tensor(2, dtype="bool")) == "(2,) bool"
    assert result(R.equal, ranked(-1, "void"), X) == "rank -1 bool"
    assert obliged(R.equal, tensor("n"), tensor("m")) == ["x2: n broadcast m"]


def test_a_check_gives_bools() -> None:
    assert result(R.isnan, held(shape(ndim=2))) == "rank 2 bool held"


@pytest.mark.parametrize(
    ("axis", "keepdims", "wanted"),
    [
        (None, False, "()"),
        (None, True, "(1, 1, 1)"),
        (0, False, "(n, 64)"),
        (-1, False, "(2, n)"),
        ([0, 2], False, "(n,)"),
        ([0, 2], True, "(1, n, 1)"),
        ([], False, "(2, n, 64)"),
        ([-1, -2, -3], False, "()"),
    ],
)
def test_a_reduction_drops_axes_or_keeps_them_as_1(
    axis: int | list[int] | None, keepdims: bool, wanted: str
) -> None:
    x = tensor(2, dim("n"), 64)
    assert result(R.sum, x, axis, keepdims) == f"{wanted} float32"


@pytest.mark.parametrize(
    ("rank", "axis", "keepdims", "wanted"),
    [
        (-1, None, False, "()"),
        (-1, None, True, "rank -1"),
        (-1, 0, False, "rank -1"),
        (-1, 0, True, "rank -1"),
        (3, None, False, "()"),
        (3, None, True, "(1, 1, 1)"),
        (3, [0], False, "rank 2"),
        (3, [0], True, "rank 3"),
        (3, [0, 1, 2], False, "()"),
        (3, [0, 1, 2], True, "(1, 1, 1)"),
        (0, None, False, "()"),
    ],
)
def test_a_reduction_of_a_tensor_of_unknown_shape(
    rank: int, axis: list[int] | None, keepdims: bool, wanted: str
) -> None:
    assert result(R.max, ranked(rank), axis, keepdims) == f"{wanted} float32"


def test_a_reduction_over_no_axes_changes_nothing() -> None:
    assert infer(R.sum, X, []) is X.struct_info


def test_an_axis_is_kept_as_a_tuple_of_attributes() -> None:
    for given in (1, [1], (1,), relax.PrimValue(1)):
        assert R.sum.build((X, given)).attrs == {"axis": (1,), "keepdims": False}
