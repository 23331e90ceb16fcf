"""Results that are stored again: what is computed before is in a buffer of its own."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.transform.default_schedule.renamed_results import with_renamed_results

from .test_distributed_loops import assert_arranged, function

HEAD = 'A: T.Buffer((6, 40), "float32"), B: T.Buffer((6, 40), "float32")'
TWICE = """
for i, j in T.grid(6, 40):
    B[i, j] = A[i, j] + T.float32(1)
for i, j in T.grid(6, 40):
    B[i, j] = B[i, j] * B[i, j]
for i, j in T.grid(6, 40):
    B[i, j] = T.max(B[i, j], A[i, 0])
"""


def test_each_step_has_a_buffer_of_its_own():
    given = function(HEAD, TWICE)
    text = given.script()
    made = with_renamed_results(given)
    steps = made.script().count("T.decl_buffer") + made.script().count("T.alloc_buffer")
    assert steps == 2
    assert given.script() == text
    assert with_renamed_results(made) is made
    assert_structural_equal(from_source(made.script()), made)
    a = np.linspace(-2, 2, 240, dtype="float32").reshape(6, 40)
    found, expected = np.zeros((6, 40), "float32"), np.zeros((6, 40), "float32")
    evaluate(made, [a, found])
    evaluate(given, [a, expected])
    assert found.tobytes() == expected.tobytes()


def test_what_is_computed_in_the_result_step_by_step_is_arranged():
    assert_arranged(function(HEAD, TWICE), "elementwise")
    means = 'A: T.Buffer((6, 40), "float32"), s: T.Buffer((6,), "float32")'
    body = """
for i in range(6):
    s[i] = T.float32(0)
    for k in range(40):
        s[i] = s[i] + A[i, k]
    s[i] = s[i] / T.float32(40)
"""
    assert_arranged(function(means, body), "rows")
    head = ", ".join(f'{name}: T.Buffer((24, 24), "float32")' for name in "ABC")
    body = """
for i, j, k in T.grid(24, 24, 24):
    with T.block("C"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = T.float32(0)
        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
for i, j in T.grid(24, 24):
    with T.block("relu"):
        vi, vj = T.axis.remap("SS", [i, j])
        C[vi, vj] = T.max(C[vi, vj], T.float32(0))
"""
    assert_arranged(function(head, body), "product")


@pytest.mark.parametrize(
    "body",
    [
        # Not all has been stored before: what the result held is read.
        "for i, j in T.grid(6, 39):\n    B[i, j] = A[i, j]\n"
        "for i, j in T.grid(6, 40):\n    B[i, j] = B[i, j] + A[i, 0]",
        # Not all is stored again.
        "for i, j in T.grid(6, 40):\n    B[i, j] = A[i, j]\n"
        "for i, j in T.grid(6, 39):\n    B[i, j] = B[i, j] + A[i, 0]",
        # Other elements are read, some of them new.
        "for i, j in T.grid(6, 40):\n    B[i, j] = A[i, j]\n"
        "for i, j in T.grid(6, 40):\n    B[i, j] = B[0, 0] + A[i, j]",
        # A sum is one step.
        "for i, j in T.grid(6, 40):\n    B[i, j] = T.float32(0)\n"
        "for i, j, k in T.grid(6, 40, 3):\n    B[i, j] = B[i, j] + A[i, k]",
        # There is one store.
        "for i, j in T.grid(6, 40):\n    B[i, j] = A[i, j]",
    ],
)
def test_other_results_stay(body: str):
    func = function(HEAD, body)
    assert with_renamed_results(func) is func


def test_buffers_that_may_overlap_stay():
    func = function(HEAD, TWICE, noalias=False)
    assert with_renamed_results(func) is func
