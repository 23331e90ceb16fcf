"""Indices of tensors mean what they mean in numpy, and print as the operators that they are."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.interpreter.relax import Interpreter
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript_tests.script.parser.round_trip import accepted

X = np.arange(4 * 3 * 5, dtype="float32").reshape(4, 3, 5)

INDICES = [
    "0",
    "-1",
    "3",
    "0, 1",
    "0, -1, 2",
    "1:3",
    ":2",
    "2:",
    ":",
    "::2",
    "::-1",
    "3:0:-1",
    "-2:",
    ":-1",
    "1:100",
    "-100:2",
    "2:1",
    "...",
    "..., 0",
    "0, ...",
    "1:, ..., ::2",
    ":, 1",
    ":, 1:2",
    ":, :, -3:-1",
    "None",
    "None, 0",
    "0, None",
    "..., None",
    ":, None, 1",
    "None, :, None, 0, None",
    "0:2, None, 1:, ::-2",
    "[0, 2]",
    "[-1 + 1, 3], 1:",
    ":, [2, 0, 1]",
    "..., [4, 0]",
    "0, [1, 2]",
    "[[0, 1], [2, 3]]",
    "[[0, 1], [2, 3]], None",
    ":, [[0, 1], [2, 0]], None, 0:2",
    "None, [1, 0]",
    "[1, 0], None",
    "1:, [0, 2], None, ::2",
]


def function(annotation: str, index: str):
    return accepted(f"@R.function\ndef main(x: {annotation}):\n    y = x[{index}]\n    return y")


@pytest.mark.parametrize("index", INDICES)
def test_an_index_gives_what_numpy_gives(index):
    wanted = eval(f"X[{index}]", {"X": X})
    made = function('R.Tensor((4, 3, 5), "float32")', index)
    dims = [dim.value for dim in made.ret_struct_info.dims]
    assert dims == list(wanted.shape)
    np.testing.assert_array_equal(Interpreter(rx.IRModule({"main": made}))["main"](X), wanted)


@pytest.mark.parametrize("index", INDICES)
def test_an_index_of_a_tensor_with_symbolic_dimensions_gives_the_same(index):
    wanted = eval(f"X[{index}]", {"X": X})
    made = function('R.Tensor(("n", "m", "k"), "float32")', index)
    np.testing.assert_array_equal(Interpreter(rx.IRModule({"main": made}))["main"](X), wanted)


@pytest.mark.parametrize("index", ["0", "1:3", "-1", "::-1", "..., 0", "None, 1", ":, [0, 2]"])
def test_an_index_of_a_tensor_of_known_rank_gives_the_same(index):
    wanted = eval(f"X[{index}]", {"X": X})
    made = function('R.Tensor("float32", ndim=3)', index)
    np.testing.assert_array_equal(Interpreter(rx.IRModule({"main": made}))["main"](X), wanted)


def test_dimensions_and_tensors_of_the_program_are_indices():
    made = accepted(
        """
        @R.function
        def main(x: R.Tensor(("n", 3), "float32"), rows: R.Tensor((2,), "int64"),
                 one: R.Tensor((), "int32"), k: R.Prim("int64")):
            n = T.int64()
            a = x[n - 1]
            b = x[n // 2 :]
            c = x[rows]
            d = x[one]
            e = x[:, k]
            return (a, b, c, d, e)
        """
    )
    x = np.arange(12, dtype="float32").reshape(4, 3)
    rows, one = np.array([3, 0]), np.array(2, "int32")
    found = Interpreter(rx.IRModule({"main": made}))["main"](x, rows, one, 1)
    for value, wanted in zip(found, (x[3], x[2:], x[rows], x[2], x[:, 1])):
        np.testing.assert_array_equal(value, wanted)


def test_an_index_is_written_as_the_operators_that_it_is():
    head = "@R.function\ndef main(x: R.Tensor((4, 3), 'int8')):\n"
    assert_structural_equal(
        from_source(f"{head}    y = x[1:3, 0]\n    return y"),
        from_source(
            f"{head}    s = R.strided_slice(x, [0, 1], [1, 0], [3, 1])\n"
            "    y = R.squeeze(s, [1])\n    return y"
        ),
    )
