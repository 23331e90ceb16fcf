"""Programs from JSON: `load_json`. The format is described in `json_writer.py`.

A file may come from a stranger: nothing in it is run, and all of it is checked before it is used.
Each class is one of ours, and each field holds what its declaration admits. A row refers to rows
before it only, so nothing can be part of itself. Whether the program makes sense is another
question, which `analysis.well_formed` answers.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.errors import (
    Diagnostic,
    DiagnosticError,
    SequentialSpan,
    Source,
    Span,
    meant_hint,
    nearest,
)

from .field_types import brief, refuse
from .json_writer import FORMAT, MODULE_FIELDS, VERSION
from .module import IRModule
from .node import NODE_CLASSES, FieldInfo, Node, expected_by, full_name, maker_of
from .relax import Attrs

__all__ = ["load_json"]

_PARTS = {
    "format": str, "version": int, "root": object, "fields": dict, "nodes": list, "sources": list,
    "arrays": list,
}  # fmt: skip
_CLASS_NAME = re.compile(r"ir\.[a-z_]{1,40}\.[A-Za-z]{1,40}")
_MODULE = full_name(IRModule)
_MOST_DIMENSIONS = 32  # of the arrays of every numpy
# What constructors raise at fields that do not go together.
_MISTAKES = (
    TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError, MemoryError,
)  # fmt: skip


def load_json(json_str: str | bytes) -> Any:
    """The module, function or other node that `save_json` wrote.

    Raises `DiagnosticError` (RX0701) for what it did not write: the message names the row and the
    field. TVM's JSON is another format, and is refused.
    """
    if not isinstance(json_str, (str, bytes)):
        _refuse(f"it is the text that `save_json` gives, not {brief(json_str)}")
    said = _parsed(json_str)
    reader = _JsonReader(said)
    try:
        return reader.read()
    except _Mistake as mistake:
        _refuse(str(mistake))
    except RecursionError:
        _refuse(f"{reader.where}: it is nested too deeply")


def _refuse(reason: str) -> NoReturn:
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in reason)  # a stranger's words
    raise DiagnosticError(Diagnostic("RX0701", f"cannot read the JSON: {shown}", None)) from None


class _Mistake(Exception):
    """A mistake in the file, and where it is."""


def _parsed(text: str | bytes) -> dict[str, Any]:
    """The parts of the file, each of its own kind."""
    try:
        said = json.loads(text, parse_constant=_no_number, object_pairs_hook=_no_duplicates)
    except json.JSONDecodeError as error:
        _refuse(f"it is damaged or cut off at line {error.lineno}, column {error.colno}")
    except RecursionError:
        _refuse("it is nested too deeply")
    except ValueError as error:
        _refuse(f"it is damaged: {error}")
    if isinstance(said, dict) and {"nodes", "b64ndarrays"} <= said.keys():
        _refuse("it was written by TVM, whose format is another; print the module in TVM, and read "
                "the script by `from_source`")  # fmt: skip
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        _refuse("`save_json` did not write it")
    if type(said.get("version")) is not int or said["version"] != VERSION:
        _refuse(f"its version is {said.get('version')!r}, and this relaxscript reads {VERSION}")
    for name, kind in _PARTS.items():
        if name not in said or not isinstance(said[name], kind):
            _refuse(f"it has no `{name}`, or another than `save_json` writes")
    return said


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"`{word}` is no number of JSON")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        name = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise ValueError(f"it has {brief(name)} twice")
    return found


class _JsonReader:
    """One reading of a file; `where` is the part that is being read."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self.said = said
        self.where = "its beginning"
        self.nodes: list[Any] = []
        self.sources: list[Source] = []
        self.arrays: list[np.ndarray[Any, Any]] = []
        self.makers: dict[str, Callable[[Sequence[Any]], Any]] = {}

    def read(self) -> Any:
        """The root."""
        for number, written in enumerate(self.said["sources"]):
            self.where = f"entry {number} of `sources`"
            self.sources.append(self._source(written))
        for number, written in enumerate(self.said["arrays"]):
            self.where = f"entry {number} of `arrays`"
            self.arrays.append(self._array(written))
        for number, row in enumerate(self.said["nodes"]):
            self.where = f"row {number} of `nodes`"
            self.nodes.append(self._node(row))
        self.where = "`root`"
        return self.value(self.said["root"])

    def mistake(self, reason: str) -> _Mistake:
        """The error for what is wrong here."""
        return _Mistake(f"{self.where}: {reason}")

    def _source(self, written: Any) -> Source:
        match written:
            case [str(name), str(text), None | int() as cell] if not isinstance(cell, bool):
                return Source(name, text, cell)
        raise self.mistake("a source is a name, a text, and the number of a cell or null")

    def _array(self, written: Any) -> np.ndarray[Any, Any]:
        match written:
            case [str(name), list(shape), str(text)] if len(shape) <= _MOST_DIMENSIONS:
                pass
            case _:
                raise self.mistake("an array is a dtype, a shape, and its elements in base64")
        if not all(type(size) is int and size >= 0 for size in shape):
            raise self.mistake("a shape is a list of sizes")
        try:
            dtype = DataType(name).numpy
        except (TypeError, ValueError) as error:
            raise self.mistake(str(error)) from None
        try:
            content = base64.b64decode(text, validate=True)
        except ValueError:
            raise self.mistake("its elements are not in base64") from None
        if len(content) != math.prod(shape) * dtype.itemsize:
            size = math.prod(shape) * dtype.itemsize
            what = f"an array of {name} and shape {shape} has {size}"
            raise self.mistake(f"it has {len(content)} bytes, and {what}")
        if dtype == np.bool_ and content.translate(None, b"\0\1"):
            raise self.mistake("elements are neither true nor false")
        try:
            array = np.frombuffer(content, dtype.newbyteorder("<")).reshape(shape)
        except ValueError:  # of no elements in all
            raise self.mistake(f"the sizes {shape} are too large") from None
        return array if array.dtype.isnative else array.astype(dtype)

    # ------------------------------------------------------------ nodes

    def _node(self, row: Any) -> Any:
        if not isinstance(row, list) or not row or not isinstance(row[0], str):
            raise self.mistake("a row is the name of a class and the values of its fields")
        self.where += f", `{row[0][:60]}`"
        make = self.makers.get(row[0])
        if make is None:
            make = self.makers[row[0]] = self._maker(row[0])
        place = self.where
        try:
            return make(row[1:])
        except DiagnosticError as error:
            self.where = place
            raise self.mistake(error.diagnostics[0].message) from None
        except _MISTAKES as error:
            self.where = place
            raise self.mistake(str(error)) from None

    def _maker(self, name: str) -> Callable[[Sequence[Any]], Any]:
        """The function that makes a node of what its row says."""
        cls = None if name == _MODULE else self._class_named(name)
        names = MODULE_FIELDS if cls is None else tuple(f.name for f in cls._fields)
        if self.said["fields"].get(name) != list(names):
            has = f"its fields are {', '.join(names)}" if names else "it has no fields"
            raise self.mistake(f"{has}, and `fields` says otherwise")
        return self._module if cls is None else self._maker_of(cls)

    def _class_named(self, name: str) -> type[Node]:
        if _CLASS_NAME.fullmatch(name) and name not in NODE_CLASSES:
            with suppress(ImportError):  # few programs need all files that declare nodes
                import_module(f"{__package__}.{name.split('.')[1]}")
        cls = NODE_CLASSES.get(name) if name.startswith("ir.") else None
        if cls is None:
            raise self.mistake(f"there is no such class{meant_hint(nearest(name, NODE_CLASSES))}")
        return cls

    def _maker_of(self, cls: type[Node]) -> Callable[[Sequence[Any]], Any]:
        fields, make = cls._fields, maker_of(cls)
        wanted = expected_by(cls)
        check: Callable[[Any], object] = getattr(cls, "_check", id)

        def made(written: Sequence[Any]) -> Any:
            if len(written) != len(fields) + 1:
                raise self.mistake(f"it has {len(written)} values, not {len(fields) + 1}")
            row, values = self.where, []
            for info, one in zip(fields, written):
                self.where = f"{row}, field `{info.name}`"
                value = _converted(self.value(one), info)
                kind = wanted[info.name]
                if kind is not None and not kind.admits(value):
                    raise refuse(cls, info.name, kind, value)
                if not _fits(value, info):
                    raise self.mistake(f"it cannot hold {brief(value)}")
                values.append(value)
            self.where = row
            node = make(*values, self._place(written[-1]))
            check(node)
            return node

        return made

    def _module(self, written: Sequence[Any]) -> IRModule:
        if len(written) != len(MODULE_FIELDS) + 1:
            raise self.mistake(f"it has {len(written)} values, not {len(MODULE_FIELDS) + 1}")
        name, functions, attrs, infos = map(self.value, written[:-1])
        plain = isinstance(name, str) and isinstance(attrs, (Attrs, type(None)))
        if not plain or type(functions) is not dict or type(infos) is not dict:
            raise self.mistake("a module has a name, functions, attributes and global infos")
        module = IRModule(functions, attrs, infos, self._place(written[-1]), name)
        if len(module) != len(functions) or not all(isinstance(key, str) for key in infos):
            raise self.mistake("two functions have one name, or global infos have none")
        return module

    # ------------------------------------------------------------ values

    def value(self, written: Any) -> Any:
        """The value for which something in a row stands."""
        match written:
            case None | bool() | str():
                return written
            case int():
                if not 0 <= written < len(self.nodes):
                    raise self.mistake(f"{brief(written)} is no row before this one")
                return self.nodes[written]
            case [str(kind), *rest] if kind in _READERS:
                return _READERS[kind](self, rest)
        raise self.mistake(f"{brief(written)} stands for no value")

    def _items(self, rest: list[Any]) -> tuple[Any, ...]:
        return tuple([self.value(one) for one in rest])

    def _pairs(self, rest: list[Any]) -> dict[Any, Any]:
        parts = iter(self._items(rest))
        try:
            found = dict(zip(parts, parts, strict=True))
        except (TypeError, ValueError):
            raise self.mistake("a key has no value, or is none") from None
        if 2 * len(found) != len(rest):
            raise self.mistake("a key is there twice")
        return found

    def _integer(self, rest: list[Any]) -> int:
        match rest:
            case [int(number)] if not isinstance(number, bool):
                return number
            case [str(digits)] if re.fullmatch("-?0x[0-9a-f]+", digits):
                return int(digits, 16)
        raise self.mistake(f"{brief(rest)} is no integer")

    def _float(self, rest: list[Any]) -> float:
        try:
            (digits,) = rest
            return float.fromhex(digits)
        except (TypeError, ValueError, OverflowError):
            raise self.mistake(f"{brief(rest)} is no float") from None

    def _dtype(self, rest: list[Any]) -> DataType:
        if len(rest) != 1 or not isinstance(rest[0], str):
            raise self.mistake(f"{brief(rest)} is no dtype")
        return DataType(rest[0])

    def _array_of(self, rest: list[Any]) -> np.ndarray[Any, Any]:
        number = rest[0] if len(rest) == 1 else None
        if type(number) is not int or not 0 <= number < len(self.arrays):
            raise self.mistake(f"{brief(rest)} is no entry of `arrays`")
        return self.arrays[number]

    def _place(self, written: Any) -> Span | None:
        if written is None:
            return None
        place = self.value(written)
        if not isinstance(place, Span):
            raise self.mistake(f"{brief(place)} is no place")
        return place

    def _span(self, rest: list[Any]) -> Span:
        if len(rest) != 5 or not all(type(number) is int for number in rest):
            raise self.mistake("a place is a source, line, column, and those of the end")
        number, line, column, end_line, end_column = rest
        if not 0 <= number < len(self.sources):
            raise self.mistake(f"{brief(number)} is no entry of `sources`")
        source = self.sources[number]
        lines = len(source.lines)
        if not 1 <= line <= end_line <= lines or min(column, end_column) < 1:
            raise self.mistake(f"the place is not in its source, which has {lines} lines")
        return Span(source, line, column, end_line, end_column)

    def _spans(self, rest: list[Any]) -> SequentialSpan:
        spans = self._items(rest)
        if not spans or not all(isinstance(span, Span) for span in spans):
            raise self.mistake("a place of several pieces is made of places")
        return SequentialSpan(spans)


_READERS: dict[str, Callable[[_JsonReader, list[Any]], Any]] = {
    "int": _JsonReader._integer,
    "float": _JsonReader._float,
    "dtype": _JsonReader._dtype,
    "tuple": _JsonReader._items,
    "attrs": lambda reader, rest: Attrs(reader._pairs(rest)),
    "map": _JsonReader._pairs,
    "array": _JsonReader._array_of,
    "span": _JsonReader._span,
    "spans": _JsonReader._spans,
}


def _converted(value: Any, info: FieldInfo) -> Any:
    """A text, array or mapping as the field has it: the name of a kind of loop, for example."""
    if info.convert is None or not isinstance(value, (str, np.ndarray, dict)):
        return value
    return info.convert(value)


def _fits(value: Any, info: FieldInfo) -> bool:
    """True if a field may hold a value, as far as its classes do not say."""
    if info.place:
        items = value if isinstance(value, tuple) else (value,)
        return all(item is None or isinstance(item, Span) for item in items)
    if info.annotation.startswith("Callable"):
        return value is None or isinstance(value, str) or callable(value)
    # A place is no value; and to Python a bool is an integer.
    return not isinstance(value, bool if info.annotation == "int" else Span)
