"""Demands of operators of object detection on the shapes of their operands."""

from __future__ import annotations

from relaxscript.errors import OperandError, quantity
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.opdef.context import InferContext
from relaxscript.opdef.format import dim_text, shape_fact
from relaxscript.opdef.shapes import (
    Dims,
    dims_of,
    number,
    obviously_inside,
    require_equal,
    require_inside,
    same_dim,
)

__all__ = ["axes_of", "require_columns", "require_length"]


def axes_of(name: str, info: TensorStructInfo, axes: str) -> Dims | None:
    """The dimensions of an operand whose axes are listed; raises `OperandError` for others."""
    dims = dims_of(info)
    rank = axes.count(",") + 1
    if (info.ndim if dims is None else len(dims)) not in (-1, rank):
        message = f"`{name}` has the axes {axes}"
        raise OperandError(name, shape_fact(info, dims), message=message)
    return dims


def require_length(
    context: InferContext,
    name: str,
    dims: Dims | None,
    axis: int,
    wanted: PrimExpr | int | None,
    because: dict[str, str] | str,
) -> None:
    """Require so many elements along an axis; `because` is a sentence, or a fact of another."""
    if dims is None or wanted is None:
        return
    wanted = number(wanted) if isinstance(wanted, int) else wanted
    if same_dim(dims[axis], wanted):
        return
    fact = f"has {dim_text(dims[axis])} elements along axis {axis}"
    also = because if isinstance(because, dict) else {}
    message = because if isinstance(because, str) else None
    error = OperandError(name, fact, also=also, message=message)
    require_equal(context, wanted, dims[axis], error, f"`{name}` {fact}, not {dim_text(wanted)}")


def require_columns(context: InferContext, dims: Dims | None, attributes: dict[str, int]) -> None:
    """Require that the boxes in `data` have the columns that attributes name the last of."""
    for name, last in attributes.items():
        if dims is None or last < 0 or obviously_inside(number(last + 1), dims[-1]):
            continue
        error = OperandError(
            name,
            f"is {last}" if name != "coord_start" else f"is {last - 3}",
            also={"data": f"has {dim_text(dims[-1])} numbers for each box"},
            message="there is no such column"
            if name != "coord_start"
            else f"there are not {quantity(4, 'column')} from there on",
            code="RX0204",
        )
        text = f"`{name}` is {last}, and a box has {dim_text(dims[-1])} numbers"
        require_inside(context, number(last + 1), dims[-1], error, text)
