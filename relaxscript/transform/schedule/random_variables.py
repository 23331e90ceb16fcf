"""Names of blocks, loops and numbers of a schedule, which stay while the program changes."""

from __future__ import annotations

from typing import TypeAlias

__all__ = ["BlockRV", "ExprRV", "LoopRV"]


class BlockRV:
    """A block of the program that a schedule works on; `sch.get(block)` is its node."""

    __slots__ = ("__weakref__",)


class LoopRV:
    """A loop of the program that a schedule works on; `sch.get(loop)` is its node."""

    __slots__ = ("__weakref__",)


# A number that a schedule is made with.
ExprRV: TypeAlias = "int"
