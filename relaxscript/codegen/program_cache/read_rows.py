"""Values from the rows that `rows.py` writes; a row is read when it is first needed.

Rows come from a file of our own whose hash is right. All the same they make nothing but our nodes,
the records of programs, and plain values.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any

from relaxscript.codegen.vm.externals import External
from relaxscript.dtypes import DataType
from relaxscript.errors import InternalError, SequentialSpan, Source, Span
from relaxscript.ir.node import Node, maker_of
from relaxscript.ir.relax import Attrs
from relaxscript.runtime.arrays import NDArray
from relaxscript.runtime.bytecode import Arg, Call, Goto, If, Ret, Variable, VMFunction
from relaxscript.runtime.checks import (
    AnyCheck,
    DimAny,
    DimBind,
    DimConst,
    DimLoad,
    PrimCheck,
    ShapeCheck,
    TensorCheck,
    TupleCheck,
)
from relaxscript.runtime.values import Device, Prim, Shape

from .checks import READERS
from .rows import PACKAGE, Array, Row, class_name

__all__ = ["RowReader"]

_RECORDS = (
    Arg, Call, Goto, If, Ret, Variable, VMFunction, AnyCheck, DimAny, DimBind, DimConst, DimLoad,
    PrimCheck, ShapeCheck, TensorCheck, TupleCheck,
)  # fmt: skip
_UNREAD = object()


class RowReader:
    """Reads rows; `value` gives what stands where a row or list has something.

    `sources` are those of the places, with the lines from which they count; `given` and `own` are
    the arrays that are told by numbers.
    """

    def __init__(
        self, rows: Sequence[Row], sources: Sequence[tuple[Source, int]],
        given: Callable[[int], Array], own: Sequence[Array],
    ) -> None:  # fmt: skip
        self.rows = rows
        self.sources = sources
        self.given = given
        self.own = own
        self._made: list[Any] = [_UNREAD] * len(rows)

    def value(self, written: Any) -> Any:
        """The value for which something stands."""
        kind = written.__class__
        if kind is int:
            made = self._made[written]
            return self._read(written) if made is _UNREAD else made
        if kind is str or written is None:
            return written
        return _VALUES[written[0]](self, written)

    def values(self, written: Sequence[Any]) -> list[Any]:
        """The values for which a list stands."""
        return [None if one is None else self.value(one) for one in written]

    def _read(self, number: int) -> Any:
        row = self.rows[number]
        make = _MAKERS.get(row[0])
        if make is None:
            make = _MAKERS[row[0]] = _maker(row[0])
        made = self._made[number] = make(*self.values(row[1:]))
        return made


def _class_of(name: str, *kinds: type) -> Any:
    """The class of a name, which is one of these kinds of classes."""
    module, _, inside = name.rpartition(".")
    found = getattr(import_module(f"{PACKAGE}.{module}"), inside, None)
    if not isinstance(found, type) or not issubclass(found, kinds) or class_name(found) != name:
        raise InternalError(f"a stored program has a value of an unknown kind, `{name}`")
    return found


def _maker(name: str) -> Callable[..., Any]:
    """The function that makes a value of a class of its fields."""
    if name in READERS:
        return READERS[name]
    cls: Any = _class_of(name, Node, External, *_RECORDS)
    make: Callable[..., Any] = maker_of(cls) if issubclass(cls, Node) else cls
    return make


def _span(reader: RowReader, written: Row) -> Span:
    _, source, line, column, end_line, end_column = written
    text, first = reader.sources[source]
    return Span(text, line + first, column, end_line + first, end_column)


@cache
def _member(name: str, member: str) -> Any:
    return _class_of(name, Enum)[member]


def _pairs(reader: RowReader, written: Row) -> dict[Any, Any]:
    parts = iter(reader.values(written[1:]))
    return dict(zip(parts, parts, strict=True))


_MAKERS: dict[str, Callable[..., Any]] = {}
_VALUES: dict[str, Callable[[RowReader, Row], Any]] = {
    "i": lambda reader, written: written[1],
    "b": lambda reader, written: bool(written[1]),
    "f": lambda reader, written: struct.unpack("<d", bytes.fromhex(written[1]))[0],
    "t": lambda reader, written: tuple(reader.values(written[1:])),
    "l": lambda reader, written: reader.values(written[1:]),
    "m": _pairs,
    "A": lambda reader, written: Attrs(_pairs(reader, written)),
    "d": lambda reader, written: DataType(written[1]),
    "s": lambda reader, written: _class_of(written[1], str)(written[2]),
    "S": lambda reader, written: Shape(written[1:]),
    "P": lambda reader, written: Prim(reader.value(written[1]), written[2]),
    "D": lambda reader, written: Device(written[1], written[2]),
    "@": _span,
    "+": lambda reader, written: SequentialSpan(reader.values(written[1:])),
    "a": lambda reader, written: reader.given(written[1]),
    "c": lambda reader, written: reader.own[written[1]],
    "N": lambda reader, written: reader.value(written[1]).view(NDArray),
    "e": lambda reader, written: _member(written[1], written[2]),
}
