"""Names are the user's where they are free, and never those that mean something else."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from relaxscript.script.printer.names import Names, identifier


def test_a_free_name_is_kept():
    assert Names().define(object(), "x") == "x"


def test_a_taken_name_gets_the_next_suffix():
    names = Names()
    given_names = [names.define(object(), hint) for hint in ("x", "x", "x_1", "x", "x_1")]
    assert given_names == ["x", "x_1", "x_1_1", "x_2", "x_1_2"]


def test_reserved_names_and_keywords_are_never_given():
    names = Names(["R", "cls"])
    assert [names.define(object(), hint) for hint in ("R", "cls", "lambda", "None")] == [
        "R_1", "cls_1", "lambda_", "None_",
    ]  # fmt: skip


def test_names_of_a_scope_are_free_after_it():
    names = Names()
    with names.scope():
        assert names.define(object(), "i") == "i"
        assert names.define(object(), "i") == "i_1"
    assert names.define(object(), "i") == "i"


def test_a_name_that_outlives_its_scope_stays_taken():
    names = Names()
    with names.scope():
        names.define(object(), "x", outer=True)
    assert names.define(object(), "x") == "x_1"


def test_what_is_declared_for_all_has_a_name_that_nobody_had():
    names = Names()
    with names.scope():
        names.define(object(), "n")
    assert names.define_for_all(object(), "n") == "n_1"
    assert names.define(object(), "n_1") == "n_1_1"


def test_an_alias_shares_a_name():
    names = Names()
    first, second = object(), object()
    names.define(first, "x")
    names.alias(second, names[first])
    assert names.get(second) == "x"
    assert names.get(object()) is None


def test_hints_become_identifiers():
    hints = ["a.b", "1x", "", "p/q-r", "\u00e9t\u00e9", "\ufb01n", "class"]
    assert [identifier(h) for h in hints] == [
        "a_b",
        "v1x",
        "v",
        "p_q_r",
        "\u00e9t\u00e9",
        "fin",
        "class_",
    ]


@pytest.mark.slow
@given(st.lists(st.text(max_size=3), max_size=30))
def test_names_are_identifiers_and_all_different(hints: list[str]):
    names = Names(["R", "T"])
    found = [names.define(object(), hint) for hint in hints]
    assert len(set(found)) == len(found)
    assert all(name.isidentifier() for name in found)
    assert not {"R", "T"} & set(found)
