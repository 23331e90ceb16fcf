"""Which functions LLVM leaves as they stand, and that these compute the same."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.codegen.llvm.long_rows import FEW, LONG, NOT_OPTIMISED
from relaxscript.ir import prim, tir
from relaxscript.transform.default_schedule.apply_default_schedule import SCHEDULE
from relaxscript_tests.prim_funcs import both, load, loop, prim_func, store


def row(length: int, apart: int, scheduled: bool = True) -> tir.PrimFunc:
    """A row of so many variables, each the sum of the last one and of one so far before it."""
    source, target = tir.Buffer("x", (5,), "float32"), tir.Buffer("y", (5,), "float32")
    i = prim.Var("i", "int64")
    values: list[prim.PrimExpr] = [load(source, i)]
    variables: list[prim.Var] = []
    for number in range(length):
        variables.append(prim.Var(f"v{number}", "float32"))
        values.append(variables[-1] * prim.const(0.5, "float32") + variables[-apart:][0])
    body: tir.Stmt = store(target, values[-1], i)
    for var, value in zip(reversed(variables), reversed(values[:-1]), strict=True):
        body = tir.LetStmt(var, value, body)
    attrs = {SCHEDULE: "elementwise"} if scheduled else {}
    return prim_func([source, target], loop(i, 5, body), **attrs)


def is_left(func: tir.PrimFunc) -> bool:
    return NOT_OPTIMISED in compile_prim_func(func).llvm_ir


def test_a_long_row_of_which_little_is_needed_at_a_time_is_left_as_it_stands() -> None:
    assert is_left(row(LONG, 2))
    assert is_left(row(LONG, FEW - 1))


@pytest.mark.parametrize(
    "func", [row(LONG - 1, 2), row(LONG, FEW + 1), row(LONG, 2, scheduled=False)],
    ids=["short", "much at a time", "not scheduled"],
)  # fmt: skip
def test_other_functions_are_optimised(func: tir.PrimFunc) -> None:
    assert not is_left(func)


@pytest.mark.parametrize("apart", [2, FEW + 1])
def test_what_is_left_computes_the_same(apart: int) -> None:
    x = np.linspace(-1, 2, 5, dtype="float32")
    _, found = both(row(LONG + 20, apart), [x, np.zeros(5, "float32")])
    assert found.any()
