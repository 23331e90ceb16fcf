"""Products of matrices: `topi.matmul`, and what operators make of it for symbolic shapes."""

from __future__ import annotations

import numpy as np
import pytest

import relaxscript as rx
from relaxscript import te, topi
from relaxscript.errors import DiagnosticError
from relaxscript.script import from_source
from relaxscript.transform import LegalizeOps

from .running import computed, normal

TARGETS = ["llvm", "reference"]


@pytest.mark.parametrize(
    ("left", "right"),
    [((2, 3), (3, 4)), ((3,), (3,)), ((3,), (3, 4)), ((2, 3), (3,)), ((5, 1, 2, 3), (4, 3, 2))],
)
@pytest.mark.parametrize("target", TARGETS)
def test_matrices_and_vectors_are_multiplied_as_numpy_does(left, right, target, rng):
    a, b = te.placeholder(left, name="a"), te.placeholder(right, name="b")
    x, y = normal(rng, *left), normal(rng, *right)
    found = computed(topi.matmul(a, b), {a: x, b: y}, target)
    np.testing.assert_allclose(found, x @ y, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("first", "second"), [(True, False), (False, True), (True, True)])
def test_either_matrix_may_be_transposed(first, second, rng):
    x, y = normal(rng, *((3, 2) if first else (2, 3))), normal(rng, *((4, 3) if second else (3, 4)))
    a, b = te.placeholder(x.shape, name="a"), te.placeholder(y.shape, name="b")
    found = computed(topi.matmul(a, b, first, second), {a: x, b: y})
    wanted = (x.T if first else x) @ (y.T if second else y)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_a_product_is_named_as_users_know_it():
    a, b = te.placeholder((2, 3), name="a"), te.placeholder((3, 4), name="b")
    op = topi.matmul(a, b).op
    assert (op.name, op.tag) == ("T_matmul", "matmul")
    assert [axis.var.name for axis in (*op.axis, *op.reduce_axis)] == ["i", "j", "k"]


@pytest.mark.parametrize(
    ("left", "right", "said"),
    [
        ((), (3,), "`topi.matmul` multiplies matrices"),
        ((2, 3), (4, 5), "`topi.matmul` sums over 3 elements of one tensor and 4 of the other"),
        ((2, 2, 3), (5, 3, 4), "`topi.matmul` cannot broadcast axis -1"),
    ],
)
def test_tensors_that_are_no_factors_are_refused(left, right, said):
    with pytest.raises(DiagnosticError, match=said):
        topi.matmul(te.placeholder(left), te.placeholder(right))


@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("batch", [1, 5])
def test_an_axis_that_may_be_1_is_repeated_where_it_is(batch, target, rng):
    module = from_source('''
from relaxscript.script import ir as I, relax as R, tir as T
@I.ir_module
class M:
    @R.function
    def main(
        x: R.Tensor(("n", 2, "k"), "float32"), y: R.Tensor((5, "k", 4), "float32"),
        z: R.Tensor(("n", 1, 1), "float32"),
    ):
        w = R.matmul(x, y)
        v = R.add(w, z)
        return v
''')  # fmt: skip
    legal = LegalizeOps()(module)
    x, y, z = normal(rng, batch, 2, 3), normal(rng, 5, 3, 4), normal(rng, batch, 1, 1)
    for size in (3, 0):
        found = rx.VirtualMachine(rx.build(legal, target))["main"](x[..., :size], y[:, :size], z)
        wanted = x[..., :size] @ y[:, :size] + z
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
