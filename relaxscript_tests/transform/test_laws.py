"""What all passes have in common, on random programs."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest

from relaxscript import transform
from relaxscript.errors import VMError
from relaxscript.ir.instrument import WellFormedInstrument
from relaxscript.ir.module import IRModule
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript.transform import Pass, PassContext
from relaxscript_tests import examples

# Every pass that can be used without arguments.
PASSES: dict[str, Callable[[], Pass]] = {
    name: found
    for name in transform.__all__
    if isinstance(found := getattr(transform, name), type)
    and issubclass(found, Pass)
    and not getattr(found, "__abstractmethods__", None)
    and all(p.default is not p.empty for p in inspect.signature(found).parameters.values())
}
# Passes that give up checks: they keep the meaning of what passes them.
TRUSTING = (transform.RemoveUnusedChecks,)
# Passes that drop what may fail in dataflow blocks: outside of these all stays as it is.
DEFINING = (transform.DeadCodeElimination, transform.TopologicalSort)
# Passes that follow the order of the program, and give another: these run once.
ONCE = (transform.TopologicalSort,)
# Passes that lower what others left: local functions must be lifted by then.
LATE = (transform.VMShapeLower,)
# A row lowers what its own passes make no more: what comes late is not killed by what comes early.
ROWS: dict[str, Callable[[], Pass]] = {"default_build": transform.default_build_pipeline}

every_pass = pytest.mark.parametrize("make", PASSES.values(), ids=PASSES)
every_pass_and_row = pytest.mark.parametrize(
    "make", [*PASSES.values(), *ROWS.values()], ids=[*PASSES, *ROWS]
)


def modules(count: int) -> list[IRModule]:
    return [random_module(seed) for seed in range(examples(count))]


@pytest.mark.slow
@every_pass_and_row
def test_a_pass_keeps_programs_well_formed_and_leaves_its_input_as_it_is(make):
    for mod in modules(200):
        before = mod.script(show_meta=True)
        with PassContext(instruments=[WellFormedInstrument(validate_before_transform=False)]):
            make()(mod)
        assert mod.script(show_meta=True) == before


@pytest.mark.slow
@every_pass
def test_a_pass_settles(make):
    if make in ONCE:
        return
    for mod in modules(200):
        once = make()(mod)
        assert make()(once) is once


@pytest.mark.slow
@every_pass_and_row
def test_a_pass_keeps_the_meaning(make):
    if make in LATE:  # as part of the row
        return
    for seed, mod in enumerate(modules(200)):
        if make in DEFINING:
            check_meaning_outside_of_dataflow(make, mod, seed)
        made = make()(mod)
        inputs = inputs_for(mod["main"], seed)
        expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
        if make in (*TRUSTING, *DEFINING) and isinstance(expected.value, VMError):
            continue
        for name, load in EXECUTORS.items():
            actual = observe(load(made), "main", inputs)
            check_outcomes(f"{name} after the pass", actual, "before", expected)


def check_meaning_outside_of_dataflow(make, mod, seed):
    plain = transform.ToNonDataflow()(mod)
    inputs = inputs_for(mod["main"], seed)
    expected = observe(EXECUTORS["interpreter"](plain), "main", inputs)
    actual = observe(EXECUTORS["interpreter"](make()(plain)), "main", inputs)
    check_outcomes("after the pass", actual, "before", expected)
