"""The lowering, the removal of checks and the rewriting below all passes are linear."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from relaxscript.ir.prim import Add, IntImm, Var
from relaxscript.ir.walk import Substitution
from relaxscript.transform import (
    CanonicalizeBindings,
    ConvertToDataflow,
    DeadCodeElimination,
    EliminateCommonSubexpr,
    FoldConstant,
    InlinePrivateFunctions,
    NormalizeGlobalVar,
    TopologicalSort,
)
from relaxscript.transform.lower.remove_redundant_checks import RemoveRedundantChecks
from relaxscript.transform.pass_infra.passes import Pass
from relaxscript.transform.pipeline import default_build_pipeline
from relaxscript_tests.growth import garbage_of, growth
from relaxscript_tests.transform.long_programs import PROGRAMS, long_module

PASSES = [step for step in default_build_pipeline().passes if isinstance(step, Pass)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", PROGRAMS)
def test_each_pass_of_the_lowering_is_linear_in_the_bindings(kind: str):
    lowered = {size: long_module(kind, size) for size in (2, 24, 24 * 8)}
    grown = {}
    for transform in PASSES:

        def prepare(count: int, transform: Pass = transform) -> Callable[[], Any]:
            return lambda: lowered.update({count: transform(lowered[count])})

        grown[type(transform).__name__] = growth(prepare, 24)
    assert {name: times for name, times in grown.items() if times > 10} == {}


@pytest.mark.slow
@pytest.mark.parametrize("kind", PROGRAMS)
def test_removing_checks_is_linear_in_the_bindings_and_in_the_names_of_a_value(kind: str):
    def prepare(count: int) -> Callable[[], Any]:
        made = long_module(kind, count)
        return lambda: RemoveRedundantChecks()(made)

    assert growth(prepare, 24) < 10


SIMPLIFIERS = (
    CanonicalizeBindings, ConvertToDataflow, DeadCodeElimination, EliminateCommonSubexpr,
    FoldConstant, InlinePrivateFunctions, NormalizeGlobalVar, TopologicalSort,
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", PROGRAMS)
def test_each_pass_that_simplifies_is_linear_in_the_bindings(kind: str):
    made = {size: long_module(kind, size) for size in (2, 24, 24 * 8)}
    grown = {}
    for step in SIMPLIFIERS:

        def prepare(count: int, step: Callable[[], Pass] = step) -> Callable[[], Any]:
            return lambda: step()(made[count])

        grown[step.__name__] = growth(prepare, 24)
    assert {name: times for name, times in grown.items() if times > 10} == {}


def test_a_substitution_that_is_applied_as_it_grows_is_linear():
    def prepare(count: int) -> Callable[[], Any]:
        variables = [Var(f"v{i}", "int64") for i in range(count)]

        def act() -> None:
            known = Substitution()
            for var in variables:
                known.apply(Add(var, IntImm("int64", 1)))
                known[var] = Var(var.name, "int64")

        return act

    assert growth(prepare, 50) < 10


@pytest.mark.slow
@pytest.mark.parametrize("kind", PROGRAMS)
def test_what_a_pass_made_ends_without_the_collector_when_nobody_holds_it(kind: str):
    made = {size: long_module(kind, size) for size in (2, 24, 48)}
    left = {}
    for step in (*PASSES, *(make() for make in SIMPLIFIERS)):
        step(made[2])  # what is done once is no part of it
        small, large = (garbage_of(partial(step, made[n])) for n in (24, 48))
        left[type(step).__name__] = large - small
    assert {name: more for name, more in left.items() if more >= 24} == {}
