"""Memory of what is used only: before, after, what stays, and random schedules."""

from __future__ import annotations

import random

import numpy as np
import pytest

from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.module import IRModule
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.tir import Schedule
from relaxscript.tir.transform import (
    CompactBufferAllocation,
    ConvertBlocksToOpaque,
    PlanAndUpdateBufferAllocationLocation,
)
from relaxscript_tests import examples
from relaxscript_tests.transform.schedule.random_schedules import random_program, random_step
from relaxscript_tests.transform.schedule.scheduled import results, stencil

from .test_vectors_of_loops import assert_becomes, assert_stays

HEAD = 'X: T.Buffer(("n", 64), "float32"), Y: T.Buffer(("n", 64), "float32")'


def step(mod):
    return CompactBufferAllocation()(mod)


PROGRAM = """
n = T.int64()
for i, k in T.grid(n, 8):
    with T.block("part"):
        A = T.alloc_buffer({shape})
        for j in range({size}):
            with T.block("A"):
                A[{write}] = X[i, k * 8 + j % 8]
        for j in range(8):
            with T.block("Y"):
                Y[i, k * 8 + j] = A[{read}]
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            ("(n, 64)", "i, k * 8 + j", "i, k * 8 + j"),
            ("(T.int64(1), 8)", "T.int64(0), j", "T.int64(0), j"),
        ),
        (("(100,)", "k * 8 + j + 7", "k * 8 + 14 - j"), ("(8,)", "j", "7 - j")),
        (("(64,)", "j", "j"), ("(8,)", "j", "j")),
        (("(8, 64)", "k, j", "k, 7 - j"), ("(1, 8)", "0, j", "0, 7 - j")),
    ],
)  # fmt: skip
def test_a_buffer_has_the_elements_that_are_used(before: tuple[str, ...], after: tuple[str, ...]):
    old, new = (
        PROGRAM.format(shape=shape, write=write, read=read, size=8)
        for shape, write, read in (before, after)
    )
    assert_becomes(step, HEAD, old, new)


def test_regions_of_blocks_are_those_of_the_smaller_buffer():
    func = from_source(
        "@T.prim_func\ndef main(X: T.Buffer((64,), 'float32')):\n    for i in range(8):\n"
        "        with T.block(''):\n            T.reads(X[i * 8])\n            T.writes()\n"
        "            A = T.alloc_buffer((64,))\n            with T.block('A'):\n"
        "                T.reads(X[i * 8])\n                T.writes(A[i * 8])\n"
        "                A[i * 8] = X[i * 8]\n"
    )
    text = step(IRModule({"main": func})).script()
    assert "A = T.alloc_buffer((1,))" in text
    assert "T.writes(A[0])" in text


@pytest.mark.parametrize(
    ("shape", "write", "read"),
    [
        ("(8,)", "j", "j"),  # all of it is used
        ("(64,)", "j", "T.Cast('int32', X[i, 0])"),  # it is not known what is used
        ("(64,), strides=(1,)", "j", "j"),
        ("(4,)", "k * 8 + j", "j"),  # more is used than there is
    ],
)
def test_a_buffer_of_which_it_is_not_known_what_is_used_stays(shape: str, write: str, read: str):
    assert_stays(step, HEAD, PROGRAM.format(shape=shape, write=write, read=read, size=8))


def test_a_buffer_whose_address_is_taken_stays():
    body = PROGRAM.format(shape="(64,)", write="j", read="j", size=8)
    assert_stays(step, HEAD, f"{body}        T.evaluate(T.call_extern('int32', 'f', A.data))\n")


def test_functions_whose_blocks_have_axes_stay():
    sch = Schedule(stencil)
    sch.compute_at("A", sch.get_loops("B")[0])
    assert step(sch.mod) is sch.mod


def test_what_a_cache_holds_for_an_iteration_is_as_small_as_a_tile():
    sch = Schedule(stencil)
    sch.compute_at("A", sch.get_loops("B")[0])
    mod = PlanAndUpdateBufferAllocationLocation()(sch.mod)
    made = step(ConvertBlocksToOpaque()(mod))
    assert "A = T.alloc_buffer((3,))" in made.script()


@pytest.mark.slow
def test_random_schedules_do_the_same_with_less_memory():
    """All numbers are integers, so that sums in another order are the same."""
    fewer = 0
    for seed in range(examples(150)):
        rng = random.Random(seed)
        func = random_program(seed)
        sch = Schedule(func)
        for _ in range(10):
            random_step(sch, rng)
        moved = PlanAndUpdateBufferAllocationLocation()(sch.mod)
        assert PlanAndUpdateBufferAllocationLocation()(moved) is moved
        opaque = ConvertBlocksToOpaque()(moved)
        made = step(opaque)
        assert step(made) is made
        fewer += made is not opaque
        for mod in (moved, made):
            assert_structural_equal(from_source(mod.script()), mod)
            found = mod["main"]
            expected = results(lambda *args, f=func: evaluate(f, args), func, n=3)
            for run in (lambda *args, f=found: evaluate(f, args), compile_prim_func(found)):
                pairs = zip(results(run, func, n=3), expected, strict=True)
                assert all(np.array_equal(a, b) for a, b in pairs)
    assert fewer
