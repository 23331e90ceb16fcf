"""What importing the printer costs and fills."""

from __future__ import annotations

import pytest

from relaxscript.ir import hooks
from relaxscript.ir.relax import PrimValue
from relaxscript.script import printer

from .programs import function, tensor


@pytest.mark.slow
def test_the_hooks_of_the_ir_are_the_printer():
    f = function([], result=PrimValue(1), ret=tensor())
    assert hooks.script_of(f) == printer.script_of(f) == f.script()
    assert hooks.html_of(f) == printer.html_of(f) == f._repr_html_()
    assert printer.blame_of(f, f, "all of it") == hooks.blame(f, f, "all of it")
