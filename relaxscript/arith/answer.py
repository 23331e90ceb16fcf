"""The three answers of a prover, and how answers combine.

`YES` holds for all values, `NO` for none, `UNKNOWN` is everything else: the question may depend on
the values, or the prover may not be able to tell. An answer has no truth value, since "not YES" and
"NO" are so easily confused: write `answer is YES`.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable

__all__ = ["NO", "UNKNOWN", "YES", "Answer", "all_of", "any_of", "negate"]


class Answer(enum.Enum):
    """The answer of a prover to a question."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("an Answer is YES, NO or UNKNOWN: compare with `is YES` or `is NO`")

    def __repr__(self) -> str:
        return self.name


YES = Answer.YES
NO = Answer.NO
UNKNOWN = Answer.UNKNOWN


def all_of(answers: Iterable[Answer]) -> Answer:
    """Decide whether all hold: NO as soon as one is NO, YES when every one is YES."""
    result = YES
    for answer in answers:
        if answer is NO:
            return NO
        if answer is UNKNOWN:
            result = UNKNOWN
    return result


def any_of(answers: Iterable[Answer]) -> Answer:
    """Decide whether at least one holds: YES as soon as one is YES, NO when every one is NO."""
    result = NO
    for answer in answers:
        if answer is YES:
            return YES
        if answer is UNKNOWN:
            result = UNKNOWN
    return result


def negate(answer: Answer) -> Answer:
    """The answer to the opposite question."""
    if answer is UNKNOWN:
        return UNKNOWN
    return NO if answer is YES else YES
