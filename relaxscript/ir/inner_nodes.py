"""The nodes directly inside a node, read by functions that are made of the declared fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .field_types import Expected
from .node import Node, expected_by, traversal_of
from .relax import Attrs

__all__ = ["CHILDLESS", "HOLDERS", "READERS", "children", "inner_fields", "nodes_in", "reader_of"]

Reader = Callable[[Any], "list[Node]"]

# What holds nodes as the value of a field.
HOLDERS = frozenset({tuple, dict, Attrs})
# The functions that were made, and the classes of which no node has any inside.
READERS: dict[type[Node], Reader] = {}
CHILDLESS: set[type[Node]] = set()
_inner: dict[type[Node], tuple[str, ...]] = {}


def inner_fields(cls: type[Node]) -> tuple[str, ...]:
    names = _inner.get(cls)
    if names is None:
        names = _inner[cls] = tuple(f.name for f in traversal_of(cls) if not f.leaf)
    return names


def children(node: Node) -> list[Node]:
    """The nodes directly inside a node, definitions before their uses."""
    read = READERS.get(node.__class__)
    return (reader_of(node.__class__) if read is None else read)(node)


def reader_of(cls: type[Node]) -> Reader:
    """A function that reads the nodes in those of a class, made of what its fields may hold.

    Whatever a compiler does begins with this question, so it is not answered field by field.
    """
    kinds = cls._expected or expected_by(cls)
    added = [_read(kinds[name]).format(f"node.{name}") for name in inner_fields(cls)]
    if not added:
        CHILDLESS.add(cls)
    read: Reader = eval(f"lambda node: [{', '.join(added)}]", {"_nodes": nodes_in, "_none": ()})
    READERS[cls] = read
    return read


def _read(kind: Expected | None) -> str:
    """The text that reads a field: the node in it, some, or those in what it holds."""
    if kind is not None:
        classes = [each for each in kind.classes if each is not type(None)]
        absent = len(classes) < len(kind.classes)
        if kind.items is None and _are_nodes(classes):
            return "*(() if {0} is None else ({0},))" if absent else "{0}"
        if kind.items is not None and _are_nodes(kind.items) and not classes:
            return "*({0} or ())" if absent else "*{0}"
    # It may be a node that has no truth value: the address in an AttrStmt, for example.
    return "*(() if {0} is None or {0} is _none else _nodes({0}))"


def _are_nodes(classes: Iterable[type]) -> bool:
    return all(issubclass(each, Node) for each in classes)


def _collect(value: Any, found: list[Node]) -> None:
    # Tuples and mappings nest as deep as the declaration of the field, so recursion is shallow.
    if isinstance(value, Node):
        found.append(value)
    elif isinstance(value, tuple):
        for item in value:
            _collect(item, found)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _collect(key, found)
            _collect(item, found)


def nodes_in(value: Any) -> list[Node]:
    """The outermost nodes in the value of a field: in a tuple, or in attributes."""
    found: list[Node] = []
    _collect(value, found)
    return found
