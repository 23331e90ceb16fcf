"""Gradients of operators: they agree with differences of what the operators mean."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript.analysis import well_formed
from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.op import REGISTRY, Operator
from relaxscript.script import from_source

from .differentiation import (
    by_differences,
    cotangents_of,
    draw_cotangents,
    flat,
    gradient_module,
    is_float,
    run,
    smooth_samples,
    symbolic,
)
from .sampling import Sample

# A module must list the devices of this one.
OWN_TESTS = {"to_vdevice"}
DIFFERENTIABLE = [
    o for o in REGISTRY.values() if "gradient" in o.rules and o.script_name not in OWN_TESTS
]

# Where the usual range is outside of the domain, or has not all branches.
DOMAINS = {
    "acosh": (1.2, 3.0), "abs": (-1.0, 1.0), "sign": (-1.0, 1.0), "clip": (0.4, 3.6),
    "nn.relu": (-1.0, 1.0), "nn.leakyrelu": (-1.0, 1.0), "nn.prelu": (-1.0, 1.0),
    "nn.gelu": (-2.0, 2.0), "nn.gelu_tanh": (-2.0, 2.0), "nn.selu": (-2.0, 2.0),
    "nn.silu": (-2.0, 2.0), "nn.softplus": (-2.0, 2.0),
}  # fmt: skip

every_differentiable = pytest.mark.parametrize("operator", DIFFERENTIABLE, ids=repr)


def differentiable_samples(operator: Operator) -> list[Sample]:
    """Samples at which the operator has a value: without one there is no derivative."""
    low, high = DOMAINS.get(operator.script_name, (0.15, 0.85))
    return [
        sample
        for sample in smooth_samples(operator, low, high)
        if not any(is_float(x) and np.isnan(x).any() for x in flat(sample.evaluate()))
    ]


@every_differentiable
def test_gradients_agree_with_finite_differences(operator: Operator) -> None:
    for sample in differentiable_samples(operator):
        cotangents = draw_cotangents(sample)
        grads = cotangents_of(sample.infer())
        module, variables = gradient_module(sample.call, sample.params, grads)
        found = run(module, [*sample.values.values(), *cotangents])
        for var, grad in zip(variables, found, strict=True):
            value = sample.values[var]
            assert (grad.shape, grad.dtype) == (value.shape, value.dtype), str(sample)
            expected = by_differences(sample, var, cotangents)
            assert np.allclose(grad, expected, rtol=1e-5, atol=1e-6), f"{sample} by {var}"


@every_differentiable
def test_a_gradient_is_well_formed_and_reads_back(operator: Operator) -> None:
    for sample in differentiable_samples(operator):
        grads = cotangents_of(sample.infer())
        module, _ = gradient_module(sample.call, sample.params, grads)
        assert well_formed(module)
        assert_structural_equal(from_source(module.script(show_meta=True)), module)


@every_differentiable
def test_a_gradient_over_symbolic_shapes_is_the_one_over_numbers(operator: Operator) -> None:
    for sample in differentiable_samples(operator):
        renewed = symbolic(sample.call, sample.params)
        if renewed is None:
            continue
        call, params = renewed
        module, variables = gradient_module(call, params, cotangents_of(call.struct_info))
        assert well_formed(module)
        assert_structural_equal(from_source(module.script(show_meta=True)), module)
        values = [*sample.values.values(), *draw_cotangents(sample)]
        grads = cotangents_of(sample.infer())
        expected = run(gradient_module(sample.call, sample.params, grads)[0], values)
        for one, other in zip(run(module, values), expected, strict=True):
            assert one.shape == other.shape
            assert np.allclose(one, other)
