"""Ranks, bends and references."""

from __future__ import annotations

from itertools import pairwise

from relaxscript.graph.layers import LONGEST_WIRE, Layers, Vertex, Wire, layered


def layers_of(kinds, wires):
    layers = Layers()
    for value, kind in enumerate(kinds):
        leaf = kind == "leaf"
        layers.add(Vertex("item" if leaf else kind, value, is_leaf=leaf))
    layers.wires = [Wire(a, a, b) for a, b in wires]
    layered(layers)
    return layers


def ranks(layers, kind="item"):
    return [vertex.rank for vertex in layers.vertices if vertex.kind == kind]


def test_what_is_used_stands_above_what_uses_it():
    layers = layers_of(["item"] * 4, [(0, 1), (1, 2), (0, 3), (2, 3)])
    assert ranks(layers) == [0, 1, 2, 3]


def test_what_uses_nothing_stands_right_above_its_first_user():
    layers = layers_of(["item"] * 3 + ["leaf"] * 2, [(0, 1), (1, 2), (3, 2), (4, 1), (4, 2)])
    assert ranks(layers) == [0, 1, 2, 1, 0]


def test_a_wire_that_passes_ranks_bends_on_each_and_shares_its_bends():
    layers = layers_of(["item"] * 5, [(0, 1), (1, 2), (2, 3), (3, 4), (0, 3), (0, 4)])
    assert sorted(ranks(layers, "bend")) == [1, 2, 3]
    for wire in layers.wires:
        assert layers.vertices[wire.target].rank == layers.vertices[wire.source].rank + 1


def test_entries_are_above_and_exits_below_all_else():
    layers = layers_of(["item", "item", "exit", "entry"], [(0, 1), (0, 2), (3, 1)])
    assert ranks(layers, "entry") == [0]
    assert ranks(layers) == [1, 2]
    assert ranks(layers, "exit") == [3]


def test_a_very_long_wire_is_cut_and_a_reference_takes_its_place():
    length = 3 * LONGEST_WIRE
    chain = [(i, i + 1) for i in range(length)]
    layers = layers_of(["item"] * (length + 1), [*chain, (0, length), (0, length - 1)])
    (reference,) = [v for v in layers.vertices if v.kind == "reference"]
    assert (reference.value, reference.rank) == (0, length - 2)
    assert not any(v.kind == "bend" and v.rank < length - 1 for v in layers.vertices)


def test_a_value_that_all_use_has_few_bends_for_each_rank():
    length = 400
    chain = list(pairwise(range(1, length)))
    layers = layers_of(["item"] * length, [*chain, *((0, i) for i in range(2, length))])
    assert len(layers.vertices) < 3 * length
