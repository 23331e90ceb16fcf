"""Order and coordinates on ranks."""

from __future__ import annotations

from itertools import pairwise

import pytest

from relaxscript.graph.layers import Layers, Vertex, Wire, layered
from relaxscript.graph.placing import assign_x, isotonic, order_ranks


def layers_of(count, wires):
    layers = Layers()
    for value in range(count):
        layers.add(Vertex("item", value, left=20, right=30, height=20))
    layers.wires = [Wire(a, a, b, place) for place, (a, b) in enumerate(wires)]
    layered(layers)
    return layers


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
        ([3.0, 1.0], [2.0, 2.0]),
        ([1.0, 5.0, 3.0, 4.0], [1.0, 4.0, 4.0, 4.0]),
        ([], []),
    ],
)
def test_values_out_of_order_meet_in_their_middle(wanted, found):
    assert isotonic([(value, 1.0) for value in wanted]) == found


def test_a_heavy_value_moves_less():
    assert isotonic([(4.0, 3.0), (0.0, 1.0)]) == [3.0, 3.0]


def test_crossings_that_can_be_undone_are():
    layers = layers_of(6, [(0, 5), (1, 4), (2, 3)])
    upper, lower = order_ranks(layers)
    wires = {wire.source: wire.target for wire in layers.wires}
    assert [wires[vertex] for vertex in upper] == lower


def test_neighbours_never_overlap():
    layers = layers_of(9, [(0, i) for i in range(1, 8)] + [(i, 8) for i in range(1, 8)])
    ranks = order_ranks(layers)
    assign_x(layers, ranks)
    for rank in ranks:
        for a, b in pairwise(rank):
            left, right = layers.vertices[a], layers.vertices[b]
            assert left.x + left.right < right.x - right.left


def test_a_chain_is_straight():
    layers = layers_of(40, [(i, i + 1) for i in range(39)])
    assign_x(layers, order_ranks(layers))
    assert len({vertex.x for vertex in layers.vertices}) == 1


def test_a_chain_stays_straight_beside_its_weights():
    layers = layers_of(10, [(0, 1), (5, 1), (1, 2), (6, 2), (2, 3), (7, 3), (3, 4), (8, 4)])
    for vertex in layers.vertices[5:]:
        vertex.is_leaf = True
    layers = _again(layers)
    assign_x(layers, order_ranks(layers))
    assert len({round(layers.vertices[v].x, 3) for v in range(1, 5)}) == 1


def _again(layers):
    found = Layers([*layers.vertices])
    found.wires = [Wire(w.value, w.source, w.target, w.place) for w in layers.wires]
    layered(found)
    return found
