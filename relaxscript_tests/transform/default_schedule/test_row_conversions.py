"""Conversions of elements of rows: once where several passes have them, and a row is short."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_funcs
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.tir import PrimFunc
from relaxscript.transform.default_schedule import rows
from relaxscript.transform.default_schedule.processor import Processor
from relaxscript.transform.default_schedule.row_conversions import MOST_BYTES
from relaxscript_tests.transform.default_schedule.row_functions import prim_func, random

EIGHT = Processor(32, 16)


def centred(n: int | str, dtype: str = "float32", wide: str = "float64") -> PrimFunc:
    """Elements of rows less the sums of their rows, in a wider type."""
    head = f'A: T.Buffer((3, {n!r}), "{dtype}"), C: T.Buffer((3, {n!r}), "{wide}")'
    return prim_func(
        head,
        f"""
{f"{n} = T.int64()" if isinstance(n, str) else ""}
s = T.alloc_buffer((3,), "{wide}")
for i in range(3):
    s[i] = T.{wide}(0)
for i, k in T.grid(3, {n}):
    s[i] = s[i] + T.Cast("{wide}", A[i, k])
for i, k in T.grid(3, {n}):
    C[i, k] = T.Cast("{wide}", A[i, k]) - s[i]
""",
    )


def by_rows(func: PrimFunc) -> PrimFunc:
    made = rows(func, EIGHT)
    assert made is not None
    return made


def conversions(func: PrimFunc) -> int:
    return func.script().count("T.Cast(")


def test_an_element_of_a_short_row_is_converted_once():
    # By several vectors at once, by one, and by the last; the other pass has none of these.
    made = by_rows(centred(45))
    text = made.script()
    assert conversions(made) == 3
    assert 'T.allocate([48], "float64"' in text


@pytest.mark.parametrize("n", ["n", MOST_BYTES // 8 + 8])
def test_an_element_of_a_row_that_is_or_may_be_long_is_converted_by_each_pass(n: int | str):
    short, made = by_rows(centred(MOST_BYTES // 8)), by_rows(centred(n))
    assert "T.allocate([1024]" in short.script()
    assert conversions(made) >= 2 * conversions(short)
    assert "T.allocate([n" not in made.script()


@pytest.mark.parametrize(("dtype", "wide"), [("float64", "float32"), ("int32", "int64")])
def test_what_gets_no_wider_float_is_converted_by_each_pass(dtype: str, wide: str):
    made = by_rows(centred(32, dtype, wide))
    assert "T.allocate([32]" not in made.script()


def test_results_that_are_converted_are_read_where_they_are_stored():
    head = 'A: T.Buffer((3, 32), "float32"), C: T.Buffer((3, 32), "float32")'
    head += ', D: T.Buffer((3, 32), "float64")'
    func = prim_func(
        head,
        """
s = T.alloc_buffer((3,), "float64")
for i, k in T.grid(3, 32):
    C[i, k] = A[i, k] * T.float32(2)
for i in range(3):
    s[i] = T.float64(0)
for i, k in T.grid(3, 32):
    s[i] = s[i] + T.Cast("float64", C[i, k])
for i, k in T.grid(3, 32):
    D[i, k] = T.Cast("float64", C[i, k]) - s[i]
""",
    )
    made = by_rows(func)
    assert "T.allocate([32]" not in made.script()
    (a,) = random((3, 32))
    (c, d), (e, f) = [[np.empty((3, 32), t) for t in ("float32", "float64")] for _ in range(2)]
    compile_prim_funcs({"f": made})["f"](a, c, d)
    evaluate(func, [a, e, f])
    assert c.tobytes() == e.tobytes()
    np.testing.assert_allclose(d, f, rtol=1e-15)


TYPES = [
    ("float32", "float64"), ("float16", "float32"), ("bfloat16", "float32"), ("int8", "float32"),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "wide"), TYPES)
@pytest.mark.parametrize("n", [8, 13, 32, 45, 100])
def test_converted_rows_have_the_same_bits_as_by_the_evaluator(dtype: str, wide: str, n: int):
    func = by_rows(centred(n, dtype, wide))
    (a,) = random((3, n), dtype=dtype)
    found, expected = np.zeros((3, n), wide), np.ones((3, n), wide)
    compile_prim_funcs({"f": func})["f"](a, found)
    evaluate(func, [a, expected])
    assert found.tobytes() == expected.tobytes()
