"""Random well-typed programs of Relax: functions and modules that use everything there is.

Well typed by construction: a call is kept only if the operator's own rule accepts it. Dimensions
are symbolic or small, 1 and 0 among them and seldom equal; names collide on purpose; numbers are
small and whole, so that floating-point results are exact wherever the operators are. Recursion
terminates. Effects go to the log of `effects.py`.

`modules()` and `functions()` are hypothesis strategies; `random_module(seed)` needs no hypothesis.
Start reading at `Writer.kinds`; the steps that it chooses from stand in `value_steps.py`,
`call_steps.py`, `control_steps.py` and `effect_steps.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from relaxscript.builder import BlockBuilder
from relaxscript.errors import RelaxWarning
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function

from .choices import Choices, Seeded, strategy
from .effect_steps import EffectSteps
from .packed import register_packed

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["Writer", "functions", "modules", "random_function", "random_module"]

FUNCTION_NAMES = ("f", "main", "g", "x", "f")


def modules() -> SearchStrategy[IRModule]:
    """A hypothesis strategy of modules with a public function `main`."""
    return strategy(_module)


def functions() -> SearchStrategy[Function]:
    """A hypothesis strategy of functions that call nothing but operators and packed functions."""
    return strategy(_function)


def random_module(seed: int) -> IRModule:
    """The module that a number stands for."""
    return _module(Seeded(seed))


def random_function(seed: int) -> Function:
    """The function that a number stands for."""
    return _function(Seeded(seed))


def _module(choices: Choices) -> IRModule:
    register_packed()
    builder = BlockBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        if choices.chance(25):
            Writer(choices, builder).family(("even", "odd", "third")[: choices.integer(1, 3)])
        for number in range(choices.integer(0, 2)):
            name = f"{choices.pick(FUNCTION_NAMES)}_{number}"
            Writer(choices, builder).function(name, private=choices.chance(40))
        Writer(choices, builder).function("main", private=False)
    return builder.finalize()


def _function(choices: Choices) -> Function:
    register_packed()
    builder = BlockBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        Writer(choices, builder, alone=True).function("main", private=False)
    function = builder.finalize()["main"]
    assert isinstance(function, Function)
    return function


class Writer(EffectSteps):
    """Writes one function that uses everything there is."""

    def kinds(self) -> list[Callable[[], bool]]:
        kinds: list[Callable[[], bool]] = [self.operator] * 8
        kinds += [
            self.product,
            self.constant,
            self.make_tuple,
            self.take_field,
            self.shape,
            self.alias,
        ]
        kinds += [self.cast, self.cast, self.forget, self.held_cast]
        kinds += [self.pure_packed, self.dps_packed, self.scalar]
        kinds += [self.call_closure] * 3 if self.closures() else []
        kinds += [self.closure, self.loop] if self.depth < 2 else []
        kinds += [self.choice_of_functions] if self.closures() and self.depth < 2 else []
        if not self.alone:
            kinds += [self.call_tir] * 2
            kinds += [self.call_function] * (3 if self.builder.get().relax_functions() else 0)
        if not self.builder.current_block_is_dataflow():
            kinds += [self.dataflow]
            kinds += [self.branches] if self.depth < 2 else []
            kinds += [] if self.pure else self.effects() * 2
        return kinds

    def effects(self) -> list[Callable[[], bool]]:
        """What only an impure function may do."""
        kinds = [self.impure_packed, self.note, self.bump, self.bump, self.keep, self.tick]
        kinds += [self.output, *([self.apply] * 3 if self.closures() else [])]
        return kinds if self.alone else [*kinds, self.write_into]
