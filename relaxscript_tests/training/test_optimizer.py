"""Optimizers as functions: each step is the formula of its docstring, and what they refuse."""

from __future__ import annotations

import re

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.interpreter import Interpreter
from relaxscript.ir import IRModule
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import ShapeStructInfo, TensorStructInfo
from relaxscript.script import from_source
from relaxscript.training import SGD, Adam, MomentumSGD, Optimizer

SHAPES = {"w": (3, 4), "b": (4,)}
STEPS = 3


def params(dtype="float32"):
    return [Var(name, TensorStructInfo(shape, dtype)) for name, shape in SHAPES.items()]


def run(optimizer, dtype="float32"):
    """Parameters and states after some steps along random gradients, and these gradients."""
    random = np.random.default_rng(7)
    made = optimizer.init(params(dtype)).get_function()
    mod = IRModule({optimizer.name: made})
    assert from_source(mod.script(show_meta=True)).script() == mod.script()
    step = Interpreter(mod)[optimizer.name]
    start = tuple(random.normal(size=s).astype(dtype) for s in SHAPES.values())
    values, states, slopes = start, optimizer.state, []
    for _ in range(STEPS):
        slopes.append(tuple(random.normal(size=s).astype(dtype) for s in SHAPES.values()))
        values, states = step(values, slopes[-1], states)
    assert states[0] == STEPS
    return start, slopes, values, states


