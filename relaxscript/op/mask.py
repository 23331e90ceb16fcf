"""Elements chosen by a mask."""

from __future__ import annotations

from relaxscript.ir.relax import Expr
from relaxscript.opdef.composite import composite_op
from relaxscript.opdef.parameters import Scalar, Tensor

from .create import full_like
from .search import where

__all__ = ["masked_fill"]


@composite_op()
def masked_fill(x: Tensor, mask: Tensor, value: Scalar) -> Expr:
    """`value` where `mask`, of bools, is true, and the elements of `x` elsewhere.

    Stands for `R.where` and `R.full_like`. Source: TVM `relax.op.masked_fill`.
    """
    return where.build([mask, full_like.build([x, value]), x])
