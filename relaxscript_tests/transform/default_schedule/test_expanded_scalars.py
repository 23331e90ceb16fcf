"""Scalars of iterations as buffers: before, after, what stays, and what is arranged then."""

from __future__ import annotations

import pytest

from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.transform.default_schedule.expanded_scalars import with_expanded_scalars

from .test_distributed_loops import assert_arranged, function

HEAD = 'A: T.Buffer((6, 40), "float32"), B: T.Buffer((6, 40), "float32")'
SUM = """
s = T.alloc_buffer(({shape}), "float32")
for i in range(6):
    s[{at}] = T.float32(0)
    for k in range(40):
        s[{at}] = s[{at}] + A[i, k]
    B[i, 0] = s[{at}]
"""


@pytest.mark.parametrize(("shape", "at"), [("1,", "0"), ("", "()"), ("1, 1", "0, 0")])
def test_each_iteration_has_an_element_of_its_own(shape: str, at: str):
    given = function(HEAD, SUM.format(shape=shape, at=at))
    text = given.script()
    made = with_expanded_scalars(given)
    assert_structural_equal(made, function(HEAD, SUM.format(shape="6,", at="i")))
    assert given.script() == text
    assert with_expanded_scalars(made) is made


def test_a_scalar_in_several_loops_has_an_element_for_all_of_them():
    body = """
s = T.alloc_buffer(({shape}), "float32")
for i in range(6):
    A[i, 0] = T.float32(1)
    for j in range(40):
        s[{at}] = A[i, j]
        B[i, j] = s[{at}] * s[{at}]
"""
    given = function(HEAD, body.format(shape="1,", at="0"))
    expected = function(HEAD, body.format(shape="6, 40", at="i, j"))
    assert_structural_equal(with_expanded_scalars(given), expected)


PRODUCT = """
s = T.alloc_buffer((1,), "float32")
for i, j in T.grid(24, 24):
    s[0] = T.float32(0)
    for k in range(24):
        s[0] += A[i, k] * B[k, j]
    C[i, j] = s[0]
"""
SOFTMAX = """
m = T.alloc_buffer((1,), "float32")
s = T.alloc_buffer((1,), "float32")
for i in range(6):
    m[0] = T.min_value("float32")
    for k in range(40):
        m[0] = T.max(m[0], A[i, k])
    s[0] = T.float32(0)
    for k in range(40):
        s[0] = s[0] + T.exp(A[i, k] - m[0])
    for k in range(40):
        B[i, k] = T.exp(A[i, k] - m[0]) / s[0]
"""


def test_sums_that_are_kept_in_a_scalar_are_arranged():
    head = ", ".join(f'{name}: T.Buffer((24, 24), "float32")' for name in "ABC")
    assert_arranged(function(head, PRODUCT), "product")
    assert_arranged(function(HEAD, SOFTMAX), "rows")


@pytest.mark.parametrize(
    "body",
    [
        # The element is what the iteration before has left.
        "for i in range(6):\n    s[0] = s[0] + A[i, 0]\n    B[i, 0] = s[0]",
        "for i in range(6):\n    B[i, 0] = s[0]\n    s[0] = A[i, 0]",
        # It is not stored by each iteration.
        "for i in range(6):\n    if i < 3:\n        s[0] = A[i, 0]\n    B[i, 0] = s[0]",
        # Others read what the last iteration has left.
        "for i in range(6):\n    s[0] = A[i, 0]\n    B[i, 0] = s[0]\nB[0, 1] = s[0]",
        # Somebody has its address.
        "for i in range(6):\n    s[0] = A[i, 0]\n"
        "    T.evaluate(T.call_extern('int32', 'f', s.data))",
        # There is one statement.
        "for i in range(6):\n    s[0] = A[i, 0]",
    ],
)
def test_other_scalars_stay(body: str):
    func = function(HEAD, f's = T.alloc_buffer((1,), "float32")\n{body}')
    assert with_expanded_scalars(func) is func


def test_functions_without_scalars_and_those_whose_buffers_may_overlap_stay():
    func = function(HEAD, "for i in range(6):\n    B[i, 0] = A[i, 0]")
    assert with_expanded_scalars(func) is func
    func = function(HEAD, SUM.format(shape="1,", at="0"), noalias=False)
    assert with_expanded_scalars(func) is func


TILES = """
s = T.alloc_buffer(({shape}), "float32")
for i, j in T.grid(3, 3):
    for p, q in T.grid(8, 8):
        s[{at}p, q] = T.float32(0)
    for k, p, q in T.grid(24, 8, 8):
        s[{at}p, q] = s[{at}p, q] + A[i * 8 + p, k] * B[k, j * 8 + q]
    for p, q in T.grid(8, 8):
        C[i * 8 + p, j * 8 + q] = s[{at}p, q]
"""
MATRICES = ", ".join(f'{name}: T.Buffer((24, 24), "float32")' for name in "ABC")


def test_each_iteration_has_a_tile_of_its_own():
    given = function(MATRICES, TILES.format(shape="8, 8", at=""))
    text = given.script()
    made = with_expanded_scalars(given)
    after = TILES.format(shape="T.int64(3), T.int64(3), 8, 8", at="i, j, ")
    assert_structural_equal(made, function(MATRICES, after))
    assert given.script() == text
    assert with_expanded_scalars(made) is made
    assert_arranged(given, "nests")


def test_a_row_that_is_kept_is_arranged():
    body = """
row = T.alloc_buffer((40,), "float32")
for i in range(6):
    for k in range(40):
        row[k] = T.exp(A[i, k])
    for k in range(40):
        B[i, k] = row[k] * T.float32(2)
"""
    assert_arranged(function(HEAD, body), "elementwise")


@pytest.mark.parametrize(
    ("rows", "size", "last"),
    [
        # Some elements are left from the iteration before.
        (6, 40, 39),
        # All of them together are too many.
        (1 << 17, 40, 40),
    ],
)
def test_other_rows_stay(rows: int, size: int, last: int):
    head = f'A: T.Buffer(({rows}, 40), "float32"), B: T.Buffer(({rows}, 40), "float32")'
    body = f"""
row = T.alloc_buffer(({size},), "float32")
for i in range({rows}):
    for k in range({last}):
        row[k] = A[i, k]
    for k in range(40):
        B[i, k] = row[k] * T.float32(2)
"""
    func = function(head, body)
    assert with_expanded_scalars(func) is func
