"""The choices of random programs: from a seed, or from hypothesis, which can shrink them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from relaxscript.errors import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["Choices", "Seeded", "strategy"]

T = TypeVar("T")


class Choices(ABC):
    """A source of choices; the smaller an integer, the simpler what is made of it."""

    @abstractmethod
    def integer(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""

    def pick(self, options: Sequence[T]) -> T:
        """One of `options`, which must not be empty; the first is the simplest."""
        return options[self.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """True in about `percent` of 100 cases."""
        return self.integer(0, 99) >= 100 - percent

    def some(self, options: Sequence[T]) -> list[T]:
        """Some of `options`, in an order of its own."""
        left = list(options)
        count = self.integer(0, len(left))
        return [left.pop(self.integer(0, len(left) - 1)) for _ in range(count)]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """All of `options` in another order."""
        left = list(options)
        return [left.pop(self.integer(0, len(left) - 1)) for _ in range(len(left))]


class Seeded(Choices):
    """Choices that a number determines."""

    def __init__(self, seed: int | np.random.Generator) -> None:
        self.random = np.random.default_rng(seed)

    def integer(self, low: int, high: int) -> int:
        return int(self.random.integers(low, high, endpoint=True))


class _Drawn(Choices):
    def __init__(self, draw: Callable[[Any], Any], integers: Callable[[int, int], Any]) -> None:
        self.draw = draw
        self.integers = integers

    def integer(self, low: int, high: int) -> int:
        return int(self.draw(self.integers(low, high)))


def strategy(make: Callable[[Choices], T]) -> SearchStrategy[T]:
    """The hypothesis strategy whose examples are what `make` makes of choices.

    Raises `DiagnosticError` when hypothesis is not installed.
    """
    try:
        from hypothesis import strategies
    except ImportError:
        raise DiagnosticError(
            Diagnostic(
                "RX0702",
                "random programs as strategies need hypothesis",
                None,
                help='install it: `pip install "relaxscript[test]"`',
            )
        ) from None

    @strategies.composite
    def composite(draw: Callable[[Any], Any]) -> T:
        return make(_Drawn(draw, strategies.integers))

    return composite()
