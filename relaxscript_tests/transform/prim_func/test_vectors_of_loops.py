"""PrimFuncs without blocks, over buffers of one dimension, by vectors: before, after, and laws."""

from __future__ import annotations

import random

import numpy as np
import pytest

from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import IntImm
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import For, ForKind, PrimFunc
from relaxscript.ir.walk import rewrite, walk
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.prim_funcs import random_prim_func
from relaxscript.tir.transform import (
    ConvertBlocksToOpaque,
    FlattenBuffer,
    LowerOpaqueBlock,
    Simplify,
    VectorizeLoop,
)
from relaxscript.transform import Sequential
from relaxscript_tests import examples


def function(head: str, body: str) -> IRModule:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    text = f"@T.prim_func\ndef main({head}):\n    T.func_attr({{'tir.noalias': True}})\n{lines}\n"
    return IRModule({"main": from_source(text)})


def assert_becomes(step, head: str, before: str, after: str) -> None:
    given = function(head, before)
    text = given.script()
    made = step(given)
    assert_structural_equal(made, function(head, after))
    assert given.script() == text
    assert step(made) is made


def assert_stays(step, head: str, body: str) -> None:
    given = function(head, body)
    assert step(given) is given


MATRICES = 'A: T.Buffer(("n", 4), "float32"), B: T.Buffer(("n", 4), "float32")'
SIZE = "n = T.int64()\n"


# ---------------------------------------------------------------- blocks


def test_values_of_axes_are_written_where_the_axes_are_used():
    block = """
for i, k in T.grid(n, T.int64(4)):
    with T.block("sum"):
        {}
"""
    before = """vi, vk = T.axis.remap("SR", [i, k])
        T.reads(A[vi, vk])
        T.writes(B[vi, 0])
        with T.init():
            B[vi, 0] = T.float32(0)
        B[vi, 0] = B[vi, 0] + A[vi, vk]"""
    after = """T.reads(A[i, k])
        T.writes(B[i, 0])
        if k == 0:
            B[i, 0] = T.float32(0)
        B[i, 0] = B[i, 0] + A[i, k]"""
    assert_becomes(
        ConvertBlocksToOpaque(), MATRICES, SIZE + block.format(before), SIZE + block.format(after)
    )


def test_a_value_of_an_axis_that_is_read_from_memory_is_read_once():
    head = 'P: T.Buffer((4,), "int32"), B: T.Buffer((4,), "float32")'
    before = """
for i in range(4):
    with T.block("take"):
        T.where(i < 3)
        v = T.axis.spatial(4, P[i])
        T.reads(P[i])
        T.writes(B[v])
        P[i] = v + 1
        B[v] = T.float32(1)
"""
    after = """
for i in range(4):
    if i < 3:
        v: T.int32 = P[i]
        with T.block("take"):
            T.reads(P[i])
            T.writes(B[v])
            P[i] = v + 1
            B[v] = T.float32(1)
"""
    assert_becomes(ConvertBlocksToOpaque(), head, before, after)


def test_a_block_without_axes_is_its_statements_and_its_memory():
    before = """
with T.block("scale"):
    T.reads()
    T.writes()
    t = T.alloc_buffer((4,))
    for i in range(n):
        with T.block("inner"):
            T.where(i < 3)
            T.reads()
            T.writes()
            T.block_attr({"pragma_hint": "x", "dropped": 1})
            t[0] = A[i, 0]
            B[i, 0] = t[0]
"""
    made = LowerOpaqueBlock()(function(MATRICES, SIZE + before))
    after = """
t_1 = T.allocate([T.int64(4)], "float32", "global")
t = T.decl_buffer((4,), data=t_1)
for i in range(n):
    if i < 3:
        with T.attr(0, "pragma_hint", "x"):
            t[0] = A[i, 0]
            B[i, 0] = t[0]
"""
    assert_structural_equal(made, function(MATRICES, SIZE + after))


def test_a_loop_that_runs_once_is_its_body():
    once = 'for k in range(3, 4):\n    with T.block("b"):\n        B[0, k] = A[k, 0]'
    made = LowerOpaqueBlock()(function(MATRICES, SIZE + once))
    assert_structural_equal(made, function(MATRICES, SIZE + "B[0, 3] = A[3, 0]"))


