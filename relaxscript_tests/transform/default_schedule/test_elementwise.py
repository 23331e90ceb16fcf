"""Elementwise functions by vectors: before, after, and the functions that are left as they are."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.transform import (
    ApplyDefaultSchedule,
)
from relaxscript.transform.default_schedule import elementwise
from relaxscript.transform.default_schedule.processor import Processor, this_processor
from relaxscript_tests import examples
from relaxscript_tests.transform.default_schedule.fused_programs import FUSED
from relaxscript_tests.transform.default_schedule.same_results import (
    assert_same_on_fused_programs,
)
from relaxscript_tests.transform.fuse.fusable_programs import fusable_module

EIGHT = Processor(32)


def function(head: str, body: str, noalias: bool = True) -> tir.PrimFunc:
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    mark = "    T.func_attr({'tir.noalias': True})\n" if noalias else ""
    return from_source(f"@T.prim_func\ndef main({head}):\n{mark}{lines}\n")


def assert_becomes(head: str, before: str, after: str) -> None:
    given = function(head, before)
    text = given.script()
    made = elementwise(given, EIGHT)
    assert made is not None
    assert_structural_equal(made, function(head, after))
    assert given.script() == text


MATRICES = 'A: T.Buffer(("n", 12), "float32"), B: T.Buffer(("n", 12), "float32")'
ROW = 'A: T.Buffer((40,), "float32"), B: T.Buffer((40,), "float32")'


def test_iterations_are_lanes_and_the_rest_follows_one_by_one():
    assert_becomes(
        'A: T.Buffer((20,), "float32"), B: T.Buffer((20,), "float32")',
        "for i in range(20):\n    B[i] = T.exp(A[i])",
        """
for i in range(2):
    B[T.Ramp(i * 8, 1, 8)] = T.exp(A[T.Ramp(i * 8, 1, 8)])
for r in range(4):
    B[r + 16] = T.exp(A[r + 16])
""".replace("r + 16", "16 + r"),
    )


def test_axes_that_lie_behind_one_another_are_one_loop():
    assert_becomes(
        MATRICES,
        """
n = T.int64()
for i, j in T.grid(n, T.int64(12)):
    B[i, j] = A[i, j] * T.float32(2)
""",
        """
