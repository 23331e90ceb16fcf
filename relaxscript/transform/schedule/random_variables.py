"""Names of blocks, loops and numbers of a schedule, which stay while the program changes."""

from __future__ import annotations

from typing import TypeAlias

__all__ = ["BlockRV", "ExprRV", "LoopRV"]


class _RandomVariable:
    """A name, which says how the program calls what it stands for: `<LoopRV i>`."""

    __slots__ = ("__weakref__", "_told")

    def __init__(self, told: str = "") -> None:
        self._told = told

    def __repr__(self) -> str:
        return f"<{f'{type(self).__name__} {self._told}'.strip()}>"


class BlockRV(_RandomVariable):
    """A block of the program that a schedule works on; `sch.get(block)` is its node."""

    __slots__ = ()


class LoopRV(_RandomVariable):
    """A loop of the program that a schedule works on; `sch.get(loop)` is its node."""

    __slots__ = ()


# A number that a schedule is made with.
ExprRV: TypeAlias = "int"
