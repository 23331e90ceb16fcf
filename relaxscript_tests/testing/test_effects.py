"""The log of effects: each run has its own, and what a program does later does not change it."""

from __future__ import annotations

import threading

import numpy as np

from relaxscript.testing.effects import current_effects, record_effects


def test_the_innermost_log_is_written_and_nothing_is_left_over():
    with record_effects() as outer:
        current_effects().add("one")
        with record_effects() as inner:
            current_effects().add("two")
        current_effects().add("three")
    current_effects().add("nobody listens")
    assert outer.observations == ((("one",), ("three",)), ())
    assert inner.observations == ((("two",),), ())


def test_values_are_logged_as_they_are_and_kept_as_they_become():
    x = np.zeros(1)
    with record_effects() as effects:
        current_effects().add("seen", (x, 3))
        current_effects().keep(x)
        x[0] = 7
    log, kept = effects.observations
    assert log[0][1][0] == 0
    assert kept[0] is x


def test_threads_have_logs_of_their_own():
    with record_effects() as effects:
        thread = threading.Thread(target=lambda: current_effects().add("elsewhere"))
        thread.start()
        thread.join()
    assert effects.log == []
