"""What is done in the last iteration of loops: before, after, and what stays."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.transform.default_schedule.conditional_ends import with_ends

from .test_apart import arranged
from .test_conditional_inits import assert_same_bits
from .test_distributed_loops import MATRICES, function

HEAD = 'A: T.Buffer((6, 40), "float32"), s: T.Buffer((6,), "float32"), B: T.Buffer((6,), "float32")'
ENDED = """
for i in range(6):
    for k in range(40):
        s[i] = s[i] + A[i, k]
    B[i] = T.exp(s[i])
"""


def assert_becomes(head: str, before: str, after: str) -> None:
    given = function(head, before)
    text = given.script()
    made, conditions = with_ends(given)
    assert_structural_equal(made, function(head, after))
    assert not conditions
    assert with_ends(made).func is made
    assert given.script() == text
    assert_same_bits(given, made)


@pytest.mark.parametrize("condition", ["k == 39", "39 == k", "k >= 39", "39 <= k", "k > 38"])
def test_what_is_done_in_the_last_iteration_is_done_behind_its_loop(condition: str):
    before = f"""
for i, k in T.grid(6, 40):
    s[i] = s[i] + A[i, k]
    if {condition}:
        B[i] = T.exp(s[i])
"""
    assert_becomes(HEAD, before, ENDED)


def test_the_variable_has_its_last_value_behind_the_loop():
    assert_becomes(
        HEAD,
        """
for i, k in T.grid(6, 40):
    s[i] = s[i] + A[i, k]
    if k == 39:
        B[i] = s[i] + A[i, k - 1]
        s[i] = T.float32(0)
""",
        """
for i in range(6):
    for k in range(40):
        s[i] = s[i] + A[i, k]
    B[i] = s[i] + A[i, T.int32(39) - 1]
    s[i] = T.float32(0)
""",
    )


def test_loops_inside_of_the_one_that_ends_are_those_of_what_ends():
    assert_becomes(
        MATRICES,
        """
for i, k, j in T.grid(24, 24, 24):
    C[i, j] = C[i, j] + A[i, k] * B[k, j]
    if k == 23:
        C[i, j] = T.max(C[i, j], T.float32(0))
""",
        """
for i in range(24):
    for k, j in T.grid(24, 24):
        C[i, j] = C[i, j] + A[i, k] * B[k, j]
    for j in range(24):
        C[i, j] = T.max(C[i, j], T.float32(0))
""",
    )


def test_a_condition_about_several_loops_is_of_all_of_them():
    head = 'A: T.Buffer((6, 4, 8), "float32"), s: T.Buffer((6,), "float32")'
    assert_becomes(
        head,
        """
for i, k, r in T.grid(6, 4, 8):
    s[i] = s[i] + A[i, k, r]
    if k == 3 and r == 7:
        s[i] = s[i] * T.float32(0.5)
""",
        """
for i in range(6):
    for k, r in T.grid(4, 8):
        s[i] = s[i] + A[i, k, r]
    s[i] = s[i] * T.float32(0.5)
""",
    )


def test_a_size_that_is_not_known_must_not_be_zero():
    given = function(HEAD.replace("40", '"n"'), """
n = T.int64()
for i in range(6):
    s[i] = T.float32(0)
    for k in range(n):
        s[i] = s[i] + A[i, k]
        if k == n - 1:
            B[i] = s[i] * T.float32(0.5)
""")  # fmt: skip
    made, conditions = with_ends(given)
    assert made is not given
    assert [str(condition) for condition in conditions] == ["n > 0"]
    whole = arranged(given)
    assert whole.attrs["tir.is_scheduled"]
    for count in (0, 1, 30):
        numbers = np.arange(6 * count, dtype="float32").reshape(6, count)
        expected, found = np.full((2, 6), 3, "float32"), np.full((2, 6), 3, "float32")
        evaluate(given, [numbers, *expected])
        compile_prim_func(whole)(numbers, *found)
        np.testing.assert_allclose(found, expected, 1e-6)


SUM = "for i, k in T.grid(6, 40):\n    s[i] = s[i] + A[i, k]\n"


@pytest.mark.parametrize(
    "body",
    [
        SUM + "    if k == 38:\n        B[i] = s[i]",
        SUM + "    if k < 39:\n        B[i] = s[i]",
        SUM + "    if k == 39 or i == 0:\n        B[i] = s[i]",
        # Something is done behind it, or else.
        "for i, k in T.grid(6, 40):\n    if k == 39:\n        B[i] = s[i]\n    s[i] = A[i, k]",
        "for i, k in T.grid(6, 40):\n    s[i] = A[i, k]\n    if k == 39:\n        B[i] = s[i]\n"
        "    else:\n        B[i] = T.float32(0)",
        # The next row reads what ends here.
        "for k, i in T.grid(40, 6):\n    s[i] = A[i, k] + B[0]\n    if k == 39:\n"
        "        B[i] = s[i]",
        # The first that fails would be another one.
        "for k, i in T.grid(40, 6):\n    s[i] = s[i] + A[i, k]\n    if k == 39:\n"
        "        B[i + 1] = s[i]",
        # The loops may have no iteration.
        "for i, k in T.grid(6, 0):\n    s[i] = A[i, k]\n    if k == -1:\n        B[i] = s[i]",
        # Each row ends elsewhere, which another loop says.
        "for k in range(40):\n    for i in range(6):\n        for r in range(k):\n"
        "            s[i] = A[i, r]\n            if k == 39 and r == k - 1:\n"
        "                B[i] = s[i]",
    ],
)
def test_other_conditions_stay(body: str):
    given = function(HEAD, body)
    assert with_ends(given).func is given
