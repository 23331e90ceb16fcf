"""How work grows with what it is done on: by the calls that are made, since time is no test."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = ["calls_of", "garbage_of", "growth"]


def calls_of(action: Callable[[], object]) -> int:
    """How many functions are called, of Python and of C; the same in every run."""
    count = 0

    def counting(frame: FrameType, event: str, arg: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counting)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


def growth(prepare: Callable[[int], Callable[[], object]], small: int, times: int = 8) -> float:
    """How many times more calls something that is `times` as large takes: `times` if linear."""
    prepare(2)()  # what is done once, such as generating constructors, is no part of it
    return calls_of(prepare(small * times)) / calls_of(prepare(small))


def garbage_of(action: Callable[[], object]) -> int:
    """How many objects are left for the collector once what an action gives is let go."""
    gc.collect()
    was_running = gc.isenabled()
    gc.disable()
    try:
        action()
        return gc.collect()
    finally:
        if was_running:
            gc.enable()
