"""Python's operators on scalar expressions."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from relaxscript import tir
from relaxscript.arith import Analyzer
from relaxscript.ir import structural_equal
from relaxscript.ir.prim_operators import ScalarLike

N, M = tir.Var("n", "int64"), tir.Var("m", "int64")


@pytest.mark.parametrize(
    ("apply", "node"),
    [
        (operator.lshift, tir.shift_left),
        (operator.rshift, tir.shift_right),
        (operator.and_, tir.bitwise_and),
        (operator.or_, tir.bitwise_or),
        (operator.xor, tir.bitwise_xor),
    ],
)
def test_operators_on_bits_build_the_intrinsics(apply, node):
    assert structural_equal(apply(N, M), node(N, M))
    assert structural_equal(apply(N, 2), node(N, tir.const(2, "int64")))
    assert structural_equal(apply(1, N), node(tir.const(1, "int64"), N))
    assert structural_equal(~N, tir.bitwise_not(N))
    with pytest.raises(TypeError, match="unsupported operand"):
        apply(N, "x")


def test_equality_is_a_node_where_a_scalar_is_wanted():
    assert structural_equal(tir.all(N == 1, M != N), tir.And(tir.EQ(N, 1), tir.NE(M, N)))
    assert structural_equal(tir.Select(N == M, N, 0), tir.Select(tir.EQ(N, M), N, 0))
    assert structural_equal(tir.Not(2 == N), tir.Not(tir.EQ(N, 2)))
    assert str(N != M) == "n != m"


def test_equality_is_identity_where_a_truth_value_is_wanted():
    other = tir.Var("n", "int64")
    assert {N: 1, other: 2}[N] == 1
    assert N in [M, N]
    assert other not in [M, N]
    assert (N, M) == (N, M)
    assert (N, M) != (N, other)


@pytest.mark.parametrize("other", ["n", None, (1,), N.dtype])
def test_what_is_no_scalar_equals_none(other):
    assert (N == other) is False
    assert (N != other) is True


def test_numbers_of_numpy_are_compared_with():
    assert structural_equal(tir.Not(N == np.int32(3)), tir.Not(tir.EQ(N, 3)))


def test_an_analyzer_takes_equalities_as_they_are_written():
    analyzer = Analyzer()
    assert analyzer.can_prove(N * 2 == N + N)
    assert analyzer.can_prove(N != N + 1)
    assert not analyzer.can_prove(N == M)
    assert not analyzer.can_prove(N != M)
    with analyzer.constraint_scope(N == 4):
        assert analyzer.can_prove(N * N == 16)


def test_methods_that_say_what_operators_mean():
    assert structural_equal(N.equal(3), tir.EQ(N, 3))
    assert structural_equal(N.astype("int32"), tir.Cast("int32", N))
    assert tir.const(3, "int64").astype("int32").dtype == "int32"


def test_whatever_means_a_scalar_says_which():
    found = list(ScalarLike.__subclasses__())
    for kind in found:
        found += kind.__subclasses__()
    assert {"EqualOp", "IterVar", "TensorSlice"} <= {kind.__name__ for kind in found}
    assert all(callable(getattr(kind, "asobject", None)) for kind in found)
