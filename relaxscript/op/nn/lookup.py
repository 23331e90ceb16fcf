"""Rows of a table by their numbers."""

from __future__ import annotations

from relaxscript.ir.relax import Expr
from relaxscript.op.search import take
from relaxscript.opdef.composite import composite_op
from relaxscript.opdef.parameters import Scalar, Tensor

__all__ = ["embedding"]


@composite_op("nn.embedding")
def embedding(indices: Scalar, weight: Tensor) -> Expr:
    """The rows of `weight` that `indices` name: `R.take(weight, indices, axis=0)`.

    Each index counts from 0 and must be there. The result has the axes of `indices`, then those of
    a row.
    """
    return take.build((weight, indices), {"axis": 0})
