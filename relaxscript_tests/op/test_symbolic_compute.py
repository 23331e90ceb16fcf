"""Computes of operators on tensors whose dimensions are variables: they mean the same."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from relaxscript.errors import DiagnosticError, OperandError, RelaxWarning
from relaxscript.ir import prim, relax
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.walk import rewrite
from relaxscript.op import Operator

from .sampling import Sample, samples
from .test_compute import COMPUTED, assert_near, legalised, run


def with_variables(sample: Sample) -> Sample:
    """The call on tensors whose dimensions of two or more are variables, one for each number."""
    dims: dict[int, prim.Var] = {}
    values: dict[relax.Var, Any] = {}
    known: dict[Any, relax.Var] = {}
    for var, value in sample.values.items():
        info = var.struct_info
        if isinstance(info, TensorStructInfo) and info.dims is not None:
            shape = [
                n if n < 2 else dims.setdefault(n, prim.Var(f"n{n}", "int64")) for n in value.shape
            ]
            info = TensorStructInfo(shape, info.dtype)
        known[var] = relax.Var(var.name_hint, info)
        values[known[var]] = value
    call = rewrite(sample.call, known.get)
    return Sample(sample.operator, call, values, sample.callees)


@pytest.mark.parametrize("operator", COMPUTED, ids=repr)
def test_a_compute_for_variables_means_what_the_operator_means(operator: Operator) -> None:
    for plain in samples(operator, ("float32", "int64", "bool")):
        sample = with_variables(plain)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RelaxWarning)
            try:
                module = legalised(sample)
            except (DiagnosticError, OperandError):
                continue  # attributes that need to know a dimension
            if module is not None:
                assert_near(operator, sample, run(module, sample, "reference"), plain.evaluate())
