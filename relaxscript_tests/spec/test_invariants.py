"""Spec "Invariants for `TensorStructInfo`": what the shape of a tensor may be."""

from __future__ import annotations

import pytest

import relaxscript as relax
from relaxscript.analysis import ill_formed
from relaxscript.errors import DiagnosticError

from .described import described, judged
from .rules import accepts, rejects


@accepts("invariant 1")
def test_a_variable_that_holds_a_shape_says_the_rank_of_the_tensor():
    tensor, same = described("R.Tensor(sizes)", "R.Tensor(sizes, ndim=2)")
    assert (tensor.ndim, same.ndim) == (2, 2)
    held = relax.Var("s", relax.ShapeStructInfo(ndim=3))
    assert relax.TensorStructInfo(held).ndim == 3


@accepts("invariant 1")
def test_the_rank_may_be_said_beside_a_shape_of_unknown_rank():
    # Section "Invariants for `TensorStructInfo`": the variable's StructInfo carries the rank.
    held = relax.Var("s", relax.ShapeStructInfo())
    assert relax.TensorStructInfo(held, ndim=3).ndim == 3


@rejects("invariant 1")
def test_a_variable_that_holds_no_shape_is_no_shape_of_a_tensor():
    with pytest.raises(DiagnosticError, match="only a shape is allowed here"):
        judged("R.Tensor(ndim=1)", "R.Tensor(p0)")
    tensor = relax.Var("p", relax.TensorStructInfo(ndim=1))
    x = relax.Var("x", relax.TensorStructInfo(tensor))
    function = relax.Function([tensor, x], relax.SeqExpr([], x), relax.ObjectStructInfo())
    assert [found.code for found in ill_formed(function)] == ["RX0314"]


@rejects("invariant 1")
def test_the_rank_of_a_tensor_is_that_of_the_variable_that_holds_its_shape():
    with pytest.raises(DiagnosticError, match="ndim is 3, but the shape has 2 dimensions"):
        described("R.Tensor(sizes, ndim=3)")


@accepts("invariant 2")
def test_the_dimensions_of_a_shape_say_the_rank_of_the_tensor():
    tensor, same = described("R.Tensor((2, 3))", "R.Tensor((2, 3), ndim=2)")
    assert (tensor.ndim, same.ndim) == (2, 2)


@rejects("invariant 2")
def test_the_rank_of_a_tensor_is_the_number_of_its_dimensions():
    with pytest.raises(DiagnosticError, match="ndim is 3, but the shape has 2 dimensions"):
        described("R.Tensor((2, 3), ndim=3)")
    with pytest.raises(ValueError, match=r"TensorStructInfo.ndim` is 3, but the shape has 2"):
        relax.TensorStructInfo((2, 3), ndim=3)
