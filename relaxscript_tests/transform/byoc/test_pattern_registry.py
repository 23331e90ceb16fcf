"""The registry of patterns: what is found in it, and in which order."""

from __future__ import annotations

import pytest

from relaxscript.dpl import is_op, wildcard
from relaxscript.errors import DiagnosticError
from relaxscript.relax.backend import get_pattern, get_patterns_with_prefix, register_patterns
from relaxscript.transform import FusionPattern
from relaxscript.transform.byoc import pattern_registry


@pytest.fixture(autouse=True)
def _registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pattern_registry, "_patterns", {})


def pattern(name: str) -> FusionPattern:
    return FusionPattern(name, is_op("relax.exp")(wildcard()))


def test_a_pattern_is_found_by_its_name():
    made = pattern("mine.exp")
    register_patterns([made])
    assert get_pattern("mine.exp") is made
    assert get_pattern("mine.sin") is None


def test_what_is_registered_later_is_tried_first():
    register_patterns([pattern("mine.a"), pattern("other.a")])
    register_patterns([pattern("mine.b")])
    assert [found.name for found in get_patterns_with_prefix("mine.")] == ["mine.b", "mine.a"]


def test_a_name_means_the_pattern_that_was_registered_last():
    later = pattern("mine.a")
    register_patterns([pattern("mine.a"), later])
    assert get_patterns_with_prefix("mine") == [later]


def test_nothing_is_registered_where_one_is_no_pattern():
    with pytest.raises(DiagnosticError, match="neither a `FusionPattern` nor a tuple"):
        register_patterns([pattern("mine.a"), 3])  # type: ignore[list-item]
    assert get_patterns_with_prefix("") == []
