"""Docstrings as Markdown: what they say is said, and nothing in them is taken for markup."""

from __future__ import annotations

import pytest

from tutorials.site.markdown import fence, prose, table, to_markdown


def test_prose_is_escaped_outside_of_code_only():
    assert prose("`a*b` and *args, <root>, x_y [1] $2") == (
        r"`a*b` and \*args, \<root\>, x\_y \[1\] \$2"
    )


def test_an_indented_block_is_a_program_in_its_language():
    text = "Before:\n\n    x = 1\n\n    y = 2\n\nThen:\n    >>> 1\n    1\n\n    a → b"
    assert to_markdown(text) == (
        "Before:\n\n```python\nx = 1\n\ny = 2\n```\n\nThen:\n\n```pycon\n>>> 1\n1\n\na → b\n```"
    )


def test_columns_of_words_keep_their_columns():
    text = "ir/      nodes\nerrors/  diagnostics"
    assert to_markdown(text) == f"```text\n{text}\n```"


def test_a_list_stays_a_list_with_its_further_lines():
    text = "Kinds:\n\n- `a`: one *thing\n  of two\n- b_c"
    assert to_markdown(text) == "Kinds:\n\n- `a`: one \\*thing\n  of two\n- b\\_c"


def test_a_program_with_fences_is_between_longer_ones():
    assert fence("```\nx\n```", "text") == "````text\n```\nx\n```\n````"


@pytest.mark.parametrize(
    ("program", "language"), [("x = 1", "python"), (">>> x", "pycon"), ("a b", "text")]
)
def test_the_language_of_a_program_is_seen(program, language):
    assert fence(program).startswith(f"```{language}\n")


def test_a_table_has_a_row_for_each():
    assert table(("a", "b"), [("1", "2\n3")]) == "| a | b |\n| --- | --- |\n| 1 | 2 3 |"
