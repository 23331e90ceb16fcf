"""Elements moved to other indices."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript.errors import DiagnosticError, RelaxWarning
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir_compute import IndexMap
from relaxscript.script import from_source
from relaxscript_tests.end_to_end.executors import every_executor
from relaxscript_tests.op.inference import OBJECT, ranked, refused, result, tensor

X = tensor("n", 3)


@pytest.mark.parametrize(
    ("x", "index_map", "expected"),
    [
        (X, lambda i, j: (j, i), "(3, n) float32"),
        (X, lambda i, j: i * 3 + j, "(n * 3,) float32"),
        (X, lambda i, j: (i, j // 2, j % 2), "(n, 2, 2) float32"),
        (X, lambda i, j: (2 - j, 4, i), "(3, 5, n) float32"),
        (tensor(5, 3), lambda i, j: (i // 4, j, i % 4), "(2, 3, 4) float32"),
        (tensor(3), lambda i: (i // 4, i % 4), "(1, 3) float32"),
        (tensor(0), lambda i: (i // 4, i % 4), "(0, 0) float32"),
        (ranked(2), lambda i, j: (j, i, 0), "rank 3 float32"),
        (ranked(-1), lambda i, j: (j, i, 0), "rank 3 float32"),
    ],
)
def test_the_shape_of_another_layout(x: Any, index_map: Any, expected: str) -> None:
    assert result(R.layout_transform, x, index_map) == expected


@pytest.mark.parametrize(
    ("x", "index_map", "said"),
    [
        (X, lambda i: i, "there is an index for each axis of `x`"),
        (X, lambda i, j: (i, 1 - j), "the indices of an index map count from 0"),
        (X, lambda i, j: (i * j,), "an index map adds, multiplies by numbers"),
        (X, lambda i, j: (i // j,), "an index map adds, multiplies by numbers"),
        (X, lambda i, j: (j * 0.5,), "an index map adds, multiplies by numbers"),
        (X, lambda *i: i, "must be a function of indices"),
        (X, (1, 0), "must be a function of indices"),
        (OBJECT, lambda i: i, "not a tensor"),
    ],
)
def test_index_maps_that_are_none_are_refused(x: Any, index_map: Any, said: str) -> None:
    assert said in str(refused(R.layout_transform, x, index_map))


def test_a_tensor_is_no_padding() -> None:
    assert "pad_value" in str(refused(R.layout_transform, X, lambda i, j: i, tensor()))


def test_an_index_that_may_be_below_0_is_looked_at_when_it_is_known() -> None:
    index_map = IndexMap.from_func(lambda i: 6 - i)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        assert result(R.layout_transform, tensor("n"), index_map) == "(7,) float32"
    with pytest.raises(IndexError, match="gives the index -1 along axis 0"):
        R.layout_transform.meaning(np.zeros(8), index_map)


PROGRAM = """
@I.ir_module
class Packed:
    @R.function
    def main(x: R.Tensor((5, 3), "int32")):
        y = R.layout_transform(x, index_map=lambda i, j: (i // 4, j, i % 4), pad_value=-1)
        z = R.layout_transform(y, T.index_map(lambda a, b, c: (c, b, a)))
        return z
"""


def test_a_lambda_of_a_script_is_an_index_map() -> None:
    module = from_source(PROGRAM)
    assert "index_map=T.index_map(lambda i, j: (i // 4, j, i % 4))" in module.script()
    assert_structural_equal(from_source(module.script()), module)


@every_executor
def test_elements_are_moved_and_padded(load: Any) -> None:
    x = np.arange(15, dtype="int32").reshape(5, 3)
    wanted = np.full((8, 3), -1, "int32")
    wanted[:5] = x
    wanted = wanted.reshape(2, 4, 3).transpose(1, 2, 0)
    np.testing.assert_array_equal(load(from_source(PROGRAM)).main(x), wanted)


def test_any_number_of_indices_is_numbered() -> None:
    made = IndexMap.from_func(lambda *i: i[::-1], 3, inverse_index_map=lambda *i: i[::-1])
    assert [v.name for v in made.initial_indices] == ["i0", "i1", "i2"]
    assert made.inverse_index_map is not None
    assert made.final_indices == made.initial_indices[::-1]


def test_a_mistake_of_a_script_shows_the_index_map() -> None:
    with pytest.raises(DiagnosticError, match="there is an index for each axis of `x`") as caught:
        from_source(PROGRAM.replace("lambda i, j: (i // 4, j, i % 4)", "lambda i: i"))
    assert caught.value.diagnostics[0].span.text == "lambda i: i"


def test_no_separators_are_none_however_that_is_said() -> None:
    x = Var("x", TensorStructInfo((4, 3), "float32"))
    without, *others = (
        R.layout_transform(x, lambda i, j: (j, i), axis_separators=none, input_axis_separators=none)
        for none in (None, [], ())
    )
    for other in others:
        assert_structural_equal(other, without)
