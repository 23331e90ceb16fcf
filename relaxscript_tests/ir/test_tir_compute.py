"""Nodes of tensor expressions."""

from __future__ import annotations

import pytest

from relaxscript.ir.prim import Add, Var, const
from relaxscript.ir.tir import IterVar, Range
from relaxscript.ir.tir_compute import CommReducer, Reduce

X, Y = Var("x", "float32"), Var("y", "float32")
TOTAL = CommReducer((X,), (Y,), (Add(X, Y),), (const(0.0, "float32"),))


def reduced(index):
    axis = IterVar(Range(0, 4), Var("k", "int32"), 2)
    return Reduce(TOTAL, (const(1.0, "float32"),), (axis,), const(True, "bool"), index)


def test_a_reduction_has_the_dtype_of_the_value_that_it_names():
    assert reduced(0).dtype == "float32"


@pytest.mark.parametrize("index", [-1, 1])
def test_a_reduction_names_one_of_its_values(index):
    with pytest.raises(ValueError, match=f"`value_index` {index} names one"):
        reduced(index)
