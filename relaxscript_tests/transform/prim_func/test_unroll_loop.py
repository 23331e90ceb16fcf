"""Loops of kind unrolled as their iterations: before, after, and what stays."""

from __future__ import annotations

import pytest

from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.tir.analysis import verify_well_formed
from relaxscript.tir.transform import UnrollLoop

from .test_vectors_of_loops import assert_becomes, assert_stays

HEAD = 'A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), n: T.int32'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for i in T.unroll(2):\n    B[i] = A[i]", "B[0] = A[0]\nB[1] = A[1]"),
        ("for i in T.unroll(3, 5):\n    B[i] = A[i]", "B[3] = A[3]\nB[4] = A[4]"),
        ("for i in T.unroll(n, n + 2):\n    A[i] = i", "A[n] = n\nA[n + 1] = n + 1"),
        ("for i in T.unroll(1):\n    B[i] = A[i]", "B[0] = A[0]"),
        ("for i in T.unroll(0):\n    B[i] = A[i]", "T.evaluate(0)"),
        (
            "for i in T.unroll(2):\n    for k in T.unroll(2):\n        B[i * 2 + k] = A[k]",
            "B[T.int32(0) * 2 + 0] = A[0]\nB[T.int32(0) * 2 + 1] = A[1]\n"
            "B[T.int32(1) * 2 + 0] = A[0]\nB[T.int32(1) * 2 + 1] = A[1]",
        ),
        (
            "for i in T.unroll(2):\n    for k in range(i + 1):\n        v: T.int32 = A[k]\n"
            "        B[i] = v",
            "for k in range(T.int32(0) + 1):\n    v: T.int32 = A[k]\n    B[0] = v\n"
            "for k in range(T.int32(1) + 1):\n    w: T.int32 = A[k]\n    B[1] = w",
        ),
    ],
)
def test_iterations_follow_one_another(before: str, after: str):
    assert_becomes(UnrollLoop(), HEAD, before, after)


@pytest.mark.parametrize("loop", ["T.unroll(n)", "range(2)", "T.vectorized(2)"])
def test_other_loops_stay(loop: str):
    assert_stays(UnrollLoop(), HEAD, f"for i in {loop}:\n    B[i] = A[i]")


def test_iterations_have_variables_memory_and_axes_of_their_own():
    func = from_source(f"""
@T.prim_func
def main({HEAD}):
    for i in T.unroll(3):
        with T.block("b"):
            vi = T.axis.spatial(3, i)
            t = T.alloc_buffer((4,), "int32")
            for k in range(4):
                with T.block("t"):
                    vk = T.axis.spatial(4, k)
                    t[vk] = A[vk]
            with T.block("B"):
                B[vi] = t[vi]
""")
    verify_well_formed(UnrollLoop()(IRModule({"main": func}))["main"])
