"""Truth along axes: whether all elements are true, or any. Source: numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.compute import ComputeContext
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.families import reduce_info
from relaxscript.opdef.layout import reduced
from relaxscript.opdef.operator import Operator, op
from relaxscript.opdef.parameters import Axes, Tensor
from relaxscript.opdef.shapes import require_dtype
from relaxscript.opdef.tensor_expressions import te, topi

__all__ = ["all", "any"]

_BOOL = DataType("bool")


@op()
def all(x: Tensor, axis: Axes | None = None, keepdims: bool = False) -> Tensor:
    """True where all elements along `axis` (all axes where None) are true; of none, too.

    A number is true unless it is 0, and so is NaN.
    """
    return np.asarray(np.all(x, axis=axis, keepdims=keepdims))


@op()
def any(x: Tensor, axis: Axes | None = None, keepdims: bool = False) -> Tensor:
    """True where one of the elements along `axis` (all axes where None) is true; of none, False.

    A number is true unless it is 0, and so is NaN.
    """
    return np.asarray(np.any(x, axis=axis, keepdims=keepdims))


def _declare(operator: Operator, rule: Any) -> None:
    operator.layout_rule(reduced)

    @operator.infer_rule
    def infer(
        context: InferContext,
        x: TensorStructInfo,
        axis: tuple[int, ...] | None = None,
        keepdims: bool = False,
    ) -> StructInfo:
        require_dtype("x", x.dtype, "any")
        return reduce_info(x, axis, keepdims, _BOOL)

    @operator.compute()
    def compute(context: ComputeContext, x: Any, axis: Any, keepdims: bool) -> Any:
        axes = topi.reduction.axes_of(f"R.{operator.__name__}", x, axis)
        return topi.reduction.reduced(
            x.shape, axes, keepdims,
            lambda at, over: rule(_truth(x[tuple(at)]), axis=over), f"{x.op.name}_red",
        )  # fmt: skip


def _truth(e: PrimExpr) -> PrimExpr:
    return e if e.dtype.is_bool else te.element.not_equal(e, te.element.zero(e.dtype))


_declare(all, lambda e, axis: te.all(e, axis=axis))
_declare(any, lambda e, axis: te.any(e, axis=axis))


for _operator in (all, any):
    _operator.lacks("gradient", "its results are true or false")
