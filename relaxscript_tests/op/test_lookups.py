"""Slices and rows by their numbers, and the places of values in a sequence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests import examples

from .inference import obliged, ranked, refused, result, tensor

ROWS = np.array([[1, 2, 3], [4, 5, 6]], "int32")


def test_slices_come_in_place_of_an_axis() -> None:
    assert R.gather(ROWS, np.array([1, -2])).tolist() == [[4, 5, 6], [1, 2, 3]]
    assert R.gather(ROWS, np.array([[2], [0]]), 1).tolist() == [[[3], [1]], [[6], [4]]]
    assert R.gather(ROWS, np.array(-1), -1).tolist() == [3, 6]
    with pytest.raises(IndexError, match="the index 3 is not among the 3 along axis 1"):
        R.gather(ROWS, np.array([3]), 1)


def test_the_shape_of_slices() -> None:
    x, indices = tensor("n", 3), tensor("m", 2, dtype="int64")
    assert result(R.gather, x, indices, 1) == "(n, m, 2) float32"
    assert result(R.gather, x, ranked(2, "int64")) == "rank 3 float32"
    assert result(R.gather, ranked(-1), indices) == "rank -1 float32"
    assert refused(R.gather, x, indices, 2).message == "there is no axis 2"
    assert refused(R.gather, x, tensor(2)).operand == "indices"


def test_an_embedding_is_the_rows_of_a_table() -> None:
    call: Any = R.nn.embedding(tensor("n", 5, dtype="int64"), tensor(100, 64))
    assert call.op.name == "relax.take"
    assert str(call.struct_info.shape) == "R.shape([n, 5, 64])"


def test_a_value_has_as_many_elements_before_it_as_are_less() -> None:
    row = np.array([1, 3, 3, 7], "float32")
    values = np.array([0, 1, 3, 8, np.nan], "float32")
    assert R.searchsorted(row, values).tolist() == [0, 0, 1, 4, 4]
    assert R.searchsorted(row, values, True).tolist() == [0, 1, 3, 4, 4]
    assert R.searchsorted(row, values, dtype="int64").dtype == np.int64
    assert R.searchsorted(row, values).dtype == np.int32


def test_each_row_of_values_is_looked_up_in_its_own_sequence(rng: np.random.Generator) -> None:
    for _ in range(examples(30)):
        rows, count, many = (int(n) for n in rng.integers(0, 5, 3))
        sequences = np.sort(rng.integers(-3, 4, (rows, 2, count)).astype("int8"), axis=-1)
        values = rng.integers(-4, 5, (rows, 2, many)).astype("int8")
        for right in (False, True):
            found = R.searchsorted(sequences, values, right)
            for place in np.ndindex(values.shape):
                own, value = sequences[place[:-1]].tolist(), values[place]
                below = [e for e in own if e < value or (right and e == value)]
                assert found[place] == len(below)


def test_the_shapes_of_places() -> None:
    search = R.searchsorted
    assert result(search, tensor("m"), tensor("n", 3)) == "(n, 3) int32"
    assert result(search, tensor("n", "m"), tensor("n", 3), dtype="int64") == "(n, 3) int64"
    assert result(search, ranked(-1), ranked(2)) == "rank 2 int32"
    assert obliged(search, tensor("n", "m"), tensor("k", 3)) == ["values: n equal k"]
    assert refused(search, tensor(), tensor(3)).fact == "has shape ()"
    assert refused(search, tensor(2, 4), tensor(3)).operand == "values"
    assert refused(search, tensor(2, 4), tensor(3, 4)).fact == "has 3 elements along axis 0"
    assert refused(search, tensor(4), tensor(3, dtype="int8")).code == "RX0202"
    assert refused(search, tensor(4), tensor(3), dtype="float32").operand == "dtype"
