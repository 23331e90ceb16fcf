"""Programs as rows of plain data: what is hashed to know a module again, and what is kept of one.

    ["ir.prim.Var", "n", ["d", "int64"], null, ["@", 0, 3, 9, 3, 10]]
    ["ir.relax.ShapeExpr", ["t", 0, ["i", 4]], null]
    ["ir.struct_info.TensorStructInfo", 1, ["d", "float32"], null, ["i", 2], null]

A row is the name of a class and the values of its fields. A number alone stands for an earlier row.
A list stands for a value whose kind its first word says, such as "t" for a tuple. What is equal is
one row; a variable or buffer is one of its own. So the rows of a module say what it means, however
its parts share memory.

A source is told by a number. Its lines are counted from the first place that is met in it. So a
module has the same rows wherever in its file it is, and whatever the name of the file.
Arrays are told by numbers, too: `Arrays` has their contents.
"""

from __future__ import annotations

import dataclasses
import hashlib
import struct
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from operator import attrgetter
from types import FunctionType
from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import SequentialSpan, Source, Span
from relaxscript.ir.constant_array import in_c_order
from relaxscript.ir.node import Node
from relaxscript.ir.relax import Attrs
from relaxscript.ir.structure import VARIABLES
from relaxscript.runtime.arrays import NDArray
from relaxscript.runtime.values import Device, Prim, Shape

__all__ = ["WRITERS", "Array", "Arrays", "NotStorable", "Row", "Rows", "SourceLines", "class_name"]

Array = np.ndarray[Any, Any]
Row = tuple[Any, ...]
PACKAGE = __name__.partition(".")[0]


class NotStorable(Exception):
    """Something that only this process can have: a function of Python, for example."""


class SourceLines:
    """The sources that places are in, and the line from which each counts its own."""

    def __init__(self) -> None:
        self.sources: list[tuple[Source, int]] = []
        self._known: dict[int, tuple[int, int]] = {}
        self._alive: list[Source] = []
        self.complete = False  # then a source that was not met is refused

    def of(self, span: Span) -> tuple[int, int]:
        """The number of the source of a place, and the line from which it counts."""
        source = span.source
        known = self._known.get(id(source))
        if known is None:
            for number, (other, line) in enumerate(self.sources):
                if other == source:
                    known = number, line
            if known is None:
                if self.complete:
                    raise NotStorable
                known = len(self.sources), span.line
                self.sources.append((source, span.line))
            self._alive.append(source)  # as long as its number is known
            self._known[id(source)] = known
        return known


class Arrays:
    """The arrays of a program by their contents, of so many bytes at most."""

    def __init__(self, most_bytes: int) -> None:
        self.room = most_bytes
        self.arrays: list[Array] = []
        self.digests: list[bytes] = []
        self._numbers: dict[bytes, int] = {}
        self._known: dict[int, int] = {}
        self._alive: list[Array] = []

    def find(self, array: Array) -> int | None:
        """The number of an array with these elements, if it is here."""
        known = self._known.get(id(array))
        return self._numbers.get(_digest(array)) if known is None else known

    def number(self, array: Array) -> int:
        """The number of an array, which is here from now on."""
        known = self._known.get(id(array))
        if known is None:
            self.room -= array.nbytes
            if self.room < 0:
                raise NotStorable("too many bytes")
            # A copy in this order goes at once, and the next one gets its memory: pages that a
            # process has not used before take most of the time.
            digest = _digest(in_c_order(array))
            known = self._numbers.setdefault(digest, len(self.arrays))
            self._known[id(array)] = known
            if known == len(self.arrays):
                self.digests.append(digest)
                self.arrays.append(array)
            self._alive.append(array)
        return known


def _digest(array: Array) -> bytes:
    found = hashlib.sha256(f"{array.dtype.str} {array.dtype.name} {array.shape} ".encode())
    found.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return found.digest()


