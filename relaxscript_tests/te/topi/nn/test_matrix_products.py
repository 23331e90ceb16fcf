"""Products with weights: `topi.nn.dense`, `topi.nn.matmul`, `topi.nn.batch_matmul`."""

from __future__ import annotations

import numpy as np
import pytest

from relaxscript import te, topi
from relaxscript.errors import DiagnosticError
from relaxscript_tests.te.topi.running import computed, normal


def test_a_dense_layer_has_weights_by_features_out_and_a_bias(rng):
    x, w, b = normal(rng, 2, 3), normal(rng, 4, 3), normal(rng, 4)
    data, weight, bias = (
        te.placeholder(v.shape, name=n) for v, n in ((x, "x"), (w, "w"), (b, "b"))
    )
    made = topi.nn.dense(data, weight, bias)
    found = computed(made, {data: x, weight: w, bias: b})
    np.testing.assert_allclose(found, x @ w.T + b, rtol=1e-5, atol=1e-6)
    product = made.op.input_tensors[0].op
    assert (product.name, product.tag, made.op.tag) == ("T_matmul_NT", "dense", "broadcast")


def test_sums_are_of_the_dtype_that_is_asked_for(rng):
    x, w = (rng.integers(-99, 99, shape).astype("int8") for shape in ((2, 30), (30, 3)))
    a, b = te.placeholder(x.shape, "int8", "a"), te.placeholder(w.shape, "int8", "b")
    made = topi.nn.matmul(a, b, out_dtype="int32")
    found = computed(made, {a: x, b: w})
    np.testing.assert_array_equal(found, x.astype("int32") @ w.astype("int32"))


@pytest.mark.parametrize(("first", "second"), [(False, True), (True, False)])
def test_batches_of_matrices_are_multiplied(first, second, rng):
    x, y = normal(rng, *((1, 3, 2) if first else (1, 2, 3))), normal(rng, 5, 3, 4)
    y = y.swapaxes(1, 2) if second else y
    a, b = te.placeholder(x.shape, name="a"), te.placeholder(y.shape, name="b")
    made = topi.nn.batch_matmul(a, b, transpose_a=first, transpose_b=second)
    assert (made.op.name, made.op.tag) == (
        f"T_batch_matmul_{'T' if first else 'N'}{'T' if second else 'N'}", "batch_matmul",
    )  # fmt: skip
    found = computed(made, {a: x, b: np.ascontiguousarray(y)})
    wanted = (x.swapaxes(1, 2) if first else x) @ (y.swapaxes(1, 2) if second else y)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    known = topi.nn.batch_matmul(a, b, (5, 2, 4), transpose_a=first, transpose_b=second)
    assert [int(d) for d in known.shape] == [5, 2, 4]


def test_tensors_of_another_rank_are_refused():
    matrix, vector = te.placeholder((2, 3)), te.placeholder((3,))
    with pytest.raises(DiagnosticError, match=r"`topi\.nn\.dense` multiplies two matrices"):
        topi.nn.dense(matrix, vector)
    with pytest.raises(DiagnosticError, match="multiplies a matrix for each element of a batch"):
        topi.nn.batch_matmul(matrix, matrix)
