"""The law of rules: what they arrange computes the same, within the tolerance of the pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.ir.tir import PrimFunc
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.transform import ApplyDefaultSchedule
from relaxscript_tests import examples
from relaxscript_tests.transform.default_schedule.fused_programs import FUSED
from relaxscript_tests.transform.fuse.fusable_programs import fusable_module

__all__ = ["assert_same_on_fused_programs"]


def assert_same_on_fused_programs(rule: Callable[[PrimFunc, Any], PrimFunc | None]) -> None:
    """Random fused programs give the same results by a rule, which arranges at least one."""
    found = 0
    for seed in range(examples(60)):
        mod = FUSED(fusable_module(seed))
        made = ApplyDefaultSchedule(rule)(mod)
        found += made is not mod
        assert_structural_equal(from_source(made.script()), made)
        inputs = inputs_for(mod["main"], seed)
        expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
        for name in ("interpreter", "llvm"):
            actual = observe(EXECUTORS[name](made), "main", inputs)
            check_outcomes(name, actual, "before", expected, ApplyDefaultSchedule.tolerance)
    assert found
