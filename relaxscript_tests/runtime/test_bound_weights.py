"""Weights bound to a machine's function by name: no copy, no compilation, all looked at first."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript.runtime import Device, ExecBuilder
from relaxscript.script import ir as I, relax as R

WEIGHTS = {
    "fc1.weight": np.arange(12, dtype="float32").reshape(4, 3),
    "fc1.bias": np.float32([1, 2, 3]),
}

INFOS = {"fc1.weight": R.Tensor((4, 3), "float32"), "fc1.bias": R.Tensor((3,), "float32")}


@I.ir_module
class Model:
    @R.function
    def main(
        x: R.Tensor(("n", 4), "float32"),
        scale: R.Tensor((4, 3), "float32"),
        params: R.Tuple(INFOS),
    ):
        w = R.multiply(params["fc1.weight"], scale)
        return R.add(R.matmul(x, w), params["fc1.bias"])

    @R.function
    def plain(x: R.Tensor(("n",), "float32"), b: R.Tensor(("k",), "float32"), c: R.Tensor(("k",))):
        return (x, b, c)


X, S = np.ones((2, 4), "float32"), np.ones((4, 3), "float32")
EXPECTED = X @ WEIGHTS["fc1.weight"] + WEIGHTS["fc1.bias"]


@pytest.fixture(params=["llvm", "reference"])
def model(request):
    return rx.jit(Model, request.param)


def refused(function, *args):
    with pytest.raises(rx.DiagnosticError) as caught:
        function(*args)
    return caught.value.diagnostics


def test_what_is_bound_takes_its_inputs_only(model):
    run = model.bind_params(WEIGHTS)
    assert run(X, S).tolist() == EXPECTED.tolist()
    assert run(scale=S, x=X).tolist() == EXPECTED.tolist()
    assert model.main(X, S, tuple(WEIGHTS.values())).tolist() == EXPECTED.tolist()
    with pytest.raises(rx.VMError, match="takes 2 arguments"):
        run(X)


def test_arrays_are_the_same_ones(tmp_path):
    model = rx.jit(Model)
    bias = WEIGHTS["fc1.bias"].copy()
    run = model.bind_params({**WEIGHTS, "fc1.bias": bias})
    bias += 1
    assert run(X, S).tolist() == (EXPECTED + 1).tolist()
    rx.save_weights(WEIGHTS, tmp_path / "a.safetensors")
    weights = rx.load_weights(tmp_path / "a.safetensors")
    ((first, second),) = model.bind_params(weights).captured
    assert first is weights["fc1.weight"]
    assert second is weights["fc1.bias"]


def test_without_a_number_of_inputs_the_weights_begin_where_one_is_given(model):
    b = np.ones(3, "float32")
    x, given, same = model.bind_params({"b": b, "c": b}, "plain")(X[0])
    assert (x.tolist(), given.tolist(), same.tolist()) == (X[0].tolist(), [1] * 3, [1] * 3)
    (found,) = refused(model.bind_params, {"b": b}, "plain")
    assert found.message == "there is no array for `c`"
    assert model.bind_params({}, "plain")(X[0], b, b)[0].tolist() == X[0].tolist()


def test_tensors_of_other_libraries_and_devices_are_taken(model):
    given = {name: rx.nd.array(array) for name, array in WEIGHTS.items()}
    assert np.asarray(model.bind_params(given)(X, S)).tolist() == EXPECTED.tolist()
    assert Device("cpu", 1) not in model.devices


def test_names_that_are_missing_and_unexpected_are_one_message(model):
    (found,) = refused(model.bind_params, {"fc1.wieght": S, "head": S})
    assert found.code == "RX0712"
    assert found.message == (
        "there are no arrays for `fc1.weight`, `fc1.bias`, and no parameters `fc1.wieght`, `head`"
    )
    assert found.notes == ("`fc1.wieght` is no parameter; did you mean `fc1.weight`?",)
    assert found.span.text == "params: R.Tuple(INFOS)"


def test_all_arrays_that_do_not_fit_are_said_with_their_file_and_parameter(model, tmp_path):
    path = tmp_path / "a.safetensors"
    rx.save_weights(
        {"fc1.weight": S.astype("float64"), "fc1.bias": np.ones((3, 1), "float32")}, path
    )
    first, second = refused(model.bind_params, rx.load_weights(path))
    assert (first.code, first.span.text) == ("RX0206", "params: R.Tuple(INFOS)")
    assert first.notes == (f"it is from `{path}`",)
    assert first.message == (
        "the array for `fc1.weight` does not fit: it is a tensor of shape (4, 3) and dtype "
        "float64, and must be a tensor of shape (4, 3) and dtype float32"
    )
    assert "must be a tensor of shape (3,)" in second.message
    (found,) = refused(model.bind_params, {**WEIGHTS, "fc1.bias": np.ones(4, "float32")})
    assert "(4,)" in found.message
    (found,) = refused(model.bind_params, {**WEIGHTS, "fc1.bias": [1.0]})
    assert found.message == (
        "the array for `fc1.bias` does not fit: it is a list of 1, and must be a tensor of shape "
        "(3,) and dtype float32"
    )
    masked = np.ma.masked_array(WEIGHTS["fc1.bias"], [True, False, False])
    (found,) = refused(model.bind_params, {**WEIGHTS, "fc1.bias": masked})
    assert found.message.startswith("the array for `fc1.bias` does not fit: a masked array is no")


def test_sizes_that_contradict_each_other_are_said_before_a_run(model):
    b = np.ones(3, "float32")
    (found,) = refused(model.bind_params, {"b": b, "c": b[:2]}, "plain")
    assert "it is a tensor of shape (2,)" in found.message
    run = model.bind_params(WEIGHTS)
    with pytest.raises(rx.VMError, match="must be"):
        run(X[:, :3], S)


def test_a_function_without_checks_takes_what_it_is_given():
    builder = ExecBuilder()
    with builder.function("main", 2, ["x", "w"], weights=["x", "w"], inputs=1):
        builder.emit_ret(builder.r(1))
    machine = rx.VirtualMachine(builder.get())
    assert machine.bind_params({"w": S})(X) is not None


def test_pairs_of_names_and_arrays_are_no_mapping(model):
    (found,) = refused(model.bind_params, list(WEIGHTS.items()))
    assert found.message == (
        "weights are given as a mapping from names to arrays, not as a value of type list"
    )
