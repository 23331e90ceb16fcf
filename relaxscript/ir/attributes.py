"""Attributes of calls, functions and modules: compile-time values by their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType, result_dtype

from .field_types import FieldError, brief
from .node import Node
from .prim import IntImm

__all__ = ["NO_ATTRS", "Attrs", "as_attrs", "own_attrs"]


class Attrs(Mapping[str, Any]):
    """The attributes of a call or function: names and compile-time values, in their order.

    Values are numbers, strings, bools, None, dtypes, nodes, and tuples and `Attrs` of these;
    arrays become Constants. Attributes can be read as items and as Python attributes. Raises
    `TypeError` for any other value, since no script could say it.
    """

    __slots__ = ("_items", "converted")

    def __init__(self, items: Mapping[str, Any] | None = None, **named: Any) -> None:
        self._items = {k: _attribute(v, k) for k, v in {**(items or {}), **named}.items()}
        self.converted: tuple[object, Mapping[str, Any]] = (None, {})  # by an operator, once

    def __getitem__(self, name: str) -> Any:
        return self._items[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self._items[name]
        except KeyError:
            raise AttributeError(f"there is no attribute `{name}` here") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return (Attrs, (dict(self._items),))

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __repr__(self) -> str:
        return f"Attrs({self._items!r})"

    def with_item(self, name: str, value: Any) -> Attrs:
        """These attributes and one more."""
        return Attrs(self._items, **{name: value})

    def without(self, name: str) -> Attrs:
        """These attributes but one."""
        return Attrs({key: value for key, value in self._items.items() if key != name})


def _attribute(value: Any, name: Any) -> Any:
    if not isinstance(name, str):
        raise TypeError(f"the name of an attribute is a string, not {brief(name)}")
    match value:
        case IntImm(value=number, dtype=dtype) if dtype.is_bool:
            return bool(number)  # TVM prints True as `T.bool(True)`
        case None | bool() | int() | float() | str() | Node() | Attrs():
            return value
        case list() | tuple():
            return tuple(_attribute(v, name) for v in value)
        case Mapping():
            return Attrs(value)
        case np.generic() if result_dtype(value).kind in ("int", "uint", "float", "bool"):
            return value.item()
        case np.ndarray():
            from .relax import Constant

            return Constant(value)
        case np.dtype():
            return DataType(value)
    kind = "function" if callable(value) else type(value).__name__
    raise FieldError(f"the attribute `{name}` cannot hold a Python {kind}", name, value)


def as_attrs(value: Any) -> Attrs | None:
    """Attributes from what people write: a mapping, Attrs, or nothing; none at all are None."""
    if value is None or isinstance(value, Attrs):
        return value or None
    if not isinstance(value, Mapping):
        raise TypeError("attributes are a mapping of names to values")
    return Attrs(value) if value else None


NO_ATTRS = Attrs()


def own_attrs(value: Any) -> Attrs:
    """The attributes of a function from what people write; a function without any has none."""
    return as_attrs(value) or NO_ATTRS
