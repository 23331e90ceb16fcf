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
    "subscripts",
    [
        "i.,jk->ik",
        "i..,jk->ik",
        "i....,jk",
        "...i...,jk",
        "...j,jk->k",
        "...j,jk->...l",
        "ij,jk->il",
        "ij,jk->ii",
        "ij;jk->ik",
        "ij,jk->ik->",
    ],
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
        "operands[1]: n broadcast m"
    ]
    assert obliged(R.einsum, [tensor("n", "m")], "ii->i") == ["operands[0]: n equal m"]


@pytest.mark.parametrize(
    ("subscripts", "shapes"),
    [
        ("...ij,...jk->...ik", [(5, 2, 3), (3, 4)]),
        ("...ij,...jk->...ik", [(5, 1, 2, 3), (6, 3, 4)]),
        ("...ij,...jk", [(5, 2, 3), (5, 3, 4)]),
        ("i...->...", [(2, 3, 4)]),
        ("i...j,j->ji...", [(2, 5, 3), (3,)]),
        ("...B,...a", [(2, 3), (2, 4)]),
        ("...,...->...", [(2, 1), (1, 3)]),
        ("...", [(2, 3)]),
        ("...i->i...", [(3,)]),
        ("ij->ij...", [(2, 3)]),
        ("ij,jk->ik", [(2, 1), (3, 4)]),
        ("ij,jk->ijk", [(2, 3), (1, 4)]),
        ("ij,ij,ij->ij", [(1, 3), (2, 1), (1, 1)]),
        ("ii,i->i", [(1, 1), (4,)]),
        ("ij,j->ij", [(2, 1), (0,)]),
    ],
)
def test_ellipses_and_axes_of_size_1_broadcast(subscripts: str, shapes: Any, rng: Any) -> None:
    arrays = [rng.integers(-4, 5, shape).astype("float32") for shape in shapes]
    found, expected = R.einsum(arrays, subscripts), np.einsum(subscripts, *arrays)
    np.testing.assert_array_equal(found, expected)
    derived = result(R.einsum, [tensor(*shape) for shape in shapes], subscripts)
    assert derived == f"{expected.shape} float32"


def test_the_shape_of_a_broadcast_axis_is_said_where_it_is_known() -> None:
    assert result(R.einsum, [tensor("b", 2, "k"), tensor("k", 4)], "...ij,...jk->...ik") == (
        "(b, 2, 4) float32"
    )
    assert result(R.einsum, [tensor("n", 3), tensor(5, 3)], "ij,ij->i") == "(5,) float32"
    assert result(R.einsum, [tensor("n", 3), tensor(1, 3)], "ij,ij->i") == "(n,) float32"
    assert result(R.einsum, [tensor("n", 3), tensor("m", 3)], "ij,ij->i") == "rank 1 float32"
    assert result(R.einsum, [tensor("n", 3), ranked(2)], "ij,ij->i") == "rank 1 float32"
    assert result(R.einsum, [tensor(4, 3), ranked(2)], "ij,ij->i") == "(4,) float32"
    assert result(R.einsum, [tensor(2, 3), ranked(4)], "...i,...i->...") == "rank 3 float32"
    assert result(R.einsum, [tensor(2, 3), ranked(-1)], "...i,...i->...") == "rank -1 float32"


def test_broadcast_axes_that_do_not_go_together() -> None:
    x = tensor(5, 2, 3)
    error = refused(R.einsum, [x, tensor(4, 3, 6)], "...ij,...jk->...ik")
    assert (error.operand, error.fact) == ("operands[1]", "has 4 elements along axis 0, `...`")
    assert refused(R.einsum, [tensor(1, 3)], "ii->i").operand == "operands[0]"
    error = refused(R.einsum, [tensor(2)], "i...j->...")
    assert (error.fact, error.help) == ("has shape (2,)", "there is an axis for each letter")
    # Each two have to go together, also where neither says the size of the result.
    three = [tensor("n"), tensor("m"), tensor(4)]
    assert obliged(R.einsum, three, "i,i,i->i") == [
        "operands[1]: n broadcast m",
        "operands[2]: n broadcast 4",
        "operands[2]: m broadcast 4",
    ]
    assert result(R.einsum, three, "i,i,i->i") == "(4,) float32"


def test_an_outer_product() -> None:
    assert R.outer(A[0], B[0]).tolist() == np.outer(A[0], B[0]).tolist()
    assert result(R.outer, tensor("n"), tensor(3)) == "(n, 3) float32"
    assert result(R.outer, ranked(-1), tensor(3)) == "rank 2 float32"
    assert refused(R.outer, tensor(2, 3), tensor(3)).message == "both operands have rank 1"
