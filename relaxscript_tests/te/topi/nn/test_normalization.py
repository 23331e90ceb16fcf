"""Normalizations without the parameters that operators always have."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript_tests.te.topi.running import computed, normal


@pytest.fixture
def x(rng: np.random.Generator) -> np.ndarray:
    return normal(rng, 2, 6, 5)


def normalized(x: np.ndarray, axes: tuple[int, ...], epsilon: float = 1e-5) -> np.ndarray:
    x = x.astype("float64")
    apart = x - x.mean(axes, keepdims=True)
    return apart / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def test_rows_are_normalized_without_gamma_and_beta(x: np.ndarray) -> None:
    a = te.placeholder((te.var("n", "int64"), 6, 5), name="a")
    found = computed(topi.nn.layer_norm(a, None, None, -1), {a: x})
    np.testing.assert_allclose(found, normalized(x, (2,)), 1e-6)


def test_parameters_have_the_axes_in_the_order_in_which_they_are_named(
    x: np.ndarray, rng: np.random.Generator
) -> None:
    a, b = te.placeholder((2, 6, 5), name="a"), te.placeholder((5, 2), name="b")
    weight = normal(rng, 5, 2)
    found = computed(topi.nn.rms_norm(a, b, [2, 0], 0.5), {a: x, b: weight})
    size = np.sqrt((x.astype("float64") ** 2).mean((0, 2), keepdims=True) + 0.5)
    np.testing.assert_allclose(found, x / size * weight.T[:, None, :], 1e-6)


@pytest.mark.parametrize(("dtype", "times"), [("float32", 0), ("float16", 2), ("float64", 0)])
def test_parameters_are_widened_only_where_results_are_narrow(dtype: str, times: int) -> None:
    a, *others = (te.placeholder(s, dtype, n) for s, n in (((2, 5), "a"), ((5,), "g"), ((5,), "b")))
    text = te.create_prim_func([a, *others, topi.nn.layer_norm(a, *others, -1)]).script()
    assert text.count('T.Cast("float32", g[') + text.count('T.Cast("float32", b[') == times
    assert 'T.Cast("float64", g[' not in text


def test_what_is_normalized_may_be_as_large_as_it_is(rng: np.random.Generator) -> None:
    x, gamma = normal(rng, 4, 64) * np.float32(1e37), normal(rng, 64)
    a, g = te.placeholder((4, 64), name="a"), te.placeholder((64,), name="g")
    for found in (
        computed(topi.nn.layer_norm(a, g, None, -1), {a: x, g: gamma}, "llvm"),
        computed(topi.nn.rms_norm(a, g, -1), {a: x, g: gamma}, "llvm"),
    ):
        assert np.isfinite(found).all()
    np.testing.assert_allclose(
        computed(topi.nn.layer_norm(a, g, None, -1), {a: x, g: gamma}), normalized(x, (1,)) * gamma,
        1e-6,
    )  # fmt: skip


def test_groups_of_channels_are_normalized_together(x: np.ndarray) -> None:
    a = te.placeholder((2, te.var("c", "int64"), 5), name="a")
    found = computed(topi.nn.group_norm(a, None, None, 3, 1, [2]), {a: x})
    wanted = normalized(x.reshape(2, 3, 2, 5), (2, 3)).reshape(x.shape)
    np.testing.assert_allclose(found, wanted, 1e-6)


def test_instances_are_normalized_one_by_one(x: np.ndarray, rng: np.random.Generator) -> None:
    a, b = te.placeholder((2, 6, 5), name="a"), te.placeholder((6,), name="b")
    beta = normal(rng, 6)
    found = computed(topi.nn.instance_norm(a, None, b, 1, [2]), {a: x, b: beta})
    np.testing.assert_allclose(found, normalized(x, (2,)) + beta[:, None], 1e-5, 1e-6)


def test_batches_are_normalized_by_the_moving_statistics_unless_training(
    x: np.ndarray, rng: np.random.Generator
) -> None:
    a = te.placeholder((2, 6, 5), name="a")
    names = ("gamma", "beta", "mean", "var")
    parameters = {te.placeholder((6,), name=name): np.abs(normal(rng, 6)) for name in names}
    gamma, beta, mean, variance = (v[:, None] for v in parameters.values())
    made = topi.nn.batch_norm(a, *parameters)
    found = computed(made[0], {a: x, **parameters})
    wanted = (x - mean) / np.sqrt(variance + 1e-5) * gamma + beta
    np.testing.assert_allclose(found, wanted, 1e-4, 1e-5)
    assert made[1:] == list(parameters)[2:]
