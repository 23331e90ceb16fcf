"""Memory in the loops that use it: before, after, and what stays."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.tir.transform import PlanAndUpdateBufferAllocationLocation

from .test_vectors_of_loops import assert_becomes, assert_stays, function

HEAD = 'X: T.Buffer((8, 16), "float32"), Y: T.Buffer((8, 16), "float32")'


def step(mod):
    return PlanAndUpdateBufferAllocationLocation()(mod)


STAGES = """
    for j in range(16):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = X[vi, vj] + T.float32(1)
    for j in range(16):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = A[{read}] * T.float32(2)
"""


def stages(read: str = "vi, vj") -> str:
    return STAGES.format(read=read)


def test_each_iteration_of_the_innermost_loop_around_all_uses_has_memory_of_its_own():
    inner = f"A = T.alloc_buffer((8, 16)){dedent(stages())}"
    after = f"for i in range(8):\n    with T.block(''):\n{indent(inner, ' ' * 8)}"
    assert_becomes(
        step, HEAD,
        f"A = T.alloc_buffer((8, 16))\nfor i in range(8):{stages()}",
        f"with T.block('root'):\n{indent(after, ' ' * 4)}",
    )  # fmt: skip


def test_a_sum_that_begins_in_an_iteration_ends_there():
    before = """
with T.block("root"):
    S = T.alloc_buffer((8,))
    for i in range(8):
{indent}        with T.block("S_init"):
{indent}            vi = T.axis.spatial(8, i)
{indent}            S[vi] = T.float32(0)
{indent}        for j in range(16):
{indent}            with T.block("S_update"):
{indent}                vi, vj = T.axis.remap("SR", [i, j])
{indent}                S[vi] = S[vi] + X[vi, vj]
{indent}        with T.block("Y"):
{indent}            vi = T.axis.spatial(8, i)
{indent}            Y[vi, 0] = S[vi]
"""
    after = before.replace("    S = T.alloc_buffer((8,))\n", "").replace(
        "    for i in range(8):\n",
        "    for i in range(8):\n        with T.block(''):\n            S = T.alloc_buffer((8,))\n",
    )
    assert_becomes(step, HEAD, before.format(indent=""), after.format(indent="    "))


@pytest.mark.parametrize(
    "body",
    [
        # What another iteration has written is read.
        f"A = T.alloc_buffer((8, 16))\nfor i in range(8):\n{stages('0, vj')}",
        # More is read than is written.
        f"A = T.alloc_buffer((8, 16))\nfor i in range(8):\n{stages('vi, (vj + 1) % 16')}".replace(
            "for j in range(16):", "for j in range(15):", 1
        ),
        # Threads share it, and vectors have none of their own.
        f"A = T.alloc_buffer((8, 16))\nfor i in T.thread_binding(8, 'blockIdx.x'):\n{stages()}",
        f"A = T.alloc_buffer((8, 16))\nfor i in T.vectorized(8):\n{stages()}",
        # It is read outside of the loop.
        f"A = T.alloc_buffer((8, 16))\nfor i in range(8):\n{stages()}\nwith T.block('last'):\n"
        "    Y[0, 0] = A[0, 0]",
        # It is read before it is written.
        "A = T.alloc_buffer((8, 16))\nfor i in range(8):\n    with T.block('A'):\n"
        "        vi = T.axis.spatial(8, i)\n        A[vi, 0] = A[vi, 0] + X[vi, 0]",
        # Its address is taken.
        f"A = T.alloc_buffer((8, 16))\nfor i in range(8):\n{stages()}\n"
        "    T.evaluate(T.call_extern('int32', 'f', A.data))",
        # It has another name.
        "A = T.alloc_buffer((8, 16))\nfor i in range(8):\n    with T.block('b'):\n"
        "        B = T.match_buffer(A[0:8, 0:16], (8, 16))\n        B[0, 0] = T.float32(1)",
        # Nobody uses it.
        "A = T.alloc_buffer((8, 16))\nfor i in range(8):\n    Y[i, 0] = X[i, 0]",
        "for i in range(8):\n    Y[i, 0] = X[i, 0]",
    ],
)
def test_memory_that_iterations_share_stays(body: str):
    assert_stays(step, HEAD, body)


def test_two_loops_around_each_other_get_what_they_use():
    body = """
S = T.alloc_buffer((8,))
A = T.alloc_buffer((8, 16))
for i in range(8):
    with T.block("S"):
        vi = T.axis.spatial(8, i)
        S[vi] = X[vi, 0]
    for j in range(16):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = X[vi, vj] + S[vi]
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = A[vi, vj]
"""
    mod = step(function(HEAD, body))
    text = mod.script()
    assert text.count('with T.block("")') == 2
    assert "T.writes(Y[i, 0:16])" in text
    assert_structural_equal(from_source(text), mod)


def test_a_block_around_the_loop_names_the_memory_no_more():
    nest = indent(f"for i in range(8):{stages()}", " " * 4)
    body = f"""
A = T.alloc_buffer((8, 16))
with T.block("outer"):
    T.reads(X[0:8, 0:16])
    T.writes(A[0:8, 0:16], Y[0:8, 0:16])
{nest}
"""
    mod = step(function(HEAD, body))
    text = mod.script()
    assert "T.writes(Y[0:8, 0:16])" in text
    assert_structural_equal(from_source(text), mod)
