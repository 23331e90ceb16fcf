"""Padding: what it adds, how large the result is, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests.op.inference import ranked, refused, result, tensor

ROW = np.array([1, 2, 3], "int8")


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("constant", [7, 7, 1, 2, 3, 7]),
        ("reflect", [3, 2, 1, 2, 3, 2]),
        ("replicate", [1, 1, 1, 2, 3, 3]),
        ("edge", [1, 1, 1, 2, 3, 3]),
        ("circular", [2, 3, 1, 2, 3, 1]),
    ],
)
def test_what_is_added(mode: str, expected: list[int]) -> None:
    found = R.nn.pad(ROW, [2, 1], mode, 7)
    assert found.tolist() == expected
    assert found.dtype == np.int8


def test_the_shape_of_a_padded_tensor() -> None:
    assert result(R.nn.pad, tensor("n", 3), [0, 0, 1, 2]) == "(n, 6) float32"
    assert result(R.nn.pad, tensor("n", 3), [1, 1, 0, 0]) == "(n + 2, 3) float32"
    assert result(R.nn.pad, ranked(-1), [1, 1, 0, 0]) == "rank 2 float32"


def test_what_cannot_be_padded_so() -> None:
    assert refused(R.nn.pad, tensor(2), [1]).fact == "has 1 number"
    assert refused(R.nn.pad, tensor(2), [1, 1, 1, 1]).fact == "has 4 numbers"
    assert refused(R.nn.pad, tensor(2), [1, -1]).fact == "is [1, -1]"
    assert refused(R.nn.pad, tensor(2), [1, 1], "mirror").fact == "is 'mirror'"
