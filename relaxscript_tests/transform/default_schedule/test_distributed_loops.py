"""Loops around several statements: as loops around each, where nothing is seen of that."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_funcs
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.transform import ApplyDefaultSchedule
from relaxscript.transform.default_schedule.distributed_loops import with_distributed_loops


def function(head: str, body: str, noalias: bool = True) -> PrimFunc:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    mark = "    T.func_attr({'tir.noalias': True})\n" if noalias else ""
    return from_source(f"@T.prim_func\ndef main({head}):\n{mark}{lines}\n")


A_AND_S = 'A: T.Buffer((6, 40), "float32"), s: T.Buffer((6,), "float32")'
SUM = """
for i in range(6):
    s[i] = T.float32(0)
    for k in range(40):
        s[i] = s[i] + A[i, k]
"""
MATRICES = ", ".join(f'{name}: T.Buffer((24, 24), "float32")' for name in "ABC")
PRODUCT = """
for i, j in T.grid(24, 24):
    C[i, j] = T.float32(0)
    for k in range(24):
        C[i, j] = C[i, j] + A[i, k] * B[k, j]
"""


def assert_arranged(func: PrimFunc, rule: str) -> None:
    """The function is arranged by a rule, and computes nearly the same as it is written."""
    made = ApplyDefaultSchedule()(IRModule({"main": func}))["main"]
    assert made.attrs.get("relaxscript.schedule") == rule
    assert_structural_equal(from_source(made.script()), made)
    rng = np.random.default_rng(3)
    arrays = [
        rng.standard_normal([int(n) for n in buffer.shape]).astype("float32")
        for buffer in func.buffer_map.values()
    ]
    native = [array.copy() for array in arrays]
    evaluate(func, arrays)
    compile_prim_funcs({"f": made})["f"](*native)
    for found, expected in zip(native, arrays):
        np.testing.assert_allclose(found, expected, 1e-5, 1e-5)


def test_each_statement_has_loops_over_variables_of_its_own():
    given = function(A_AND_S, SUM)
    text = given.script()
    made = with_distributed_loops(given)
    after = """
for i in range(6):
    s[i] = T.float32(0)
for i, k in T.grid(6, 40):
    s[i] = s[i] + A[i, k]
"""
    assert_structural_equal(made, function(A_AND_S, after))
    assert given.script() == text
    assert with_distributed_loops(made) is made


def test_sums_and_products_by_plain_loops_are_arranged():
    assert_arranged(function(A_AND_S, SUM), "rows")
    assert_arranged(function(MATRICES, PRODUCT), "product")


def test_blocks_in_the_same_loops_are_arranged():
    body = """
for i, j in T.grid(24, 24):
    with T.block("init"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = T.float32(0)
    for k in range(24):
        with T.block("update"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
    assert_arranged(function(MATRICES, body), "product")


def test_rows_with_memory_for_all_of_them_are_arranged():
    head = 'A: T.Buffer((6, 40), "float32"), B: T.Buffer((6, 40), "float32")'
    body = """
m = T.alloc_buffer((6,), "float32")
s = T.alloc_buffer((6,), "float32")
for i in range(6):
    m[i] = T.min_value("float32")
    for k in range(40):
        m[i] = T.max(m[i], A[i, k])
    s[i] = T.float32(0)
    for k in range(40):
        s[i] = s[i] + T.exp(A[i, k] - m[i])
    for k in range(40):
        B[i, k] = T.exp(A[i, k] - m[i]) / s[i]
"""
    assert_arranged(function(head, body), "rows")


@pytest.mark.parametrize(
    "body",
    [
        # What an iteration reads, the one before has written.
        "for i in range(5):\n    s[i] = A[i, 0]\n    s[i + 1] = s[i] * A[i, 1]",
        # All iterations write one element.
        "for i in range(6):\n    s[0] = A[i, 0]\n    for k in range(40):\n"
        "        s[0] = s[0] + A[i, k]",
        # An index may be outside: what fails first would be another one.
        "for i in range(6):\n    s[i] = T.float32(0)\n    for k in range(40):\n"
        "        s[i] = s[i] + A[i, T.Cast('int32', A[i, k])]",
        # The loop is not known to be one after the other.
        "for i in T.parallel(6):\n    s[i] = T.float32(0)\n    for k in range(40):\n"
        "        s[i] = s[i] + A[i, k]",
        # Nothing is around several statements.
        "for i in range(6):\n    s[i] = A[i, 0]",
    ],
)
def test_other_loops_are_left_as_they_are(body: str):
    func = function(A_AND_S, body)
    assert with_distributed_loops(func) is func


def test_buffers_that_may_overlap_are_left_as_they_are():
    func = function(A_AND_S, SUM, noalias=False)
    assert with_distributed_loops(func) is func


def test_values_that_a_condition_chooses_are_inside_where_it_holds():
    head = 'A: T.Buffer((6, 40), "float32"), C: T.Buffer((6, 40), "float32")'
    body = """
for i in range(6):
    for j in range(40):
        C[i, j] = T.if_then_else({condition}, A[i, j - 1], T.float32(0))
    for j in range(40):
        C[i, j] = C[i, j] + A[i, j]
"""
    given = function(head, body.format(condition="1 <= j"))
    assert len(with_distributed_loops(given).body.seq) == 2
    outside = function(head, body.format(condition="A[i, j] < T.float32(1)"))
    assert with_distributed_loops(outside) is outside
