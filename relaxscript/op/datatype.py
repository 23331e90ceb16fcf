"""Conversion between dtypes."""

from __future__ import annotations

from relaxscript.dtypes import DataType, converted
from relaxscript.ir.relax import Expr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.families import compute_elements
from relaxscript.opdef.gradient import GradientContext, Gradients
from relaxscript.opdef.layout import follow
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import DType, Tensor
from relaxscript.opdef.tensor_expressions import te
from relaxscript.opdef.traits import Trait

from .gradients import cast_like

__all__ = ["astype", "wrap_param"]


@op(symbol="astype", traits={Trait.MIXED_FOLLOW})
def astype(x: Tensor, dtype: DType) -> Tensor:
    """The elements of `x` as values of `dtype`.

    To a narrower float they are rounded to the nearest, and from floats to integers towards zero.
    As bool they are true unless 0. An integer that does not fit an integer type wraps around; what
    becomes of such a float is undefined.
    """
    found: Tensor = converted(x, dtype.numpy)
    return found


@op()
def wrap_param(data: Tensor, dtype: DType = "float32") -> Tensor:  # type: ignore[assignment]
    """A parameter of a model as `dtype`, as `R.astype` gives it.

    Passes that convert models mark parameters so. Source: TVM `relax.wrap_param`.
    """
    found: Tensor = converted(data, dtype.numpy)
    return found


def _infer(context: InferContext, x: TensorStructInfo, dtype: DataType) -> StructInfo:
    if dtype is x.dtype:
        return x
    return TensorStructInfo.make(x.shape, dtype, x.vdevice, x.ndim)


def _gradient(context: GradientContext, x: Expr, dtype: DataType) -> Gradients:
    return (cast_like(context.grad, x),)


astype.layout_rule(follow)
for _operator in (astype, wrap_param):
    _operator.infer_rule(_infer)
    _operator.gradient(_gradient)
    compute_elements(_operator, lambda x, dtype: te.element.converted(x, dtype))
