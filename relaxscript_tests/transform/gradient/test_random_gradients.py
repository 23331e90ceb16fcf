"""Adjoints of random programs: they agree with differences of what the programs give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relaxscript.analysis import well_formed
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS
from relaxscript.transform import Gradient
from relaxscript_tests import examples

from . import differentiable_programs

STEP = 1e-6
ROWS = 2


def inputs(seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    shapes = [(ROWS, 6), (ROWS, 6), (6,), (6, 6), (ROWS, 6), (6,), ()]
    x, y, b, m, first, second, z = (rng.uniform(-1.5, 1.5, shape) for shape in shapes)
    return [x, y, b, m, (first, second), z]


def flat(values: Any) -> list[Any]:
    """The arrays in tuples, in their order."""
    if isinstance(values, (tuple, list)):
        return [array for value in values for array in flat(value)]
    return [values]


def differences(main: Any, args: list[Any]) -> list[Any]:
    """The gradients of the first result by all arrays, from central differences."""
    found = []
    for array in flat(args):
        by = np.empty(array.shape)
        for index in np.ndindex(array.shape):
            ends = []
            for step in (STEP, -STEP):
                kept = array[index]
                array[index] = kept + step
                ends.append(float(main("main", *args)[0]))
                array[index] = kept
            by[index] = (ends[0] - ends[1]) / (2 * STEP)
        found.append(by)
    return found


@pytest.mark.slow
def test_the_adjoint_of_a_random_program_is_well_formed_and_reads_back():
    for seed in range(examples(300)):
        mod = Gradient("main")(differentiable_programs.module(seed))
        assert well_formed(mod)
        assert_structural_equal(from_source(mod.script(show_meta=True)), mod)


@pytest.mark.slow
def test_the_adjoint_of_a_random_program_agrees_with_differences_on_every_executor():
    for seed in range(examples(100)):
        mod = differentiable_programs.module(seed, "float64", stops=False)
        args = inputs(seed)
        expected = differences(EXECUTORS["interpreter"](mod), args)
        made = Gradient("main")(mod)
        for name, load in EXECUTORS.items():
            out, grads = load(made)("main_adjoint", *args)
            assert flat(out)[0].shape == ()
            for by, wanted in zip(flat(grads), expected, strict=True):
                assert by.shape == wanted.shape
                np.testing.assert_allclose(
                    by, wanted, rtol=2e-4, atol=2e-6, err_msg=f"{seed} on {name}"
                )
