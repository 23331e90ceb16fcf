"""Tensors joined along an axis, and a tensor split along one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.arith import evaluate
from relaxscript.ir import relax
from relaxscript.ir.struct_info import TupleStructInfo
from relaxscript_tests import examples
from relaxscript_tests.op.inference import dim, infer, obliged, ranked, refused, result, tensor

X = tensor(2, "n", 4)
n = dim("n")


# ---------------------------------------------------------------- concat


def test_lengths_add_up_along_the_axis() -> None:
    assert result(R.concat, [tensor("n", 3), tensor(2, 3)]) == "(n + 2, 3) float32"
    assert result(R.concat, [tensor(2, "n"), tensor(2, 5)], -1) == "(2, n + 5) float32"
    assert result(R.concat, [tensor(2), tensor(3)], None) == "(5,) float32"
    assert infer(R.concat, [X]) is X.struct_info


def test_the_other_dimensions_are_equal() -> None:
    error = refused(R.concat, [tensor(2, 3), tensor(2, 4)])
    assert error.facts == {"tensors[1]": "has shape (2, 4)", "tensors[0]": "has shape (2, 3)"}
    assert error.help == "all dimensions but that of axis 0 must be equal"


def test_dimensions_that_may_be_equal_are_taken_to_be() -> None:
    tensors = [tensor(2, "n"), tensor(2, 7)]
    assert obliged(R.concat, tensors) == ["tensors[1]: n equal 7"]
    assert result(R.concat, tensors) == "(4, 7) float32"


def test_a_tuple_in_a_variable_can_be_joined() -> None:
    fields = [tensor(2, 3).struct_info, tensor(1, 3).struct_info]
    assert result(R.concat, relax.Var("t", TupleStructInfo(fields))) == "(3, 3) float32"


def test_joining_what_is_not_known() -> None:
    assert result(R.concat, [ranked(2), tensor(2, 3)]) == "rank 2 float32"
    assert result(R.concat, [ranked(-1), tensor(2, 3)]) == "rank 2 float32"
    assert result(R.concat, [ranked(-1), ranked(-1)], 5) == "rank -1 float32"


def test_tensors_that_cannot_be_joined() -> None:
    assert refused(R.concat, []).fact == "is empty"
    error = refused(R.concat, [tensor(2), tensor()])
    assert (error.operand, error.fact) == ("tensors[1]", "has rank 0")
    error = refused(R.concat, [tensor(2), tensor(2, 3)])
    assert error.facts == {"tensors[1]": "has shape (2, 3)", "tensors[0]": "has shape (2,)"}
    assert error.help == "all must have one rank"
    error = refused(R.concat, [tensor(2, 3)], None)
    assert error.help == "flatten it first: `R.flatten(x)`"
    assert refused(R.concat, [tensor(2), tensor(2)], 1).operand == "axis"
    error = refused(R.concat, [tensor(2), tensor(2, dtype="int8")])
    assert error.operand == "tensors[1]"


# ---------------------------------------------------------------- split


@pytest.mark.parametrize(
    ("dims", "how", "axis", "wanted"),
    [
        ((4, "n"), 2, 0, ["(2, n)", "(2, n)"]),
        ((5,), 2, 0, ["(3,)", "(2,)"]),
        ((5,), 4, 0, ["(2,)", "(2,)", "(1,)", "(0,)"]),
        ((2, n * 4), 2, -1, ["(2, n * 2)", "(2, n * 2)"]),
        ((7,), [2, 3], 0, ["(2,)", "(1,)", "(4,)"]),
        ((7,), [], 0, ["(7,)"]),
        ((n + 3,), [2], 0, ["(2,)", "(n + 1,)"]),
        ((0,), 2, 0, ["(0,)", "(0,)"]),
        ((10,), [-2, 2, 6, 4, 8], 0, ["(8,)", "(0,)", "(4,)", "(0,)", "(4,)", "(2,)"]),
        ((4,), [3, 1], 0, ["(3,)", "(0,)", "(3,)"]),
        ((n + 3,), [-1], 0, ["(n + 2,)", "(1,)"]),
        ((n + 3,), [1, -1], 0, ["(1,)", "(n + 1,)", "(1,)"]),
        ((n + 3,), [-3, 2, -2], 0, ["(n,)", "(max(2 - n, 0),)", "(max(n - 1, 0),)", "(2,)"]),
    ],
)
def test_pieces(dims: Any, how: Any, axis: int, wanted: list[str]) -> None:
    assert result(R.split, tensor(*dims), how, axis) == (
        "[" + "; ".join(f"{piece} float32" for piece in wanted) + "]"
    )
    assert obliged(R.split, tensor(*dims), how, axis) == []


def test_pieces_of_a_symbolic_axis() -> None:
    for sections in (2, 3):
        info = infer(R.split, tensor("n"), sections)
        pieces = [field.dims[0] for field in info.fields]  # type: ignore[attr-defined]
        for size in range(8):
            lengths = [len(piece) for piece in R.split(np.zeros(size), sections)]
            assert [evaluate(piece, {n: size}) for piece in pieces] == lengths


def test_a_symbolic_axis_must_reach_the_last_place_to_split() -> None:
    assert obliged(R.split, tensor("n"), [1, 3]) == ["x: min(n, 3) equal 3"]
    assert obliged(R.split, tensor("n"), [1, -3, 2]) == ["x: min(n, 3) equal 3"]


def test_random_places_to_split_are_those_of_numpy(rng: np.random.Generator) -> None:
    for _ in range(examples(2000)):
        size = int(rng.integers(0, 8))
        places = rng.integers(-size, size + 1, rng.integers(1, 5)).tolist()
        wanted = [len(piece) for piece in np.split(np.arange(size), places)]
        assert [len(piece) for piece in R.split(np.arange(size), places)] == wanted
        for operand in (tensor(size), tensor("n")):
            info = infer(R.split, operand, places)
            dims = [field.dims[0] for field in info.fields]  # type: ignore[attr-defined]
            assert [evaluate(found, {n: size}) for found in dims] == wanted


def test_pieces_of_what_is_not_known() -> None:
    assert result(R.split, ranked(2), 2) == "[rank 2 float32; rank 2 float32]"
    assert result(R.split, ranked(-1), [1], 7) == "[rank -1 float32; rank -1 float32]"


def test_pieces_that_there_cannot_be() -> None:
    for pieces in (0, -1, 10**18):
        error = refused(R.split, tensor(4), pieces)
        assert error.message == "a tensor is split into 1 to 65536 sections"
    for place in (5, -5):
        error = refused(R.split, tensor(4), [1, place])
        assert error.facts == {
            "indices_or_sections": f"splits at {place}",
            "x": "has 4 elements along axis 0",
        }
        assert error.message == "an index at which to split lies outside of the tensor"
    assert refused(R.split, tensor(4), 2, 1).operand == "axis"


def test_splitting_too_late_fails_when_it_runs() -> None:
    call = R.split.build((tensor("n"), [1, 5]))
    with pytest.raises(IndexError, match="a section begins at 5, but axis 0 has 4 elements"):
        R.split.evaluate(call, [np.zeros(4)])
    call = R.split.build((tensor("n"), [1, -5]))
    with pytest.raises(IndexError, match="a section begins at -5, but axis 0 has 4 elements"):
        R.split.evaluate(call, [np.zeros(4)])


# ---------------------------------------------------------------- stack

STACKED = tensor("n", 3)
ROWS = np.array([[1, 2], [3, 4]], "int8")


def test_tensors_are_stacked_along_a_new_axis() -> None:
    assert result(R.stack, [STACKED, STACKED]) == "(2, n, 3) float32"
    assert result(R.stack, [STACKED, STACKED, STACKED], -1) == "(n, 3, 3) float32"
    assert result(R.stack, [ranked(2), STACKED]) == "rank 3 float32"
    assert result(R.stack, [ranked(-1)]) == "rank -1 float32"
    assert R.stack([ROWS, ROWS], 1).tolist() == [[[1, 2], [1, 2]], [[3, 4], [3, 4]]]


def test_stacked_tensors_have_one_shape() -> None:
    assert refused(R.stack, []).fact == "is empty"
    assert refused(R.stack, [tensor(2, 3), tensor(2, 4)]).operand == "tensors[1]"
    assert refused(R.stack, [STACKED, tensor("n")]).fact == "has shape (n,)"
    assert refused(R.stack, [STACKED, tensor("n", 3, dtype="int8")]).code == "RX0202"
    assert refused(R.stack, [STACKED], 3).message == "there is no axis 3"
    assert obliged(R.stack, [STACKED, tensor("m", 3)]) == ["tensors[1]: n equal m"]


def test_values() -> None:
    x = np.arange(6).reshape(2, 3)
    assert R.concat([x, x], 1).shape == (2, 6)
    assert [p.tolist() for p in R.split(x, [1], 1)] == [[[0], [3]], [[1, 2], [4, 5]]]
