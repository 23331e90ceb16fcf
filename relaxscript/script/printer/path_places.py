"""Places of paths in a printed script: `<root>.body.blocks[0].bindings[1].value.args[0]`.

A node may stand in several places, so a path says more than the node at its end. Each node on the
way is sought inside of the place of the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from relaxscript.errors import Span
from relaxscript.ir.node import Node
from relaxscript.ir.object_paths import values_along
from relaxscript.ir.relax import SeqExpr
from relaxscript.runtime.object_path import AttributeAccessPath, ObjectPath

if TYPE_CHECKING:
    from .module import Printer

__all__ = ["place_of_path"]


def place_of_path(printer: Printer, root: Any, path: ObjectPath) -> Span | None:
    """The place of what a path leads to; of what the script does not show, that of what holds it.

    Raises `DiagnosticError` (RX0103) for a path that leads nowhere.
    """
    values, steps = values_along(root, path), path.steps()
    found: Span | None = None
    outer: Span | None = None
    for index, value in enumerate(values):
        if not isinstance(value, Node) and index > 0:
            continue
        places = printer.places.get(value, ())
        # An annotation is beside the variable that it is a part of.
        spans = _inside(places, found) or (_inside(places, outer) if outer else [])
        if not spans:
            # Of a node that has no place, the parts may have one.
            whole = printer.place(value) if found is None else None
            found = found or whole
            continue
        outer = found
        holder, first = _holder(values, index)
        if isinstance(holder, SeqExpr) and _is_result(steps[first]):
            found = spans[-1]  # it is behind all else that the SeqExpr has
        else:
            found = spans[min(_earlier(holder, values, steps, first, value), len(spans) - 1)]
    return found


def _inside(spans: Sequence[Span], outer: Span | None) -> list[Span]:
    return [span for span in spans if outer is None or outer.contains(span)]


def _holder(values: Sequence[Any], index: int) -> tuple[Any, int]:
    """The node that holds the one at an index, and the index of the step into its field."""
    at = index - 1
    while at > 0 and not isinstance(values[at], Node):
        at -= 1
    return (values[at] if at >= 0 else None), at + 1


def _is_result(step: ObjectPath) -> bool:
    return isinstance(step, AttributeAccessPath) and step.attr_key == "body"


def _earlier(
    holder: Any, values: Sequence[Any], steps: Sequence[ObjectPath], first: int, value: Any
) -> int:
    """The number of times that the holder has the node before the place that is meant."""
    if not isinstance(holder, Node) or not isinstance(steps[first], AttributeAccessPath):
        return 0
    name = steps[first].attr_key  # type: ignore[attr-defined]
    count = 0
    for field in holder._fields:
        held = getattr(holder, field.name)
        if field.name == name:
            break
        count += _count(held, value)
    items = values[first]
    if isinstance(items, tuple) and first + 1 < len(values):
        count += _count(items[: getattr(steps[first + 1], "index", 0)], value)
    return count


def _count(held: Any, value: Any) -> int:
    """The number of times that a value of a field is or holds a node."""
    items = held if isinstance(held, tuple) else (held,)
    return sum(item is value for item in items)
