"""The roles of the fields of a StructInfo, which each kind declares, and what is read by them.

Subtyping, upper bounds, erasure, matching, substitution and traversal are derived from the roles.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from .prim import PrimExpr
from .relax import ShapeExpr

if TYPE_CHECKING:
    from .struct_info import StructInfo

__all__ = [
    "ALWAYS_KNOWN", "Datum", "Parts", "Role", "Sizes", "dimensions", "literal_sizes",
    "paired_parts", "parts_of", "with_dimensions", "with_parts",
]  # fmt: skip

Info = TypeVar("Info", bound="StructInfo")

ALWAYS_KNOWN: Any = object()


class Datum(NamedTuple):
    """A field compared as a whole, such as a dtype.

    `unknown` is its value where nothing is said, which is above all others; without it the datum is
    always known. One that is not `is_seen` is said of a value, and no run-time check finds it.
    """

    name: str
    noun: str
    unknown: Any = ALWAYS_KNOWN
    same: Callable[[Any, Any], bool] = operator.eq
    is_seen: bool = True

    def is_unknown(self, value: Any) -> bool:
        """True if a value of the field says nothing."""
        return value is self.unknown or bool(value == self.unknown)


class Sizes(NamedTuple):
    """The field of the dimensions, or of one scalar; None, above all others, where unknown.

    They are compared only where the datum `given` is the same. `subject` begins a sentence on them.
    """

    name: str
    subject: str
    given: str
    one_scalar: bool = False


class Parts(NamedTuple):
    """A field of other StructInfos, or of one; they are covariant unless declared otherwise."""

    name: str
    noun: str
    contravariant: bool = False


Role = Datum | Sizes | Parts


def dimensions(info: StructInfo | None) -> tuple[PrimExpr, ...]:
    """The scalar expressions directly in `info`: its dimensions, or the value of a Prim.

    There are none where a variable, made by hand, has no StructInfo yet.
    """
    sizes = None if info is None else info.sizes_role
    return () if sizes is None else literal_sizes(getattr(info, sizes.name)) or ()


def literal_sizes(held: Any) -> tuple[PrimExpr, ...] | None:
    """The scalar expressions in a field of sizes; None where a variable holds them, or nothing."""
    if type(held) is ShapeExpr:
        return held.values
    if type(held) is tuple:
        return held
    return (held,) if isinstance(held, PrimExpr) else None


def with_dimensions(info: Info, sizes: tuple[PrimExpr, ...] | None) -> Info:
    """`info` with other sizes in the place of its own, or with unknown ones."""
    role = info.sizes_role
    assert role is not None
    held = getattr(info, role.name)
    new: Any = sizes
    if sizes is not None and type(held) is not tuple:
        if isinstance(held, PrimExpr):
            (new,) = sizes
        else:
            new = held.replace(values=sizes) if type(held) is ShapeExpr else ShapeExpr.make(sizes)
    return info.replace(**{role.name: new})


def parts_of(info: StructInfo | None) -> tuple[StructInfo, ...]:
    """The StructInfos directly in `info`, if there is one."""
    found: tuple[StructInfo, ...] = ()
    for role in () if info is None else info.part_roles:
        held = getattr(info, role.name)
        if held is not None:
            found += held if type(held) is tuple else (held,)
    return found


def with_parts(info: Info, parts: Sequence[StructInfo]) -> Info:
    """`info` with other parts, in the order of `parts_of`; itself where they are its own."""
    changes: dict[str, Any] = {}
    left = iter(parts)
    for role in info.part_roles:
        held = getattr(info, role.name)
        if type(held) is tuple:
            new = tuple(islice(left, len(held)))
            if any(x is not y for x, y in zip(new, held)):
                changes[role.name] = new
        elif held is not None:
            changes[role.name] = next(left)
    return info.replace(**changes) if changes else info


def paired_parts(a: StructInfo, b: StructInfo) -> list[tuple[StructInfo, StructInfo]] | None:
    """The parts of two of a kind side by side; None where either has others, or says none."""
    if type(a) is not type(b):
        return None
    pairs: list[tuple[StructInfo, StructInfo]] = []
    for role in a.part_roles:
        mine, theirs = getattr(a, role.name), getattr(b, role.name)
        if mine is None or theirs is None:
            return None
        if type(mine) is not tuple:
            pairs.append((mine, theirs))
        elif len(mine) == len(theirs):
            pairs.extend(zip(mine, theirs))
        else:
            return None
    return pairs
