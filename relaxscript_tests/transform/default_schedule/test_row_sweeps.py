"""Passes over rows: the last vector of each, and products that are added."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_funcs
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.prim import BufferLoad
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.walk import walk
from relaxscript.transform.default_schedule import rows
from relaxscript.transform.default_schedule.processor import Processor
from relaxscript_tests.transform.default_schedule.fused_programs import fused, only_prim_func
from relaxscript_tests.transform.default_schedule.row_functions import (
    MATRIX,
    of_blocks,
    prim_func,
    random,
)

EIGHT = Processor(32, 16)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
@pytest.mark.parametrize(
    ("value", "start", "expected"),
    [("B[vi] + A[vi, vk]", 0, lambda n: n), ("B[vi] * (A[vi, vk] + A[vi, vk])", 1, lambda n: 2**n)],
)
def test_elements_that_the_last_vector_has_again_are_put_together_once(
    dtype: str, value: str, start: int, expected: Callable[[int], int]
):
    body = of_blocks("SR", f"T.{dtype}({start})", value)
    kernel = compile_prim_funcs({"f": rows(prim_func(MATRIX.format(dtype), body), EIGHT)})["f"]
    for n in range(31):
        found = np.empty(2, dtype)
        kernel(np.ones((2, n), dtype), found)
        assert found.tolist() == [expected(n)] * 2


def test_a_row_of_a_known_size_has_no_elements_one_by_one():
    mod = fused('x: R.Tensor((3, 22), "float32")', "y = R.max(x, axis=-1)")
    made = rows(only_prim_func(mod), EIGHT)
    assert made is not None
    loads = [x for x in walk(made.body) if isinstance(x, BufferLoad) and x.buffer.name == "A"]
    assert {load.dtype.lanes for load in loads} == {8}


@pytest.mark.parametrize("n", [8, 9, 20, 31, 45])
@pytest.mark.parametrize("body", ["y = R.nn.softmax(x)", "y = R.variance(x, axis=-1)"])
def test_what_is_kept_of_the_last_vector_has_the_bits_of_the_evaluator(body: str, n: int):
    func = rows(only_prim_func(fused(f'x: R.Tensor((3, {n}), "float32")', body)), EIGHT)
    assert func is not None
    func = func.with_attr("tir.vector_math", True)
    (x,) = random((3, n))
    shape = (3, n) if "softmax" in body else (3,)
    found, expected = np.zeros(shape, "float32"), np.ones(shape, "float32")
    compile_prim_funcs({"f": func})["f"](x, found)
    evaluate(func, [x, expected])
    assert found.tobytes() == expected.tobytes()


def squares(dtype: str) -> PrimFunc:
    value = "B[vi] + A[vi, vk] * A[vi, vk]"
    return prim_func(MATRIX.format(dtype), of_blocks("SR", f"T.{dtype}(0)", value))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_product_is_added_without_being_rounded_before(dtype: str):
    func = rows(squares(dtype), EIGHT)
    assert func is not None
    # By several vectors at once, by one, and in short rows.
    assert func.script().count("llvm.fma") == 3


@pytest.mark.parametrize("dtype", ["int32", "float16"])
def test_a_product_of_other_types_is_added_as_it_is(dtype: str):
    func = rows(squares(dtype), EIGHT)
    assert func is not None
    assert "llvm.fma" not in func.script()
