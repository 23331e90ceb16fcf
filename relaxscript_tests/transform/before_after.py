"""Comparing what a pass makes of a script with the script that is expected."""

from __future__ import annotations

from relaxscript.ir.instrument import WellFormedInstrument
from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.testing.compare import assert_same
from relaxscript.transform import Pass, PassContext

__all__ = ["check"]


def check(step: Pass, before: str, after: str | None = None) -> IRModule:
    """Run a pass on the module of a script and compare; None for a pass that changes nothing."""
    mod = from_source(before)
    with PassContext(instruments=[WellFormedInstrument()]):
        made = step(mod)
    if after is None:
        assert made is mod
    else:
        assert_same(made, from_source(after))
    return made
