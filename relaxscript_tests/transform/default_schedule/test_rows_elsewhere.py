"""Rows whose places are computed: what they give, and that they fail as elements do."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_funcs
from relaxscript.errors import VMError
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.transform.default_schedule import nests
from relaxscript.transform.default_schedule.processor import Processor
from relaxscript_tests.transform.default_schedule.fused_programs import fused, only_prim_func
from relaxscript_tests.transform.default_schedule.row_functions import prim_func

EIGHT = Processor(32, 16)
X = 'x: R.Tensor((7, "n"), "float32"), p: R.Tensor((5,), "int64")'


def of_rows(head: str, body: str) -> tuple[PrimFunc, PrimFunc]:
    """The function before and after."""
    before = only_prim_func(fused(head, body))
    after = nests(before, EIGHT)
    assert after is not None
    assert "T.Ramp" in after.script()
    assert_structural_equal(from_source(after.script()), after)
    return before, after


@pytest.mark.parametrize("n", [0, 1, 8, 21])
@pytest.mark.parametrize(
    "body",
    [
        "y = R.take(x, p, axis=0)",
        "h = R.take(x, p, axis=0)\ny = R.nn.relu(h)",
        "y = R.index_tensor(x, (p,))",
    ],
)
def test_rows_are_copied_by_vectors(body: str, n: int):
    before, after = of_rows(X, body)
    x = np.random.default_rng(n).standard_normal((7, n)).astype("float32")
    p = np.array([6, 0, 3, 3, 1], "int64")
    found, expected, plain = (np.full((5, n), 9, "float32") for _ in range(3))
    compile_prim_funcs({"f": after})["f"](x, p, found)
    evaluate(after, [x, p, expected])
    evaluate(before, [x, p, plain])
    assert found.tobytes() == expected.tobytes() == plain.tobytes()


@pytest.mark.parametrize("place", [7, -1, 1 << 62])
def test_a_row_outside_fails_as_its_first_element_does(place: int):
    before, after = of_rows(X, "y = R.take(x, p, axis=0)")
    x, p = np.ones((7, 21), "float32"), np.array([0, 1, place, 9, 0], "int64")
    messages = []
    for func in (before, after):
        kernel = compile_prim_funcs({"f": func})["f"]
        for run in (kernel, lambda *a, f=func: evaluate(f, list(a))):
            with pytest.raises(VMError, match=f"index {place} is outside of dimension 0") as error:
                run(x, p, np.zeros((5, 21), "float32"))
            messages.append(str(error.value).replace("`f`", "").split("\n")[0])
    assert len({*messages}) == 1


def test_no_row_of_no_elements_fails():
    _, after = of_rows(X, "y = R.take(x, p, axis=0)")
    kernel = compile_prim_funcs({"f": after})["f"]
    kernel(np.ones((7, 0), "float32"), np.array([0, 1, 99, 9, 0]), np.zeros((5, 0), "float32"))


def test_axes_that_lie_behind_one_another_are_one_row():
    head = 'x: R.Tensor((7, 2, 3), "float32"), p: R.Tensor((5,), "int64")'
    _, after = of_rows(head, "y = R.take(x, p, axis=0)")
    assert "(7, 6)" in after.script()


HEAD = (
    'A: T.Buffer((8, 16), "float32"), P: T.Buffer((4,), "int64"), B: T.Buffer((4, 16), "float32")'
)


@pytest.mark.parametrize(
    "value",
    [
        "A[P[i], 15 - j]",
        "A[P[j % 4], j]",
        "A[P[P[i]], j]",  # what says where a row is may fail itself
        "A[P[i], j + P[i] - P[i]]",
        "A[P[i] // P[0], j]",
        "A[P[i], j] + A[j % 9, j]",
    ],
)
def test_what_fails_element_by_element_is_left_as_it_is(value: str):
    body = "for i, j in T.grid(4, 16):\n    B[i, j] = {}"
    assert nests(prim_func(HEAD, body.format("A[P[i], j] + A[0, j]")), EIGHT) is not None
    assert nests(prim_func(HEAD, body.format(value)), EIGHT) is None
