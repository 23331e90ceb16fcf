"""One look shows at most functions that no step before the rules has anything to do."""

from __future__ import annotations

import pytest

from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.transform.default_schedule.guarded import Guarded
from relaxscript.transform.default_schedule.known_form import STEPS, has_known_form, in_known_form
from relaxscript_tests import examples
from relaxscript_tests.transform.default_schedule.fused_programs import FUSED
from relaxscript_tests.transform.default_schedule.test_hand_written import hand_written
from relaxscript_tests.transform.fuse.fusable_programs import fusable_module

SIGNATURE = 'A: T.Buffer((8, 16), "float32"), B: T.Buffer((8, 16), "float32")'


def function(body: str, noalias: bool = True) -> PrimFunc:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    promise = "    T.func_attr({'tir.noalias': True})\n" if noalias else ""
    return from_source(f"@T.prim_func\ndef main({SIGNATURE}):\n{promise}{lines}")


def assert_no_step_does_anything(func: PrimFunc) -> None:
    for step in STEPS:
        made = step(func)
        assert (made.func if isinstance(made, Guarded) else made) is func, step.__name__


def test_where_a_look_shows_it_no_step_does_anything():
    found = 0
    for seed in range(examples(300)):
        prim_funcs = [f for f in FUSED(fusable_module(seed)).functions.values()
                      if isinstance(f, PrimFunc)]  # fmt: skip
        for func in (hand_written(seed), *prim_funcs):
            if has_known_form(func):
                found += 1
                assert_no_step_does_anything(func)
                assert in_known_form(func) == Guarded(func)
    assert found


@pytest.mark.parametrize(
    "body",
    [
        "for i, j in T.grid(T.int64(8), T.int64(16)):\n    B[i, j] = A[i, j] + T.float32(1)",
        "for i, j in T.grid(T.int64(8), T.int64(16)):\n    B[i, j] = T.exp(A[j // 2, i])",
        """for i, j in T.grid(T.int64(8), T.int64(16)):
    with T.block("B"):
        vi, vj = T.axis.remap("SS", [i, j])
        B[vi, vj] = A[vi, vj] * A[vi, vj]""",
    ],
)
def test_loops_that_are_the_indices_of_one_store_are_known(body):
    func = function(body)
    assert has_known_form(func)
    assert_no_step_does_anything(func)


@pytest.mark.parametrize(
    "body",
    [
        "for i, j in T.grid(8, 16):\n    B[i, j] = A[i, j]",  # of int32
        "for j, i in T.grid(T.int64(16), T.int64(8)):\n    B[i, j] = A[i, j]",
        "for t in range(T.int64(128)):\n    B[t // 16, t % 16] = A[t // 16, t % 16]",
        "for i, j in T.grid(T.int64(8), T.int64(16)):\n    B[i, j] = B[i, j] + A[i, j]",
        """for i, j in T.grid(T.int64(8), T.int64(16)):
    B[i, j] = A[i, j]
for i, j in T.grid(T.int64(8), T.int64(16)):
    B[i, j] = T.exp(B[i, j])""",
        """for i in range(T.int64(8)):
    for j in range(T.int64(16)):
        B[i, j] = A[i, j]
        A[i, j] = T.float32(0)""",
        "for i, j, k in T.grid(T.int64(8), T.int64(16), T.int64(4)):\n    B[i, j] = A[i, k]",
    ],
)
def test_others_go_through_the_steps(body):
    assert not has_known_form(function(body))
