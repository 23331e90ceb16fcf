"""Normalizations of channels: against their formulas; what is known; what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript_tests.op.inference import obliged, ranked, refused, result, tensor

RNG = np.random.default_rng(7)
DATA = RNG.normal(size=(2, 6, 5))
GAMMA, BETA = RNG.normal(size=6), RNG.normal(size=6)
MEAN, VAR = RNG.normal(size=6), RNG.uniform(1, 2, 6)
X, P = tensor("n", 6, "h"), tensor(6)


def column(parameter: Any) -> Any:
    return parameter[:, None]


def test_a_batch_is_normalized_by_its_own_statistics_while_training() -> None:
    out, mean, variance = R.nn.batch_norm(DATA, GAMMA, BETA, MEAN, VAR, 1, momentum=0.25)
    own, spread = DATA.mean((0, 2)), DATA.var((0, 2))
    expected = (DATA - column(own)) / np.sqrt(column(spread) + 1e-5) * column(GAMMA) + column(BETA)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    np.testing.assert_allclose(mean, 0.75 * MEAN + 0.25 * own, rtol=1e-12)
    np.testing.assert_allclose(variance, 0.75 * VAR + 0.25 * spread, rtol=1e-12)


def test_a_batch_is_normalized_by_the_moving_statistics_else() -> None:
    out, mean, variance = R.nn.batch_norm(
        DATA, GAMMA, BETA, MEAN, VAR, -2, center=False, scale=False, training=False
    )
    np.testing.assert_allclose(out, (DATA - column(MEAN)) / np.sqrt(column(VAR) + 1e-5))
    assert (mean == MEAN).all()
    assert (variance == VAR).all()


def test_channels_are_normalized_in_groups() -> None:
    out = R.nn.group_norm(DATA, GAMMA, BETA, 3, 1, [2])
    groups = DATA.reshape(2, 3, 2, 5)
    mean, spread = groups.mean((2, 3), keepdims=True), groups.var((2, 3), keepdims=True)
    plain = ((groups - mean) / np.sqrt(spread + 1e-5)).reshape(DATA.shape)
    np.testing.assert_allclose(out, plain * column(GAMMA) + column(BETA), rtol=1e-12)
    turned = R.nn.group_norm(DATA.transpose(0, 2, 1), GAMMA, BETA, 3, -1, [1])
    np.testing.assert_allclose(turned, out.transpose(0, 2, 1), rtol=1e-12)


def test_each_channel_is_normalized_on_its_own() -> None:
    out = R.nn.instance_norm(DATA, GAMMA, BETA, 1, [2])
    mean, spread = DATA.mean(2, keepdims=True), DATA.var(2, keepdims=True)
    expected = (DATA - mean) / np.sqrt(spread + 1e-5) * column(GAMMA) + column(BETA)
    np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_what_is_known_of_the_result() -> None:
    assert result(R.nn.batch_norm, X, P, P, P, P, 1) == (
        "[(n, 6, h) float32; (6,) float32; (6,) float32]"
    )
    assert result(R.nn.batch_norm, ranked(3), P, P, P, P, 1) == (
        "[rank 3 float32; (6,) float32; (6,) float32]"
    )
    assert result(R.nn.group_norm, X, P, P, 3, 1, [2]) == "(n, 6, h) float32"
    assert result(R.nn.group_norm, ranked(-1, "void"), P, P, 3, 1, [2]) == "rank -1 void"
    assert obliged(R.nn.instance_norm, X, tensor("c"), P, 1, [2]) == ["gamma: 6 equal c"]


@pytest.mark.parametrize("wrong", [tensor(5), tensor(6, 1)])
def test_parameters_have_one_element_for_each_channel(wrong: Any) -> None:
    assert refused(R.nn.batch_norm, X, P, P, wrong, P, 1).operand == "moving_mean"
    assert refused(R.nn.group_norm, X, P, wrong, 3, 1, [2]).operand == "beta"
    assert refused(R.nn.instance_norm, X, wrong, P, 1, [2]).operand == "gamma"


def test_what_cannot_be_normalized() -> None:
    assert refused(R.nn.batch_norm, X, P, P, P, P, 3).message == "there is no axis 3"
    assert refused(R.nn.group_norm, X, P, P, 4, 1, [2]).fact == "has 6 channels"
    x, p = tensor("n", "c"), tensor("c")
    assert obliged(R.nn.group_norm, x, p, p, 4, 1, []) == ["data: c % 4 equal 0"]
    assert refused(R.nn.group_norm, X, P, P, 0, 1, [2]).fact == "is 0"
    assert refused(R.nn.group_norm, X, P, P, 3, 1, [5]).message == "there is no axis 5"
    assert refused(R.nn.instance_norm, X, P, P, 1, [2, -1]).code == "RX0204"
    whole = tensor(2, 6, dtype="int32")
    numbers = tensor(6, dtype="int32")
    assert refused(R.nn.instance_norm, whole, numbers, numbers, 1, [0]).code == "RX0202"
