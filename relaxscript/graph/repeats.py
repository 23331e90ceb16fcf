"""Repetitions in a sequence: the layers of a network, each the same steps as the one before."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

__all__ = ["LEAST_SAVED", "Repetition", "aligned", "repetitions"]

# Layers of more steps are not looked for: the time is their number times that of the steps.
LONGEST_PERIOD = 512
# A repetition leaves out at least so many steps.
LEAST_SAVED = 6
# As many places are looked at in a sequence without end of repetitions.
_MOST_FOUND = 16


class Repetition(NamedTuple):
    """From `start` on, `copies` times the same `period` steps."""

    start: int
    period: int
    copies: int


def repetitions(steps: Sequence[Hashable]) -> list[Repetition]:
    """Repetitions that do not overlap, in their order; each leaves out six steps and 1 in 200.

    The one that leaves out most is taken first, of two such the one with the shorter period.
    """
    numbers: dict[Hashable, int] = {}
    sequence = np.array([numbers.setdefault(step, len(numbers)) for step in steps], dtype=np.int64)
    least = max(LEAST_SAVED, len(sequence) // 200)
    found: list[Repetition] = []
    stretches = [(0, len(sequence))]
    while stretches and len(found) < _MOST_FOUND:
        start, end = stretches.pop()
        best = _largest(sequence[start:end])
        if best is None or (best.copies - 1) * best.period < least:
            continue
        at = start + best.start
        found.append(Repetition(at, best.period, best.copies))
        stretches += [(start, at), (at + best.period * best.copies, end)]
    return sorted(found)


def aligned(found: Repetition, steps: Sequence[Hashable], looks: Sequence[Hashable]) -> Repetition:
    """The repetition, begun where a layer begins, if there are as many copies from there on.

    The first layer of a network often differs in nothing but where its input comes from. Then the
    repetition begins in the middle of a layer. The `looks` are the steps without what they take.
    """
    start, period, copies = found
    begin = start
    while begin > 0 and looks[begin - 1] == looks[begin - 1 + period]:
        begin -= 1
    offset = (begin - start) % period
    end = start + copies * period
    rest = range(end, min(end + offset, len(steps)))
    if len(rest) == offset and all(steps[at] == steps[at - period] for at in rest):
        return Repetition(start + offset, period, copies)
    return found


def _largest(sequence: np.ndarray) -> Repetition | None:
    best, gain = None, 0
    for period in range(1, min(len(sequence) // 2, LONGEST_PERIOD) + 1):
        same = np.zeros(len(sequence) - period + 2, dtype=np.int8)
        same[1:-1] = sequence[:-period] == sequence[period:]
        steps = np.diff(same)
        starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
        if not len(starts):
            continue
        saved = (ends - starts) // period * period
        longest = int(np.argmax(saved))
        if saved[longest] > gain:
            gain = int(saved[longest])
            best = Repetition(int(starts[longest]), period, gain // period + 1)
    return best
