"""Kinds of loops and axes, by name and by the numbers that TVM gives them."""

from __future__ import annotations

from typing import Any

__all__ = ["AXIS_NAMES", "ForKind", "LoopKind", "loop_kind"]

# The kinds of axes in TVM's order; the first ones by the names that blocks have for them.
AXIS_NAMES = (
    "spatial", "ThreadIndex", "reduce", "scan", "opaque", "Unrolled", "Vectorized", "Parallelized",
    "Tensorized",
)  # fmt: skip


class LoopKind(str):
    """The name of a kind of loop; it is equal to its number as well: `loop.kind == 4`."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        if self is other:  # as most questions are about the kinds below
            return True
        if isinstance(other, int):
            return ForKind.ALL.index(self) == other
        return str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __reduce__(self) -> tuple[Any, ...]:
        return LoopKind, (str(self),)


class ForKind:
    """The kinds of loops."""

    SERIAL = LoopKind("serial")
    PARALLEL = LoopKind("parallel")
    VECTORIZED = LoopKind("vectorized")
    UNROLLED = LoopKind("unrolled")
    THREAD_BINDING = LoopKind("thread_binding")
    ALL = (SERIAL, PARALLEL, VECTORIZED, UNROLLED, THREAD_BINDING)


def loop_kind(value: Any) -> Any:
    """A kind of loop by its name or its number."""
    if isinstance(value, int) and 0 <= value < len(ForKind.ALL):
        return ForKind.ALL[value]
    return LoopKind(value) if isinstance(value, str) else value
