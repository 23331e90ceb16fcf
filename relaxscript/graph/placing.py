"""Order and coordinates of the vertices of a cluster, after Sugiyama's method.

Vertices of a rank are ordered by the middle of their neighbours, rank by rank, down and up. Then
each is moved as near as it can come to where its wires pull it. That is an isotonic regression for
a rank: the places nearest to those wished for, of which none is less than the one before.
Source: K. Sugiyama, S. Tagawa, M. Toda, "Methods for Visual Understanding of Hierarchical System
Structures", 1981.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .layers import Layers, Vertex

__all__ = ["assign_x", "isotonic", "order_ranks"]

# Sweeps of small and of large frames; the latter have more vertices than `LARGE`.
SWEEPS, FEW_SWEEPS, LARGE = 12, 4, 3_000
GAP, BEND_GAP = 22.0, 12.0

# How much a wire pulls: the main wire of a vertex, between bends, one that begins to pass ranks,
# any other. That of a leaf pulls less, by a factor: what is computed stands in the middle.
MAIN, STRAIGHT, ASIDE, OTHER, LIGHT = 20.0, 5.0, 0.5, 0.1, 0.02
# What stands already, while leaves are moved to it.
HELD = 1e6

Neighbours = list[list[tuple[int, float, float]]]


def order_ranks(layers: Layers) -> list[list[int]]:
    """The vertices of each rank from left to right, with few crossings."""
    ranks = layers.ranks()
    position = [0.0] * len(layers.vertices)
    _remember(ranks, position)
    above: Neighbours = [[] for _ in layers.vertices]
    below: Neighbours = [[] for _ in layers.vertices]
    most = 1 + max((wire.place for wire in layers.wires), default=0)
    for wire in layers.inner_wires:
        shift = 0.5 * (wire.place / most - 0.5)  # operands stand in their order
        above[wire.target].append((wire.source, 0.0, 1.0))
        below[wire.source].append((wire.target, shift, 1.0))
    sweeps = FEW_SWEEPS if len(position) > LARGE else SWEEPS
    best, fewest = [list(rank) for rank in ranks], _crossings(layers, ranks, position)
    for sweep in range(sweeps):
        down = sweep % 2 == 1
        for rank in ranks if down else reversed(ranks):
            around = above if down else below
            rank.sort(key=lambda v: _middle(around[v], position, v))
            for place, vertex in enumerate(rank):
                position[vertex] = place
        count = _crossings(layers, ranks, position)
        if count < fewest or sweep == 0:
            best, fewest = [list(rank) for rank in ranks], count
    return best


def _remember(ranks: Sequence[Sequence[int]], position: list[float]) -> None:
    for rank in ranks:
        for place, vertex in enumerate(rank):
            position[vertex] = place


def _middle(around: list[tuple[int, float, float]], position: list[float], own: int) -> float:
    if not around:
        return position[own]
    return sum(position[v] + shift for v, shift, _ in around) / len(around)


def _crossings(layers: Layers, ranks: Sequence[Sequence[int]], position: list[float]) -> int:
    """The number of pairs of wires that cross."""
    by_rank: list[list[tuple[float, float]]] = [[] for _ in ranks]
    for wire in layers.inner_wires:
        rank = layers.vertices[wire.source].rank
        by_rank[rank].append((position[wire.source], position[wire.target]))
    return sum(_inversions([end for _, end in sorted(wires)]) for wires in by_rank)


def _inversions(values: list[float]) -> int:
    """The pairs that stand in the wrong order, counted by merging."""
    if len(values) < 2:
        return 0
    half = len(values) // 2
    left, right = values[:half], values[half:]
    count = _inversions(left) + _inversions(right)
    left.sort()
    right.sort()
    at = 0
    for value in left:
        while at < len(right) and right[at] < value:
            at += 1
        count += at
    return count


def assign_x(layers: Layers, ranks: Sequence[Sequence[int]]) -> None:
    """Give each vertex its x: few bends, straight main wires, nothing too near."""
    vertices = layers.vertices
    above, below = _pulls(layers)
    gaps = [[_apart(vertices[a], vertices[b]) for a, b in pairwise(rank)] for rank in ranks]
    for rank, apart in zip(ranks, gaps):
        at = -sum(apart) / 2
        for vertex, gap in zip(rank, [*apart, 0.0]):
            vertices[vertex].x = at
            at += gap
    # The last sweep goes down, so that what is computed stands below what it is computed of.
    for sweep in range(1 + 2 * (FEW_SWEEPS if len(vertices) > LARGE else SWEEPS)):
        down = sweep % 2 == 0
        order = range(len(ranks)) if down else range(len(ranks) - 1, -1, -1)
        for index in order:
            _settle(vertices, ranks[index], gaps[index], above if down else below)
    for index in range(len(ranks)):
        _straighten(vertices, ranks[index], gaps[index], above)
    held: Neighbours = [[(v, 0.0, HELD)] if around else below[v] for v, around in enumerate(above)]
    for rank, apart in zip(ranks, gaps):
        _settle(vertices, rank, apart, held)


def _pulls(layers: Layers) -> tuple[Neighbours, Neighbours]:
    """For each vertex its neighbours above and below: which, at what distance, how strongly."""
    above: Neighbours = [[] for _ in layers.vertices]
    below: Neighbours = [[] for _ in layers.vertices]
    light = {v.value for v in layers.vertices if v.is_leaf}
    for wire in layers.inner_wires:
        source, target = layers.vertices[wire.source], layers.vertices[wire.target]
        shift = wire.start - wire.end
        if target.kind == "bend":
            pull = STRAIGHT if source.kind == "bend" else ASIDE
        else:
            pull = MAIN if wire.main else OTHER
        if wire.value in light:
            pull *= LIGHT
        above[wire.target].append((wire.source, shift, pull))
        below[wire.source].append((wire.target, -shift, pull))
    return above, below


def _apart(left: Vertex, right: Vertex) -> float:
    """The distance that two neighbours keep."""
    gap = BEND_GAP if "bend" in (left.kind, right.kind) else GAP
    return left.right + right.left + gap


def _settle(
    vertices: list[Vertex], rank: Sequence[int], gaps: Sequence[float], pulls: Neighbours
) -> None:
    """Move the vertices of a rank to the places nearest to those they are pulled to."""
    wishes: list[tuple[float, float]] = []
    for vertex in rank:
        total, weight = 0.0, 0.0
        for other, shift, pull in pulls[vertex]:
            total += pull * (vertices[other].x + shift)
            weight += pull
        wishes.append((total / weight, weight) if weight else (vertices[vertex].x, 0.01))
    offset, offsets = 0.0, [0.0]
    for gap in gaps:
        offset += gap
        offsets.append(offset)
    wanted = [(wish - at, weight) for (wish, weight), at in zip(wishes, offsets)]
    for vertex, x, at in zip(rank, isotonic(wanted), offsets):
        vertices[vertex].x = x + at


def isotonic(wanted: Sequence[tuple[float, float]]) -> list[float]:
    """The values nearest to those wanted, by their weights, of which none is less than the last."""
    pools: list[list[float]] = []  # value, weight, count
    for value, weight in wanted:
        pools.append([value, weight, 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            high = pools.pop()
            low = pools[-1]
            both = low[1] + high[1]
            low[0] = (low[0] * low[1] + high[0] * high[1]) / both
            low[1], low[2] = both, low[2] + high[2]
    return [value for value, _, count in pools for _ in range(int(count))]


def _straighten(
    vertices: list[Vertex], rank: Sequence[int], gaps: Sequence[float], above: Neighbours
) -> None:
    """Put each vertex right below the one that pulls it most, where that is free and near."""
    for place, vertex in enumerate(rank):
        strongest = max(above[vertex], key=lambda pull: pull[2], default=None)
        if strongest is None:
            continue
        aim = vertices[strongest[0]].x + strongest[1]
        least = vertices[rank[place - 1]].x + gaps[place - 1] if place else aim
        most = vertices[rank[place + 1]].x - gaps[place] if place + 1 < len(rank) else aim
        if least <= aim <= most and abs(aim - vertices[vertex].x) < 30:
            vertices[vertex].x = aim
