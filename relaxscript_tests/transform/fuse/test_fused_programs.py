"""What fusion keeps, on random programs whose PrimFuncs have any patterns at all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from relaxscript.analysis import well_formed
from relaxscript.errors import VMError
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript.transform import FuseOps, FuseTIR, Pass, Sequential, zero_pipeline
from relaxscript_tests import examples
from relaxscript_tests.transform.failures import failing_as
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


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_any_programs_mean_the_same_behind_the_pipeline_that_fuses():
    for seed in range(examples(300)):
        mod = random_module(seed)
        made = zero_pipeline()(mod)
        inputs = inputs_for(mod["main"], seed)
        expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
        for name, load in EXECUTORS.items():
            actual = observe(load(made), "main", inputs)
            # Computes of functions may differ from their meanings in the last places.
            wanted = failing_as(zero_pipeline(), expected, actual)
            check_outcomes(f"{name} in program {seed}", actual, "before", wanted, 1e-6, 1e-6)


def test_what_goes_wrong_in_a_fused_function_is_shown_at_its_last_operator():
    mod = from_source("""
@I.ir_module
class Taken:
    @R.function
    def main(x: R.Tensor((4,), "float32"), i: R.Tensor((2,), "int64")):
        with R.dataflow():
            y = R.take(x, i)
            z = R.exp(y)
            R.output(z)
        return z
""")
    made = zero_pipeline()(mod)
    assert "fused_take_exp" in made
    for load in EXECUTORS.values():
        with pytest.raises(VMError) as caught:
            load(made)("main", np.ones(4, "float32"), np.array([1, 9]))
        assert "R.exp(y)" in str(caught.value)
