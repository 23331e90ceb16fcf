"""A pass, and the programs on which the laws of all passes ask it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from relaxscript.ir.module import IRModule
from relaxscript.testing.programs import random_module
from relaxscript.transform import Pass

__all__ = ["Case", "Make"]

# A pass for a module whose `main` is called with these arguments.
Make = Callable[[IRModule, Sequence[Any]], Pass]


class Case(NamedTuple):
    """A pass and the programs on which the laws ask it."""

    name: str
    make: Make
    module: Callable[[int], IRModule] = random_module

    def run(self, mod: IRModule, inputs: Sequence[Any] = ()) -> tuple[Pass, IRModule]:
        """The pass, and what it makes of a module."""
        step = self.make(mod, inputs)
        return step, step(mod)
