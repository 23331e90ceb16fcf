"""exp, erf, tanh and softmax become PrimFuncs that compute them to fewer digits."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.testing.compare import EXECUTORS, check_outcomes, observe
from relaxscript.testing.inputs import inputs_for
from relaxscript.transform import FastMathTransform
from relaxscript_tests.growth import growth
from relaxscript_tests.transform.algebra.before_after_products import check_block, script
from relaxscript_tests.transform.before_after import check

CALLS = ("R.exp(x)", "R.erf(x)", "R.tanh(x)", "R.nn.softmax(x, axis={})")


def made_fast(text: str) -> IRModule:
    """The module of a script afterwards; a second run changes nothing."""
    mod = from_source(text)
    made = FastMathTransform()(mod)
    assert made is not mod
    assert FastMathTransform()(made) is made
    return made


def names_of(mod: IRModule) -> set[str]:
    return {var.name_hint for var in mod.functions}


def test_each_of_the_four_becomes_a_function_of_its_name():
    body = "a = R.exp(x)\nb = R.erf(a)\nc = R.tanh(b)\ny = R.nn.softmax(c, axis=0)"
    made = made_fast(script("x: nx4", body))
    assert names_of(made) == {"main", "fast_exp", "fast_erf", "fast_tanh", "fast_softmax"}
    for call in ("R.exp", "R.erf", "R.tanh", "R.nn.softmax"):
        assert call not in made.script()


def test_the_call_of_a_function_takes_the_place_of_that_of_an_operator():
    text = made_fast(script("x: nx4", "y = R.tanh(x)")).script()
    assert 'y = R.call_tir(cls.fast_tanh, (x,), out_sinfo=R.Tensor((n, 4), "float32"))' in text


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shape", ["3x4", "nx4", "2x3x5", "1x1", "0x4"])
@pytest.mark.parametrize("call", CALLS)
def test_values_are_within_the_tolerance_on_every_executor(call, shape, dtype):
    text = script(f"x: {shape} of {dtype}", "y = " + call.format(-1))
    mod, made = from_source(text), made_fast(text)
    inputs = inputs_for(mod["main"], 0)
    expected = observe(EXECUTORS["interpreter"](mod), "main", inputs)
    near = FastMathTransform.tolerance if dtype == "float32" else 2.0**-10
    for name, prepare in EXECUTORS.items():
        actual = observe(prepare(made), "main", inputs)
        check_outcomes(name, actual, "before", expected, near, near)


@pytest.mark.parametrize("call", CALLS)
def test_values_over_the_range_are_within_the_tolerance(call, rng):
    mod = from_source(script("x: nx8", "y = " + call.format(1)))
    before, after = (EXECUTORS["llvm"](m) for m in (mod, FastMathTransform()(mod)))
    values = rng.uniform(-87, 88, (500, 8)).astype("float32")
    for x in (values, values / 20):
        np.testing.assert_allclose(after("main", x), before("main", x), rtol=2e-6, atol=1e-37)


def test_equal_calls_share_a_function():
    made = made_fast(script("x: 2x4; z: 2x4", "a = R.exp(x)\nb = R.exp(z)\ny = R.add(a, b)"))
    assert names_of(made) == {"main", "fast_exp"}


def test_axes_of_a_softmax_are_those_of_the_call():
    made = made_fast(script("x: 2x4", "a = R.nn.softmax(x, axis=0)\ny = R.nn.softmax(a, axis=1)"))
    assert len(names_of(made)) == 3


def test_outside_of_dataflow_blocks_and_in_branches_it_is_so_too():
    text = """
@I.ir_module
class M:
    @R.function(private=True)
    def inner(x: R.Tensor((2, 4), "float32")):
        y = R.exp(x)
        return y

    @R.function
    def main(x: R.Tensor((2, 4), "float32"), c: R.Tensor((), "bool")):
        cls = M
        if c:
            y = R.tanh(x)
        else:
            y = cls.inner(x)
        return y
"""
    assert names_of(made_fast(text)) == {"main", "inner", "fast_exp", "fast_tanh"}


def test_a_cast_stays_a_cast():
    body = 'y = R.match_cast(R.exp(x), R.Tensor((2, 4), "float32"))'
    assert "R.match_cast(" in made_fast(script("x: 2x4", body)).script()


@pytest.mark.parametrize(
    ("params", "body"),
    [
        ("x: 2x4 of float64", "y = R.exp(x)"), ("x: 2x4 of float64", "y = R.nn.softmax(x)"),
        ("x: 2x4", "y = R.nn.log_softmax(x)"), ("x: 2x4", "y = R.log(x)"),
    ],
)  # fmt: skip
def test_other_dtypes_and_other_functions_stay(params, body):
    check_block(FastMathTransform(), params, body, None)


def test_tensors_of_unknown_shape_stay():
    text = (
        script("x: 2x4", "y = R.exp(x)")
        .replace("(2, 4, )", "ndim=2")
        .replace('"float32"', 'dtype="float32"')
    )
    assert "R.Tensor(ndim=2, " in text
    check(FastMathTransform(), text)


def test_a_long_row_of_functions_is_written_in_linear_time():
    def prepare(count):
        lines = ["v0 = R.add(x, x)", *(f"v{k} = R.tanh(v{k - 1})" for k in range(1, count))]
        mod = from_source(script("x: 2x4", "\n".join(lines), f"v{count - 1}"))
        return lambda: FastMathTransform()(mod)

    assert growth(prepare, 40) < 10
