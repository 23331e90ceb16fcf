"""Memory of schedules in the default pipeline: before, after, what stays, and random schedules."""

from __future__ import annotations

import random

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.semantics.fill_sets import filled_params
from relaxscript.tir import Schedule
from relaxscript.tir.transform import (
    CompactBufferAllocation,
    CompactScheduledBuffers,
    ConvertBlocksToOpaque,
    PlanAndUpdateBufferAllocationLocation,
)
from relaxscript_tests import examples
from relaxscript_tests.transform.schedule.random_schedules import random_program, random_step
from relaxscript_tests.transform.schedule.scheduled import chain, matmul, results, stencil

ONE_BY_ONE = rx.transform.Sequential(
    [PlanAndUpdateBufferAllocationLocation(), ConvertBlocksToOpaque(), CompactBufferAllocation()]
)


def by_tiles(func=matmul) -> Schedule:
    """Tiles of 4 x 8 whose sums are in memory of their own."""
    sch = Schedule(func)
    block = sch.get_block("C")
    i, j, k = sch.get_loops(block)
    i_tile, i_row = sch.split(i, [None, 4])
    j_tile, j_column = sch.split(j, [None, 8])
    sch.reorder(i_tile, j_tile, k, i_row, j_column)
    sch.reverse_compute_at(sch.cache_write(block, 0, "local"), j_tile)
    sch.decompose_reduction(block, k)
    return sch


def test_memory_for_one_tile_is_in_the_loops_over_tiles():
    mod = by_tiles().mod
    text = mod.script()
    made = CompactScheduledBuffers()(mod)
    assert 'C_local = T.alloc_buffer((4, 8), scope="local")' in made.script()
    assert_structural_equal(made, ONE_BY_ONE(mod))
    assert mod.script() == text
    assert CompactScheduledBuffers()(made) is made


def test_what_is_filled_is_known_as_before():
    sch = Schedule(chain)
    sch.compute_inline("B")
    sch.compute_at("A", sch.get_loops("C")[0])
    mod = sch.mod
    made = CompactScheduledBuffers()(mod)
    assert made is not mod
    assert filled_params(made["main"], made) == filled_params(mod["main"], mod)


@pytest.mark.parametrize("func", [matmul, stencil, chain])
def test_functions_without_memory_in_loops_stay(func):
    mod = Schedule(func).mod
    assert CompactScheduledBuffers()(mod) is mod


PROGRAM = """
@T.prim_func
def main(X: T.Buffer((8, {size}), "float32"), I: T.Buffer((8,), "int32"),
         Y: T.Buffer((8, {size}), "float32")):
    t = T.alloc_buffer((8, {size}), "float32")
    for i in range(8):
        for j in range({size}):
            with T.block("t"):
                vi, vj = T.axis.remap("SS", [i, j])
                t[vi, vj] = X[vi, vj]
        for j in range({size}):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[{row}, vj] = t[vi, vj]
"""


@pytest.mark.parametrize(
    ("size", "row", "becomes_smaller"),
    [(4, "vi", True), (40_000, "vi", False), (4, "I[vi]", False)],
)
def test_memory_beyond_the_stack_and_functions_that_may_fail_stay(size, row, becomes_smaller):
    mod = rx.IRModule({"main": from_source(PROGRAM.format(size=size, row=row))})
    assert (CompactScheduledBuffers()(mod) is not mod) is becomes_smaller


def test_programs_are_built_with_it():
    func = by_tiles().mod["main"]
    names = [step.info.name for step in rx.transform.pipeline.llvm_pipeline().passes]
    assert names.index("tir.CompactScheduledBuffers") > names.index("ApplyDefaultSchedule")
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(s).astype("float32") for s in ((12, 8), (8, 16)))
    found, expected = np.empty((12, 16), "float32"), np.empty((12, 16), "float32")
    func(a, b, found)
    evaluate(func, [a, b, expected])
    np.testing.assert_allclose(found, expected, 1e-5, 1e-5)


@pytest.mark.slow
def test_random_schedules_do_the_same():
    """All numbers are integers, so that sums in another order are the same."""
    fewer = 0
    for seed in range(examples(150)):
        rng = random.Random(seed)
        func = random_program(seed)
        sch = Schedule(func)
        for _ in range(10):
            random_step(sch, rng)
        made = CompactScheduledBuffers()(sch.mod)
        assert CompactScheduledBuffers()(made) is made
        fewer += made is not sch.mod
        found = made["main"]
        expected = results(lambda *args, f=func: evaluate(f, args), func, n=3)
        for run in (lambda *args, f=found: evaluate(f, args), compile_prim_func(found)):
            pairs = zip(results(run, func, n=3), expected, strict=True)
            assert all(np.array_equal(a, b) for a, b in pairs)
    assert fewer
