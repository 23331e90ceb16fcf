"""Nodes as flat data, for pickling: a list of instructions instead of a nest of objects.

Pickle and `copy.deepcopy` recurse, so a deep expression would overflow them. Nodes whose identity
means something or that many others share (variables, buffers, StructInfos ...) stay objects of
their own. So one variable stays one variable across everything that is pickled together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .node import Node

__all__ = ["flatten", "restore"]

# An instruction is a class (by number), the values of its fields and its span. A value is itself,
# or one of these two around the numbers of earlier instructions.
_NODE, _TUPLE, _VALUE = 0, 1, 2
Flat = tuple[list[type], list[tuple[int, list[tuple[int, Any]], Any]]]


def _inner(node: Any) -> list[Any]:
    found: list[Any] = []
    stack = [getattr(node, f.name) for f in reversed(node._fields)]
    while stack:
        value = stack.pop()
        if value.__class__ is tuple:
            stack.extend(reversed(value))
        elif _is_inner(value):
            found.append(value)
    return found


def _is_inner(value: Any) -> bool:
    return hasattr(type(value), "_fields") and not type(value).keeps_identity


def flatten(root: Node) -> Flat:
    """The instructions that make `root`, parts before what holds them."""
    classes: dict[type, int] = {}
    numbers: dict[int, int] = {}
    code: list[tuple[int, list[tuple[int, Any]], Any]] = []
    stack: list[tuple[Any, bool]] = [(root, False)]
    while stack:
        node, ready = stack.pop()
        if id(node) in numbers:
            continue
        if not ready:
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(_inner(node)))
            continue
        fields = [_write(getattr(node, f.name), numbers) for f in node._fields]
        code.append((classes.setdefault(type(node), len(classes)), fields, node.span))
        numbers[id(node)] = len(code) - 1
    return list(classes), code


def _write(value: Any, numbers: dict[int, int]) -> tuple[int, Any]:
    if _is_inner(value):
        return _NODE, numbers[id(value)]
    if value.__class__ is tuple:
        return _TUPLE, [_write(item, numbers) for item in value]
    return _VALUE, value


def restore(classes: list[Any], code: list[tuple[int, list[tuple[int, Any]], Any]]) -> Node:
    """The node that `flatten` was given."""
    made: list[Any] = []
    for number, fields, span in code:
        made.append(classes[number].make(*[_read(value, made) for value in fields], span=span))
    root: Node = made[-1]
    return root


def _read(written: tuple[int, Any], made: list[Any]) -> Any:
    kind, value = written
    if kind == _NODE:
        return made[value]
    return tuple([_read(item, made) for item in value]) if kind == _TUPLE else value