@pytest.mark.parametrize(
    "block",
    [
        'with T.block("b"):\n    v = T.axis.spatial(4, 3)\n    B[0, v] = A[0, v]',
        'with T.block("b"):\n    with T.init():\n        B[0, 0] = 0.0\n    B[0, 0] = A[0, 0]',
        'with T.block("b"):\n    c = T.match_buffer(A[0, 0:4], (4,))\n    B[0, 0] = c[0]',
        "for k in T.parallel(1):\n    B[0, k] = A[k, 0]",
        'for k in T.serial(1, annotations={"x": 1}):\n    B[0, k] = A[k, 0]',
    ],
)
def test_a_block_with_more_than_statements_stays(block: str):
    given = function(MATRICES, SIZE + block)
    assert block.splitlines()[0] in LowerOpaqueBlock()(given).script()


# ---------------------------------------------------------------- buffers


def test_elements_are_reached_by_one_index():
    before = "for i, j in T.grid(n, T.int64(4)):\n    B[i, j] = A[i, j] + A[i, 0]"
    after = """
A_1 = T.decl_buffer((n * 4,), data=A.data)
B_1 = T.decl_buffer((n * 4,), data=B.data)
for i, j in T.grid(n, T.int64(4)):
    B_1[i * 4 + j] = A_1[i * 4 + j] + A_1[i * 4]
"""
    assert_becomes(FlattenBuffer(), MATRICES, SIZE + before, SIZE + after)


def test_memory_of_the_function_is_declared_with_one_dimension():
    before = """
t_1 = T.allocate([4, 5], "float32", "global")
t = T.decl_buffer((4, 5), data=t_1)
for i in T.serial(T.int64(4)):
    t[i, T.int64(2)] = T.float32(1)
"""
    after = before.replace("(4, 5)", "(20,)").replace("t[i, T.int64(2)]", "t[i * T.int64(5) + 2]")
    after = after.replace("[4, 5]", "[T.int64(20)]")
    assert_becomes(FlattenBuffer(), MATRICES, SIZE + before, SIZE + after)


def test_memory_of_which_a_view_is_a_part_stays_as_large():
    before = """
t_1 = T.allocate([8, 5], "float32", "global")
t = T.decl_buffer((4, 5), data=t_1)
for i in T.serial(T.int64(4)):
    t[i, T.int64(2)] = T.float32(1)
"""
    after = before.replace("(4, 5)", "(20,)").replace("t[i, T.int64(2)]", "t[i * T.int64(5) + 2]")
    after = after.replace("[8, 5]", "[T.int64(40)]")
    assert_becomes(FlattenBuffer(), MATRICES, SIZE + before, SIZE + after)


def test_an_index_counts_in_int64_where_the_memory_may_be_large():
    body = "for i in range(100):\n    B[i, i // 50] = T.float32(1)"
    large = FlattenBuffer()(function('B: T.Buffer((100000, 50000), "float32")', body))
    assert 'B_1[T.Cast("int64", i) * 50000' in large.script()
    small = FlattenBuffer()(function('B: T.Buffer((100, 2), "float32")', body))
    assert "B_1[i * 2 + i // 50]" in small.script()


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(n):\n    B[i, i] = A[i, 0]".replace("A[i, 0]", "T.float32(0)"),
        "B[0, 0] = T.float32(1)",
        "for i in range(n + 1):\n    B[i, 0] = T.float32(1)",
        'for i in range(n):\n    with T.block("b"):\n        B[i, 0] = A[i, 0]',
    ],
)
def test_an_access_that_may_leave_its_buffer_stays(body: str):
    assert_stays(FlattenBuffer(), MATRICES, SIZE + body)


def test_buffers_with_strides_or_an_offset_stay():
    for layout in ('strides=("s", 1)', "elem_offset=3"):
        head = f'a: T.handle, B: T.Buffer((4, 4), "float32", {layout})'.replace("a: T.handle, ", "")
        body = "s = T.int64()\n" if "strides" in layout else ""
        assert_stays(FlattenBuffer(), head, f"{body}for i in range(4):\n    B[i, 0] = T.float32(1)")


# ---------------------------------------------------------------- vectors

