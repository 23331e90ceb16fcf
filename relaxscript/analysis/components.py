"""The strongly connected components of a graph: who reaches whom and is reached back."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

__all__ = ["components"]

K = TypeVar("K", bound=Hashable)


def components(graph: Mapping[K, Iterable[K]]) -> list[list[K]]:
    """The nodes in groups in which each reaches each; a group comes behind those that it reaches.

    In a group the nodes have the order of the graph. Every node that is pointed at must be a key.
    Source: Tarjan's algorithm, on a stack of its own, so that long chains do no harm.
    """
    order: dict[K, int] = {}
    lowest: dict[K, int] = {}
    waiting: dict[K, None] = {}
    groups: list[list[K]] = []
    positions = {key: number for number, key in enumerate(graph)}
    for root in graph:
        path: list[tuple[K, Iterator[K]]] = []
        if root not in order:
            _enter(root, order, lowest, waiting)
            path.append((root, iter(graph[root])))
        while path:
            at, rest = path[-1]
            for other in rest:
                if other not in order:
                    _enter(other, order, lowest, waiting)
                    path.append((other, iter(graph[other])))
                    break
                if other in waiting:
                    lowest[at] = min(lowest[at], order[other])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[at])
                if lowest[at] == order[at]:
                    groups.append(sorted(_pop_component(at, waiting), key=positions.__getitem__))
    return groups


def _enter(key: K, order: dict[K, int], lowest: dict[K, int], waiting: dict[K, None]) -> None:
    order[key] = lowest[key] = len(order)
    waiting[key] = None


def _pop_component(root: K, waiting: dict[K, None]) -> Iterator[K]:
    """Take what was entered last, back to `root`."""
    while True:
        key, _ = waiting.popitem()
        yield key
        if key == root:
            return
