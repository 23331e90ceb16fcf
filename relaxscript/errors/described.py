"""Objects that describe themselves in messages, where their class says nothing to users."""

from __future__ import annotations

from abc import ABC, abstractmethod

__all__ = ["Described"]


class Described(ABC):
    """Something that is no value of a program, but is used as one: a statement, a dtype."""

    __slots__ = ()

    @property
    @abstractmethod
    def advice(self) -> str | None:
        """The code to write in its place."""

    @abstractmethod
    def describe(self) -> str:
        """A description in a few words."""
