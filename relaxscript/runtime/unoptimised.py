"""The program before it was optimised, for whoever asks what an optimised one no longer tells.

Optimised code runs whole functions at once. So a program keeps a way to the same module compiled
operator by operator. That is made when it is first asked for. Machines that are stepped or have an
instrument use it, and calls with arguments that lie on another device. A failing call runs once
more there: the failure is then told of the operator in the source, whatever passes made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .values import DeviceTensor

if TYPE_CHECKING:
    from .executable import Executable

__all__ = ["Unoptimised", "is_elsewhere"]


class Unoptimised:
    """A way to the unoptimised program. `repeatable` says which functions may be run once more."""

    def __init__(self, make: Callable[[], Executable], repeatable: Callable[[str], bool]) -> None:
        self._make = make
        self.repeatable = repeatable

    @cached_property
    def executable(self) -> Executable:
        """The program, compiled when it is first asked for."""
        return self._make()


def is_elsewhere(args: Iterable[Any]) -> bool:
    """True if a tensor among arguments, or in a tuple of them, is not on the host."""
    todo = [*args]
    for arg in todo:  # which grows
        if isinstance(arg, DeviceTensor):
            return True
        if isinstance(arg, (tuple, list)):
            todo += arg
    return False