ROWS = 'A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32"), C: T.Buffer((8,), "int32")'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("B[i * 8 + j] = A[i * 8 + j]", "B[T.Ramp(i * 8, 1, 8)] = A[T.Ramp(i * 8, 1, 8)]"),
        ("B[j * 4 + i] = A[i]", "B[T.Ramp(i, 4, 8)] = T.Broadcast(A[i], 8)"),
        (
            "B[j] = T.call_llvm_pure_intrin('float32', 'llvm.fma', A[j], A[i], T.float32(1))",
            "B[T.Ramp(0, 1, 8)] = T.call_llvm_pure_intrin('float32x8', 'llvm.fma', "
            "A[T.Ramp(0, 1, 8)], T.Broadcast(A[i], 8), T.Broadcast(T.float32(1), 8))",
        ),
        (
            "B[j] = T.reinterpret('float32', T.shift_left(T.reinterpret('int32', A[j]), 1))",
            "B[T.Ramp(0, 1, 8)] = T.reinterpret('float32x8', T.shift_left("
            "T.reinterpret('int32x8', A[T.Ramp(0, 1, 8)]), T.Broadcast(1, 8)))",
        ),
        (
            "B[31 - j] = T.exp(A[i * 8 + j])",
            "B[T.Ramp(31, -1, 8)] = T.exp(A[T.Ramp(i * 8, 1, 8)])",
        ),
        (
            "B[j] = T.Select(j < i, A[j], T.float32(2)) * T.Cast('float32', j)",
            "B[T.Ramp(0, 1, 8)] = T.Select(T.Ramp(0, 1, 8) < T.Broadcast(i, 8), "
            "A[T.Ramp(0, 1, 8)], T.Broadcast(T.float32(2), 8)) "
            "* T.Cast('float32x8', T.Ramp(0, 1, 8))",
        ),
        (
            "B[j] = T.if_then_else(j < i, A[j], A[0])",
            "B[T.Ramp(0, 1, 8)] = T.Select(T.Ramp(0, 1, 8) < T.Broadcast(i, 8), "
            "A[T.Ramp(0, 1, 8)], T.Broadcast(A[0], 8))",
        ),
        (
            "B[j] = T.if_then_else(i < 2, A[j], A[0])",
            "B[T.Ramp(0, 1, 8)] = T.if_then_else(i < 2, A[T.Ramp(0, 1, 8)], T.Broadcast(A[0], 8))",
        ),
        (
            "if i < 3:\n    B[j] = A[j]\nelse:\n    B[j] = A[i]",
            "if i < 3:\n    B[T.Ramp(0, 1, 8)] = A[T.Ramp(0, 1, 8)]\n"
            "else:\n    B[T.Ramp(0, 1, 8)] = T.Broadcast(A[i], 8)",
        ),
        (
            "for k in range(3):\n    B[j + 8] = B[j + 8] + A[j + k]",
            "for k in range(3):\n    B[T.Ramp(8, 1, 8)] = B[T.Ramp(8, 1, 8)] + A[T.Ramp(k, 1, 8)]",
        ),
        (
            "v: T.float32 = A[j]\nw: T.float32 = A[i]\nB[j] = v * w",
            "v: T.float32x8 = A[T.Ramp(0, 1, 8)]\nw: T.float32 = A[i]\n"
            "B[T.Ramp(0, 1, 8)] = v * T.Broadcast(w, 8)",
        ),
        (
            "B[j] = A[C[i] - 1] * A[j]",
            "B[T.Ramp(0, 1, 8)] = T.Broadcast(A[C[i] - 1], 8) * A[T.Ramp(0, 1, 8)]",
        ),
        (
            "C[j] = T.Cast('int32', A[j]) // 3",
            "C[T.Ramp(0, 1, 8)] = T.Cast('int32x8', A[T.Ramp(0, 1, 8)]) // T.Broadcast(3, 8)",
        ),
        (
            "k = T.float32()\nB[j] = T.Let(k * k, where={k: A[j]})",
            "k = T.float32x8()\nB[T.Ramp(0, 1, 8)] = T.Let(k * k, where={k: A[T.Ramp(0, 1, 8)]})",
        ),
    ],
)
def test_iterations_become_lanes(before: str, after: str):
    inner = "\n".join(f"        {line}" for line in before.splitlines())
    whole = "\n".join(f"    {line}" for line in after.splitlines())
    assert_becomes(
        VectorizeLoop(),
        ROWS,
        f"for i in range(4):\n    for j in T.vectorized(8):\n{inner}",
        f"for i in range(4):\n{whole}",
    )


