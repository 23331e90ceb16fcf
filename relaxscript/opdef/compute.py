"""The context of a compute: what it knows beside its operands.

    @matmul.compute(sums=2)
    def _(context, x1, x2, out_dtype=None):          # te.Tensors in, te.Tensors out
        ...

Operands come as their parameters ask. A tensor is a `te.Tensor`, several are a tuple of them. A
scalar is a `PrimExpr`, a shape a list of these, and what is left out None. A compute gives None
where its loops depend on a size that is not a number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from relaxscript.dtypes import DataType
from relaxscript.errors import InternalError
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.struct_info import StructInfo, TensorStructInfo

__all__ = ["Accuracy", "ComputeContext"]


class Accuracy(NamedTuple):
    """The distance that a compute may have from the meaning, element by element.

    The first part is `ulp` units in the last place of the result. The second is for sums of
    products: `sums` times the machine epsilon of the sum of the sizes of the terms. That is what
    the meaning gives for the absolute values of the operands. Where `terms` is said, it is what
    this function gives for the arguments of the meaning.
    """

    ulp: float = 0
    sums: float = 0
    terms: Callable[..., Any] | None = None


class ComputeContext(NamedTuple):
    """The StructInfo of the result, which inference has found."""

    out: StructInfo

    @property
    def shape(self) -> tuple[PrimExpr, ...]:
        """The shape of a result that is one tensor."""
        return shape_of_result(self.out)

    @property
    def dtype(self) -> DataType:
        """The dtype of a result that is one tensor."""
        if not isinstance(self.out, TensorStructInfo):
            raise InternalError(f"a compute asks for the dtype of {self.out}")
        return self.out.dtype


def shape_of_result(info: Any) -> tuple[PrimExpr, ...]:
    """The dimensions of a tensor; nothing is computed where they are not known."""
    dims = info.dims if isinstance(info, TensorStructInfo) else None
    if dims is None:
        raise InternalError(f"a compute asks for the shape of {info}")
    return dims
