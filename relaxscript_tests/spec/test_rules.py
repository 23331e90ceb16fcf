"""What the tests of this folder say about the rules that they show."""

from __future__ import annotations

import pytest

from . import rules


@pytest.mark.parametrize("rule", rules.RULES)
def test_every_rule_has_its_tests(rule: str):
    rules.collect()
    assert rules.missing(rule) == []


def test_a_rule_that_the_specification_has_not_cannot_be_named():
    with pytest.raises(LookupError, match="criterion 25"):
        rules.accepts("criterion 25")


def test_a_test_is_listed_under_the_rules_that_it_names():
    def shown() -> None:
        pass

    assert rules.rejects("criterion 5", "criterion 6")(shown) is shown
    try:
        assert "shown" in rules.SHOWN["criterion 5"]["r"]
        assert "shown" in rules.SHOWN["criterion 6"]["r"]
        assert "shown" not in rules.SHOWN["criterion 5"]["a"]
    finally:
        for rule in ("criterion 5", "criterion 6"):
            rules.SHOWN[rule]["r"].remove("shown")