@pytest.mark.parametrize(
    "body",
    [
        "B[j] = B[j + 1]",  # another iteration writes what is read
        "B[0] = A[j]",  # all iterations write one element
        "B[j // 2] = A[j]",
        "B[j] = A[j]\nB[7 - j] = A[j]",
        "B[j] = A[C[j]]",  # may be outside
        "B[j] = A[j]\nC[j] = T.Cast('int32', A[C[0]])",  # may be outside when B is stored
        "B[j] = T.if_then_else(A[j] < A[0], A[C[0]], A[0])",  # may be outside, and not be read
        "B[j] = T.Select(A[j] < A[0] and A[C[0]] < A[1], A[1], A[0])",
        "B[j] = A[T.if_then_else(j < 3, C[0], 0)]",
        "C[j] = C[j] // C[0]",  # may divide by zero
        "if j < 3:\n    B[j] = A[j]",
        "for k in range(j):\n    B[j] = A[k]",
        "B[j] = T.float32(T.call_extern('float32', 'rand'))",
        "while C[0] < j:\n    C[0] = C[0] + 1",
        "B[j] = T.if_then_else(j < 7, A[j + 25], A[0])",
    ],
)
def test_a_loop_whose_iterations_may_depend_on_each_other_or_fail_stays(body: str):
    inner = "\n".join(f"    {line}" for line in body.splitlines())
    assert_stays(VectorizeLoop(), ROWS, f"for j in T.vectorized(8):\n{inner}")


def test_a_loop_of_unknown_extent_stays():
    assert_stays(
        VectorizeLoop(),
        'A: T.Buffer(("n",), "float32")',
        "n = T.int64()\nfor j in T.vectorized(n):\n    A[j] = T.float32(1)",
    )


def test_parameters_that_may_share_memory_are_no_lanes():
    text = """
@T.prim_func
def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for j in T.vectorized(8):
        B[j] = A[j]
"""
    mod = IRModule({"main": from_source(text)})
    assert VectorizeLoop()(mod) is mod
    own = text.replace("B[j] = A[j]", "B[j] = B[j] + T.float32(1)")
    assert "T.Ramp" in VectorizeLoop()(IRModule({"main": from_source(own)})).script()


def test_two_buffers_over_one_memory_are_no_lanes():
    body = "D = T.decl_buffer((32,), data=A.data)\nfor j in T.vectorized(8):\n    D[j] = A[j]"
    assert_stays(VectorizeLoop(), ROWS, body)


def test_vectorized_loops_become_serial_on_request():
    body = "for j in {}(8):\n    B[j] = A[j]"
    step = VectorizeLoop(enable_vectorize=False)
    assert_becomes(step, ROWS, body.format("T.vectorized"), body.format("T.serial"))


# ---------------------------------------------------------------- laws

STEPS = (ConvertBlocksToOpaque, LowerOpaqueBlock, FlattenBuffer, Simplify, VectorizeLoop)


def with_vectorized_loops(func: PrimFunc, seed: int) -> PrimFunc:
    """A PrimFunc with every second innermost loop of known extent vectorized, and noalias."""
    choose = random.Random(seed)

    def step(node: object) -> For | None:
        if not isinstance(node, For) or not isinstance(node.extent, IntImm):
            return None
        if any(isinstance(part, For) for part in walk(node.body)) or choose.random() < 0.5:
            return None
        return node.replace(kind=ForKind.VECTORIZED)

    return func.replace(body=rewrite(func.body, step)).with_attr("tir.noalias", True)


@pytest.mark.parametrize("count", range(1, len(STEPS) + 1))
def test_lowered_functions_do_the_same_on_all_executors(count: int):
    changed = 0
    for seed in range(examples(120)):
        func = with_vectorized_loops(random_prim_func(seed), seed)
        mod = IRModule({"main": func.with_attr("global_symbol", "main")})
        made = Sequential([step() for step in STEPS[:count]])(mod)
        changed += made is not mod
        assert_structural_equal(from_source(made.script()), made)
        inputs = inputs_for(mod["main"], seed)
        expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
        for name in ("interpreter", "llvm"):
            actual = observe(EXECUTORS[name](made), "main", inputs)
            check_outcomes(f"{name} after the passes", actual, "before", expected)
    assert changed


def test_a_view_of_small_floats_is_the_same_memory():
    head = 'A: T.Buffer((2, 3), "float8_e5m2"), B: T.Buffer((2, 3), "float8_e5m2")'
    mod = function(head, "for i, j in T.grid(2, 3):\n    B[i, j] = A[1 - i, j]")
    flat = FlattenBuffer()(mod)
    assert flat is not mod
    a, b = inputs_for(mod["main"], 1)
    for run in EXECUTORS.values():
        made = np.zeros_like(b)
        run(flat)("main", a, made)
        assert made.tobytes() == a[::-1].tobytes()
