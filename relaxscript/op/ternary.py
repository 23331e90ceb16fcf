"""Operators on three tensors, element by element."""

from __future__ import annotations

import numpy as np

from relaxscript.errors import OperandError
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.families import compute_elements
from relaxscript.opdef.layout import follow
from relaxscript.opdef.operator import op
from relaxscript.opdef.parameters import Scalar, Tensor
from relaxscript.opdef.shapes import (
    broadcast_shapes,
    common_dtype,
    common_vdevice,
    require_dtype,
    tensor_of,
)
from relaxscript.opdef.tensor_expressions import te
from relaxscript.opdef.traits import Trait

from .gradients import of_elements

__all__ = ["ewise_fma"]


@op(traits={Trait.MIXED_FOLLOW})
def ewise_fma(x1: Scalar, x2: Scalar, x3: Scalar) -> Tensor:
    """`x1 * x2 + x3`; all three broadcast to each other."""
    return np.asarray(x1 * x2 + x3)


ewise_fma.layout_rule(follow)


@ewise_fma.infer_rule
def _(
    context: InferContext, x1: TensorStructInfo, x2: TensorStructInfo, x3: TensorStructInfo
) -> StructInfo:
    operands = {"x1": x1, "x2": x2, "x3": x3}
    dtype = common_dtype(operands)
    for name, info in operands.items():
        require_dtype(name, info.dtype, "number")
    vdevice = common_vdevice(operands)
    _require_one_rank(operands)
    if x1.shape is not None and all(info.shape is x1.shape for info in operands.values()):
        return TensorStructInfo.make(x1.shape, dtype, vdevice, x1.ndim)
    dims, rank = broadcast_shapes(context, operands)
    return tensor_of(dims, dtype, vdevice, rank)


def _require_one_rank(operands: dict[str, TensorStructInfo]) -> None:
    """Refuse tensors of different ranks; numbers, of rank 0, go with all."""
    ranked = [(name, info) for name, info in operands.items() if info.ndim > 0]
    for name, info in ranked:
        first, other = ranked[0]
        if info.ndim != other.ndim:
            raise OperandError(
                name,
                f"has rank {info.ndim}",
                also={first: f"has rank {other.ndim}"},
                message="the tensors that are multiplied and added have one rank",
            )


compute_elements(ewise_fma, lambda a, b, c: te.element.multiply_add(a, b, c))


ewise_fma.gradient(of_elements(lambda g, a, b, c, y: (g * b, g * a, g)))
