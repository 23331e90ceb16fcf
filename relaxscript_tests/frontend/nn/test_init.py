"""Initial values: the same key gives the same bits, and values are distributed as theory says."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

import relaxscript as rx
from relaxscript import relax
from relaxscript.frontend import nn
from relaxscript.frontend.nn import init
from relaxscript.script import ir as I, relax as R

SHAPE = (160, 40, 5, 5)  # fan_in 1000, fan_out 4000

# The scheme, and the mean and standard deviation of its values.
MOMENTS = {
    "uniform": (init.uniform(-1, 3), 1.0, 4 / math.sqrt(12)),
    "normal": (init.normal(0.5, 2.0), 0.5, 2.0),
    "truncated_normal": (init.truncated_normal(), 0.0, 0.8796256610342398),
    "half_normal": (
        init.truncated_normal(0, 1, 0, 9), math.sqrt(2 / math.pi), math.sqrt(1 - 2 / math.pi),
    ),
    "xavier_uniform": (init.xavier_uniform(2.0), 0.0, 2 * math.sqrt(2 / 5000)),
    "xavier_normal": (init.xavier_normal(), 0.0, math.sqrt(2 / 5000)),
    "kaiming_uniform": (init.kaiming_uniform(), 0.0, math.sqrt(2 / 1000)),
    "kaiming_normal": (init.kaiming_normal(), 0.0, math.sqrt(2 / 1000)),
    "kaiming_fan_out": (init.kaiming_normal(mode="fan_out"), 0.0, math.sqrt(2 / 4000)),
    "kaiming_of_linear": (
        init.kaiming_uniform(a=math.sqrt(5)), 0.0, math.sqrt(2 / (1 + 5) / 1000),
    ),
    "kaiming_tanh": (init.kaiming_normal(nonlinearity="tanh"), 0.0, 5 / 3 / math.sqrt(1000)),
    "orthogonal": (init.orthogonal(3.0), 0.0, 3 / math.sqrt(1000)),
}  # fmt: skip


@pytest.mark.parametrize("name", MOMENTS)
def test_mean_and_deviation_are_those_of_theory(name):
    scheme, mean, std = MOMENTS[name]
    values = scheme(SHAPE, "float64", key=7)
    assert abs(values.mean() - mean) < 6 * std / math.sqrt(values.size)
    fourth = ((values - values.mean()) ** 4).mean()
    spread = math.sqrt(max(fourth - std**4, std**4 / 100) / values.size)
    assert abs(values.var() - std**2) < 8 * spread
    assert values.shape == SHAPE


@pytest.mark.parametrize(
    ("scheme", "low", "high"),
    [
        (init.uniform(-1, 3), -1, 3),
        (init.truncated_normal(), -2, 2),
        (init.truncated_normal(5, 1, 3, 5.5), 3, 5.5),
        (init.xavier_uniform(), -math.sqrt(6 / 5000), math.sqrt(6 / 5000)),
        (init.kaiming_uniform(), -math.sqrt(6 / 1000), math.sqrt(6 / 1000)),
    ],
)
def test_values_lie_in_their_range_and_fill_it(scheme, low, high):
    values = scheme(SHAPE, "float64", key=1)
    assert low <= values.min() < low + (high - low) / 100
    assert high - (high - low) / 100 < values.max() <= high


def test_constants_are_of_every_dtype():
    for dtype in ("float32", "int8", "bool", "bfloat16"):
        assert (init.ones()((2, 3), dtype) == 1).all()
        assert init.zeros()((2, 3), dtype).dtype.name == dtype
    assert init.constant(0.5)((), "float16").tolist() == 0.5


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (3, 2, 5), (1, 1), (0, 3)])
def test_an_orthogonal_matrix_has_orthonormal_rows_or_columns(shape):
    matrix = init.orthogonal()(shape, "float64", key=3).reshape(shape[0], math.prod(shape[1:]))
    product = matrix @ matrix.T if shape[0] <= matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(product, np.eye(len(product)), atol=1e-12)


def test_the_determinants_of_orthogonal_matrices_have_both_signs():
    signs = {round(float(np.linalg.det(init.orthogonal()((3, 3), key=k)))) for k in range(20)}
    assert signs == {-1, 1}


# ---------------------------------------------------------------- keys


@pytest.mark.parametrize("name", init.SCHEMES)
def test_the_same_key_gives_the_same_bits_and_another_one_others(name):
    scheme = init.SCHEMES[name]()
    first, again = scheme((4, 5), key=11), scheme((4, 5), key=np.int64(11))
    assert first.tobytes() == again.tobytes()
    assert first.dtype == "float32"
    assert (first.tobytes() != scheme((4, 5), key=12).tobytes()) is scheme.is_random


def test_the_bits_of_a_key_are_these():
    assert init.fold(0, "fc1.weight") == 56849192892618782234148070906226280666
    assert init.uniform()((3,), "float64", key=0).tolist() == [
        0.03554835157550584,
        0.9893597296324952,
        0.030637666580017542,
    ]


def test_keys_are_integers_of_any_size_and_sign():
    keys = [0, 1, -1, 10**40, init.fold(0, "a"), init.fold(0, "b"), init.fold(1, "a")]
    assert len({init.normal()((2,), key=key).tobytes() for key in keys}) == len(keys)
    for key in (1.0, "a", True, None):
        with pytest.raises(rx.DiagnosticError, match="a key is an integer, not"):
            init.normal()((2,), key=key)


def test_values_are_rounded_once_to_the_dtype():
    exact = init.normal()((1000,), "float64", key=5)
    for dtype in ("float32", "float16", ml_dtypes.bfloat16):
        made = init.normal()((1000,), np.dtype(dtype).name, key=5)
        assert np.abs(made.astype("float64") - exact).max() <= np.finfo("float16").eps * 8
        assert made.dtype == dtype


# ---------------------------------------------------------------- many parameters

WEIGHTS = {
    "fc1.weight": R.Tensor((16, 8), "float32"),
    "fc1.bias": np.empty(16, "float32"),
    "norm.scale": R.Tensor((16,), "bfloat16"),
}
TABLE = {"*.weight": "kaiming_uniform", "*.bias": "zeros", "*": init.ones()}


@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n", 8), "float32"), params: R.Tuple(WEIGHTS)):
        y = R.add(R.matmul(x, params["fc1.weight"].T), params["fc1.bias"])
        return R.multiply(y, R.astype(params["norm.scale"], "float32"))


def test_the_parameters_of_a_model_are_initialised_by_patterns_of_their_names():
    made = init.initialize(WEIGHTS, TABLE, key=3)
    assert list(made) == list(WEIGHTS)
    assert not made["fc1.bias"].any()
    assert made["norm.scale"].dtype == ml_dtypes.bfloat16
    x = np.ones((2, 8), "float32")
    np.testing.assert_allclose(
        rx.jit(Model, params=made).main(x), x @ made["fc1.weight"].T, rtol=1e-5
    )


def test_the_values_of_a_parameter_depend_on_its_name_and_not_on_the_others():
    whole = init.initialize(WEIGHTS, "uniform", key=3)
    alone = init.initialize({"fc1.bias": WEIGHTS["fc1.bias"]}, init.uniform(), key=3)
    assert whole["fc1.bias"].tobytes() == alone["fc1.bias"].tobytes()
    renamed = init.initialize({"fc2.bias": WEIGHTS["fc1.bias"]}, "uniform", key=3)
    assert whole["fc1.bias"].tobytes() != renamed["fc2.bias"].tobytes()
    pairs = init.initialize(list(WEIGHTS.items()), "uniform", key=3)
    assert all(pairs[name].tobytes() == array.tobytes() for name, array in whole.items())


def test_a_module_takes_what_is_made_for_its_parameters():
    class Net(nn.Module):
        def __init__(self):
            self.fc1 = nn.Linear(8, 16)
            self.fc2 = nn.Linear(16, 4, dtype="float64")

        def forward(self, x):
            return self.fc1(x)

    net = Net()
    made = init.initialize(net.state_dict(), {"*.weight": "xavier_normal", "*": "zeros"}, key=1)
    net.load_state_dict(made)
    assert made["fc2.weight"].dtype == "float64"
    assert np.array_equal(net.fc1.weight.data, made["fc1.weight"])
    assert relax.frontend.nn.init.initialize is init.initialize


# ---------------------------------------------------------------- fans and gains


@pytest.mark.parametrize(
    ("shape", "fans"), [((5, 3), (3, 5)), ((16, 8, 3, 3), (72, 144)), ((4, 2, 7), (14, 28))]
)
def test_fans_are_those_of_the_first_two_axes(shape, fans):
    assert init.calculate_fan(shape) == fans


def test_gains_are_those_of_the_literature():
    assert init.calculate_gain("linear") == init.calculate_gain("sigmoid") == 1
    assert init.calculate_gain("relu") == math.sqrt(2)
    assert init.calculate_gain("tanh") == 5 / 3
    assert init.calculate_gain("leaky_relu", 0.2) == math.sqrt(2 / 1.04)
    assert init.calculate_gain("selu") == 0.75


# ---------------------------------------------------------------- what is refused

REFUSED = {
    "a vector": (
        lambda: init.xavier_normal()((5,)), "RX0203",
        "`xavier_normal` needs a weight of two or more dimensions, and the shape is (5,)",
    ),
    "a scalar": (lambda: init.calculate_fan(()), "RX0203", "`calculate_fan` needs a weight of two"),
    "integers": (
        lambda: init.normal()((5,), "int32"), "RX0202",
        "`normal` draws floats, and the dtype is int32",
    ),
    "no dtype": (
        lambda: init.zeros()((5,), "flaot32"), "RX0202", '"flaot32" is no dtype of arrays',
    ),
    "a symbolic shape": (
        lambda: init.zeros()(("n", 2)), "RX0203",
        "the sizes of a shape are numbers, and one is `n`",
    ),
    "a negative size": (
        lambda: init.zeros()((-1,)), "RX0203", "the sizes of a shape are numbers, and one is `-1`",
    ),
    "a far range": (
        lambda: init.truncated_normal(0, 1, 3, 4), "RX0203",
        "hardly anything of the distribution lies between 3 and 4",
    ),
    "a mode": (lambda: init.kaiming_normal(mode="fan"), "RX0703", 'there is no mode "fan"'),
    "a function": (
        lambda: init.calculate_gain("rleu"), "RX0703", 'there is no nonlinearity "rleu"'
    ),
    "a scheme": (
        lambda: init.initialize(WEIGHTS, "xavier_unifrom", key=0), "RX0703",
        'there is no scheme "xavier_unifrom"',
    ),
    "a scheme that is none": (
        lambda: init.initialize(WEIGHTS, {"*": 3}, key=0), "RX0703", "there is no scheme int (3)",
    ),
    "a list of schemes": (
        lambda: init.initialize(WEIGHTS, ["zeros"], key=0), "RX0703",
        "there is no scheme list (['zeros'])",
    ),
    "a list of functions": (
        lambda: init.calculate_gain(["relu"]), "RX0703", "there is no nonlinearity list (['relu'])",
    ),
    "a pattern that is none": (
        lambda: init.initialize(WEIGHTS, {3: "zeros"}, key=0), "RX0712",
        "a pattern of names is a string, not int (3)",
    ),
    "parameters without names": (
        lambda: init.initialize([np.ones(3)], "zeros", key=0), "RX0712",
        "parameters are given by their names, not as list",
    ),
    "parameters that are none": (
        lambda: init.initialize(3, "zeros", key=0), "RX0712",
        "parameters are given by their names, not as int (3)",
    ),
    "a dtype that is none": (
        lambda: init.zeros()((5,), 3), "RX0202", "int (3) is no dtype of arrays",
    ),
    "a deviation below zero": (
        lambda: init.normal(0.0, -1.0)((5,)), "RX0201", "`normal` cannot draw with its arguments: ",
    ),
    "a bound that is no number": (
        lambda: init.uniform("a")((5,)), "RX0201", "`uniform` cannot draw with its arguments: ",
    ),
    "names without a scheme": (
        lambda: init.initialize(WEIGHTS, {"fc1.*": "zeros"}, key=0), "RX0712",
        "no scheme is given for `norm.scale`",
    ),
    "a parameter that a scheme cannot fill": (
        lambda: init.initialize(WEIGHTS, "orthogonal", key=0), "RX0203",
        "`fc1.bias`: `orthogonal` needs a weight of two or more dimensions",
    ),
    "an annotation without sizes": (
        lambda: init.initialize({"w": R.Tensor(ndim=2)}, "zeros", key=0), "RX0203",
        "`w`: a shape and a dtype are needed, and it is `R.Tensor(ndim=2)`",
    ),
    "a value that is no parameter": (
        lambda: init.initialize({"w": 3}, "zeros", key=0), "RX0201",
        "`w`: a value of type int has no shape and dtype",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_initialised_is_said(name):
    call, code, message = REFUSED[name]
    with pytest.raises(rx.DiagnosticError) as caught:
        call()
    (found,) = caught.value.diagnostics
    assert found.code == code
    assert found.message.startswith(message)


def test_the_nearest_scheme_is_offered():
    with pytest.raises(rx.DiagnosticError) as caught:
        init.initialize(WEIGHTS, "xavier_unifrom", key=0)
    assert caught.value.diagnostics[0].help == 'did you mean "xavier_uniform"?'
