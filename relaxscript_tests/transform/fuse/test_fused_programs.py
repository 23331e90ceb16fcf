"""What fusion keeps, on random programs whose PrimFuncs have any patterns at all."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relaxscript.analysis import well_formed
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.transform import FuseOps, FuseTIR, Pass, Sequential
from relaxscript_tests import examples
from relaxscript_tests.transform.fuse.fusable_programs import fusable_module

PASSES: dict[str, Callable[[], Pass]] = {
    "FuseOps": FuseOps,
    "FuseTIR": lambda: Sequential([FuseOps(), FuseTIR()]),
}
every_pass = pytest.mark.parametrize("make", PASSES.values(), ids=PASSES)


@pytest.mark.slow
@every_pass
def test_fused_programs_mean_the_same(make):
    fused = 0
    for seed in range(examples(200)):
        mod = fusable_module(seed)
        made = make()(mod)
        fused += made is not mod
        inputs = inputs_for(mod["main"], seed)
        expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
        for name, load in EXECUTORS.items():
            actual = observe(load(made), "main", inputs)
            check_outcomes(f"{name} after the pass", actual, "before", expected)
    assert fused


@pytest.mark.slow
@every_pass
def test_fused_programs_are_well_formed_and_print_and_settle(make):
    for seed in range(examples(300)):
        mod = fusable_module(seed)
        before = mod.script(show_meta=True)
        made = make()(mod)
        assert mod.script(show_meta=True) == before
        assert well_formed(made)
        assert make()(made) is made
        assert_structural_equal(from_source(made.script(show_meta=True)), made)
