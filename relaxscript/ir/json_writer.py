"""Programs as JSON: `save_json`, and the format, which `load_json` reads.

    {
    "format": "relaxscript.ir",
    "version": 1,
    "root": 4,
    "fields": {"ir.prim.Var": ["name", "dtype", "type_annotation"], ...},
    "nodes": [
    ["ir.prim.Var", "n", ["dtype", "int64"], null, ["span", 0, 3, 9, 3, 10]],
    ["ir.prim.IntImm", ["dtype", "int64"], ["int", 4], null],
    ["ir.prim.Add", 0, 1, null],
    ["ir.relax.ShapeExpr", ["tuple", 0, 2], null],
    ...
    ],
    "sources": [["model.py", "@I.ir_module\\n...", null]],
    "arrays": [["float32", [2, 3], "AACAPwAA..."]]
    }

A row of `nodes` is the class of a node, the values of its fields, and its place. The values are in
the order of `fields`. Each is one of these:

    null, true, "text"                            itself
    7                                             the node of row 7, which stands before this one
    ["int", 7], ["int", "0x1..."]                 an integer, in hexadecimal where it is long
    ["float", "0x1.8p+0"]                         a float by all its bits
    ["dtype", "float32"]
    ["tuple", v, ...]
    ["attrs", "name", v, ...], ["map", k, v, ...] pairs in their order
    ["array", 0]                                  an entry of `arrays`
    ["span", 0, 3, 9, 3, 10]                      an entry of `sources`, line, column, and the end
    ["spans", v, ...]                             a place in several pieces

An entry of `arrays` is a dtype, a shape and the elements in base64, little-endian and row by row.
One of `sources` is the name, the text and the cell of a notebook: messages quote them.

A node that several others hold is one row. So a variable stays one variable, and what was shared is
shared. The same program gives the same text. It is a format of our own: TVM's JSON is no part of
it, as ours is none of TVM's.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import numpy as np

from relaxscript.dtypes import DataType, result_dtype
from relaxscript.errors import Diagnostic, DiagnosticError, SequentialSpan, Source, Span

from .field_types import brief
from .module import IRModule
from .node import NODE_CLASSES, Node, full_name
from .relax import Attrs
from .structure import rule_name

__all__ = ["FORMAT", "MODULE_FIELDS", "VERSION", "save_json"]

FORMAT, VERSION = "relaxscript.ir", 1
# A module is no node, but has a row as nodes have.
MODULE_FIELDS = ("name", "functions", "attrs", "global_infos")
# Readers of JSON in other languages keep so many bits of an integer.
_LONGEST_NUMBER = 1 << 53


def save_json(node: Any) -> str:
    """A module, function or other node as JSON, with all places, attributes and constants.

    It may also be a tuple, list or mapping of these. `load_json` gives it back: structurally equal,
    with the same script. The texts of sources in which nodes have their places are written too. A
    `derive_func` is written as the name of the function, as scripts do.

    Raises `DiagnosticError` (RX0704) for what only this process has: functions of Python, the
    computation of a tensor expression, what code generators made. A node that its constructor would
    refuse, and that `make` made all the same, is refused by `load_json`.
    """
    writer = _JsonWriter()
    root = writer.write(node)
    names = sorted({row[0] for row in writer.rows})
    head = {"format": FORMAT, "version": VERSION, "root": root}
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in head.items()]
    lines.append(_lines("fields", [(name, _field_names(name)) for name in names], "{}"))
    lines.append(_lines("nodes", writer.rows))
    lines.append(_lines("sources", [(s.filename, s.text, s.cell) for s in writer.sources]))
    lines.append(_lines("arrays", [_stored(array) for array in writer.arrays]))
    return "{\n" + ",\n".join(lines) + "\n}"


def _lines(key: str, entries: list[Any], brackets: str = "[]") -> str:
    """The entries of a part of the file, each on a line of its own."""
    of_mapping = brackets == "{}"
    said = [": ".join(map(json.dumps, e)) if of_mapping else json.dumps(e) for e in entries]
    inside = "\n" + ",\n".join(said) + "\n" if said else ""
    return f"{json.dumps(key)}: {brackets[0]}{inside}{brackets[1]}"


def _field_names(class_name: str) -> tuple[str, ...]:
    cls = NODE_CLASSES.get(class_name)
    return MODULE_FIELDS if cls is None else tuple(f.name for f in cls._fields)


def _stored(array: np.ndarray[Any, Any]) -> tuple[str, tuple[int, ...], str]:
    elements = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return str(result_dtype(array)), array.shape, base64.b64encode(elements.tobytes()).decode()


class _JsonWriter:
    """The rows of one program, parts before what holds them."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self.numbers: dict[int, int] = {}
        self.sources: dict[Source, int] = {}
        self.arrays: list[np.ndarray[Any, Any]] = []
        self.array_numbers: dict[int, int] = {}  # by their ids: they live as long as the program

    def write(self, root: Any) -> Any:
        """The value that stands for the root, once all that it holds has a row."""
        for node in _nodes_in(root):
            self._write_nodes(node)
        return self.value(root, "the root")

    def _write_nodes(self, root: Any) -> None:
        stack: list[tuple[Any, bool]] = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in self.numbers:
                continue
            if ready:
                self.rows.append(self._row(node))
                self.numbers[id(node)] = len(self.rows) - 1
                continue
            stack.append((node, True))
            parts = [part for value in _field_values(node) for part in _nodes_in(value)]
            stack.extend((part, False) for part in reversed(parts))

    def _row(self, node: Any) -> list[Any]:
        name = full_name(type(node))
        names = _field_names(name)
        fields = zip(names, _field_values(node), strict=True)
        written = [self.value(value, f"`{type(node).__name__}.{field}`") for field, value in fields]
        return [name, *written, self.value(node.span, "the place")]

    def value(self, value: Any, where: str) -> Any:
        """The JSON that stands for a value of a field, whose nodes have their rows."""
        number = self.numbers.get(id(value))
        if number is not None:
            return number
        write = _WRITERS.get(type(value))
        if write is not None:
            return write(self, value, where)
        match value:
            case str():  # a string that means more, which the field makes of it again
                return str(value)
            case np.ndarray():
                return ["array", self._array(value, where)]
            case Mapping():
                return ["map", *self.pairs(value, where)]
        name = rule_name(value) if where.endswith(".derive_func`") else None
        if name is None:
            _refuse(where, value)
        return name

    def pairs(self, mapping: Mapping[Any, Any], where: str) -> Iterator[Any]:
        for key, value in mapping.items():
            yield self.value(key, where)
            yield self.value(value, where)

    def _array(self, array: np.ndarray[Any, Any], where: str) -> int:
        if array.dtype.hasobject or array.dtype.names is not None:
            _refuse(where, array)
        number = self.array_numbers.setdefault(id(array), len(self.arrays))
        if number == len(self.arrays):
            self.arrays.append(array)
        return number

    def span(self, span: Span) -> list[Any]:
        return ["span", self.sources.setdefault(span.source, len(self.sources)), *span.corners]


