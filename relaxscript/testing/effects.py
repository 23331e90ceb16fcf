"""The effects of a program: the calls of packed functions that leave a trace.

The packed functions of `generate/packed_funcs.py` write into the log that `record_effects` opens.
Two runs of a program did the same if `observations` of their logs are the same.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from relaxscript.runtime.values import DeviceTensor

__all__ = ["Effects", "current_effects", "record_effects"]


class Effects:
    """The effects of one run in their order, and the values that packed functions have kept."""

    def __init__(self) -> None:
        self.log: list[tuple[Any, ...]] = []
        self.kept: list[Any] = []

    def add(self, name: str, *values: Any) -> None:
        """Log an effect, with values as they are now."""
        self.log.append((name, *map(snapshot, values)))

    def keep(self, value: Any) -> None:
        """Keep a value: nothing that the program does by itself may change it any more."""
        self.kept.append(value)

    @property
    def observations(self) -> tuple[Any, ...]:
        """All that can be seen afterwards."""
        return (tuple(self.log), tuple(self.kept))


def snapshot(value: Any) -> Any:
    """A value as it is now; functions and unknown objects are themselves."""
    match value:
        case np.ndarray():
            return value.copy()
        case DeviceTensor():
            return copy.deepcopy(value)
        case tuple() if type(value) is tuple:
            return tuple(map(snapshot, value))
    return value


_running = threading.local()


def current_effects() -> Effects:
    """The log of effects that `record_effects` opened last in this thread."""
    stack: list[Effects] = _running.__dict__.setdefault("stack", [])
    return stack[-1] if stack else Effects()


@contextmanager
def record_effects() -> Iterator[Effects]:
    """Log the effects of what runs inside."""
    current_effects()
    _running.stack.append(Effects())
    try:
        yield _running.stack[-1]
    finally:
        _running.stack.pop()
