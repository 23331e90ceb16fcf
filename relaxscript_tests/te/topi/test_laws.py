"""The law of topi: a function refuses its tensors by a diagnostic, or gives what runs everywhere.

What it gives is called in a program; that is printed, read back, and computed alike by all.
"""

from __future__ import annotations

import inspect
import itertools
import warnings
from types import ModuleType

import numpy as np
import pytest

from relaxscript import relax, topi
from relaxscript.errors import DiagnosticError, RelaxWarning, VMError
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, relax as R
from relaxscript_tests import examples
from relaxscript_tests.end_to_end.executors import EXECUTORS

DTYPES = ("float32", "float16", "int32", "uint8", "bool")
SHAPES = ((3, 4), (), ("n", 4), (0, 4), (4,), (2, 1, 4))


def is_of_tensors(function):
    """True for a function that needs tensors only, one or two."""
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    takes = (p.annotation == "Tensor" or p.name in ("x", "lhs", "rhs") for p in needed)
    return 0 < len(needed) < 3 and all(takes)


def functions_of(namespace: ModuleType):
    for name in sorted(namespace.__all__):
        function = getattr(namespace, name)
        if inspect.isfunction(function) and is_of_tensors(function):
            yield pytest.param(function, id=f"{namespace.__name__.rpartition('.')[2]}.{name}")


FUNCTIONS = [*functions_of(topi), *functions_of(topi.nn)]


def program_of(function, infos):
    """A program that calls a function of tensors."""
    params = [relax.Var(name, info) for name, info in zip("xy", infos)]
    bb = relax.BlockBuilder()
    with bb.function("main", params):
        bb.emit_func_output(bb.emit_te(function, *params))
    return bb.get()


def outcome(load, module, arrays):
    """The arrays that a program gives, or that it refuses what only a run can tell."""
    try:
        found = load(module).main(*arrays)
    except VMError as error:
        return error.code
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_a_function_gives_is_read_back_and_runs_on_every_executor(function, rng):
    needed = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    cases = list(itertools.product(DTYPES, SHAPES))
    rng.shuffle(cases)
    refused = []
    for dtype, shape in cases[: examples(len(cases))]:
        try:
            module = program_of(function, [R.Tensor(shape, dtype)] * len(needed))
        except DiagnosticError as error:
            refused += error.diagnostics
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelaxWarning)
            assert_structural_equal(from_source(module.script()), module)
        sizes = [2 if dim == "n" else dim for dim in shape]
        arrays = [(rng.standard_normal(sizes) * 2).astype(dtype) for _ in needed]
        first, *others = (outcome(load, module, arrays) for load in EXECUTORS.values())
        for other in others:
            assert isinstance(other, type(first)), (dtype, shape)
            if isinstance(first, str):
                assert first == other, (dtype, shape)
                continue
            for a, b in zip(first, other, strict=True):
                assert a.dtype == b.dtype
                assert a.shape == b.shape
                wide = (e.astype("float64") for e in (a, b))
                np.testing.assert_allclose(
                    *wide, rtol=2e-3 if dtype == "float16" else 1e-5, atol=1e-6
                )
    assert all(found.span.filename == __file__ for found in refused)


def test_the_law_is_of_many_functions():
    assert len(FUNCTIONS) >= 90