def _integer(writer: _JsonWriter, value: int, where: str) -> list[Any]:
    return ["int", value if abs(value) < _LONGEST_NUMBER else hex(value)]


def _items(writer: _JsonWriter, values: Any, where: str) -> list[Any]:
    return ["tuple", *[writer.value(value, where) for value in values]]


_Writer = Callable[[_JsonWriter, Any, str], Any]
_WRITERS: dict[type, _Writer] = {
    type(None): lambda writer, value, where: None,
    bool: lambda writer, value, where: value,
    str: lambda writer, value, where: value,
    int: _integer,
    float: lambda writer, value, where: ["float", value.hex()],
    DataType: lambda writer, value, where: ["dtype", str(value)],
    tuple: _items,
    list: _items,
    Attrs: lambda writer, value, where: ["attrs", *writer.pairs(value, where)],
    Span: lambda writer, value, where: writer.span(value),
    SequentialSpan: lambda writer, value, where: ["spans", *map(writer.span, value.spans)],
}


def _field_values(node: Any) -> tuple[Any, ...]:
    """The values of the fields of a node or module; raises for one that only this process has."""
    if isinstance(node, IRModule):
        if node.external_mods:
            names = ", ".join(f"`{name}`" for made in node.external_mods for name in made)
            message = f"functions of code generators are not saved, and the program has {names}"
            help = "save the module before `RunCodegen`"
            raise DiagnosticError(Diagnostic("RX0704", message, None, help=help))
        return node.__name__, node.functions, node.attrs, node.global_infos
    cls = type(node)
    if not full_name(cls).startswith("ir."):
        _refuse("the program", node)
    return tuple(getattr(node, f.name) for f in cls._fields)


def _nodes_in(value: Any) -> Iterator[Any]:
    """The nodes that a value is, or that its tuples, attributes and mappings hold."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, (Node, IRModule)):
            yield one
        elif isinstance(one, Mapping):
            stack.extend(part for item in list(one.items())[::-1] for part in reversed(item))
        elif isinstance(one, (tuple, list)):
            stack.extend(reversed(one))


def _refuse(where: str, value: Any) -> NoReturn:
    message = f"{where} has {brief(value)}, which no file can say"
    help = "attributes hold numbers, strings, dtypes, nodes, and tuples and mappings of these"
    if isinstance(value, Node):  # of another room: what computes a tensor is Python
        help = "save the PrimFunc that `te.create_prim_func` makes of a tensor"
    raise DiagnosticError(Diagnostic("RX0704", message, None, help=help))
