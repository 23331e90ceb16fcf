"""StructInfo of expressions that need no rule: variables and literals.

Source: spec "Derivation Rules", 2 to 8 and 13. A PrimValue's StructInfo keeps its value, as TVM's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from relaxscript.dtypes import DataType
from relaxscript.ir import hooks, prim, relax
from relaxscript.ir.struct_info import (
    FuncStructInfo,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    StructInfo,
    TensorStructInfo,
    TupleStructInfo,
    default_derive,
)

__all__ = ["array_struct_info", "struct_info_of_leaf"]

_OBJECT = ObjectStructInfo()


def array_struct_info(array: np.ndarray | np.generic) -> TensorStructInfo:
    """The StructInfo of a tensor that is at hand: its shape and dtype, and no device."""
    dims = tuple(prim.IntImm.make(prim.INT64, int(dim)) for dim in array.shape)
    shape = relax.ShapeExpr.make(dims)
    return TensorStructInfo.make(shape, DataType(array.dtype.name), None, len(dims))


def struct_info_of_leaf(
    expr: relax.Expr, otherwise: Callable[[relax.Expr], StructInfo] | None = None
) -> StructInfo:
    """The StructInfo of a variable or literal; `otherwise` answers for every other expression.

    Without `otherwise` an expression of another kind is asked itself (`expr.struct_info`).
    """
    if otherwise is None and isinstance(expr, relax.Var):  # as most leaves are
        return expr.struct_info or _OBJECT
    found: StructInfo | None = None
    match expr:
        case relax.Constant(data):
            found = array_struct_info(data)
        case relax.PrimValue(value):
            found = PrimStructInfo.make(value.dtype, value)
        case relax.ShapeExpr(values):
            found = ShapeStructInfo.make(values, len(values))
        case relax.Tuple(fields):
            infos = tuple(struct_info_of_leaf(item, otherwise) for item in fields)
            found = TupleStructInfo.make(infos)
        case relax.StringImm() | relax.DataTypeImm():
            found = _OBJECT
        case relax.ExternFunc():
            found = FuncStructInfo.make(None, _OBJECT, False, default_derive)
    if found is not None:
        return found
    if otherwise is not None:
        return otherwise(expr)
    found = expr.known_info
    return hooks.struct_info_of(expr) if found is None else found
