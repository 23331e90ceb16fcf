"""Trainer: each batch moves parameters and states as one does by hand; what it refuses."""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

import relaxscript.nd as nd
from relaxscript.compiler import VirtualMachine, build
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.runtime.values import cpu
from relaxscript.script import from_source
from relaxscript.training import (
    SGD,
    CrossEntropyLoss,
    MomentumSGD,
    MSELoss,
    SetupTrainer,
    Trainer,
)
from relaxscript_tests.training.models import NORMALIZED, dense, tensor


@functools.cache
def built(kind, target="reference"):
    """A module that is set up, and a machine that runs it."""
    mod, size = (dense(), 4) if kind == "dense" else (from_source(NORMALIZED), 3)
    operands = [tensor(5, size), tensor(5, size)]
    made = SetupTrainer(MSELoss(), MomentumSGD(0.1, 0.9), operands)(mod)
    return made, VirtualMachine(build(made, target))


def trainer(kind="dense", target="reference", **options):
    made, vm = built(kind, target)
    return Trainer(made, vm, "cpu", **options)


def draw(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape).astype("float32")


X, Y = draw(5, 3), draw(5, 4)


@pytest.mark.parametrize("target", ["reference", "llvm -opt-level=0", "llvm"])
def test_batches_move_parameters_as_by_hand(target):
    found = trainer(target=target)
    found.xavier_uniform_init_params(seed=1)
    w, b = found.export_params().values()
    moved = np.zeros_like(w), np.zeros_like(b)
    for _ in range(4):
        apart = X @ w + b - Y
        np.testing.assert_allclose(found.update(X, [Y]), (apart**2).mean(), rtol=1e-4)
        slopes = X.T @ apart / 10, apart.sum(0) / 10
        moved = [0.9 * m + s for m, s in zip(moved, slopes)]
        w, b = w - 0.1 * moved[0], b - 0.1 * moved[1]
    exported = found.export_params()
    np.testing.assert_allclose(exported["w"], w, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(exported["b"], b, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.predict(X), X @ w + b, rtol=1e-4, atol=1e-5)


def test_states_move_with_batches_and_are_what_predictions_use():
    found = trainer("normalized")
    found.load_states({"var": np.ones(3, "float32")})
    found.load_params({"gamma": np.ones(3, "float32")})
    found.update(X, X)
    states = found.export_states()
    np.testing.assert_allclose(states["mean"], 0.25 * X.mean(0), rtol=1e-5)
    np.testing.assert_allclose(states["var"], 0.75 + 0.25 * X.var(0), rtol=1e-5)
    gamma, beta = found.export_params().values()
    y, mean, var = found.predict(X)
    expected = (X - states["mean"]) / np.sqrt(states["var"] + 1e-5) * gamma + beta
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(mean, states["mean"])
    np.testing.assert_array_equal(var, found.export_states()["var"])


def test_everything_is_zero_at_first_unless_that_is_not_wanted():
    found = trainer("normalized")
    values = [*found.export_params().values(), *found.export_states().values()]
    assert all(value.shape == (3,) and not value.any() for value in values)
    empty = trainer("normalized", zero_init_param_state=False)
    assert empty.export_params() == {"gamma": None, "beta": None}
    assert empty.export_states() == {"mean": None, "var": None}


def test_parameters_are_drawn_within_the_bound_of_their_sizes():
    found = trainer()
    found.xaiver_uniform_init_params()
    drawn = found.export_params()
    for name, fans in (("w", 7), ("b", 4)):
        assert 0 < np.abs(drawn[name]).max() <= np.sqrt(6 / fans)
        assert drawn[name].dtype == np.float32


def test_what_is_loaded_is_copied_and_may_be_exported_again():
    found, w = trainer(), draw(3, 4)
    found.load_params([w, nd.array(np.ones(4))])
    w[:] = 0
    exported = found.export_params()
    assert exported["w"].any()
    exported["b"][:] = 7
    np.testing.assert_array_equal(found.export_params()["b"].numpy(), np.ones(4))


def test_results_are_arrays_of_the_sort_that_is_given():
    found = trainer()
    assert type(found.update(X, Y)) is type(found.predict(X)) is np.ndarray
    assert found.update(nd.array(X), Y).numpy().shape == ()
    assert found.predict(nd.array(X)).numpy().shape == (5, 4)


def test_batches_may_have_any_size():
    mod = dense("x: R.Tensor((5, 3)", 'x: R.Tensor(("n", 3)')
    n = PrimVar("n", "int64")
    operands = [TensorStructInfo((n, 4), "float32"), TensorStructInfo((n, 4), "float32")]
    made = SetupTrainer(MSELoss("sum"), SGD(0.1), operands)(mod)
    found = Trainer(made, VirtualMachine(build(made, "reference")), "cpu")
    for count in (2, 5):
        w, b = found.export_params().values()
        apart = X[:count] @ w + b - Y[:count]
        np.testing.assert_allclose(found.update(X[:count], Y[:count]), (apart**2).sum(), rtol=1e-4)
        expected = b - 0.2 * apart.sum(0)
        np.testing.assert_allclose(found.export_params()["b"], expected, rtol=1e-4, atol=1e-6)


def test_a_trainer_may_be_on_another_device():
    made, vm = built("dense")
    found = Trainer(made, VirtualMachine(vm.executable, cpu(1)), cpu(1))
    assert found.export_params()["w"].device == cpu(1)
    found.load_params({"w": nd.array(np.ones((3, 4), "float32"), cpu(1))})
    assert found.export_params()["w"].numpy().all()


def test_one_run_of_loss_and_gradients_is_profiled():
    found = trainer()
    report = found.profile_adjoint(X, Y)
    assert report.events
    assert not found.export_params()["w"].any()


@pytest.mark.parametrize(
    ("call", "code", "said"),
    [
        (lambda t: t.load_params([X]), "RX0203", "the model has 2 parameters, and 1 are given"),
        (lambda t: t.load_states([X]), "RX0203", "the model has 0 states, and 1 are given"),
        (lambda t: t.load_params({"v": X}), "RX0101", "the model has no parameter `v`"),
        (lambda t: t.load_params({"w": X}), "RX0206",
         "the parameter `w` has shape (3, 4), and the array has (5, 3)"),
        (lambda t: t.load_params({"b": np.ones(4, complex)}), "RX0206",
         "the parameter `b` has dtype float32, and the array has complex128"),
        (lambda t: t.predict(X, X), "RX0203", "`backbone` takes 1 inputs, not 2"),
        (lambda t: t.update([X, X], Y), "RX0203", "`backbone` takes 1 inputs, not 2"),
        (lambda t: t.update(X, [Y, Y]), "RX0203", "the loss takes 1 targets, not 2"),
        (lambda t: Trainer(dense(), t.vm, "cpu"), "RX0714", "this one lacks `input_num`"),
        (lambda t: Trainer(t.mod, t.mod, "cpu"), "RX0103", "`vm` of `Trainer` is a VirtualMachine"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(call, code, said):
    found = trainer()
    with pytest.raises(DiagnosticError, match=re.escape(said)) as raised:
        call(found)
    assert raised.value.diagnostics[0].code == code
    assert not found.export_params()["w"].any()


@pytest.mark.parametrize("kind", ["parameter `w`", "state `mean`"])
def test_without_a_value_nothing_is_computed(kind):
    found = trainer("dense" if "w" in kind else "normalized", zero_init_param_state=False)
    if "mean" in kind:
        found.zero_init_params()
    with pytest.raises(DiagnosticError, match=f"the {kind} has no value yet") as raised:
        found.predict(X)
    assert raised.value.diagnostics[0].code == "RX0714"


def test_a_parameter_of_unknown_size_is_refused():
    wide = dense(
        'b: R.Tensor((4,), "float32")',
        'b: R.Tensor((4,), "float32"), s: R.Tensor(("k",), "float32")',
    )
    wide = wide.with_attr("param_num", 3)
    made = SetupTrainer(MSELoss(), SGD(0.1), [tensor(5, 4), tensor(5, 4)])(wide)
    with pytest.raises(
        DiagnosticError, match="a trainer keeps an array of each parameter, and `s`"
    ):
        Trainer(made, VirtualMachine(build(made, "reference")), "cpu")


def test_a_trainer_is_shown_by_what_it_keeps():
    assert repr(trainer()) == "<Trainer of 2 parameters on cpu:0>"
    assert repr(trainer("normalized")).startswith("<Trainer of 2 parameters and 2 states on")


def test_a_failure_in_the_loss_names_what_the_loss_is_given():
    made = SetupTrainer(
        CrossEntropyLoss(), SGD(0.1), [tensor(5, 4), TensorStructInfo((5,), "int64")], False
    )(dense())
    found = Trainer(made, VirtualMachine(build(made, "reference")), "cpu")
    with pytest.raises(VMError, match="a target is not among the 4 classes") as raised:
        found.update(X, np.array([0, 1, 2, 3, 4]))
    notes = raised.value.diagnostic.notes
    assert "`targets` is a tensor of shape (5,) and dtype int64" in notes
