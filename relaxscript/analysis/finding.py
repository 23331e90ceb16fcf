"""What a check found, before anybody knows where it stands in a text."""

from __future__ import annotations

from typing import NamedTuple

from relaxscript.ir.node import Node

__all__ = ["Finding"]


class Finding(NamedTuple):
    """A mistake at a node, where that stands in `within`; `fact` is what is true there."""

    code: str
    message: str
    node: Node
    within: Node | None = None
    help: str | None = None
    fact: str = ""
