"""StructInfos that name a variable of Relax for a shape."""

from __future__ import annotations

from .field_roles import parts_of
from .relax import Var
from .struct_info import (
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    remember_variable_shape,
)

__all__ = ["has_variable_shape"]


def has_variable_shape(info: StructInfo | None) -> bool:
    """True if the shape of a tensor in a StructInfo is a variable; quick for most of them."""
    if info is None:
        return False
    if isinstance(info, TensorStructInfo):
        return isinstance(info.shape, Var)
    if not info.is_compound:
        return False
    if not isinstance(info, TupleStructInfo):
        return _has_inside(info)
    found = info.known_variable_shape
    if found is None:
        found = _has_inside(info)
        remember_variable_shape(info, found)
    return found


def _has_inside(info: StructInfo) -> bool:
    # Parts may be shared, each is looked at once.
    seen: set[int] = set()
    stack: list[StructInfo | None] = [info]
    while stack:
        part = stack.pop()
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, TensorStructInfo) and isinstance(part.shape, Var):
            return True
        stack.extend(parts_of(part))
    return False
