"""Reductions that are begun under a condition: before, after, and what stays."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.transform import ApplyDefaultSchedule
from relaxscript.transform.default_schedule.conditional_inits import with_inits

from .test_distributed_loops import MATRICES, assert_arranged, function

HEAD = 'A: T.Buffer((6, 40), "float32"), b: T.Buffer((6,), "float32"), s: T.Buffer((6,), "float32")'
BEGUN = """
for i in range(6):
    s[i] = b[i]
    for k in range(40):
        s[i] = s[i] + A[i, k]
"""


def assert_same_bits(given: PrimFunc, made: PrimFunc) -> None:
    rng = np.random.default_rng(3)
    arrays = [
        rng.standard_normal([int(n) for n in buffer.shape]).astype("float32")
        for buffer in given.buffer_map.values()
    ]
    expected = [array.copy() for array in arrays]
    evaluate(made, arrays)
    evaluate(given, expected)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(arrays, expected))


def assert_becomes(head: str, before: str, after: str) -> None:
    given = function(head, before)
    text = given.script()
    made, conditions = with_inits(given)
    assert_structural_equal(made, function(head, after))
    assert not conditions
    assert with_inits(made).func is made
    assert given.script() == text
    assert_same_bits(given, made)


@pytest.mark.parametrize("condition", ["k == 0", "0 == k", "k < 1", "k <= 0", "not k > 0"])
def test_what_is_done_in_the_first_iteration_is_done_before_its_loop(condition: str):
    before = f"""
for i, k in T.grid(6, 40):
    if {condition}:
        s[i] = b[i]
    s[i] = s[i] + A[i, k]
"""
    assert_becomes(HEAD, before, BEGUN)


@pytest.mark.parametrize(
    "old",
    [
        "T.if_then_else(k == 0, b[i], s[i])", "T.if_then_else(k != 0, s[i], b[i])",
        "T.if_then_else(k > 0, s[i], b[i])", "T.if_then_else(k >= 1, s[i], b[i])",
        "T.Select(k == 0, b[i], s[i])",
    ],
)  # fmt: skip
def test_a_first_value_that_is_chosen_is_stored_before_the_loop(old: str):
    assert_becomes(HEAD, f"for i, k in T.grid(6, 40):\n    s[i] = {old} + A[i, k]", BEGUN)


def test_a_sum_that_begins_with_its_first_term_begins_with_zero():
    before = """
for i, k in T.grid(6, 40):
    if k == 0:
        s[i] = A[i, {first}]
    else:
        s[i] = s[i] + A[i, k]
"""
    for first in ("k", "0"):
        assert_becomes(HEAD, before.format(first=first), BEGUN.replace("b[i]", "T.float32(0)"))
    given = function(HEAD, before.format(first="1"))
    assert with_inits(given).func is given


def test_a_maximum_that_begins_with_its_first_term_has_it_twice():
    assert_becomes(
        HEAD,
        """
for i, k in T.grid(6, 40):
    if k > 0:
        s[i] = T.max(s[i], A[i, k])
    else:
        s[i] = A[i, 0]
""",
        """
for i in range(6):
    s[i] = A[i, 0]
    for k in range(40):
        s[i] = T.max(s[i], A[i, k])
""",
    )


def test_loops_inside_of_the_one_that_begins_are_those_of_what_begins():
    head = MATRICES
    assert_becomes(
        head,
        """
for i, k, j in T.grid(24, 24, 24):
    if k == 0:
        C[i, j] = T.float32(0)
    C[i, j] = C[i, j] + A[i, k] * B[k, j]
""",
        """
for i in range(24):
    for j in range(24):
        C[i, j] = T.float32(0)
    for k, j in T.grid(24, 24):
        C[i, j] = C[i, j] + A[i, k] * B[k, j]
""",
    )


def test_a_condition_about_several_loops_is_of_all_of_them():
    head = 'A: T.Buffer((4, 6, 8), "float32"), s: T.Buffer((6,), "float32")'
    assert_becomes(
        head,
        """
for k, i, r in T.grid(4, 6, 8):
    if k == 0 and r == 0:
        s[i] = T.float32(0)
    s[i] = s[i] + A[k, i, r]
""",
        """
for i in range(6):
    s[i] = T.float32(0)
for k, i, r in T.grid(4, 6, 8):
    s[i] = s[i] + A[k, i, r]
""",
    )


def test_what_begins_in_a_block_is_its_init():
    block = """
for i, k in T.grid(6, 40):
    with T.block("s"):
        vi, vk = T.axis.remap("SR", [i, k])
        T.reads(A[vi, vk], b[vi], s[vi])
        T.writes(s[vi])
"""
    after = (
        block.replace(", s[vi])", ")")
        + """
        with T.init():
            s[vi] = b[vi]
        s[vi] = s[vi] + A[vi, vk]
