"""Sizes of parts of a program, were what is shared in them written out wherever it is used."""

from __future__ import annotations

from .node import Node
from .walk import children, is_variable, post_order

__all__ = ["MOST_PARTS", "size_when_written"]

# What is larger when it is written out is no program for anybody.
MOST_PARTS = 1_000_000


def size_when_written(root: Node) -> int:
    """The number of nodes of `root` when what is shared is written out wherever it is used.

    A variable counts as one, whatever is known of it.
    """
    sizes: dict[int, int] = {}
    for node in post_order(root):
        inner = () if is_variable(node) else children(node)
        sizes[id(node)] = 1 + sum([sizes[id(child)] for child in inner])
    return sizes[id(root)]
