"""The executors agree on random programs: interpreter, machine with plain kernels, native code."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import Phase, given, settings, strategies

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.errors import VMError
from relaxscript.interpreter.tir import evaluate
from relaxscript.testing.compare import assert_allclose_tree, check_executors_agree
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.prim_funcs import prim_funcs
from relaxscript.testing.programs import modules, random_module
from relaxscript_tests import examples

seeds = strategies.integers(0, 10)


# A whole module takes minutes to shrink.
@pytest.mark.slow
@settings(max_examples=examples(2000), phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(modules(), seeds)
def test_they_agree_on_values_and_effects_of_modules(mod, seed):
    check_executors_agree(mod, inputs_for(mod["main"], seed))


@pytest.mark.slow
def test_most_random_programs_run_to_their_end():
    results = [
        check_executors_agree(
            mod := random_module(seed), inputs_for(mod["main"], seed), executors=["interpreter"]
        )
        for seed in range(examples(600))
    ]
    assert sum(isinstance(result, VMError) for result in results) < len(results) / 4


@pytest.mark.slow
@settings(max_examples=examples(400))
@given(prim_funcs(), seeds)
def test_they_agree_on_prim_funcs(function, seed):
    expected, actual = inputs_for(function, seed), inputs_for(function, seed)
    with np.errstate(all="ignore"):
        evaluate(function, expected)
    compile_prim_func(function, "compute")(*actual)
    assert_allclose_tree(tuple(actual), tuple(expected))
