"""Floats of at most eight bits: compiled code agrees with the evaluator, and so with ml_dtypes."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.codegen.llvm.types import SMALL_FLOATS
from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.scalar_functions import FUNCTIONS as T
from relaxscript.script import from_source
from relaxscript_tests.prim_funcs import both, elementwise, interesting

KNOWN = [name for name in SMALL_FLOATS if hasattr(__import__("ml_dtypes"), name)]


def codes(name: str) -> np.ndarray:
    """Every value of a format."""
    dtype = DataType(name)
    return np.arange(1 << dtype.bits).astype("uint8").view(dtype.numpy)


def near(name: str, source: str) -> np.ndarray:
    """Numbers at which rounding to a format goes wrong, if anywhere."""
    values = codes(name).astype("float64")
    values = np.sort(values[np.isfinite(values)])
    middle = ((values[1:] + values[:-1]) / 2).astype(source)
    beside = [np.nextafter(middle, np.array(side, source)) for side in (np.inf, -np.inf)]
    with np.errstate(all="ignore"):
        return np.concatenate([interesting(source), middle, *beside])


@pytest.mark.parametrize("name", KNOWN)
def test_every_value_is_read(name):
    values = codes(name)
    func = elementwise(len(values), [name], "float32", lambda x: prim.Cast("float32", x))
    _, written = both(func, [values, np.zeros(len(values), "float32")])
    assert np.array_equal(written, values.astype("float32"), equal_nan=True)


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("name", KNOWN)
def test_numbers_are_rounded_once(name, source):
    values = near(name, source)
    func = elementwise(len(values), [source], name, lambda x: prim.Cast(name, x))
    both(func, [values, np.zeros(len(values), DataType(name).numpy)])


@pytest.mark.slow
@pytest.mark.parametrize("kind", [prim.Add, prim.Sub, prim.Mul, prim.Div, prim.Min, prim.Max])
@pytest.mark.parametrize("name", KNOWN)
def test_arithmetic_is_rounded_once(name, kind, rng):
    values = codes(name)
    a, b = rng.choice(values, 2000), rng.choice(values, 2000)
    func = elementwise(2000, [name, name], name, kind)
    both(func, [a, b, np.zeros(2000, DataType(name).numpy)])


@pytest.mark.parametrize("function", ["sqrt", "floor", "fabs", "isnan"])
@pytest.mark.parametrize("name", KNOWN)
def test_functions_are_rounded_once(name, function):
    values = codes(name)
    result = "bool" if function == "isnan" else name
    func = elementwise(len(values), [name], result, T[function])
    both(func, [values, np.zeros(len(values), DataType(result).numpy)])


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"])
def test_vectors_of_them_are_loaded_and_stored(name):
    func = from_source(
        f"""@T.prim_func
def f(x: T.Buffer((16,), "{name}"), y: T.Buffer((16,), "{name}")):
    for i in range(4):
        y[i * 4 : i * 4 + 4] = x[i * 4 : i * 4 + 4] + T.{name}x4(1)
"""
    )
    values = codes(name)[:16]
    both(func, [values, np.zeros_like(values)])
