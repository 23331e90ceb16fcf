"""Elements moved along axes."""

from __future__ import annotations

import numpy as np

import relaxscript.op as R
from relaxscript_tests.op.inference import ranked, refused, result, tensor

ROWS = np.array([[1, 2, 3], [4, 5, 6]], "int8")


def test_what_leaves_at_the_end_comes_in_at_the_beginning() -> None:
    assert R.roll(ROWS, 1, 1).tolist() == [[3, 1, 2], [6, 4, 5]]
    assert R.roll(ROWS, -1, -1).tolist() == [[2, 3, 1], [5, 6, 4]]
    assert R.roll(ROWS, 4).tolist() == [[3, 4, 5], [6, 1, 2]]
    assert R.roll(ROWS, [1, 1], [0, 1]).tolist() == [[6, 4, 5], [3, 1, 2]]
    assert R.roll(ROWS, 1, [1, 1]).tolist() == [[2, 3, 1], [5, 6, 4]]
    assert R.roll(ROWS, [1, 3]).tolist() == R.roll(ROWS, 4).tolist()


def test_no_axis_moves_nothing() -> None:
    made = R.roll(ROWS, [], [])
    assert made.tolist() == ROWS.tolist()
    assert made is not ROWS
    assert R.roll(np.array(3), 2, []) == 3


def test_a_shift_may_be_as_large_as_integers_are() -> None:
    for shift in ((1 << 63) - 1, -(1 << 63)):
        assert R.roll(ROWS, shift, 1).tolist() == R.roll(ROWS, shift % 3, 1).tolist()
        assert R.roll(ROWS, [shift, shift]).tolist() == R.roll(ROWS, 2 * shift % 6).tolist()


def test_the_shape_stays() -> None:
    assert result(R.roll, tensor("n", 3), 1, 0) == "(n, 3) float32"
    assert result(R.roll, ranked(2), 1, [0, 1]) == "rank 2 float32"


def test_what_cannot_be_moved() -> None:
    assert refused(R.roll, tensor(2, 3), 1, 2).message == "there is no axis 2"
    error = refused(R.roll, tensor(2, 3), [1, 2], [0])
    assert (error.operand, error.fact) == ("shift", "has 2 numbers")