@pytest.mark.parametrize("decay", [0, 0.02])
def test_sgd_goes_along_the_gradient(decay):
    start, slopes, values, states = run(SGD(0.1, decay))
    for k, p in enumerate(start):
        for slope in slopes:
            p = p - 0.1 * (slope[k] + decay * p)
        np.testing.assert_allclose(values[k], p, rtol=1e-5, atol=1e-6)
    assert len(states) == 1


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize(("dampening", "decay"), [(0, 0), (0.1, 0.02)])
def test_momentum_keeps_some_of_the_previous_move(nesterov, dampening, decay):
    found = run(MomentumSGD(0.1, 0.9, dampening, decay, nesterov))
    start, slopes, values, states = found
    for k, p in enumerate(start):
        v = np.zeros_like(p)
        for slope in slopes:
            g = slope[k] + decay * p
            v = 0.9 * v + (1 - dampening) * g
            p = p - 0.1 * (g + 0.9 * v if nesterov else v)
        np.testing.assert_allclose(values[k], p, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(states[1 + k], v, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("dtype", "near"), [("float32", 1e-5), ("float64", 1e-12)])
@pytest.mark.parametrize("decay", [0, 0.02])
def test_adam_goes_by_the_moments_of_the_gradients(dtype, near, decay):
    start, slopes, values, states = run(Adam(0.1, (0.8, 0.99), 1e-6, decay), dtype)
    for k, p in enumerate(start):
        m, v = np.zeros_like(p), np.zeros_like(p)
        for t, slope in enumerate(slopes, 1):
            g = slope[k] + decay * p
            m = 0.8 * m + 0.2 * g
            v = 0.99 * v + 0.01 * g * g
            p = p - 0.1 * (m / (1 - 0.8**t)) / (np.sqrt(v / (1 - 0.99**t)) + 1e-6)
        np.testing.assert_allclose(values[k], p, rtol=near, atol=near)
        np.testing.assert_allclose(states[3 + k], m, rtol=near, atol=near)
        np.testing.assert_allclose(states[5 + k], v, rtol=near, atol=near)
    np.testing.assert_allclose([states[1], states[2]], [0.8**STEPS, 0.99**STEPS], rtol=near)


def test_states_begin_with_nothing_done():
    adam = Adam(0.1).init(params())
    count, first, second, *rest = adam.state
    assert (count.dtype, count, first, second) == (np.int64, 0, 1, 1)
    assert [state.shape for state in rest] == [(3, 4), (4,), (3, 4), (4,)]
    assert all(state.dtype == np.float32 and not state.any() for state in rest)


def test_one_variable_is_a_list_of_one_and_may_have_any_size():
    w = Var("w", TensorStructInfo(("n", 3), "float32"))
    sgd = SGD(0.5).init(w)
    assert (sgd.param_list, sgd.dtype) == ([w], "float32")
    step = Interpreter(IRModule({"SGD": sgd.get_function()}))["SGD"]
    ones = (np.ones((2, 3), "float32"),)
    (moved,), (count,) = step(ones, ones, sgd.state)
    np.testing.assert_array_equal(moved, np.full((2, 3), 0.5))
    assert count == 1


def test_an_optimizer_of_ones_own_says_how_a_parameter_moves():
    class Signs(Optimizer):
        def _move(self, step, place, value, slope):
            return step.descended(value, slope, 2.0), ()

    start, slopes, values, _ = run(Signs("Signs"))
    expected = start[1] - 2 * sum(slope[1] for slope in slopes)
    np.testing.assert_allclose(values[1], expected, rtol=1e-5)


def test_before_init_there_is_no_function():
    with pytest.raises(DiagnosticError, match="the optimizer `SGD` does not know its parameters"):
        SGD(0.1).get_function()


def test_an_optimizer_that_says_nothing_is_refused():
    with pytest.raises(DiagnosticError, match="`Optimizer` does not say how parameters move"):
        Optimizer("own").init(params()).get_function()


TWICE = Var("w", TensorStructInfo((3,), "float32"))


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (["w"], "RX0201", "a parameter of `Adam` is a variable, not str"),
        ([Var("s", ShapeStructInfo((3,)))], "RX0201", "`s` of `Adam` is a shape, not a tensor"),
        ([Var("u")], "RX0201", "`u` of `Adam` is of unknown sort, not a tensor"),
        ([Var("i", TensorStructInfo((3,), "int32"))], "RX0202", "`i` of `Adam` has dtype int32"),
        ([*params(), Var("d", TensorStructInfo((3,), "float64"))], "RX0202",
         "`d` of `Adam` has dtype float64"),
        ([TWICE, TWICE], "RX0103", "`Adam` is given the parameter `w` twice"),
        ([Var("e", TensorStructInfo(("n", 3), "float32"))], "RX0203",
         'a state of each parameter, and `e` is `R.Tensor((n, 3), "float32")`'),
        ([Var("e", TensorStructInfo(None, "float32", ndim=2))], "RX0203", "and `e` is `R.Tensor("),
    ],
)  # fmt: skip
def test_a_parameter_that_cannot_move_is_named(given, code, said):
    with pytest.raises(DiagnosticError, match=re.escape(said)) as raised:
        Adam(0.1).init(given)
    assert raised.value.diagnostics[0].code == code


def test_what_is_no_list_of_parameters_is_refused():
    with pytest.raises(DiagnosticError, match="`init` of `SGD` takes variables, not int"):
        SGD(0.1).init(3)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: SGD("fast"), "`lr` of `SGD` is a finite number, not str"),
        (lambda: MomentumSGD(0.1, None), "`momentum` of `MomentumSGD` is a finite number"),
        (lambda: Adam(float("nan")), "`lr` of `Adam` is a finite number, not float"),
        (lambda: Adam(0.1, 0.9), "`betas` of `Adam` are two numbers, not float"),
        (lambda: Adam(0.1, (0.9, "1")), "`betas` of `Adam` is a finite number, not str"),
    ],
)  # fmt: skip
def test_what_is_no_number_is_refused(make, said):
    with pytest.raises(DiagnosticError, match=said):
        make()


def test_an_optimizer_is_shown_by_its_settings():
    assert repr(SGD(0.5)) == "SGD(lr=0.5, weight_decay=0.0)"
    assert repr(Adam(0.1)) == "Adam(lr=0.1, beta1=0.9, beta2=0.999, eps=1e-08, weight_decay=0.0)"
