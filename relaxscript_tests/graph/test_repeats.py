"""Repetitions in sequences."""

from __future__ import annotations

from relaxscript.graph.repeats import repetitions


def test_layers_that_repeat_are_found_with_their_number():
    assert repetitions("ab" + "xyzw" * 5 + "cd") == [(2, 4, 5)]


def test_several_repetitions_are_found_in_their_order():
    assert repetitions("abc" * 4 + "-" + "xy" * 9) == [(0, 3, 4), (13, 2, 9)]


def test_a_sequence_without_repetitions_has_none():
    assert repetitions([*range(100)]) == []
    assert repetitions("") == []


def test_little_is_not_worth_a_frame():
    assert repetitions("ababab") == []


def test_the_shorter_of_two_periods_is_taken():
    assert repetitions("ab" * 8) == [(0, 2, 8)]