class Rows:
    """Rows that are being written; `value` gives what stands for a value."""

    def __init__(self, places: SourceLines, arrays: Arrays, given: Arrays | None = None) -> None:
        self.rows: list[Row] = []
        self.places = places
        self.arrays = arrays
        self.given = given  # arrays that whoever reads the rows has
        self.numbers: dict[int, int] = {}  # of rows, by the ids of their objects
        self._equal: dict[Row, int] = {}
        self._alive: list[Any] = []  # a number is that of an object as long as it lives

    def value(self, value: Any) -> Any:
        """The number or list that stands for a value; raises `NotStorable` where none can."""
        if value is None:
            return None
        number = self.numbers.get(id(value))
        return WRITERS[value.__class__](self, value) if number is None else number

    def add(self, value: Any, row: Row) -> int:
        """The number of the row of an object."""
        number = self.numbers[id(value)] = self._equal.setdefault(row, len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        self._alive.append(value)
        return number

    def add_variable(self, value: Any, row: Row) -> int:
        """The number of the row of an object that no other one is equal to."""
        number = self.numbers[id(value)] = len(self.rows)
        self.rows.append(row)
        self._alive.append(value)
        return number


_Writer = Callable[[Rows, Any], Any]


def class_name(cls: type) -> str:
    """The name by which rows tell one of our classes; raises `NotStorable` for one of others."""
    package, _, inside = cls.__module__.partition(".")
    if package != PACKAGE:
        raise NotStorable
    return f"{inside}.{cls.__qualname__}"


def _writer_of(cls: type) -> _Writer:
    """The function that writes values of a class."""
    if issubclass(cls, Node):
        return _writer_of_fields(cls, [*(f.name for f in cls._fields), "span"])
    if issubclass(cls, Enum):
        members = {member: ("e", class_name(cls), member.name) for member in cls}
        return lambda rows, value: members[value]
    if dataclasses.is_dataclass(cls):
        return _writer_of_fields(cls, [field.name for field in dataclasses.fields(cls)])
    if issubclass(cls, Mapping):
        return _mapping
    if issubclass(cls, str):
        name = class_name(cls)
        return lambda rows, value: ("s", name, str(value))
    raise NotStorable(f"values of {cls}")


def _getter(names: list[str]) -> Callable[[Any], Sequence[Any]]:
    """A function that gives these attributes of a value; `attrgetter` does for several."""
    return attrgetter(*names) if len(names) > 1 else lambda v: [getattr(v, name) for name in names]


def _writer_of_fields(cls: type, names: list[str]) -> _Writer:
    name, found = class_name(cls), _getter(names)
    is_variable = issubclass(cls, VARIABLES)

    def write(rows: Rows, value: Any) -> int:
        # As `rows.value` does with each field: calls of it would take a tenth of the time.
        row: list[Any] = [name]
        number_of = rows.numbers.get
        for field in found(value):
            if field is not None:
                number = number_of(id(field))
                row.append(WRITERS[field.__class__](rows, field) if number is None else number)
            else:
                row.append(None)
        written = tuple(row)
        return rows.add_variable(value, written) if is_variable else rows.add(value, written)

    return write


def _span(rows: Rows, span: Span) -> Row:
    source, first = rows.places.of(span)
    line, column, end_line, end_column = span.corners
    return "@", source, line - first, column, end_line - first, end_column


def _dtype(rows: Rows, dtype: DataType) -> Row:
    known = _DTYPES.get(dtype)
    if known is None:
        known = _DTYPES[dtype] = ("d", str(dtype))
    return known


def _tuple(rows: Rows, values: tuple[Any, ...]) -> Row:
    return ("t", *[rows.value(value) for value in values])


def _attrs(rows: Rows, attrs: Attrs) -> Row:
    return ("A", *[part for key in attrs for part in (key, rows.value(attrs[key]))])


def _mapping(rows: Rows, mapping: Mapping[Any, Any]) -> Row:
    return ("m", *[rows.value(part) for item in mapping.items() for part in item])


def _array(rows: Rows, array: Array) -> Row:
    if array.dtype.hasobject or array.dtype.names is not None:
        raise NotStorable
    known = None if rows.given is None else rows.given.find(array)
    return ("c", rows.arrays.number(array)) if known is None else ("a", known)


def _function(rows: Rows, function: Any) -> Any:
    raise NotStorable


_DTYPES: dict[DataType, Row] = {}


class _Writers(dict[type, _Writer]):
    """The writers of classes, those of our own made when they are needed."""

    def __missing__(self, cls: type) -> _Writer:
        made = self[cls] = _writer_of(cls)
        return made


WRITERS = _Writers({
    str: lambda rows, value: value,
    # True and 1 are equal, and so are 0.0 and -0.0: rows are compared as what they say.
    bool: lambda rows, value: ("b", int(value)),
    int: lambda rows, value: ("i", value),
    float: lambda rows, value: ("f", struct.pack("<d", value).hex()),
    tuple: _tuple,
    list: lambda rows, value: ("l", *map(rows.value, value)),
    dict: _mapping,
    Attrs: _attrs,
    DataType: _dtype,
    Shape: lambda rows, value: ("S", *value),
    Prim: lambda rows, value: ("P", rows.value(value.value), str(value.dtype)),
    Device: lambda rows, value: ("D", value.kind, value.index),
    Span: _span,
    SequentialSpan: lambda rows, value: ("+", *map(rows.value, value.spans)),
    np.ndarray: _array,
    NDArray: lambda rows, value: ("N", _array(rows, value)),
    FunctionType: _function,
})  # fmt: skip
