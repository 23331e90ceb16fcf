"""Gradients of poolings by the function that users know: `topi.nn.pool_grad`."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript.op as R
from relaxscript import te, topi
from relaxscript.errors import DiagnosticError
from relaxscript_tests.te.topi.running import computed, normal


@pytest.mark.parametrize("target", ["llvm", "reference"])
@pytest.mark.parametrize("pool_type", ["max", "avg"])
def test_the_gradient_of_a_pooling(pool_type, target, rng):
    x = normal(rng, 2, 3, 5, 6)
    x[0, 0, :2] = x[0, 1, 2, 3] = np.nan
    pooled = {"max": R.nn.max_pool2d, "avg": R.nn.avg_pool2d}[pool_type]
    grads = normal(rng, *pooled(x, [2, 3], 2, [1, 0, 0, 2]).shape)
    a, g = te.placeholder(x.shape, name="a"), te.placeholder(grads.shape, name="g")
    made = topi.nn.pool_grad(g, a, [2, 3], 2, [1, 0, 0, 2], pool_type)
    backward = {"max": R.grad.max_pool2d_backward, "avg": R.grad.avg_pool2d_backward}[pool_type]
    wanted = backward(grads, x, [2, 3], 2, [1, 0, 0, 2], count_include_pad=True)
    found = computed(made, {g: grads, a: x}, target)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_tensors_and_poolings_that_there_are_not_are_refused():
    a, g = te.placeholder((1, 2, 3, 4)), te.placeholder((1, 2, 3))
    with pytest.raises(DiagnosticError, match=r'takes a gradient of the axes "NCHW"'):
        topi.nn.pool_grad(g, a, 2, 1, 0, "max")
    with pytest.raises(DiagnosticError, match='it is "max" or "avg"'):
        topi.nn.pool_grad(a, a, 2, 1, 0, "sum")
