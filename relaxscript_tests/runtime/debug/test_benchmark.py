"""Measuring time, with a clock that does what it is told."""

from __future__ import annotations

import pytest

from relaxscript.errors import VMError
from relaxscript.runtime.debug import benchmark
from relaxscript.runtime.debug.benchmark import BenchmarkResult, evaluate_time


@pytest.fixture
def clock(monkeypatch):
    """A clock that only `call` moves on, by a millisecond; pauses are noted."""

    class Clock:
        def __init__(self):
            self.now = 0.0
            self.calls = 0
            self.pauses = []

        def call(self):
            self.now += 1e-3
            self.calls += 1

    clock = Clock()
    monkeypatch.setattr(benchmark.time, "perf_counter", lambda: clock.now)
    monkeypatch.setattr(benchmark.time, "sleep", clock.pauses.append)
    return clock


def test_a_result_sums_up_its_times():
    result = BenchmarkResult([1.0, 2.0, 6.0])
    assert (result.mean, result.median, result.min, result.max) == (3.0, 2.0, 1.0, 6.0)
    assert result.std == pytest.approx((14 / 3) ** 0.5)
    assert "median=2.000e+00" in repr(result)
    assert "2000.0000" in str(result)


def test_each_repeat_is_the_mean_of_its_runs(clock):
    result = evaluate_time(clock.call, 5, 3, 0, 0, 1)
    assert result.results == pytest.approx([1e-3] * 3)
    assert clock.calls == 1 + 5 * 3


def test_a_repeat_is_lengthened_to_the_shortest_time_asked_for(clock):
    result = evaluate_time(clock.call, 1, 1, 20, 0, 1)
    assert result.results == pytest.approx([1e-3])
    assert clock.calls >= 1 + 1 + 20


def test_the_processor_rests_between_repeats(clock):
    evaluate_time(clock.call, 1, 5, 0, 7, 2)
    assert clock.pauses == [7e-3, 7e-3]


@pytest.mark.parametrize(("number", "repeat"), [(0, 1), (1, 0), (1.5, 1), (1, None)])
def test_counts_are_numbers_above_zero(number, repeat):
    with pytest.raises(VMError, match="is a count of at least 1, got") as caught:
        evaluate_time(lambda: None, number, repeat, 0, 0, 1)
    assert caught.value.code == "RX0608"


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_repeat_ms": "x"}, {"min_repeat_ms": float("inf")}, {"min_repeat_ms": float("nan")},
        {"min_repeat_ms": -1}, {"cooldown_interval_ms": None},
    ],
)  # fmt: skip
def test_times_are_numbers(wrong):
    options = {"min_repeat_ms": 0, "cooldown_interval_ms": 0, **wrong}
    with pytest.raises(VMError, match="is a time in milliseconds, got") as caught:
        evaluate_time(lambda: None, 1, 1, repeats_to_cooldown=1, **options)
    assert caught.value.code == "RX0608"


@pytest.mark.parametrize("repeats", [0, 1.5, "x"])
def test_repeats_to_cooldown_are_counted(repeats):
    with pytest.raises(VMError, match="`repeats_to_cooldown` is a count of at least 1"):
        evaluate_time(lambda: None, 1, 1, 0, 0, repeats)


@pytest.mark.parametrize("times", [[], "ab", [None]])
def test_a_result_is_made_of_times(times):
    with pytest.raises(VMError, match="times are one number or more, got"):
        BenchmarkResult(times)