"""
    )
    for before in (
        "        if vk == 0:\n            s[vi] = b[vi]\n        s[vi] = s[vi] + A[vi, vk]\n",
        "        s[vi] = T.if_then_else(vk == 0, b[vi], s[vi]) + A[vi, vk]\n",
    ):
        given = function(HEAD, block + before)
        made = with_inits(given).func
        expected = function(HEAD, after)
        assert made.script().split("with T.init")[1] == expected.script().split("with T.init")[1]
        assert_same_bits(given, made)


@pytest.mark.parametrize(
    "body",
    [
        # It begins again for each r.
        """
for i, k, r in T.grid(6, 4, 10):
    if r == 0:
        s[i] = T.float32(0)
        b[i] = s[i]
    if k == 1:
        s[i] = s[i] + A[i, k * 10 + r]
""",
        "for i, k in T.grid(6, 40):\n    if k == 1:\n        s[i] = b[i]\n"
        "    s[i] = s[i] + A[i, k]",
        "for i, k in T.grid(6, 40):\n    if A[i, k] == T.float32(0):\n        s[i] = b[i]\n"
        "    s[i] = s[i] + A[i, k]",
        # What begins in one iteration of i is used in another one.
        "for k, i in T.grid(40, 6):\n    if k == 0:\n        s[i] = b[5 - i]\n"
        "    b[i] = s[i] + A[i, k]",
        # There may be no first iteration.
        "for k in range(1, 40):\n    if k == 0:\n        s[0] = b[0]\n    s[0] = s[0] + A[0, k]",
    ],
)  # fmt: skip
def test_what_is_done_under_other_conditions_stays(body: str):
    given = function(HEAD, body)
    made = with_inits(given).func
    assert "if" in made.script()
    assert_same_bits(given, made)


def test_what_begins_in_a_block_for_some_axes_only_stays():
    body = """
for i, k, r in T.grid(6, 4, 10):
    with T.block("s"):
        vi, vk, vr = T.axis.remap("SRR", [i, k, r])
        T.reads(A[vi, 0:40], b[vi], s[vi])
        T.writes(s[vi])
        if vr == 0:
            s[vi] = b[vi]
        s[vi] = s[vi] + A[vi, vk * 10 + vr]
"""
    given = function(HEAD, body)
    assert with_inits(given).func is given


def test_loops_that_may_have_no_iteration_are_a_condition():
    head = 'A: T.Buffer((6, "n"), "float32"), s: T.Buffer((6,), "float32")'
    body = (
        "n = T.int64()\nfor i, k in T.grid(6, {}):\n    if k == 0:\n        s[i] = T.float32(0)\n"
    )
    body += "    s[i] = s[i] + A[i, k]"
    given = function(head, body.format("n"))
    made, conditions = with_inits(given)
    assert "if" not in made.script()
    assert [str(condition) for condition in conditions] == ["n > 0"]
    always = with_inits(function(head, body.format("n + 1").replace("k]", "k - 1]")))
    assert "if" not in always.func.script()
    assert not always.conditions


def test_loops_whose_extent_is_that_of_other_loops_stay():
    body = """
for i in range(6):
    for k in range(i):
        if k == 0:
            s[i] = b[i]
        s[i] = s[i] + A[i, k]
"""
    given = function(HEAD, body)
    assert with_inits(given).func is given


def test_rows_without_elements_are_done_as_they_are_written():
    head = 'A: T.Buffer((6, "n"), "float32"), s: T.Buffer((6,), "float32")'
    body = "n = T.int64()\nfor i, k in T.grid(6, n):\n    if k == 0:\n        s[i] = T.float32(0)\n"
    func = function(head, body + "    s[i] = s[i] + A[i, k]")
    made = ApplyDefaultSchedule()(IRModule({"main": func}))["main"]
    assert made.attrs.get("relaxscript.schedule") == "rows"
    assert not made.attrs.get("relaxscript.fills")
    assert_structural_equal(from_source(made.script()), made)
    for n in (0, 1, 37):
        a = np.arange(6 * n, dtype="float32").reshape(6, n)
        for run in (lambda *args: evaluate(made, args), compile_prim_func(made)):
            s = np.full(6, 3, "float32")
            run(a, s)
            assert s.tolist() == ([3] * 6 if n == 0 else a.sum(axis=1).tolist())


@pytest.mark.parametrize("loops", ["i, j, k", "i, k, j", "k, i, j"])
def test_products_that_begin_under_a_condition_are_arranged(loops: str):
    body = f"""
for {loops} in T.grid(24, 24, 24):
    if k == 0:
        C[i, j] = T.float32(0)
    C[i, j] = C[i, j] + A[i, k] * B[k, j]
"""
    assert_arranged(function(MATRICES, body), "product")


def test_functions_without_conditions_are_the_same_object():
    given = function(HEAD, BEGUN)
    assert with_inits(given).func is given
