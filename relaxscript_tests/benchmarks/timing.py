"""Fair timing of two things in one process: in turns, so that a slower machine slows both."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping


def seconds(action: Callable[[], object]) -> float:
    """How long one run takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def in_turns(actions: Mapping[str, Callable[[], object]], runs: int = 7) -> dict[str, float]:
    """The median seconds of each action over `runs` rounds; the first round is not counted."""
    taken: dict[str, list[float]] = {name: [] for name in actions}
    for turn in range(runs + 1):
        for name, action in actions.items():
            gc.collect()
            spent = seconds(action)
            if turn:
                taken[name].append(spent)
    return {name: statistics.median(times) for name, times in taken.items()}


def least_in_turns(actions: Mapping[str, Callable[[], object]], runs: int = 5) -> dict[str, float]:
    """The least seconds of each action over `runs` rounds, those of this process alone.

    What else the machine does counts as little as may be.
    """
    taken: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(runs):
        for name, action in actions.items():
            gc.collect()
            start = time.process_time()
            action()
            taken[name].append(time.process_time() - start)
    return {name: min(times) for name, times in taken.items()}
