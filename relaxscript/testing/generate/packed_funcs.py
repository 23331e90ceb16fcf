"""The packed functions that random programs call; `register_packed` puts them into the registry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from relaxscript.runtime.packed_func import get_global_func, register_func
from relaxscript.runtime.values import DeviceTensor
from relaxscript.testing.effects import current_effects

__all__ = [
    "APPLY", "BUMP", "FIRST", "KEEP", "NOTE", "PAIR", "RECALL", "TICK", "TWICE", "TWICE_INTO",
    "register_packed",
]  # fmt: skip

TWICE = "testing.twice"
FIRST = "testing.first"
PAIR = "testing.pair"
TWICE_INTO = "testing.twice_into"
# These have effects, which are logged.
NOTE = "testing.note"
BUMP = "testing.bump"
KEEP = "testing.keep"
RECALL = "testing.recall"
TICK = "testing.tick"
APPLY = "testing.apply"


def twice(x: Any) -> Any:
    """Twice its argument, in a new array."""
    with np.errstate(all="ignore"):
        return np.asarray(x + x, dtype=x.dtype)


def first(x: Any, *_: Any) -> Any:
    """Its first argument."""
    return x


def pair(x: Any, y: Any) -> Any:
    """Its two arguments, exchanged."""
    return (y, x)


def twice_into(x: Any, out: Any) -> None:
    """Write twice the first argument into the second."""
    out[...] = twice(x)


def note(*values: Any) -> None:
    """Log values."""
    current_effects().add("note", *values)


def bump(x: Any) -> None:
    """Add one to every element of a tensor, in place."""
    data = x.data if isinstance(x, DeviceTensor) else x
    with np.errstate(all="ignore"):
        data[...] = data + np.ones((), data.dtype)
    current_effects().add("bump", x)


def keep(value: Any) -> None:
    """Keep a value."""
    current_effects().add("keep", value)
    current_effects().keep(value)


def recall() -> Any:
    """The value that was kept last."""
    current_effects().add("recall")
    return current_effects().kept[-1] if current_effects().kept else None


def tick() -> Any:
    """The number of effects so far."""
    current_effects().add("tick")
    return np.array(len(current_effects().log), "int64")


def apply(function: Any, *args: Any) -> Any:
    """The result of a function for its arguments."""
    current_effects().add("apply", *args)
    return function(*args)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    TWICE: twice,
    FIRST: first,
    PAIR: pair,
    TWICE_INTO: twice_into,
    NOTE: note,
    BUMP: bump,
    KEEP: keep,
    RECALL: recall,
    TICK: tick,
    APPLY: apply,
}


def register_packed() -> None:
    """Register all of them, unless that was done before."""
    for name, function in FUNCTIONS.items():
        if get_global_func(name, allow_missing=True) is None:
            register_func(name, function)
