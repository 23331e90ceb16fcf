"""Parameters are taken wherever arrays are, and arrays leave operators to tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.errors import DiagnosticError, VMError
from relaxscript.relax.frontend import nn
from relaxscript.script import relax as R
from relaxscript_tests.frontend.nn.models import MLP, MLP_SPEC, random_weights

X = np.random.default_rng(1).standard_normal((2, 4)).astype("float32")
SPEC = {"forward": {"x": nn.spec.Tensor((4,), "float32")}}


def loaded() -> MLP:
    model = MLP()
    model.load_state_dict(random_weights(model))
    return model


def test_a_state_dict_is_saved_bound_and_passed_as_it_is(tmp_path):
    model = loaded()
    mod, params = model.export_tvm(MLP_SPEC)
    expected = model.jit(MLP_SPEC).forward(X)
    rx.save_weights(model.state_dict(), tmp_path / "mlp.safetensors")
    for weights in (model.state_dict(), dict(params), rx.load_weights(tmp_path)):
        found = rx.jit(mod, params=weights).forward(X)  # what is constant is computed beforehand
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(rx.jit(mod).forward(X, *model.parameters()), expected, rtol=1e-5)


def test_an_annotation_is_made_of_a_state_dict():
    model = loaded()

    @R.function
    def f(x: R.Tensor(("n", 4), "float32"), params: R.Tuple(model.state_dict())):
        return x @ R.permute_dims(params["fc1.weight"])

    found = rx.jit(f, params=model.state_dict()).f(X)
    np.testing.assert_allclose(found, X @ model.fc1.weight.data.T, rtol=1e-5)


def test_the_array_of_a_parameter_is_its_data_without_a_copy():
    weight = loaded().fc1.weight
    assert np.shares_memory(np.asarray(weight), weight.data)
    assert not np.shares_memory(np.array(weight), weight.data)
    assert np.asarray(weight, "float64").dtype == "float64"


def test_a_parameter_without_data_is_no_array(tmp_path):
    with pytest.raises(ValueError, match="it has no data"):
        np.asarray(MLP().fc1.weight)
    with pytest.raises(DiagnosticError, match=r"`fc1\.weight` is no tensor: .* it has no data$"):
        rx.save_weights(MLP().state_dict(), tmp_path / "mlp.safetensors")
    mod, params = MLP().export_tvm(MLP_SPEC)
    with pytest.raises(VMError, match=r"`fc1\.weight`: .* it has no data \[RX0608\]"):
        rx.jit(mod).forward(X, *dict(params).values())


def test_in_an_export_a_parameter_is_no_array():
    class Baked(nn.Module):
        def __init__(self) -> None:
            self.weight = nn.Parameter((4,), "float32")
            self.weight.data = np.ones(4, "float32")

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return x + np.asarray(self.weight)

    with pytest.raises(ValueError, match=r"in an export a tensor has no elements"):
        Baked().export_tvm(SPEC)


@pytest.mark.parametrize(
    ("operator", "name"),
    [
        (lambda a, b: a + b, "R.add"), (lambda a, b: a - b, "R.subtract"),
        (lambda a, b: a * b, "R.multiply"), (lambda a, b: a / b, "R.divide"),
    ],
)  # fmt: skip
def test_an_operator_of_an_array_and_a_tensor_is_one_binding(
    operator: Callable[[Any, Any], Any], name: str
):
    class Left(nn.Module):
        def __init__(self) -> None:
            self.weight = nn.Parameter((2,), "float32")

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            array = np.arange(2, dtype="float32")
            return operator(array, self.weight) + operator(np.float32(2), x)

    spec = {"forward": {"x": nn.spec.Tensor((2,), "float32")}}
    text = Left().export_tvm(spec)[0].script()
    assert f'= {name}(R.const([0.0, 1.0], "float32"), weight)' in text
    assert f'= {name}(R.const(2.0, "float32"), x)' in text
