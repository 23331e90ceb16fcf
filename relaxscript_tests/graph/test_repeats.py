"""Repetitions in sequences."""

from __future__ import annotations

from relaxscript.graph.repeats import aligned, repetitions


def test_layers_that_repeat_are_found_with_their_number():
    assert repetitions("ab" + "xyzw" * 5 + "cd") == [(2, 4, 5)]


def test_several_repetitions_are_found_in_their_order():
    assert repetitions("abc" * 4 + "-" + "xy" * 9) == [(0, 3, 4), (13, 2, 9)]


def test_a_repetition_begins_where_a_layer_does():
    steps = "A" + "bcd" + "abcd" * 4
    (found,) = repetitions(steps)
    assert found == (1, 4, 4)
    assert aligned(found, steps, steps.lower()) == (4, 4, 4)
    assert aligned(found, steps, steps) == found


def test_a_repetition_that_would_lose_a_copy_begins_where_it_is_found():
    steps = "A" + "bcd" + "abcd" * 3 + "ab"
    (found,) = repetitions(steps)
    assert aligned(found, steps, steps.lower()) == found


def test_a_sequence_without_repetitions_has_none():
    assert repetitions([*range(100)]) == []
    assert repetitions("") == []


def test_little_is_not_worth_a_frame():
    assert repetitions("ababab") == []


def test_the_shorter_of_two_periods_is_taken():
    assert repetitions("ab" * 8) == [(0, 2, 8)]
