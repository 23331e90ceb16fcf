"""Marks for passes. Source: TVM `relax.builtin`."""

from __future__ import annotations

from relaxscript.ir.struct_info import StructInfo

from .context import InferContext
from .define import op
from .parameters import Tensor

__all__ = ["stop_lift_params"]


@op("builtin.stop_lift_params")
def stop_lift_params(x: Tensor) -> Tensor:
    """The tensor itself, which is not computed beforehand though its operands are known."""
    return x.copy()


@stop_lift_params.infer_rule
def _(context: InferContext, x: StructInfo) -> StructInfo:
    return x
