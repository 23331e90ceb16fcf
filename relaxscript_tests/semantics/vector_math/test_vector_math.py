"""Functions of vector math are near the exact result, with the same bits however they run."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.codegen.llvm import compile_prim_func
from relaxscript.dtypes import DataType
from relaxscript.interpreter.tir import evaluate
from relaxscript.ir.intrinsic import INTRINSICS
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.script import from_source
from relaxscript.semantics.scalar import float_power
from relaxscript.semantics.vector_math import FUNCTIONS
from relaxscript_tests import EFFORT, examples
from relaxscript_tests.prim_funcs import assert_same_bits
from relaxscript_tests.semantics.vector_math.kernels import (
    ALL,
    WIDTHS,
    apply,
    error_in_ulp,
    exact,
    function_text,
    map_in_vectors,
)
from relaxscript_tests.semantics.vector_math.special_values import SPECIAL, VALUES_OF_POW
from relaxscript_tests.units import ulps

NAMES = [name.removeprefix("tir.") for name in FUNCTIONS]
OF_ONE = [name for name in NAMES if INTRINSICS[f"tir.{name}"].arity == 1]
UNCHECKED = {"check": False}
CHUNK = 1 << 22


def drawn(rng, count):
    """Numbers of float32, of which each bit is random; NaN and infinities are among them."""
    return rng.integers(0, ALL, count, "uint32").view("float32")


def edges():
    """Numbers around which functions go another way, and those next to them."""
    powers = np.ldexp(1.0, np.arange(-149, 128))
    turns = np.pi / 4 * np.concatenate([np.arange(1, 100), 2.0 ** np.arange(7, 120)])
    # Of all numbers, this one is the nearest to a multiple of pi / 2.
    others = [1.5, 2.0 / 3, 4.0 / 3, np.e, 88.7, 87.3, 104, 0.0, np.inf, 16367173 * 2.0**72]
    found = np.concatenate([powers, others, turns, np.arange(1, 40)]).astype("float32")
    found = np.concatenate([found, *(np.nextafter(found, np.float32(to)) for to in (0, np.inf))])
    return np.concatenate([found, -found, np.float32([np.nan])])


def multiple_of_widths(values):
    return np.resize(values, -(-len(values) // max(WIDTHS)) * max(WIDTHS))


def operands(name, values):
    """Arrays for all operands: the values, and others of them beside each."""
    arity = INTRINSICS[f"tir.{name}"].arity or 1
    return [np.roll(values, 7 * k) for k in range(arity)]


def test_special_values_are_listed_for_every_function():
    assert set(SPECIAL) == set(NAMES)


@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name):
    *args, wanted = np.array(SPECIAL[name], "float32").T.copy()
    kernel = compile_prim_func(map_in_vectors(name, 1))
    assert_same_bits(apply(kernel, *args), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("name", OF_ONE)
def test_errors_stay_within_the_bound(name, rng):
    kernel = compile_prim_func(map_in_vectors(name, 8), options=UNCHECKED)
    assert_near(name, kernel, multiple_of_widths(edges()))
    count = examples(1 << 24)
    for first in range(0, count, CHUNK):
        assert_near(name, kernel, drawn(rng, min(CHUNK, count - first) // 8 * 8))


def assert_near(name, kernel, values):
    """Compare a function with exact results; the worst number is in the message."""
    with np.errstate(all="ignore"):
        wanted = exact(name)(values.astype("float64"))
    errors = error_in_ulp(apply(kernel, values), wanted)
    worst = int(np.argmax(errors))
    message = f"{name}({values[worst]!r}) errs by {errors[worst]:.4f} ulp"
    assert errors[worst] <= FUNCTIONS[f"tir.{name}"].ulp, message


@pytest.mark.long
@pytest.mark.parametrize("name", OF_ONE)
def test_errors_stay_within_the_bound_for_all_numbers(name, rng):
    """All numbers of float32 at the full effort, once for each text of the function.

    What has passed is remembered in the folder `RELAXSCRIPT_TEST_CACHE`, if that is set.
    """
    kernel = compile_prim_func(map_in_vectors(name, 8), options=UNCHECKED)
    passed = remembered(f"{FUNCTIONS[f'tir.{name}'].ulp} {function_text(name, 8)}")
    if passed is not None and passed.exists():
        return
    whole = ALL // CHUNK
    for chunk in rng.permutation(whole)[: examples(whole)]:
        first = int(chunk) * CHUNK
        assert_near(name, kernel, np.arange(first, first + CHUNK, dtype="uint32").view("float32"))
    if passed is not None and EFFORT == 1:
        passed.parent.mkdir(parents=True, exist_ok=True)
        passed.touch()


@pytest.mark.slow
def test_errors_of_powers_stay_within_the_bound(rng):
    count = examples(1 << 21) // 8 * 8
    spread = rng.normal(size=(4, count))
    pairs = [
        (drawn(rng, count), drawn(rng, count)),
        (np.exp(3 * spread[0]), 8 * spread[1]),
        (1 + 1e-4 * spread[2], 1e5 * spread[3]),
        (-rng.integers(1, 100, count), rng.integers(-30, 30, count)),
        (np.exp2(rng.uniform(-149, 128, count)), spread[0]),
    ]
    kernel = compile_prim_func(map_in_vectors("pow", 8), options=UNCHECKED)
    for pair in pairs:
        x, y = (np.asarray(values).astype("float32") for values in pair)
        with np.errstate(all="ignore"):
            wanted = np.power(x.astype("float64"), y.astype("float64"))
        errors = error_in_ulp(apply(kernel, x, y), wanted)
        worst = int(np.argmax(errors))
        message = f"pow({x[worst]!r}, {y[worst]!r}) errs by {errors[worst]:.4f} ulp"
        assert errors[worst] <= FUNCTIONS["tir.pow"].ulp, message


def test_powers_of_special_values_are_those_of_c():
    values = np.array(VALUES_OF_POW, "float32")
    x, y = np.repeat(values, len(values)), np.tile(values, len(values))
    pairs = zip(x.tolist(), y.tolist(), strict=True)
    wanted = np.array([float_power(a, b) for a, b in pairs])
    found = apply(compile_prim_func(map_in_vectors("pow", 1)), x, y)
    assert error_in_ulp(found, wanted).max() <= FUNCTIONS["tir.pow"].ulp


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_a_large_angle_beside_others_changes_none_of_them(name, rng):
    small = rng.uniform(-1000, 1000, 64).astype("float32")
    mixed = small.copy()
    mixed[::5] = 1e20
    kernel = compile_prim_func(map_in_vectors(name, 16))
    kept = np.arange(64) % 5 != 0
    assert_same_bits(apply(kernel, mixed)[kept], apply(kernel, small)[kept])


def remembered(text):
    """The file that says that a text has passed; None where nothing is remembered."""
    folder = os.environ.get("RELAXSCRIPT_TEST_CACHE")
    if not folder:
        return None
    return Path(folder) / f"vector_math_{hashlib.sha256(text.encode()).hexdigest()}"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_widths_and_the_evaluator_give_the_same_bits(name, rng):
    values = multiple_of_widths(np.concatenate([edges(), drawn(rng, examples(10000))]))
    args = operands(name, values)
    wanted = apply(compile_prim_func(map_in_vectors(name, 1)), *args)
    for width in WIDTHS[1:]:
        kernel = compile_prim_func(map_in_vectors(name, width))
        assert_same_bits(apply(kernel, *args), wanted)
    few = [a[:: max(1, len(a) // examples(4000))][: examples(4000) // 16 * 16] for a in args]
    wanted = apply(compile_prim_func(map_in_vectors(name, 1)), *few)
    for width in WIDTHS:
        func = map_in_vectors(name, width)
        assert_same_bits(apply(lambda *a, func=func: evaluate(func, a), *few), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats_go_through_float32(name, dtype):
    values = np.arange(1 << 16, dtype="uint16").view(DataType(dtype).numpy)
    values = values[:: 16 if EFFORT < 1 else 1]
    args = operands(name, values)
    wide = [a.astype("float32") for a in args]
    kernel = compile_prim_func(map_in_vectors(name, 8))
    with np.errstate(all="ignore"):
        wanted = apply(kernel, *wide).astype(values.dtype)
    func = map_in_vectors(name, 8, dtype)
    assert_same_bits(apply(compile_prim_func(func), *args), wanted)
    few = [a[:: len(a) // 256] for a in args]
    assert_same_bits(apply(lambda *a: evaluate(func, a), *few), wanted[:: len(values) // 256])


@pytest.mark.parametrize("name", NAMES)
def test_float64_is_as_without_the_attribute(name, rng):
    args = operands(name, np.abs(rng.normal(size=64)))
    ours = apply(compile_prim_func(map_in_vectors(name, 4, "float64")), *args)
    plain = map_in_vectors(name, 4, "float64", vector_math=False)
    assert_same_bits(ours, apply(compile_prim_func(plain), *args))


@pytest.mark.parametrize("name", NAMES)
def test_nothing_changes_without_the_attribute(name):
    kernel = compile_prim_func(map_in_vectors(name, 1, vector_math=False))
    assert "llvm.fma" not in kernel.llvm_ir


def test_the_attribute_is_printed_and_parsed():
    source = """
