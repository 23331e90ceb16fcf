"""Running sums and products."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError
from relaxscript.ir.tir import For
from relaxscript.ir.walk import walk

from .running import computed

X = np.array([[1, 2, 3], [4, 5, 6]], "float32")


@pytest.mark.parametrize("target", ["reference", "llvm"])
def test_sums_run_along_an_axis_of_any_size(target: str) -> None:
    n = te.var("n", "int64")
    a = te.placeholder((n, 3), name="a")
    assert computed(topi.cumsum(a, 0), {a: X}, target).tolist() == [[1, 2, 3], [5, 7, 9]]
    found = computed(topi.cumsum(a, exclusive=True), {a: X}, target)
    assert found.tolist() == [0, 1, 3, 6, 10, 15]


def test_products_are_those_of_the_dtype_that_is_asked_for() -> None:
    a = te.placeholder((2, 3), name="a")
    found = computed(topi.cumprod(a, -1, "int32"), {a: X})
    assert (found.dtype, found.tolist()) == (np.int32, [[1, 2, 6], [4, 20, 120]])


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_a_scan_takes_one_step_for_each_element(axis: int | None) -> None:
    a = te.placeholder((2, 3), "int32", name="a")
    made = te.create_prim_func([a, topi.cumsum(a, axis)])
    loops = [node for node in walk(made.body) if isinstance(node, For)]
    assert len(loops) == 2


def test_an_axis_that_is_not_there_is_named() -> None:
    a = te.placeholder((2, 3), name="a")
    with pytest.raises(DiagnosticError, match=r"`topi.cumsum` cannot find axis 2"):
        topi.cumsum(a, 2)
