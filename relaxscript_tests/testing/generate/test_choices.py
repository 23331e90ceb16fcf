"""Choices: within their bounds, determined by a seed, and drawn by hypothesis."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, strategies

from relaxscript.errors import DiagnosticError
from relaxscript.testing.generate.choices import Choices, Seeded, strategy


def sample(choices: Choices) -> list[object]:
    letters = "abcde"
    return [
        choices.integer(-3, 3),
        choices.pick(letters),
        choices.chance(50),
        choices.some(letters),
        choices.shuffled(letters),
    ]


def test_one_seed_makes_one_choice():
    assert sample(Seeded(7)) == sample(Seeded(7))
    assert any(sample(Seeded(7)) != sample(Seeded(seed)) for seed in range(8, 12))


def test_every_value_between_the_bounds_is_chosen():
    choices = Seeded(0)
    assert {choices.integer(2, 5) for _ in range(200)} == {2, 3, 4, 5}
    assert {choices.pick("xyz") for _ in range(200)} == set("xyz")


def test_a_chance_is_a_share_of_a_hundred():
    choices = Seeded(0)
    assert not any(choices.chance(0) for _ in range(100))
    assert all(choices.chance(100) for _ in range(100))
    assert 50 < sum(choices.chance(30) for _ in range(300)) < 130


def test_some_are_different_ones_and_shuffled_are_all():
    choices = Seeded(0)
    for _ in range(50):
        some = choices.some("abc")
        assert len(set(some)) == len(some) <= 3
        assert sorted(choices.shuffled("abc")) == ["a", "b", "c"]
    assert {tuple(choices.shuffled("ab")) for _ in range(50)} == {("a", "b"), ("b", "a")}


@given(strategy(sample))
def test_hypothesis_draws_the_same_choices(drawn):
    number, letter, chance, some, shuffled = drawn
    assert -3 <= number <= 3
    assert letter in "abcde"
    assert isinstance(chance, bool)
    assert set(some) <= set("abcde")
    assert sorted(shuffled) == list("abcde")


def test_a_strategy_is_one_of_hypothesis():
    assert isinstance(strategy(sample), strategies.SearchStrategy)


def test_without_hypothesis_the_message_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(DiagnosticError, match="random programs as strategies need hypothesis"):
        strategy(sample)
