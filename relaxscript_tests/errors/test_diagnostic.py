"""Diagnostics as data."""

from __future__ import annotations

import pickle

from relaxscript.errors import Diagnostic, Edit, Label, Source


def test_lists_and_pairs_become_labels_and_edits():
    span = Source("f.py", "x").whole
    diagnostic = Diagnostic("RX0101", "no", span, [(span, "here")], ["why"], None, [(span, "y")])
    assert diagnostic.labels == (Label(span, "here"),)
    assert diagnostic.labels[0].text == "here"
    assert diagnostic.notes == ("why",)
    assert diagnostic.fix == (Edit(span, "y"),)
    assert diagnostic.fix[0].new_text == "y"


def test_a_diagnostic_is_an_error_unless_it_says_otherwise():
    assert Diagnostic("RX0101", "no", None).severity == "error"


def test_a_diagnostic_is_compared_by_value_and_pickles():
    span = Source("f.py", "x").whole
    diagnostic = Diagnostic("RX0101", "no", span, [(span, "here")], help="yes")
    assert pickle.loads(pickle.dumps(diagnostic)) == diagnostic
    assert hash(pickle.loads(pickle.dumps(diagnostic))) == hash(diagnostic)
