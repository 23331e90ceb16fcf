"""Sums of products by named axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R

from .inference import obliged, ranked, refused, result, tensor

A, B = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    ("subscripts", "expected"),
    [
        ("ij,jk->ik", A @ B),
        ("ij,jk", A @ B),
        ("ij,jk->ki", (A @ B).T),
        ("ij,jk->j", (A.sum(0) * B.sum(1))),
        (" ij , jk -> ", (A @ B).sum()),
    ],
)
def test_axes_of_one_letter_are_multiplied_and_added_up(subscripts: str, expected: Any) -> None:
    np.testing.assert_allclose(R.einsum([A, B], subscripts), expected)


def test_the_shape_is_that_of_the_letters_of_the_result() -> None:
    x, y = tensor("n", 3), tensor(3, "m")
    assert result(R.einsum, [x, y], "ij,jk->ik") == "(n, m) float32"
    assert result(R.einsum, [x, y], "ij,jk->kji") == "(m, 3, n) float32"
    assert result(R.einsum, [x, ranked(2)], "ij,jk->i") == "(n,) float32"
    assert result(R.einsum, [x, ranked(-1)], "ij,jk->ik") == "rank 2 float32"


@pytest.mark.parametrize(
    "subscripts", ["i.,jk->ik", "ij,jk->il", "ij,jk->ii", "ij;jk->ik", "ij,jk->ik->"]
)
def test_subscripts_that_describe_nothing(subscripts: str) -> None:
    error = refused(R.einsum, [tensor(2, 3), tensor(3, 4)], subscripts)
    assert (error.operand, error.code) == ("subscripts", "RX0204")


def test_operands_that_the_subscripts_do_not_describe() -> None:
    x, y = tensor(2, 3), tensor(4, 5)
    assert refused(R.einsum, [x], "ij,jk->ik").fact == "has 1 tensor"
    assert refused(R.einsum, [x, tensor(3)], "ij,jk->ik").fact == "has shape (3,)"
    assert refused(R.einsum, [x, y], "ij,jk->ik").operand == "operands[1]"
    assert refused(R.einsum, [x, tensor(3, 2, dtype="int8")], "ij,jk->ik").code == "RX0202"
    assert obliged(R.einsum, [tensor("n", 3), tensor("m", 3)], "ij,ij->i") == [
        "operands[1]: n equal m"
    ]


def test_an_outer_product() -> None:
    assert R.outer(A[0], B[0]).tolist() == np.outer(A[0], B[0]).tolist()
    assert result(R.outer, tensor("n"), tensor(3)) == "(n, 3) float32"
    assert result(R.outer, ranked(-1), tensor(3)) == "rank 2 float32"
    assert refused(R.outer, tensor(2, 3), tensor(3)).message == "both operands have rank 1"
