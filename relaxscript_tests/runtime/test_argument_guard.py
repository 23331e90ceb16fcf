"""The quick test of arguments accepts nothing that the slow way refuses, and binds the same."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from relaxscript.errors import VMError
from relaxscript.runtime import (
    AnyCheck,
    DimBind,
    DimConst,
    DimExpr,
    DimLoad,
    Prim,
    PrimCheck,
    Shape,
    ShapeCheck,
    TensorCheck,
    TupleCheck,
    cpu,
)
from relaxscript.runtime.argument_guard import quick_test
from relaxscript.runtime.run_check import match_arguments

N, M = DimBind(0, "n"), DimBind(1, "m")
TWICE = DimExpr(lambda heap: 2 * heap[0], "2 * n")

CHECKS = [
    TensorCheck("float32", 2, (N, DimConst(3))),
    TensorCheck("float32", 1, (M,)),
    TensorCheck("bfloat16", 1, (TWICE,)),
    TensorCheck("float32"),
    TensorCheck(None, 1),
    TensorCheck(None, 0, (), cpu()),
    PrimCheck("int64", N),
    PrimCheck("float64"),
    PrimCheck("float64", DimConst(float("inf"))),
    PrimCheck("bool", DimConst(1)),
]
VALUES = [
    np.ones((2, 3), "float32"),
    np.ones((4, 3), "float32"),
    np.ones((3, 2), "float32").T,
    np.ones(2, "float32"),
    np.ones(4, ml_dtypes.bfloat16),
    np.ones(4, ">f4"),
    np.array(1.0),
    np.array([None]),
    np.ma.ones(2),
    np.float32(2),
    2,
    -2,
    2.0,
    float("inf"),
    True,
    1 << 63,
    Prim(2, "int32"),
    Shape([2]),
    (),
    None,
    "x",
]


def slowly(checks, values, size):
    heap = [None] * size
    match_arguments(values, checks, heap, [f"a{i}" for i in range(len(checks))], "f")
    return heap


@given(st.lists(st.tuples(st.sampled_from(CHECKS), st.sampled_from(VALUES)), min_size=1))
def test_what_is_accepted_at_first_sight_is_what_the_slow_way_accepts(pairs):
    if not any(check.dims and N in check.dims for check, _ in pairs if hasattr(check, "dims")):
        pairs = [(CHECKS[0], VALUES[0]), *pairs]
    checks, values = zip(*pairs, strict=True)
    heap = quick_test(checks, len(checks), 2)(values)
    if heap is not None:
        assert heap == slowly(checks, values, 2)


def test_a_negative_value_of_a_shape_variable_goes_the_slow_way():
    test = quick_test([PrimCheck("int64", N)], 1, 1)
    assert (test((0,)), test((-1,))) == ([0], None)


def test_plain_arrays_and_numbers_are_accepted_at_first_sight():
    checks = [CHECKS[0], TensorCheck("float32", 1, (M,)), PrimCheck("int64", DimLoad(0, "n"))]
    test = quick_test(checks, 3, 3)
    x, w = np.ones((2, 3), "float32"), np.ones(5, "float32")
    assert test((x, w, 2)) == [2, 5, None]
    assert test((x[:, ::-1], w[::-1], 2)) == [2, 5, None]


@pytest.mark.parametrize(
    "values",
    [
        (np.ones((2, 4), "float32"), 2),
        (np.ones((2, 3), "float64"), 2),
        (np.ones(2, "float32"), 2),
        (np.ones((2, 3), "float32"), 3),
        (np.ones((2, 3), "float32"), True),
        (np.ones((2, 3), "float32"), np.int64(2)),
        ([[1.0] * 3] * 2, 2),
        (np.ones((2, 3), "float32"),),
        (),
    ],
)
def test_everything_else_goes_the_slow_way(values):
    checks = [CHECKS[0], PrimCheck("int64", DimLoad(0, "n"))]
    assert quick_test(checks, 2, 1)(values) is None


def test_a_dimension_that_cannot_be_computed_goes_the_slow_way():
    divided = TensorCheck("float32", 1, (DimExpr(lambda heap: 6 // heap[0], "6 // n"),))
    checks = [TensorCheck("float32", 1, (N,)), divided]
    test = quick_test(checks, 2, 1)
    assert test((np.ones(3, "float32"), np.ones(2, "float32"))) == [3]
    none = (np.ones(0, "float32"), np.ones(2, "float32"))
    assert test(none) is None
    with pytest.raises(VMError, match="`6 // n`, which cannot be computed"):
        slowly(checks, none, 1)


@pytest.mark.parametrize("check", [TupleCheck(), ShapeCheck(), AnyCheck(), PrimCheck("int32")])
def test_what_may_have_to_be_converted_never_fits_at_first_sight(check):
    assert quick_test([check], 1, 0)(((),)) is None


def test_without_checks_only_a_call_without_arguments_fits_at_first_sight():
    assert quick_test([], 0, 2)(()) == [None, None]
    assert quick_test([], 0, 0)((1,)) is None
    assert quick_test([], 1, 0)((np.ones(2),)) is None
    assert quick_test([], 1, 0)(()) is None


def test_arguments_that_are_proved_are_not_looked_at_but_for_their_variables():
    checks = [
        TensorCheck("float32", 2, (N, DimConst(3))),
        TupleCheck((ShapeCheck(2, (DimConst(1), M)), AnyCheck())),
        PrimCheck("int32", DimBind(2, "k")),
    ]
    values = (np.ones((2, 4), "int8"), (Shape([5, 6]), None), Prim(7, "int32"))
    assert quick_test(checks, 3, 3, (0, 1, 2))(values) == [2, 6, 7]
    assert quick_test(checks, 3, 3, (1, 2))(values) is None


def test_variables_of_what_is_proved_count_before_those_of_what_is_not():
    checks = [TensorCheck(None, 1, (N,)), TensorCheck(None, 1, (N,))]
    test = quick_test(checks, 2, 1, (1,))
    assert test((np.ones(3), np.ones(3))) == [3]
    assert test((np.ones(2), np.ones(3))) is None


def test_a_data_type_that_numpy_has_not_fits_nothing_at_first_sight():
    test = quick_test([TensorCheck("int1", 1, None)], 1, 0)
    assert test([np.zeros(2, "int8")]) is None
