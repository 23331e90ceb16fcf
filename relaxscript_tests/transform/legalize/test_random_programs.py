"""Legalised programs are programs: they print, read back, and mean the same to all executors."""

from __future__ import annotations

import pytest

from relaxscript.analysis import well_formed
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript.transform import LegalizeOps
from relaxscript_tests import examples
from relaxscript_tests.transform.failures import failing_as


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
def test_random_programs_mean_the_same_when_they_are_legalised():
    changed = 0
    for seed in range(examples(300)):
        mod = random_module(seed)
        made = LegalizeOps()(mod)
        if made is mod:
            continue
        changed += 1
        assert well_formed(made)
        assert LegalizeOps()(made) is made
        assert_structural_equal(from_source(made.script(show_meta=True)), made)
        inputs = inputs_for(mod["main"], seed)
        expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
        for name, load in EXECUTORS.items():
            actual = observe(load(made), "main", inputs)
            # Computes of functions may differ from their meanings in the last places.
            wanted = failing_as(LegalizeOps(), expected, actual)
            check_outcomes(f"{name} in program {seed}", actual, "before", wanted, 1e-6, 1e-6)
    assert changed