n = T.int64()
A_1 = T.decl_buffer((n * 12,), data=A.data)
B_1 = T.decl_buffer((n * 12,), data=B.data)
for j in range(n * 12 // 8):
    B_1[T.Ramp(j * 8, T.int64(1), 8)] = (
        A_1[T.Ramp(j * 8, T.int64(1), 8)] * T.Broadcast(T.float32(2), 8)
    )
for r in range(n * 12 % 8):
    B_1[n * 12 // 8 * 8 + r] = A_1[n * 12 // 8 * 8 + r] * T.float32(2)
""".replace("n * 12 // 8", "(n + n // 2)").replace("n * 12 % 8", "n % 2 * 4"),
    )


def test_what_is_kept_for_a_moment_is_a_variable_that_is_computed_once():
    assert_becomes(
        ROW,
        """
t = T.alloc_buffer((40,))
u = T.alloc_buffer((40,))
for i in range(40):
    with T.block("t"):
        vi = T.axis.spatial(40, i)
        t[vi] = T.exp(A[vi])
for i in range(40):
    with T.block("u"):
        vi = T.axis.spatial(40, i)
        u[vi] = t[vi] * t[vi]
for i in range(40):
    with T.block("B"):
        vi = T.axis.spatial(40, i)
        B[vi] = u[vi] + t[vi]
""",
        """
for i in range(5):
    t: T.float32x8 = T.exp(A[T.Ramp(i * 8, 1, 8)])
    u: T.float32x8 = t * t
    B[T.Ramp(i * 8, 1, 8)] = u + t
""",
    )


def test_what_is_the_same_for_a_row_is_spread_over_the_lanes():
    assert_becomes(
        'A: T.Buffer((3, 16), "float32"), C: T.Buffer((3, 1), "float32"), '
        'D: T.Buffer((16,), "float32"), B: T.Buffer((3, 16), "float32")',
        "for i, j in T.grid(3, 16):\n    B[i, j] = A[i, j] * C[i, 0] + D[j]",
        """
for i in range(3):
    for j in range(2):
        B[i, T.Ramp(j * 8, 1, 8)] = (
            A[i, T.Ramp(j * 8, 1, 8)] * T.Broadcast(C[i, 0], 8) + D[T.Ramp(j * 8, 1, 8)]
        )
""",
    )


def test_lanes_are_as_many_as_fit_the_widest_elements_and_the_loop():
    head = 'A: T.Buffer(({0},), "float64"), B: T.Buffer(({0},), "int8")'
    body = "for i in range({0}):\n    B[i] = T.Cast('int8', A[i])"
    for size, lanes in ((16, 4), (3, 2), (2, 2)):
        made = elementwise(function(head.format(size), body.format(size)), EIGHT)
        assert made is not None
        assert f"T.Ramp(i * {lanes}, 1, {lanes})" in made.script()
    assert elementwise(function(head.format(1), body.format(1)), EIGHT) is None


def test_two_results_are_two_rows_of_loops():
    head = f'{ROW}, C: T.Buffer((40,), "float32")'
    body = """
for i in range(40):
    B[i] = T.exp(A[i])
for i in range(40):
    C[i] = B[i] * T.float32(2)
"""
    made = elementwise(function(head, body), EIGHT)
    assert made is not None
    assert made.script().count("T.exp(") == 2
    assert made.script().count("for ") == 2


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(40):\n    B[0] = B[0] + A[i]",  # one element for all iterations
        "for i in range(40):\n    B[i] = A[39 - i]",  # lanes backwards are no load of a vector
        "for i in range(40):\n    B[39 - i] = A[i]",
        "for i in range(40):\n    B[i] = A[i]\nfor i in range(40):\n    B[i] = B[i] + A[i]",
        "for i in T.parallel(40):\n    B[i] = A[i]",
        "for i in range(1, 40):\n    B[i] = A[i]",
        "for i in range(40):\n    if i < 20:\n        B[i] = A[i]",
        "for i in range(40):\n    T.evaluate(T.call_extern('int32', 'tick'))",
        "for i in range(40):\n    B[i] = A[T.Cast('int32', A[i])]",
        "t = T.alloc_buffer((40,))\nfor i in range(40):\n    B[i] = t[i]",
        "t = T.alloc_buffer((1,))\nfor i in range(1):\n    t[i] = T.exp(A[i])\n"
        "for i in range(40):\n    B[i] = t[0]",  # the call would be repeated
    ],
)
def test_another_function_is_left_as_it_is(body: str):
    # A schedule without a rule for it gives the same object.
    func = function(ROW, body)
    if "39 - i]" in body and "B[i]" in body:
        made = elementwise(func, EIGHT)
        assert made is not None  # each lane is loaded alone
        return
    assert elementwise(func, EIGHT) is None
    mod = IRModule({"main": func})
    again = body.count("B[i] = ") > 1  # each of these nests gets a buffer of its own before
    assert (ApplyDefaultSchedule(elementwise)(mod) is mod) is not again


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(n):\n    B[i] = A[i]",
        "for i in range(m):\n    B[i] = A[i]",
        "t = T.alloc_buffer((m,))\nfor i in range(m):\n    t[i] = A[i]\n"
        "for i in range(n):\n    B[i] = t[i]",
    ],
)
def test_an_index_that_may_leave_its_buffer_is_left_to_be_checked(body: str):
    head = 'A: T.Buffer(("m",), "float32"), B: T.Buffer(("n",), "float32")'
    sizes = "m = T.int64()\nn = T.int64()\n"
    assert elementwise(function(head, sizes + body), EIGHT) is None


def test_an_index_that_leaves_a_buffer_only_where_vectors_end_is_left_to_be_checked():
    head = 'A: T.Buffer(("n // 8 * 8",), "float32"), B: T.Buffer(("n",), "float32")'
    body = "n = T.int64()\nfor i in range(n):\n    B[i] = A[i]"
    assert elementwise(function(head, body), EIGHT) is None


def test_an_element_that_is_read_outside_of_what_is_kept_is_left_to_be_checked():
    head = 'A: T.Buffer(("n",), "float32"), B: T.Buffer(("n",), "float32"), m: T.int64'
    body = """
n = T.int64()
t = T.alloc_buffer((m,))
for i in range(m):
    t[i] = A[T.min(i, n - 1)]
for i in range(n):
    B[i] = t[i]
"""
    assert elementwise(function(head, body), EIGHT) is None
    plain = body.replace("A[T.min(i, n - 1)]", "T.float32(1)")
    assert elementwise(function(head, plain), EIGHT) is None


def test_an_element_that_another_iteration_overwrites_is_not_read_late():
    head = 'A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")'
    body = """
t = T.alloc_buffer((8, 8))
for i, j in T.grid(8, 8):
    t[i, j] = B[0, j] + A[i, j]
for i, j in T.grid(8, 8):
    B[i, j] = t[i, j]
"""
    assert elementwise(function(head, body), EIGHT) is None
    own = body.replace("B[0, j]", "B[i, j]")
    assert elementwise(function(head, own), EIGHT) is not None


def test_parameters_that_may_share_memory_are_left_in_their_order():
    body = "for i in range(40):\n    B[i] = A[i]"
    assert elementwise(function(ROW, body, noalias=False), EIGHT) is None
    own = "for i in range(40):\n    B[i] = B[i] * T.float32(2)"
    assert elementwise(function(ROW, own, noalias=False), EIGHT) is not None
    two = f"{own}\nfor i in range(40):\n    A[i] = A[i] * T.float32(2)"
    assert elementwise(function(ROW, two, noalias=False), EIGHT) is None


def test_what_is_scheduled_says_so_and_is_scheduled_once():
    mod = IRModule({"main": function(ROW, "for i in range(40):\n    B[i] = T.exp(A[i])")})
    made = ApplyDefaultSchedule()(mod)
    attrs = made["main"].attrs
    assert attrs["tir.is_scheduled"]
    assert attrs["tir.vector_math"]
    assert attrs["relaxscript.schedule"] == "elementwise"
    assert ApplyDefaultSchedule()(made) is made


def test_rules_are_asked_in_their_order():
    asked = []

    def none(func, processor):
        asked.append(processor)

    def mine(func, processor):
        return func.with_attr("mine", True)

    mod = IRModule({"main": function(ROW, "for i in range(40):\n    B[i] = A[i]")})
    made = ApplyDefaultSchedule(none, mine, elementwise)(mod)
    assert asked == [this_processor()]
    assert made["main"].attrs["relaxscript.schedule"] == "mine"
    assert made["main"].attrs["mine"]


def test_a_processor_holds_whole_vectors():
    assert this_processor().vector_bytes in (16, 32, 64)
    assert [Processor(32).lanes(size) for size in (1, 4, 8, 64)] == [32, 8, 4, 1]


# ---------------------------------------------------------------- laws


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
def test_fused_programs_compute_the_same_by_vectors(vector_bytes: int):
    processor = Processor(vector_bytes)
    assert_same_on_fused_programs(lambda func, _: elementwise(func, processor))


def test_code_and_evaluator_give_the_same_bits():
    for seed in range(examples(60)):
        mod = ApplyDefaultSchedule()(FUSED(fusable_module(seed)))
        inputs = inputs_for(mod["main"], seed)
        expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
        actual = observe(EXECUTORS["llvm"](mod), "main", inputs)
        check_outcomes("llvm", actual, "interpreter", expected)


@pytest.mark.parametrize("size", [0, 1, 7, 16, 17, 1001])
def test_one_compilation_serves_every_size(size: int):
    head = 'A: T.Buffer(("n", 3), "float32"), B: T.Buffer(("n", 3), "float32")'
    body = """
n = T.int64()
for i, j in T.grid(n, T.int64(3)):
    B[i, j] = T.max(A[i, j], T.float32(0)) + T.float32(1)
"""
    mod = ApplyDefaultSchedule()(IRModule({"main": function(head, body)}))
    a = np.linspace(-1, 1, size * 3, dtype="float32").reshape(size, 3)
    for run in EXECUTORS.values():
        b = np.empty_like(a)
        run(mod)("main", a, b)
        np.testing.assert_array_equal(b, np.maximum(a, 0) + 1)


def test_a_loop_that_counts_in_int32_between_others_is_no_hindrance():
    kept = "t, u = T.alloc_buffer((n, 12)), T.alloc_buffer((n, 12))"
    nests = """
for i, j in T.grid(n, T.int64(12)):
    t[i, j] = T.exp(A[i, j])
for i in range(n):
    for j in range(12):
        u[i, j] = t[i, j] * T.float32(2)
for i, j in T.grid(n, T.int64(12)):
    B[i, j] = u[i, j] + t[i, j]
"""
    narrow = function(MATRICES, f"n = T.int64()\n{kept}{nests}")
    wide = function(
        MATRICES, f"n = T.int64()\n{kept}{nests}".replace("range(12)", "range(T.int64(12))")
    )
    made = elementwise(narrow, EIGHT)
    assert made is not None
    assert_structural_equal(made, elementwise(wide, EIGHT))
