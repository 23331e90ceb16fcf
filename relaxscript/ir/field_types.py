"""Types of the fields of nodes, read off their annotations, and the errors for wrong values.

The annotations of node classes use few forms: names of classes, `tuple[X, ...]`, `Mapping[...]`,
unions of these with None, and `Any` or `Callable[...]`, which are not checked.
"""

from __future__ import annotations

import functools
import operator
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import DiagnosticError

__all__ = [
    "Expected", "FieldError", "brief", "expected", "natural_converter", "refuse",
    "refuse_conversion",
]  # fmt: skip

_PLAIN: dict[str, tuple[type, ...]] = {
    "str": (str,), "int": (int,), "bool": (bool,), "float": (float,), "None": (type(None),),
    "DataType": (DataType,), "np.ndarray[Any, Any]": (np.ndarray,),
}  # fmt: skip


class FieldError(TypeError):
    """The error for a value that a field or an attribute cannot hold: `given`, of Python's own."""

    def __init__(self, message: str, field: str, given: Any) -> None:
        super().__init__(message)
        self.field = field
        self.given = given

    def __reduce__(self) -> tuple[Any, ...]:
        return (FieldError, (str(self), self.field, self.given))


class Expected(NamedTuple):
    """The classes a value may have; `items` are those of the elements where it may be a tuple."""

    classes: tuple[type, ...]
    items: tuple[type, ...] | None = None

    def admits(self, value: Any) -> bool:
        """True if a field of this kind may hold a value."""
        items = self.items
        if value.__class__ is not tuple or items is None:
            return isinstance(value, self.classes)
        # In half the time that a generator takes; nearly always all of them are.
        return not [item for item in value if not isinstance(item, items)]


def expected(cls: type, annotation: str, default: Any) -> Expected | None:
    """The values that the annotation of a field of `cls` admits; None for all values."""
    classes: list[type] = [] if default is not None else [type(None)]
    items: tuple[type, ...] | None = None
    for part in _alternatives(annotation):
        if part == "Any" or part.startswith("Callable"):
            return None
        if part.startswith("tuple["):
            item = _alternatives(part[len("tuple[") : -len(", ...]")])
            items = tuple(c for name in item for c in _classes_of_name(cls, name))
            if object in items:
                items = (object,)
        elif part.startswith("Mapping["):
            classes.append(Mapping)
        else:
            classes.extend(_classes_of_name(cls, part))
    return Expected(tuple(classes), items)


@functools.cache
def _alternatives(annotation: str) -> tuple[str, ...]:
    # A bar inside brackets belongs to the brackets.
    return tuple([part.strip() for part in re.split(r"\|(?![^\[]*\])", annotation)])


def _classes_of_name(cls: type, name: str) -> tuple[type, ...]:
    if name in _PLAIN:
        return _PLAIN[name]
    found = vars(sys.modules[cls.__module__]).get(name)
    if isinstance(found, type):
        return (found,)
    # A class of a module that imports this one; such names are of one class only.
    stack: list[type[Any]] = [next(base for base in cls.__mro__ if base.__name__ == "Node")]
    while stack:
        other = stack.pop()
        if other.__name__ == name:
            return (other,)
        stack += other.__subclasses__()
    return (object,)


def _integer(value: Any) -> int:
    if isinstance(value, (bool, np.bool_)):
        raise TypeError("a bool is no number here")
    return int(operator.index(value))


def _bool(value: Any) -> Any:
    return bool(value) if isinstance(value, np.bool_) else value


def natural_converter(annotation: str) -> Callable[[Any], Any] | None:
    """The conversion of numpy's values for a field of this annotation."""
    return {"int": _integer, "bool": _bool}.get(annotation)


def brief(value: Any) -> str:
    """A value in a message: short, and never failing; `__told__` is how it wants to be named."""
    told = getattr(value, "__told__", None)
    if isinstance(told, str):
        return told
    try:
        text = repr(value)
    except Exception:
        text = object.__repr__(value)
    if len(text) > 60 or "\n" in text:
        lines = [line for line in text.split("\n") if line and not line.startswith("# from ")]
        text = (lines or [""])[0][:57] + "..."  # a script begins with what it imports
    return f"{type(value).__name__} ({text})"


def refuse(cls: type, name: str, wanted: Expected, value: Any) -> TypeError:
    """The error that says what a field must hold."""
    field = f"`{cls.__name__}.{name}`"
    if wanted.items is None:
        message = f"{field} must be {_nouns(wanted.classes)}, not {brief(value)}"
        return FieldError(message, name, value)
    sequence = f"{field} must be a sequence whose items are each {_nouns(wanted.items)}"
    if not isinstance(value, tuple):
        return FieldError(f"{sequence}, not {brief(value)}", name, value)
    number, item = next((i, v) for i, v in enumerate(value) if not isinstance(v, wanted.items))
    return TypeError(f"{sequence}, but item {number} is {brief(item)}")


def _nouns(classes: Sequence[type]) -> str:
    named = [f"{'an' if c.__name__[0] in 'AEIOaeio' else 'a'} {c.__name__}" for c in classes]
    kept = [n for n, c in zip(named, classes) if c is not type(None)]
    return " or ".join(dict.fromkeys([*kept, *(["None"] if len(kept) < len(named) else [])]))


Converters = Sequence[tuple[str, Any, "Expected | None"]]


def refuse_conversion(
    cls: type, converters: Converters, values: Sequence[Any], error: Exception
) -> Exception:
    """The error of a converter, with the name of the field that it was for."""
    for (name, convert, wanted), value in zip(converters, values):
        if convert is None:
            continue
        try:
            convert(value)
        except DiagnosticError as found:
            return found
        except (TypeError, ValueError, KeyError, IndexError) as found:
            if wanted is not None and wanted.items is not None and not _is_sequence(value):
                return refuse(cls, name, wanted, value)
            kind = TypeError if isinstance(found, FieldError) else type(found)
            return kind(f"`{cls.__name__}.{name}` cannot be {brief(value)}: {found}")
    return error


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple))
