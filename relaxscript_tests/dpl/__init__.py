"""Tests of patterns, and the small functions in which they look for something."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir.relax import Function, Var
from relaxscript.script import relax as R


def mistake_of(action: Callable[[], object]) -> Diagnostic:
    """The mistake that an action reports."""
    with pytest.raises(DiagnosticError) as raised:
        action()
    return raised.value.diagnostics[0]


def block() -> Function:
    """A dataflow block of four calls, each of which uses the one before."""

    @R.function
    def main(x: R.Tensor((2, 3), "float32"), y: R.Tensor((2, 3), "float32")) -> R.Tensor(
        (2, 3), "float32"
    ):
        with R.dataflow():
            a = R.add(x, y)
            b = R.nn.relu(a)
            c = R.multiply(b, y)
            gv = R.divide(c, x)
            R.output(gv)
        return gv

    return main


def projections() -> Function:
    """Three products of one operand, as attention has them, and their sum."""

    @R.function
    def main(
        x: R.Tensor((2, 3), "float32"),
        q: R.Tensor((3, 4), "float32"),
        k: R.Tensor((3, 4), "float32"),
        v: R.Tensor((3, 4), "float32"),
    ) -> R.Tensor((2, 4), "float32"):
        with R.dataflow():
            a = R.matmul(x, q)
            b = R.matmul(x, k)
            c = R.matmul(x, v)
            d = R.add(a, b)
            gv = R.add(d, c)
            R.output(gv)
        return gv

    return main


def variables(func: Function) -> dict[str, Var]:
    """The parameters and bound variables of a function by their names."""
    bound = [binding.var for block in func.body.blocks for binding in block.bindings]  # type: ignore[attr-defined]
    return {var.name_hint: var for var in (*func.params, *bound)}
