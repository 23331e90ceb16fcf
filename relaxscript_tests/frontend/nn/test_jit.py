"""A compiled module runs with its parameters."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable

import numpy as np
import pytest

from relaxscript.errors import DiagnosticError
from relaxscript.relax.frontend import nn
from relaxscript_tests.frontend.nn.models import MLP, MLP_SPEC, random_weights

X = np.random.default_rng(3).standard_normal((5, 4)).astype("float32")


def loaded() -> nn.Module:
    model = MLP()
    model.load_state_dict(random_weights(model))
    return model


@pytest.mark.parametrize("param_mode", ["plain", "packed"])
@pytest.mark.parametrize("effect_mode", ["plain", "packed", "none"])
@pytest.mark.parametrize("debug", [False, True])
def test_parameters_and_effects_are_passed_as_the_spec_says(
    param_mode: str, effect_mode: str, debug: bool
):
    model = loaded()
    modes = {"param_mode": param_mode, "effect_mode": effect_mode}
    run = model.jit({"forward": {**MLP_SPEC["forward"], "$": modes}}, debug=debug)
    hidden = np.maximum(X @ model.fc1.weight.data.T + model.fc1.bias.data, 0)
    wanted = hidden @ model.fc2.weight.data.T
    for got in (run.forward(X), run["forward"](x=X), run.forward(X)):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_of_a_model_has_parameters_of_its_own(again: Callable[[nn.Module], nn.Module]):
    model = loaded()
    copied = again(model)
    assert copied.fc1.weight is not model.fc1.weight
    results = [each.jit(MLP_SPEC).forward(X) for each in (model, copied)]
    assert np.array_equal(*results)


def test_results_are_plain_arrays():
    assert type(loaded().jit(MLP_SPEC).forward(X)) is np.ndarray


def test_the_methods_of_a_compiled_module_are_listed():
    assert "forward" in dir(loaded().jit(MLP_SPEC))


def test_results_can_be_tensors_of_another_library(monkeypatch: pytest.MonkeyPatch):
    class Torch:
        @staticmethod
        def from_dlpack(array: np.ndarray) -> tuple[str, np.ndarray]:
            return "tensor", array

    monkeypatch.setitem(sys.modules, "torch", Torch)  # type: ignore[arg-type]
    kind, result = loaded().jit(MLP_SPEC, out_format="torch").forward(X)
    assert kind == "tensor"
    assert result.shape == (5, 3)


# ---------------------------------------------------------------- mistakes


def test_a_model_whose_parameters_have_no_data_is_refused_with_their_names():
    with pytest.raises(DiagnosticError) as raised:
        MLP().jit(MLP_SPEC)
    (found,) = raised.value.diagnostics
    assert found.code == "RX0712"
    assert "`fc1.weight` has no data" in found.notes


def test_arguments_that_the_method_has_not_are_refused():
    run = loaded().jit(MLP_SPEC)
    for call in (lambda: run.forward(), lambda: run.forward(X, X), lambda: run.forward(y=X)):
        with pytest.raises(DiagnosticError, match=r"(?s)RX0602.*it is called as `run.forward"):
            call()


def test_a_method_that_there_is_not_is_refused():
    run = loaded().jit(MLP_SPEC)
    with pytest.raises(DiagnosticError, match=r"(?s)RX0607.*did you mean `forward`"):
        run["forwrad"]
    with pytest.raises(AttributeError, match=r"has no method `backward`"):
        run.backward


def test_a_format_that_there_is_not_is_refused():
    with pytest.raises(DiagnosticError, match=r"(?s)no format `tourch`.*did you mean `torch`"):
        loaded().jit(MLP_SPEC, out_format="tourch")


def test_a_library_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "torch", None)  # type: ignore[arg-type]
    with pytest.raises(DiagnosticError, match=r'(?s)RX0702.*write `out_format="numpy"`'):
        loaded().jit(MLP_SPEC, out_format="torch")
