"""Laws of functions made of others: bound, inlined or copied, they compute what they did."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

from relaxscript.analysis import all_vars, detect_recursion, ill_formed
from relaxscript.errors import DiagnosticError
from relaxscript.ir import prim, relax, structural_equal
from relaxscript.ir.module import IRModule
from relaxscript.ir.renaming import copy_with_new_vars
from relaxscript.ir.struct_info import DTensorStructInfo
from relaxscript.ir.walk import bound_vars
from relaxscript.runtime.values import Prim, Shape
from relaxscript.testing.compare import EXECUTORS, Outcome, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.testing.programs import random_module
from relaxscript_tests import examples


def run(mod: IRModule, inputs: list) -> Outcome:
    return observe(EXECUTORS["interpreter"](mod), "main", inputs)


def with_main(mod: IRModule, main: relax.Function) -> IRModule:
    made = mod.clone()
    made["main"] = main
    assert ill_formed(made) == ()
    return made


def programs(count: int) -> Iterator[tuple[IRModule, list]]:
    """Modules and arguments for `main`; none are of several devices, which not all sizes fit."""
    for seed in range(examples(count)):
        mod = random_module(seed)
        infos = [param.struct_info for param in mod["main"].params]
        if not any(isinstance(info, DTensorStructInfo) for info in infos):
            yield mod, inputs_for(mod["main"], seed)


def fails_at_a_call(actual: Outcome, expected: Outcome) -> bool:
    """Whether both end where an argument does not fit: a match_cast says what the call said."""
    codes = [getattr(outcome.value, "code", None) for outcome in (actual, expected)]
    return codes == ["RX0605", "RX0601"]


def expression(value):
    """A value at run time as the expression that has it; None where there is none."""
    match value:
        case Shape():
            return relax.ShapeExpr(value)
        case Prim():
            return relax.PrimValue(prim.const(value.value, value.dtype))
        case tuple():
            fields = [expression(field) for field in value]
            return None if any(field is None for field in fields) else relax.Tuple(fields)
        case bool() | int() | float() | str() | np.ndarray():
            return relax.as_expr(value)
    return None


@pytest.mark.slow
def test_a_function_computes_of_bound_parameters_what_it_does_of_arguments():
    tried = refused = 0
    for mod, inputs in programs(300):
        func, expected = mod.main, run(mod, inputs)
        for index, (param, value) in enumerate(zip(func.params, inputs)):
            if (given := expression(value)) is not None:
                tried += 1
                try:
                    made = with_main(mod, func.bind_params({param: given}))
                except DiagnosticError:  # for this value some line is wrong, in a branch maybe
                    refused += 1
                    continue
                kept = [other for place, other in enumerate(inputs) if place != index]
                left = [other for place, other in enumerate(expected.args) if place != index]
                before = dataclasses.replace(expected, args=tuple(left))
                actual = run(made, kept)
                if not fails_at_a_call(actual, before):
                    check_outcomes("bound", actual, "as it was", before)
    assert tried > 10 * refused


@pytest.mark.slow
def test_a_function_computes_for_its_sizes_what_it_does_for_all():
    tried = refused = 0
    for mod, inputs in programs(300):
        func, sizes = mod.main, {}
        for param, value in zip(func.params, inputs):
            shape = getattr(param.struct_info, "shape", None)
            if isinstance(shape, relax.ShapeExpr) and isinstance(value, np.ndarray):
                pairs = zip(shape.values, value.shape)
                sizes |= {dim: size for dim, size in pairs if isinstance(dim, prim.Var)}
        try:
            made = func.bind_symbolic_vars(sizes)
        except DiagnosticError:  # for these sizes some line is wrong, in a branch maybe
            refused += 1
            continue
        tried += 1
        assert (made is func) == (not sizes)
        expected, actual = run(mod, inputs), run(with_main(mod, made), inputs)
        if not fails_at_a_call(actual, expected):
            check_outcomes("bound", actual, "as it was", expected)
    assert tried > 10 * refused


@pytest.mark.slow
def test_a_function_computes_with_inlined_bodies_what_it_does_by_calls():
    inlined = 0
    for seed in range(examples(600)):
        mod = random_module(seed)
        recursive = {gvar for group in detect_recursion(mod) for gvar in group}
        given = {v: f for v, f in mod.relax_functions().items() if v not in recursive}
        inputs = inputs_for(mod["main"], seed)
        made = mod["main"].inline_functions(given)
        if made is mod["main"]:
            continue
        inlined += 1
        actual, expected = run(with_main(mod, made), inputs), run(mod, inputs)
        if not fails_at_a_call(actual, expected):
            check_outcomes("inlined", actual, "calls", expected)
    assert inlined > 0


@pytest.mark.slow
def test_a_copy_is_equal_and_shares_no_variable():
    for seed in range(examples(300)):
        for func in random_module(seed).relax_functions().values():
            made = copy_with_new_vars(func)
            assert structural_equal(made, func)
            assert set(all_vars(made)).isdisjoint(all_vars(func))
            assert set(bound_vars(made)).isdisjoint(bound_vars(func))
