"""Blocks around several statements: before, after, and what stays."""

from __future__ import annotations

import pytest

from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.transform.default_schedule.open_blocks import with_open_blocks

from .test_apart import arranged
from .test_conditional_inits import assert_same_bits
from .test_distributed_loops import function

HEAD = 'A: T.Buffer((6, 40), "float32"), B: T.Buffer((6, 40), "float32")'
ROW = """
for i in range(6):
    with T.block("row"):
        vi = T.axis.spatial(6, i)
        s = T.alloc_buffer((1,), "float32")
        s[0] = T.float32(0)
        for k in range(40):
            s[0] = s[0] + A[vi, k]
        for k in range(40):
            B[vi, k] = A[vi, k] / s[0]
"""
OPEN = """
s = T.alloc_buffer((1,), "float32")
for i in range(6):
    s[0] = T.float32(0)
    for k in range(40):
        s[0] = s[0] + A[i, k]
    for k in range(40):
        B[i, k] = A[i, k] / s[0]
"""


def assert_becomes(head: str, before: str, after: str) -> None:
    given = function(head, before)
    text = given.script()
    made = with_open_blocks(given)
    assert_structural_equal(made, function(head, after))
    assert with_open_blocks(made) is made
    assert given.script() == text
    assert_same_bits(given, made)


def test_a_block_around_several_statements_becomes_these():
    assert_becomes(HEAD, ROW, OPEN)


def test_its_buffers_are_added_to_those_that_there_are():
    first = 't = T.alloc_buffer((6,), "float32")\n'
    loop = "for i in range(6):\n    t[i] = A[i, 0]"
    made = with_open_blocks(function(HEAD, first + loop + ROW))
    own, *statements = OPEN.strip().splitlines()
    after = f"{first}{own}\n{loop}\n" + "\n".join(statements)
    assert_structural_equal(made, function(HEAD, after))


def test_blocks_inside_of_one_stay_where_they_are_around_one_store():
    assert_becomes(
        HEAD,
        """
for i in range(3):
    with T.block("rows"):
        vi = T.axis.spatial(3, i)
        for j, k in T.grid(2, 40):
            with T.block("B"):
                vj, vk = T.axis.remap("SS", [j, k])
                B[vi * 2 + vj, vk] = A[vi * 2 + vj, vk]
        B[vi, 0] = T.float32(0)
""",
        """
for i in range(3):
    for j, k in T.grid(2, 40):
        with T.block("B"):
            vj, vk = T.axis.remap("SS", [j, k])
            B[i * 2 + vj, vk] = A[i * 2 + vj, vk]
    B[i, 0] = T.float32(0)
""",
    )


def test_a_row_in_a_block_is_arranged_as_rows_are():
    assert arranged(function(HEAD, ROW)).attrs["relaxscript.schedule"] == "rows"


@pytest.mark.parametrize(
    "body",
    [
        # A single store is a block that rules know.
        """
for i, k in T.grid(6, 40):
    with T.block("B"):
        vi, vk = T.axis.remap("SS", [i, k])
        B[vi, vk] = A[vi, vk]""",
        ROW.replace("        s =", "        T.where(i < 5)\n        s ="),
        ROW.replace("        s =", '        T.block_attr({"by": "hand"})\n        s ='),
        ROW.replace('(1,), "float32"', '(1,), "float32", scope="local"'),
        ROW.replace("alloc_buffer((1,)", "alloc_buffer((vi + 1,)"),
        """
for i, k in T.grid(6, 40):
    with T.block("B"):
        vi, vk = T.axis.remap("SR", [i, k])
        with T.init():
            B[vi, 0] = T.float32(0)
        B[vi, 0] = B[vi, 0] + A[vi, vk]
        B[vi, 1] = B[vi, 0]""",
    ],
)
def test_other_blocks_stay(body: str):
    given = function(HEAD, body)
    assert with_open_blocks(given) is given
