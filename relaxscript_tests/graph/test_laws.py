"""Laws of pictures, on random programs."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from relaxscript.graph.reader import read_function
from relaxscript.graph.summary import summarise
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples
from relaxscript_tests.graph.programs import assert_sound, chain
from relaxscript_tests.graph.test_dot import tokens
from relaxscript_tests.growth import growth

seeds = pytest.mark.parametrize("seed", range(examples(150)))


@seeds
def test_every_function_is_drawn_in_every_form(seed):
    mod = random_module(seed)
    for var in mod.relax_functions():
        graph = mod.graph(var)
        ElementTree.fromstring(graph.to_svg())
        tokens(graph.to_dot())
        assert str(graph).startswith(var.name_hint)


@seeds
@pytest.mark.parametrize("max_nodes", [None, 1, 6, 20])
def test_every_picture_is_sound_whole_and_summarised(seed, max_nodes):
    mod = random_module(seed)
    for var, function in mod.relax_functions().items():
        picture = read_function(function, var.name_hint)
        summarise(picture, max_nodes)
        assert_sound(picture)


@pytest.mark.parametrize("max_nodes", [None, 20])
def test_the_work_grows_as_the_number_of_bindings(max_nodes):
    def prepare(length):
        mod = chain(length, mixed=True)
        return lambda: mod.graph(max_nodes=max_nodes).to_svg()

    # Where quadratic, it would be 64; longer functions have longer layers that may repeat.
    assert growth(prepare, 60) < 14
