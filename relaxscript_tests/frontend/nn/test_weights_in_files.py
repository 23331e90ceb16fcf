"""Weights in files for models of either manner: modules that own them, and decorated classes."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.frontend import nn
from relaxscript.frontend.nn import init
from relaxscript.script import ir as I, relax as R


class Net(nn.Module):
    def __init__(self):
        self.fc1 = nn.Linear(8, 16)
        self.fc2 = nn.Linear(16, 4)

    def forward(self, x: nn.Tensor):
        return self.fc2(nn.op.relu(self.fc1(x)))


X = np.linspace(-1, 1, 24, dtype="float32").reshape(3, 8)


@pytest.fixture
def weights(tmp_path):
    schemes = {"*.weight": "xavier_uniform", "*": "uniform"}
    made = init.initialize(Net().state_dict(), schemes, key=4)
    rx.save_weights(made, tmp_path / "net.safetensors")
    return rx.load_weights(tmp_path / "net.safetensors")


def expected(weights):
    h = np.maximum(X @ weights["fc1.weight"].T + weights["fc1.bias"], 0)
    return h @ weights["fc2.weight"].T + weights["fc2.bias"]


def exported(mode):
    spec = {"forward": {"x": nn.spec.Tensor(("n", 8), "float32"), "$": {"param_mode": mode}}}
    return Net().export_tvm(spec)[0]


@pytest.mark.parametrize("mode", ["plain", "packed"])
@pytest.mark.parametrize("printed", [False, True])
def test_an_exported_module_takes_its_weights_by_name(weights, mode, printed):
    module = exported(mode)
    module = rx.from_source(module.script(show_meta=True)) if printed else module
    built = rx.jit(module, params=weights).forward(X)
    np.testing.assert_allclose(built, expected(weights), rtol=1e-5)
    bound = rx.jit(module).bind_params(weights, "forward")(X)
    np.testing.assert_allclose(bound, expected(weights), rtol=1e-5)


def test_a_module_loads_the_file_without_a_copy(weights):
    net = Net()
    net.load_state_dict(weights)
    assert np.shares_memory(net.fc1.weight.data, weights["fc1.weight"])
    run = net.jit({"forward": {"x": nn.spec.Tensor(("n", 8), "float32")}})
    np.testing.assert_allclose(run.forward(X), expected(weights), rtol=1e-5)


def test_a_decorated_class_is_the_same_model(weights):
    @I.ir_module
    class Model:
        @R.function
        def forward(x: R.Tensor(("n", 8), "float32"), params: R.Tuple(weights)):
            h = R.nn.relu(R.linear(x, params["fc1.weight"], params["fc1.bias"]))
            return R.linear(h, params["fc2.weight"], params["fc2.bias"])

    made = rx.jit(Model, params=weights).forward(X)
    assert made.tobytes() == rx.jit(exported("packed"), params=weights).forward(X).tobytes()


@pytest.mark.parametrize("mode", ["plain", "packed"])
def test_names_of_a_file_that_differ_are_said_for_exported_modules_too(weights, mode):
    given = {name.replace("fc2", "head"): array for name, array in weights.items()}
    with pytest.raises(rx.DiagnosticError) as caught:
        rx.build(exported(mode), params=given)
    (found,) = caught.value.diagnostics
    assert found.message == (
        "there are no arrays for `fc2.weight`, `fc2.bias`, "
        "and no parameters `head.bias`, `head.weight`"
    )
    assert all("net.safetensors" in note for note in found.notes)


@pytest.mark.parametrize("mode", ["plain", "packed"])
def test_a_weight_may_be_called_as_an_input(mode):
    class Shifted(nn.Module):
        def __init__(self):
            self.x = nn.Parameter((2,), "float32")

        def forward(self, x: nn.Tensor) -> nn.Tensor:
            return x - self.x

    argument = nn.spec.Tensor((2,), "float32")
    mod, _ = Shifted().export_tvm({"forward": {"x": argument, "$": {"param_mode": mode}}})
    weights, x = {"x": np.array([1, 2], "float32")}, np.array([5, 7], "float32")
    for run in (
        rx.jit(mod, params=weights).forward,
        rx.jit(mod).bind_params(weights, "forward"),
    ):
        assert run(x).tolist() == [4, 5]
