"""The layers of one cluster: what stands in it, on which rank, and the wires between neighbours.

Ranks are counted from the top. A wire goes from a rank to a later one. One that passes ranks has a
bend on each; the wires of one value share their bends. A wire that would be very long is cut: a
reference stands above its end instead, and says which value comes there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

__all__ = ["LONGEST_WIRE", "Layers", "Vertex", "Wire", "layered"]

# Ranks that a wire may pass. It bounds the bends of a function in which all values live long.
LONGEST_WIRE = 16


@dataclass
class Vertex:
    """Something on a rank: an item, a bend, a reference, or a port on an edge of the frame.

    It reaches from `x - left` to `x + right`, and `height` down from `y`. `value` is the key of the
    item whose value goes through it, for an item its own key. A leaf computes nothing. What is
    beside the frame has a rank, and no place among the others on it.
    """

    kind: Literal["item", "bend", "reference", "entry", "exit"]
    value: int
    left: float = 0.0
    right: float = 0.0
    height: float = 0.0
    is_leaf: bool = False
    is_beside: bool = False
    rank: int = 0
    x: float = 0.0
    y: float = 0.0


@dataclass
class Wire:
    """A connection of two vertices; `start` and `end` are where it is attached, from their middle.

    The main wire into a vertex wants to be straight. `last` is the target in the picture, where
    this is the wire that ends there.
    """

    value: int
    source: int
    target: int
    place: int = 0
    start: float = 0.0
    end: float = 0.0
    control: bool = False
    main: bool = False
    last: int | None = None


@dataclass
class Layers:
    """The vertices of a cluster and the wires between them."""

    vertices: list[Vertex] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    # The vertices of items, entries and exits, by their kind and value.
    known: dict[tuple[str, int], int] = field(default_factory=dict)

    def add(self, vertex: Vertex) -> int:
        self.vertices.append(vertex)
        self.known[vertex.kind, vertex.value] = len(self.vertices) - 1
        return len(self.vertices) - 1

    def ranks(self, *, with_beside: bool = False) -> list[list[int]]:
        """The vertices of each rank, what is light behind the others."""
        found: list[list[int]] = [[] for _ in range(1 + max(v.rank for v in self.vertices))]
        for index, vertex in enumerate(self.vertices):
            if with_beside or not vertex.is_beside:
                found[vertex.rank].append(index)
        for rank in found:
            rank.sort(key=lambda index: self.vertices[index].is_leaf)
        return found

    @property
    def inner_wires(self) -> list[Wire]:
        """The wires without those that come from beside the frame."""
        return [wire for wire in self.wires if not self.vertices[wire.source].is_beside]


def layered(layers: Layers) -> None:
    """Give each vertex its rank, and each wire that passes ranks its bends or a reference."""
    _rank(layers)
    _choose_main(layers)
    _cut(layers)
    _bend(layers)


def _rank(layers: Layers) -> None:
    """As high as what it uses admits; what uses nothing stands right above what uses it."""
    vertices = layers.vertices
    above: dict[int, list[int]] = defaultdict(list)
    below: dict[int, list[int]] = defaultdict(list)
    for wire in layers.wires:
        above[wire.target].append(wire.source)
        below[wire.source].append(wire.target)
    top = int(any(vertex.kind == "entry" for vertex in vertices))
    order = _in_order(layers, above)
    for index in order:
        vertex = vertices[index]
        least = 0 if vertex.kind == "entry" else top
        uses = above.get(index, ())
        vertex.rank = max([vertices[i].rank + 1 for i in uses], default=least)
    for index in reversed(order):
        vertex = vertices[index]
        sinks = vertex.is_leaf or index not in above
        if sinks and below[index] and vertex.kind == "item":
            vertex.rank = max(top, min(vertices[i].rank for i in below[index]) - 1)
    last = max((v.rank for v in vertices if v.kind != "exit"), default=0)
    for vertex in vertices:
        if vertex.kind == "exit":
            vertex.rank = last + 1


def _in_order(layers: Layers, above: Mapping[int, list[int]]) -> list[int]:
    """The vertices, each after those that it uses: what uses nothing may stand anywhere."""
    order = {"entry": 0, "item": 1, "exit": 2}
    return sorted(
        range(len(layers.vertices)),
        key=lambda i: (order[layers.vertices[i].kind], i in above, i),
    )


def _choose_main(layers: Layers) -> None:
    """The main wire into a vertex: not from a leaf, short, of an early operand."""
    into: dict[int, list[Wire]] = defaultdict(list)
    for wire in layers.wires:
        into[wire.target].append(wire)
    vertices = layers.vertices
    for wires in into.values():
        best = min(
            wires,
            key=lambda w: (
                vertices[w.source].is_leaf,
                w.control,
                -vertices[w.source].rank,
                w.place,
            ),
        )
        best.main = True


def _cut(layers: Layers) -> None:
    """References in the place of wires that are too long, shared by ends that are near."""
    by_source: dict[int, list[Wire]] = defaultdict(list)
    for wire in layers.wires:
        by_source[wire.source].append(wire)
    for source, wires in by_source.items():
        reached = layers.vertices[source].rank
        near = source
        for wire in sorted(wires, key=lambda w: layers.vertices[w.target].rank):
            rank = layers.vertices[wire.target].rank
            if rank - reached > LONGEST_WIRE:
                reached = rank - 1
                near = layers.add(Vertex("reference", wire.value, is_leaf=True, rank=reached))
            if near != source:
                wire.source, wire.start, wire.main = near, 0.0, False


def _bend(layers: Layers) -> None:
    """Bends where wires pass ranks; those of one value that leave a vertex share them."""
    vertices = layers.vertices
    bends: dict[tuple[int, int, int], int] = {}
    found: list[Wire] = []
    for wire in layers.wires:
        at, start = wire.source, wire.start
        for rank in range(vertices[at].rank + 1, vertices[wire.target].rank):
            key = (wire.source, wire.value, rank)
            if key not in bends:
                bends[key] = layers.add(Vertex("bend", wire.value, rank=rank))
                trunk = Wire(wire.value, at, bends[key], start=start, main=True)
                trunk.control = wire.control
                found.append(trunk)
            at, start = bends[key], 0.0
        found.append(replace(wire, source=at, start=start))
    layers.wires = found
