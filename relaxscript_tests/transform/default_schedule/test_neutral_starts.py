"""Reductions that begin with any values: before, after, what stays, and how they are arranged."""

from __future__ import annotations

import pytest

from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.transform.default_schedule.neutral_starts import with_neutral_starts

from .test_distributed_loops import MATRICES, assert_arranged, function

HEAD = 'A: T.Buffer((6, 40), "float32"), b: T.Buffer((6,), "float32"), s: T.Buffer((6,), "float32")'
SUMS = """
memory = T.allocate([T.int64(6)], "float32", "global")
s_1 = T.decl_buffer((T.int64(6),), data=memory)
for i in range(T.int64(6)):
    s_1[i] = T.float32(0)
for i, k in T.grid(T.int64(6), T.int64(40)):
    s_1[i] = s_1[i] + A[i, k]
"""


def assert_becomes(head: str, before: str, after: str) -> None:
    given = function(head, before)
    text = given.script()
    made = with_neutral_starts(given)
    assert_structural_equal(made, function(head, after))
    assert with_neutral_starts(made) is made
    assert given.script() == text


def test_the_init_of_a_block_is_added_behind_its_sum():
    block = """
for i, k in T.grid(T.int64(6), T.int64(40)):
    with T.block("s"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            s[vi] = b[vi]
        s[vi] = s[vi] + A[vi, vk]
"""
    root = 'with T.block("root"):\n    T.reads()\n    T.writes()\n'
    after = SUMS + "for i in range(T.int64(6)):\n    s[i] = b[i] + s_1[i]"
    assert_becomes(HEAD, block, root + "\n".join(f"    {line}" for line in after.splitlines()))


def test_a_sum_is_before_what_it_begins_with():
    before = "for i in range(T.int64(6)):\n    s[i] = b[i]\n"
    before += "for i, k in T.grid(T.int64(6), T.int64(40)):\n    s[i] = s[i] + A[i, k]"
    after = "for i in range(T.int64(6)):\n    s[i] = b[i]\n"
    after += "for i in range(T.int64(6)):\n    s[i] = s[i] + s_1[i]"
    assert_becomes(HEAD, before, SUMS + after)


def test_what_a_parameter_held_is_added_to_a_sum():
    before = "for i, k in T.grid(T.int64(6), T.int64(40)):\n    s[i] = s[i] + A[i, k]"
    after = "for i in range(T.int64(6)):\n    s[i] = s[i] + s_1[i]"
    assert_becomes(HEAD, before, SUMS + after)


@pytest.mark.parametrize(
    ("kind", "neutral"),
    [
        ("{} * {}", "T.float32(1)"), ("T.max({}, {})", 'T.float32("-inf")'),
        ("T.min({}, {})", 'T.float32("inf")'),
    ],
)  # fmt: skip
def test_each_kind_of_reduction_has_a_neutral_value(kind: str, neutral: str):
    before = "for i, k in T.grid(T.int64(6), T.int64(40)):\n    s[i] = " + kind.format(
        "s[i]", "A[i, k]"
    )
    after = SUMS.replace("T.float32(0)", neutral).replace(
        "s_1[i] + A[i, k]", kind.format("s_1[i]", "A[i, k]")
    )
    after += "for i in range(T.int64(6)):\n    s[i] = " + kind.format("s[i]", "s_1[i]")
    assert_becomes(HEAD, before, after)


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(6):\n    s[i] = T.float32(0)\n"
        "for i, k in T.grid(6, 40):\n    s[i] = s[i] + A[i, k]",
        # What is added is of the results themselves.
        "for i, k in T.grid(6, 6):\n    s[i] = s[i] + s[k]",
        # An element is not that of its loops, or may be outside.
        "for i, k in T.grid(3, 4):\n    s[i + 1] = s[i + 1] + A[i, k]",
        "for i, k in T.grid(6, 40):\n    s[i] = s[i] + A[T.Cast('int32', b[i]), k]",
        # There is no sum.
        "for i in range(6):\n    s[i] = s[i] + b[i]",
    ],
)  # fmt: skip
def test_other_functions_are_the_same_object(body: str):
    given = function(HEAD, body)
    assert with_neutral_starts(given) is given


def test_functions_whose_buffers_may_overlap_are_the_same_object():
    body = "for i, k in T.grid(6, 40):\n    s[i] = s[i] + A[i, k]"
    given = function(HEAD, body, noalias=False)
    assert with_neutral_starts(given) is given


def test_a_block_that_may_have_nothing_to_add_is_the_same_object():
    head = 'A: T.Buffer((6, "n"), "float32"), b: T.Buffer((6,), "float32"), '
    head += 's: T.Buffer((6,), "float32")'
    body = """
n = T.int64()
for i, k in T.grid(6, n):
    with T.block("s"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            s[vi] = b[vi]
        s[vi] = s[vi] + A[vi, vk]
"""
    given = function(head, body)
    assert with_neutral_starts(given) is given


BIASED = MATRICES.replace("C: ", 'b: T.Buffer((24,), "float32"), C: ')
BLOCK = """
for i, j, k in T.grid(24, 24, 24):
    with T.block("C"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = {start}
        C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
PLAIN = """
for i, j in T.grid(24, 24):
    C[i, j] = {start}
for i, j, k in T.grid(24, 24, 24):
    C[i, j] = C[i, j] + A[i, k] * B[k, j]
"""


@pytest.mark.parametrize(
    "start", ["b[{j}]", "T.exp(A[{i}, {j}])", "T.float32(2)", "b[{i}] + b[{j}]"]
)
def test_products_that_begin_with_any_values_are_arranged(start: str):
    if "2" not in start:
        assert_arranged(
            function(BIASED, BLOCK.format(start=start.format(i="vi", j="vj"))), "product"
        )
    assert_arranged(function(BIASED, PLAIN.format(start=start.format(i="i", j="j"))), "product")


def test_a_product_that_is_added_to_a_parameter_is_arranged():
    body = "for i, j, k in T.grid(24, 24, 24):\n    C[i, j] = C[i, j] + A[i, k] * B[k, j]"
    assert_arranged(function(MATRICES, body), "product")


def test_rows_that_begin_with_any_values_are_arranged():
    body = (
        "for i in range(6):\n    s[i] = b[i]\nfor i, k in T.grid(6, 40):\n    s[i] = s[i] + A[i, k]"
    )
    assert_arranged(function(HEAD, body), "rows")