@T.prim_func
def f(x: T.Buffer((16,), "float32"), y: T.Buffer((16,), "float32")):
    T.func_attr({"tir.vector_math": True})
    for i in range(2):
        y[i * 8 : i * 8 + 8] = T.exp(x[i * 8 : i * 8 + 8])
"""
    func = from_source(source)
    assert structural_equal(from_source(func.script()), func)
    x = np.linspace(-1, 1, 16, dtype="float32")
    kernel = compile_prim_func(func)
    assert "expf" not in kernel.llvm_ir
    assert ulps(apply(kernel, x), np.exp(x)).max() <= 2
    assert_same_bits(apply(lambda *a: evaluate(func, a), x), apply(kernel, x))


GELU = """
@I.ir_module
class Gelu:
    @T.prim_func
    def gelu(x: T.Buffer(("n", 64), "float32"), y: T.Buffer(("n", 64), "float32")):
        T.func_attr({"tir.vector_math": True})
        n = T.int64()
        for i, j in T.grid(n, 8):
            for k in T.vectorized(8):
                z = T.erf(x[i, j * 8 + k] * T.float32(0.70710678))
                y[i, j * 8 + k] = x[i, j * 8 + k] * (T.float32(0.5) + T.float32(0.5) * z)

    @R.function
    def main(x: R.Tensor(("n", 64), "float32")):
        n = T.int64()
        return R.call_tir(Gelu.gelu, (x,), out_sinfo=R.Tensor((n, 64), "float32"))
"""


@pytest.mark.parametrize("target", ["llvm", "llvm -opt-level=0"])
def test_every_executor_of_a_module_gives_the_same_bits(target, rng):
    module = from_source(GELU)
    x = 3 * rng.normal(size=(3, 64)).astype("float32")
    wanted = rx.VirtualMachine(rx.build(module, "reference"))["main"](x)
    assert_same_bits(rx.VirtualMachine(rx.build(module, target))["main"](x), wanted)
