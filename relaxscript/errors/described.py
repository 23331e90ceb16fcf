"""What says in messages what it is, where the class of a value says nothing to users."""

from __future__ import annotations

from abc import ABC, abstractmethod

__all__ = ["Described"]


class Described(ABC):
    """What is no value of a program, and may stand where one should: a statement, a dtype."""

    __slots__ = ()

    @property
    @abstractmethod
    def advice(self) -> str | None:
        """What to write in its place."""

    @abstractmethod
    def describe(self) -> str:
        """What it is, in a few words."""
