"""Slices: how long they are, what they hold, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.ir.relax import PrimValue, Var
from relaxscript.ir.struct_info import PrimStructInfo

from .inference import OBJECT, dim, obliged, prim_var, ranked, refused, result, tensor

N, M = dim("n"), dim("m")
FAR = (1 << 63) - 1
X = tensor("n", 4)


@pytest.mark.parametrize(
    ("begin", "end", "stride", "length"),
    [
        (1, N, 1, "max(n - 1, 0)"),
        (1, FAR, 1, "max(n - 1, 0)"),
        (-1, FAR, 1, "min(n, 1)"),
        (-3, FAR, 2, "(min(n, 3) + 1) // 2"),
        (0, FAR, 2, "(n + 1) // 2"),
        (FAR, -FAR, -1, "n"),
        (0, M, 1, "min(m, n)"),
        (M, FAR, 1, "max(n - m, 0)"),
        (0, -1, 1, "max(n - 1, 0)"),
        (0, N // 2, 1, "n // 2"),
    ],
)
def test_the_length_of_a_slice_in_terms_of_the_dimension(
    begin: Any, end: Any, stride: int, length: str
) -> None:
    assert result(R.strided_slice, X, [0], [begin], [end], [stride]) == f"({length}, 4) float32"


def test_bounds_that_are_in_the_tensor_need_no_limits() -> None:
    assert result(R.strided_slice, X, [0], [1], [N], None, True) == "(n - 1, 4) float32"
    assert result(R.strided_slice, X, [0], [0], [-1], [2], True) == "(n // 2, 4) float32"
    assert result(R.strided_slice, X, [0], [-1], [0], [-1], True) == "(n - 1, 4) float32"
    assert result(R.strided_slice, X, [0], [2], [0], None, True) == "(0, 4) float32"


@pytest.mark.parametrize("bound", [N - 1, prim_var("int64")])
def test_a_bound_of_which_the_end_is_not_known_gives_a_shape_that_is_not_known(bound: Any) -> None:
    assert result(R.strided_slice, X, [0], [bound], [N]) == "rank 2 float32"
    assert result(R.strided_slice, X, [1], [0], [bound]) == "rank 2 float32"


def test_a_slice_of_what_is_not_known() -> None:
    assert result(R.strided_slice, ranked(3), [0, -1], [0, 0], [2, 2]) == "rank 3 float32"
    assert result(R.strided_slice, ranked(-1), [7], [0], [2]) == "rank -1 float32"
    assert result(R.dynamic_strided_slice, ranked(1), *[tensor(1, dtype="int64")] * 3) == (
        "rank 1 float32"
    )


def test_slices_are_those_of_python() -> None:
    array = np.arange(7, dtype="float32")
    bounds = [-FAR, -9, -7, -3, -1, 0, 1, 5, 7, 9, FAR]
    for begin in bounds:
        for end in bounds:
            for step in (-FAR, -3, -1, 1, 2, FAR):
                expected = array[begin:end:step]
                found = R.strided_slice(array, [0], [begin], [end], [step])
                assert found.tolist() == expected.tolist(), (begin, end, step)
                shape = result(R.strided_slice, tensor(7), [0], [begin], [end], [step])
                assert shape == f"({len(expected)},) float32", (begin, end, step)


def test_a_slice_along_several_axes_is_a_new_tensor() -> None:
    array = np.arange(24).reshape(2, 3, 4)
    found = R.strided_slice(array, [2, 0], [3, 1], [0, 2], [-2, 1])
    assert found.tolist() == array[1:2, :, 3:0:-2].tolist()
    assert not np.shares_memory(found, array)


def test_a_bound_that_is_said_to_be_there_must_be() -> None:
    error = refused(R.strided_slice, tensor(4), [0], [-5], [2], None, True)
    assert (error.operand, error.fact) == ("begin", "has the bound -5")
    array = np.zeros(4)
    with pytest.raises(IndexError, match="the bound 5 is not among the 4 along axis 0"):
        R.strided_slice.meaning(array, (0,), (1,), (5,), assume_inbound=True)


def test_bounds_are_integers_and_axes_are_known() -> None:
    assert refused(R.strided_slice, X, [0], [OBJECT], [1]).operand == "begin[0]"
    assert refused(R.strided_slice, X, [0], [0], [prim_var("float32")]).code == "RX0202"
    assert refused(R.strided_slice, X, [prim_var("int64")], [0], [1]).operand == "axes"
    assert refused(R.strided_slice, X, [0, 1], [0, 0], [1]).fact == "has 1 value"
    assert refused(R.strided_slice, X, [0], [0], [1], [1, 1]).operand == "strides"


def test_tensors_of_bounds_have_one_for_each_axis() -> None:
    one, two = tensor(1, dtype="int64"), tensor(2, dtype="int64")
    assert refused(R.dynamic_strided_slice, tensor(4), two, one, one).operand == "begin"
    assert (
        refused(R.dynamic_strided_slice, tensor(4), one, one, ranked(2, "int64")).code == "RX0203"
    )
    assert refused(R.dynamic_strided_slice, tensor(4), one, tensor(1), one).code == "RX0202"
    symbolic = tensor("m", dtype="int64")
    assert obliged(R.dynamic_strided_slice, tensor(4), one, symbolic, one) == ["end: m equal 1"]


def test_a_slice_by_tensors() -> None:
    array = np.arange(12).reshape(3, 4)
    bounds = [np.array(b, "int64") for b in ([2, 0], [-4, 9], [-1, 2])]
    assert R.dynamic_strided_slice(array, *bounds).tolist() == array[2::-1, 0:9:2].tolist()


def test_an_axis_is_turned_round() -> None:
    array = np.arange(6).reshape(2, 3)
    assert R.flip(array, -1).tolist() == array[:, ::-1].tolist()
    assert result(R.flip, X, 0) == "(n, 4) float32"
    assert refused(R.flip, X, 2).message == "there is no axis 2"
    assert result(R.flip, ranked(-1), 5) == "rank -1 float32"


def test_a_slice_is_replaced() -> None:
    x, src = np.zeros((2, 7), "int32"), np.array([[1, 2, 3], [4, 5, 6]], "int32")
    found = R.slice_scatter(x, src, 1, 6, 2, axis=1)
    assert found.tolist() == [[0, 1, 0, 2, 0, 3, 0], [0, 4, 0, 5, 0, 6, 0]]
    assert R.slice_scatter(x, x[:1] + 9, -1, 100, 1).tolist() == [[0] * 7, [9] * 7]


def test_a_slice_has_the_length_of_its_replacement() -> None:
    n, k = tensor("n", 4), tensor("k", 4)
    assert obliged(R.slice_scatter, n, tensor("n", 2), 1, 3, 1, 1) == []
    assert result(R.slice_scatter, n, tensor("n", 2), 1, 3, 1, 1) == "(n, 4) float32"
    wrong = refused(R.slice_scatter, n, tensor("n", 3), 1, 3, 1, 1)
    assert wrong.fact == "has 3 elements along axis 1"
    assert len(obliged(R.slice_scatter, n, k, 0, 3, 1)) == 1
    assert result(R.slice_scatter, ranked(-1), k, 0, 3, 1) == "rank -1 float32"
    assert refused(R.slice_scatter, n, tensor(3), 0, 3, 1).fact == "has shape (3,)"
    assert refused(R.slice_scatter, n, k, 0, 3, 0).message == "the step goes forward"
    assert refused(R.slice_scatter, n, k, 0, 3, PrimValue(1.0)).code == "RX0202"
    assert refused(R.slice_scatter, n, k, 0, 3, 1, 2).message == "there is no axis 2"


def test_bounds_that_are_known_later_are_looked_at_then() -> None:
    later = Var("b", PrimStructInfo("int64"))
    n, k = tensor("n", 4), tensor("k", 4)
    assert obliged(R.slice_scatter, n, k, 0, later, 1) == ["src: k inside n"]
    with pytest.raises(ValueError, match="the slice has 2 elements, `src` has 3"):
        R.slice_scatter.meaning(np.zeros((3, 4)), np.zeros((3, 4)), 1, 3, 1, axis=0)
    with pytest.raises(ValueError, match="the step is -1, but goes forward"):
        R.slice_scatter.meaning(np.zeros((3, 4)), np.zeros((3, 4)), 1, 3, -1, axis=0)
