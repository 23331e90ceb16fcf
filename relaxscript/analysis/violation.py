"""A finding of a check, before anybody knows where it is in a source."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from relaxscript.ir.node import Node

__all__ = ["Violation", "undeclared_recursion"]


class Violation(NamedTuple):
    """A mistake at a node, where that is in `within`; `fact` is what is true there."""

    code: str
    message: str
    node: Node
    within: Node | None = None
    help: str | None = None
    fact: str = ""


def undeclared_recursion(name: str, others: Iterable[str] = ()) -> str:
    """Criterion 8 in words: `name` calls itself, or calls and is called by the `others`."""
    through = ", ".join(f"`{other}`" for other in others)
    recursive = f"recursive (through {through})" if through else "recursive"
    return f"`{name}` is {recursive} and has no return annotation"
