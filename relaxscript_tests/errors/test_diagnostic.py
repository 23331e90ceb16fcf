"""Diagnostics as data."""

from __future__ import annotations

import pickle

import pytest

from relaxscript.errors import Diagnostic, DiagnosticError, Edit, Label, Source
from relaxscript.script import from_source


def test_lists_and_pairs_become_labels_and_edits():
    span = Source("f.py", "x").whole
    diagnostic = Diagnostic("RX0101", "no", span, [(span, "here")], ["why"], None, [(span, "y")])
    assert diagnostic.labels == (Label(span, "here"),)
    assert diagnostic.labels[0].text == "here"
    assert diagnostic.notes == ("why",)
    assert diagnostic.fix == (Edit(span, "y"),)
    assert diagnostic.fix[0].new_text == "y"


@pytest.mark.parametrize(
    "text",
    [
        '@R.function\ndef f(x: R.Tensor((2,), "{}")):\n    return x',
        '@R.function\ndef f(x: R.Tensor((2,), vdevice="{}")):\n    return x',
        "@R.function\ndef f(x: R.Object):\n    return {}",
        "@R.function\ndef f(x: R.Object):\n    return R.{}(x)",
        '@R.function\ndef f(x: R.Tensor((2,))):\n    return R.astype(x, "{}")',
        '@T.prim_func\ndef f(x: T.Buffer((2,), "{}")):\n    x[0] = 1',
        '@T.prim_func\ndef f(x: T.Buffer((2,), "int8")):\n    x[0] = T.Cast("{}", 1)',
    ],
)
def test_what_is_very_long_is_quoted_by_its_beginning(text: str):
    with pytest.raises(DiagnosticError, match=r"a{40}\.\.\.") as caught:
        from_source(text.format("a" * 100_000))
    assert len(str(caught.value)) < 1000


def test_sentences_and_code_to_type_are_left_whole():
    code = "write `" + "R.add(x, y) + " * 40 + "z`"
    assert Diagnostic("RX0101", code, None, help=code).message == code
    found = Diagnostic("RX0101", 'no "' + "a b " * 100 + '" here', None).message
    assert found == 'no "' + ("a b " * 100)[:59] + '..." here'


def test_a_diagnostic_is_an_error_unless_it_says_otherwise():
    assert Diagnostic("RX0101", "no", None).severity == "error"


def test_a_diagnostic_is_compared_by_value_and_pickles():
    span = Source("f.py", "x").whole
    diagnostic = Diagnostic("RX0101", "no", span, [(span, "here")], help="yes")
    assert pickle.loads(pickle.dumps(diagnostic)) == diagnostic
    assert hash(pickle.loads(pickle.dumps(diagnostic))) == hash(diagnostic)
