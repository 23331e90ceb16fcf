"""How what fails before a pass may fail behind it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from relaxscript.testing.compare import Outcome
from relaxscript.transform import Pass

__all__ = ["failing_as"]


def failing_as(step: Pass, expected: Outcome, actual: Outcome) -> Outcome:
    """The expected outcome, where what the pass fails as something else is that."""

    def as_now(before: Any, now: Any) -> Any:
        codes = tuple(getattr(found, "code", found) for found in (before, now))
        is_said_so = all(isinstance(code, str) for code in codes) and codes in step.fails_as
        return now if is_said_so else before

    called = expected.called
    if len(called) == len(actual.called):
        called = tuple(map(as_now, called, actual.called))
    return replace(expected, value=as_now(expected.value, actual.value), called=called)
