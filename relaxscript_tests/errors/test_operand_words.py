"""What the text of a call says of its operands."""

from __future__ import annotations

import pytest

from relaxscript.errors.operand_words import operand_words, with_words

MATMUL = ("x1", "x2", "out_dtype")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("R.matmul(h, w)", {"x1": "h", "x2": "w"}),
        ("R.matmul(x2=h, x1=w)", {"x1": "w", "x2": "h"}),
        ("h.matmul(w)", {"x1": "h", "x2": "w"}),
        ("R.exp(h) @ w", {"x1": "R.exp(h)", "x2": "w"}),
        ("h\n  @ w.T", {"x1": "h", "x2": "w.T"}),
        ("h @= w", {"x1": "h", "x2": "w"}),
        ("R.matmul(h, 1.5)", {"x1": "h"}),
        (f"R.matmul(h, {'w' * 50})", {"x1": "h"}),
        ("R.matmul((a, b), w)", {"x1[0]": "a", "x1[1]": "b", "x2": "w"}),
        ("R.matmul(*both)", {}),
        ("y", {}),
        ("return (", {}),
        ("x = y; z = y", {}),
        ("pass", {}),
    ],
)
def test_operands_are_called_as_they_are_written(text, words):
    assert operand_words(text, MATMUL, 2) == words


def test_sentences_get_the_words_of_the_user():
    words = {"x1": "h", "tensors[0]": "R.exp(h)"}
    text = "`x1` has 2 rows, `x1[0]` and `tensors[0]`; x1 is `other`, `tensors[1]`"
    assert with_words(text, words) == (
        "`h` has 2 rows, `h[0]` and `R.exp(h)`; x1 is `other`, `tensors[1]`"
    )
