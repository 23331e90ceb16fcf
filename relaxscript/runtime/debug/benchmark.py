"""Time measurements of calls: `VirtualMachine.time_evaluator`."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.errors import VMError

__all__ = ["BenchmarkResult", "evaluate_time"]


class BenchmarkResult:
    """Times in seconds of one run each, one for every repeat, and what they come to."""

    def __init__(self, results: Sequence[float]) -> None:
        self.results = tuple(results)
        if not self.results or not all(isinstance(time, (int, float)) for time in self.results):
            raise VMError(f"times are one number or more, got {results!r}", code="RX0608")
        self.mean = statistics.fmean(self.results)
        self.median = statistics.median(self.results)
        self.min = min(self.results)
        self.max = max(self.results)
        self.std = statistics.pstdev(self.results)

    def __repr__(self) -> str:
        return (
            f"BenchmarkResult(min={self.min:.3e}, mean={self.mean:.3e}, median={self.median:.3e},"
            f" max={self.max:.3e}, std={self.std:.3e})"
        )

    def __str__(self) -> str:
        names = ("mean", "median", "max", "min", "std")
        head = "".join(f"{name + ' (ms)':>14}" for name in names)
        return head + "\n" + "".join(f"{getattr(self, name) * 1e3:>14.4f}" for name in names)


def evaluate_time(
    call: Callable[[], Any],
    number: int,
    repeat: int,
    min_repeat_ms: float,
    cooldown_interval_ms: float,
    repeats_to_cooldown: int,
    prepare: Callable[[], Any] | None = None,
) -> BenchmarkResult:
    """Time `call`: `repeat` means of `number` runs each, after one run that is not counted.

    A repeat shorter than `min_repeat_ms` is done again with more runs; after every
    `repeats_to_cooldown` repeats the processor rests for `cooldown_interval_ms`. `prepare` is
    called before each repeat. Raises `VMError` (RX0608) for counts that are no numbers above 0, and
    for times that are none.
    """
    counts = {"number": number, "repeat": repeat, "repeats_to_cooldown": repeats_to_cooldown}
    for noun, count in counts.items():
        if not isinstance(count, int) or count < 1:
            raise VMError(f"`{noun}` is a count of at least 1, got {count!r}", code="RX0608")
    times = {"min_repeat_ms": min_repeat_ms, "cooldown_interval_ms": cooldown_interval_ms}
    for noun, milliseconds in times.items():
        if not isinstance(milliseconds, (int, float)) or not 0 <= milliseconds < math.inf:
            raise VMError(
                f"`{noun}` is a time in milliseconds, got {milliseconds!r}", code="RX0608"
            )
    call()
    results = []
    for i in range(repeat):
        if i and cooldown_interval_ms > 0 and i % repeats_to_cooldown == 0:
            time.sleep(cooldown_interval_ms / 1e3)
        if prepare is not None:
            prepare()
        seconds = _time(call, number)
        while seconds * 1e3 < min_repeat_ms:
            growth = min_repeat_ms / 1e3 / max(seconds, 1e-9)
            number = max(number + 1, min(round(number * growth * 1.1), number * 100))
            seconds = _time(call, number)
        results.append(seconds / number)
    return BenchmarkResult(results)


def _time(call: Callable[[], Any], number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        call()
    return time.perf_counter() - start
