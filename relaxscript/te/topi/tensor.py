"""Tensors of one value. Source: TVM `topi.tensor`."""

from __future__ import annotations

from typing import Any

from relaxscript.dtypes import DataType
from relaxscript.errors.user_frame import report_as
from relaxscript.ir.prim import PrimExpr, as_scalar, cast
from relaxscript.te.compute import shape_of
from relaxscript.te.tensor import Tensor, as_element

from .broadcast import elements

__all__ = ["full", "full_like"]


@report_as("topi")
def full(shape: Any, dtype: Any, fill_value: Any) -> Any:
    """A tensor of a shape whose elements are all one value, converted to `dtype`."""
    return _filled(shape, dtype, fill_value, "T_full")


@report_as("topi")
def full_like(x: Tensor, fill_value: Any) -> Any:
    """A tensor of the shape and dtype of `x` whose elements are all one value."""
    return _filled(x.shape, x.dtype, fill_value, "T_full_like")


def _filled(shape: Any, dtype: Any, fill_value: Any, name: str) -> Any:
    wanted = DataType(dtype)

    def element(value: Any) -> PrimExpr:
        return cast(as_scalar(value), wanted)

    # A tensor of rank 0 is read where it is needed: a value of it may not exist yet.
    value = fill_value if isinstance(fill_value, Tensor) else as_element(fill_value)
    return elements(shape_of(shape), element, (value,), name)
