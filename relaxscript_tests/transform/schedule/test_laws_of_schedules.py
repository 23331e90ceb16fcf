"""Whatever a schedule accepts computes the same, and whatever it refuses changes nothing."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from relaxscript.ir.tir import BlockRealize, PrimFunc
from relaxscript.testing.prim_funcs import random_prim_func
from relaxscript.tir import Schedule
from relaxscript_tests import examples

from .random_schedules import random_program, random_step
from .scheduled import check

STEPS = 12


def accepted_steps(func: PrimFunc, seed: int) -> Counter[str]:
    """The steps of a random schedule that were accepted; checks what it has made."""
    rng = random.Random(seed)
    sch = Schedule(func)
    found = [random_step(sch, rng) for _ in range(STEPS)]
    check(func, sch, sizes=(3,))
    return Counter(name for name in found if name is not None)


@pytest.mark.slow
def test_random_schedules_keep_results_and_print_and_parse_back():
    """All numbers are integers, so that sums in another order are the same."""
    total: Counter[str] = Counter()
    for seed in range(examples(300)):
        total += accepted_steps(random_program(seed), seed)
    assert len(total) >= 10


@pytest.mark.slow
def test_schedules_of_the_random_functions_of_all_executors_keep_results():
    total: Counter[str] = Counter()
    for seed in range(examples(300)):
        func = random_prim_func(seed).with_attr("global_symbol", "main")
        if has_blocks(func):
            total += accepted_steps(func, seed)
    assert len(total) >= 5


def has_blocks(func: PrimFunc) -> bool:
    """True if there is a block around all others."""
    return isinstance(func.body, BlockRealize) and func.body.block.name_hint == "root"
