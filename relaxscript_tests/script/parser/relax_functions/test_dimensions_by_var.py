"""Dimensions that are declared by `T.Var`."""

from __future__ import annotations

from relaxscript.ir.structural_equality import assert_structural_equal
from relaxscript.script import from_source, relax as R, tir as T


def test_a_dimension_is_declared_by_a_variable_with_a_name():
    @R.function
    def f(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
        m = T.Var("m", "int64")
        y = R.call_dps_packed("g", (x,), R.Tensor((m + 1,), "float32"))
        return R.strided_slice(y, axes=[0], begin=[1], end=[m + 1])

    @R.function
    def g(x: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
        m = T.int64()
        y = R.call_dps_packed("g", (x,), R.Tensor((m + 1,), "float32"))
        return R.strided_slice(y, axes=[0], begin=[1], end=[m + 1])

    assert_structural_equal(f, g.with_attr("global_symbol", "f"))
    assert_structural_equal(from_source(f.script()), f)


def test_the_name_of_the_dimension_is_that_of_the_assignment():
    @R.function
    def f(x: R.Tensor(("n",), "float32")):
        n = T.Var("another", dtype="int64")
        return R.call_dps_packed("g", (x,), R.Tensor((n * 2,), "float32"))

    assert "n * 2" in f.script()
