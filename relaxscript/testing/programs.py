"""Random well-typed programs of Relax: functions and modules that use everything there is.

Well typed by construction: a call is kept only if the operator's own rule accepts it. Dimensions
are symbolic or small, 1 and 0 among them and seldom equal; names collide on purpose; numbers are
small and whole, so that floating-point results are exact wherever the operators are. Recursion
terminates. Effects go to the log of `effects.py`.

`modules()` and `functions()` are hypothesis strategies; `random_module(seed)` needs no hypothesis.
Start reading at `steps`; the steps that it chooses from are functions in `generate/values.py`,
`calls.py`, `control_flow.py` and `effectful_calls.py` there.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from relaxscript.builder import BlockBuilder
from relaxscript.errors import RelaxWarning
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function

from .generate.calls import (
    closures,
    emit_call_tir,
    emit_closure_call,
    emit_dps_packed,
    emit_function_call,
    emit_impure_packed,
    emit_prim_func_call,
    emit_pure_packed,
)
from .generate.choices import Choices, Seeded, strategy
from .generate.context import GeneratorContext, Grammar, Step, add_function, random_param_info
from .generate.control_flow import (
    add_mutual_recursion,
    emit_chosen_function,
    emit_dataflow,
    emit_if,
    emit_local_function,
    emit_recursion,
)
from .generate.effectful_calls import (
    emit_apply,
    emit_bump,
    emit_keep,
    emit_note,
    emit_output,
    emit_tick,
)
from .generate.packed_funcs import register_packed
from .generate.values import (
    emit_alias,
    emit_constant,
    emit_field,
    emit_match_cast,
    emit_match_cast_to_variable,
    emit_operator,
    emit_product,
    emit_scalar,
    emit_shape,
    emit_tuple,
    emit_weaker,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

__all__ = ["functions", "modules", "random_function", "random_module", "steps"]

FUNCTION_NAMES = ("f", "main", "g", "x", "f")


def modules() -> SearchStrategy[IRModule]:
    """A hypothesis strategy of modules with a public function `main`."""
    return strategy(_module)


def functions() -> SearchStrategy[Function]:
    """A hypothesis strategy of functions that call nothing but operators and packed functions."""
    return strategy(_function)


def random_module(seed: int) -> IRModule:
    """The module of a seed."""
    return _module(Seeded(seed))


def random_function(seed: int) -> Function:
    """The function of a seed."""
    return _function(Seeded(seed))


def _module(choices: Choices) -> IRModule:
    register_packed()
    builder = BlockBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        if choices.chance(25):
            cx = GeneratorContext(GRAMMAR, choices, builder)
            add_mutual_recursion(cx, ("even", "odd", "third")[: choices.integer(1, 3)])
        for number in range(choices.integer(0, 2)):
            name = f"{choices.pick(FUNCTION_NAMES)}_{number}"
            cx = GeneratorContext(GRAMMAR, choices, builder)
            add_function(cx, name, private=choices.chance(40))
        add_function(GeneratorContext(GRAMMAR, choices, builder), "main", private=False)
    return builder.finalize()


def _function(choices: Choices) -> Function:
    register_packed()
    builder = BlockBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        add_function(GeneratorContext(GRAMMAR, choices, builder, alone=True), "main", private=False)
    function = builder.finalize()["main"]
    assert isinstance(function, Function)
    return function


def steps(cx: GeneratorContext) -> list[Step]:
    """The steps that can be added here to a program that uses everything there is."""
    found: list[Step] = [emit_operator] * 8
    found += [emit_product, emit_constant, emit_tuple, emit_field, emit_shape, emit_alias]
    found += [emit_match_cast, emit_match_cast, emit_weaker, emit_match_cast_to_variable]
    found += [emit_pure_packed, emit_dps_packed, emit_scalar]
    found += [emit_closure_call] * 3 if closures(cx) else []
    found += [emit_local_function, emit_recursion] if cx.depth < 2 else []
    found += [emit_chosen_function] if closures(cx) and cx.depth < 2 else []
    if not cx.alone:
        found += [emit_call_tir] * 2
        found += [emit_function_call] * (3 if cx.builder.get().relax_functions() else 0)
    if not cx.builder.current_block_is_dataflow():
        found += [emit_dataflow]
        found += [emit_if] if cx.depth < 2 else []
        found += [] if cx.pure else _effects(cx) * 2
    return found


def _effects(cx: GeneratorContext) -> list[Step]:
    """The steps that only an impure function may have."""
    found: list[Step] = [emit_impure_packed, emit_note, emit_bump, emit_bump, emit_keep, emit_tick]
    found += [emit_output, *([emit_apply] * 3 if closures(cx) else [])]
    return found if cx.alone else [*found, emit_prim_func_call]


GRAMMAR = Grammar(steps, random_param_info)
