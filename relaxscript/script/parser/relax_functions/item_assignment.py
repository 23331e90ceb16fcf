"""Assignments to elements, `x[0, :] = 1.0`: refused with the call that makes the new value."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from relaxscript.arith import format_expr
from relaxscript.ir.prim import IntImm, PrimExpr
from relaxscript.ir.relax import Var
from relaxscript.ir.struct_info import TensorStructInfo
from relaxscript.ir.walk import variables

__all__ = ["call_instead"]


def call_instead(
    names: Mapping[str, Any], name: str, index: ast.expr, value: ast.expr
) -> str | None:
    """The call that gives a tensor with `value` at `index`; None where it is not that simple."""
    tensor = names.get(name)
    info = tensor.struct_info if isinstance(tensor, Var) else None
    if not isinstance(info, TensorStructInfo) or info.dims is None or info.dtype.is_void:
        return None
    number = _number(value)
    if isinstance(index, ast.Compare) and number is not None:
        return f"R.where({ast.unparse(index)}, {ast.unparse(value)}, {name})"
    parts = _of_all_axes(index.elts if isinstance(index, ast.Tuple) else [index], len(info.dims))
    if parts is None:
        return None
    chosen = [axis for axis, part in enumerate(parts) if not _is_whole(part)]
    if len(chosen) != 1:
        return None
    (axis,) = chosen
    found = _range(parts[axis], info.dims[axis])
    if found is None:
        return None
    start, end, step = found
    others = [dim for i, dim in enumerate(info.dims) if i != axis]
    length = len(range(start, end, step))
    if length == 0 or any(str(v) not in names for dim in others for v in variables(dim)):
        return None
    dims = [format_expr(dim) for dim in info.dims]
    dims[axis] = str(length)
    written = ast.unparse(value)
    if number is not None:
        source = f'R.full({_shape(dims)}, {written}, "{info.dtype}")'
    elif isinstance(parts[axis], ast.Slice) or axis == 0:
        source = f"R.broadcast_to({written}, {_shape(dims)})"
    else:
        left = _shape([*dims[:axis], *dims[axis + 1 :]])
        source = f"R.expand_dims(R.broadcast_to({written}, {left}), {axis})"
    return f"R.slice_scatter({name}, {source}, {start}, {end}, {step}, axis={axis})"


def _shape(dims: Sequence[str]) -> str:
    return f"({dims[0]},)" if len(dims) == 1 else f"({', '.join(dims)})"


def _of_all_axes(parts: Sequence[ast.expr], rank: int) -> list[ast.expr] | None:
    """An index for each axis; None where there are too many, or one is no place or slice."""
    whole: ast.expr = ast.Slice()
    written = list(parts)
    dots = [i for i, part in enumerate(written) if _is_dots(part)]
    missing = rank - len(written) + len(dots)
    if len(dots) > 1 or missing < 0:
        return None
    at = dots[0] if dots else len(written)
    return [*written[:at], *[whole] * missing, *written[at + len(dots) :]]


def _is_dots(part: ast.expr) -> bool:
    return isinstance(part, ast.Constant) and part.value is ...


def _is_whole(part: ast.expr) -> bool:
    return isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None


def _range(part: ast.expr, size: PrimExpr) -> tuple[int, int, int] | None:
    """The start, end and step of an index in numbers, none of them below 0."""
    length = size.value if isinstance(size, IntImm) else None
    if not isinstance(part, ast.Slice):
        place = _place(part, length)
        inside = place is not None and (length is None or place < length)
        return (place, place + 1, 1) if place is not None and inside else None
    start = 0 if part.lower is None else _place(part.lower, length)
    end = length if part.upper is None else _place(part.upper, length)
    step = 1 if part.step is None else _number(part.step)
    if start is None or end is None or not isinstance(step, int) or step < 1:
        return None
    return start, end if length is None else min(end, length), step


def _place(part: ast.expr, length: int | None) -> int | None:
    found = _number(part)
    if not isinstance(found, int):
        return None
    if found < 0:
        found = -1 if length is None else found + length
    return found if found >= 0 else None


def _number(node: ast.expr) -> int | float | None:
    """The number that an expression is, read from its syntax."""
    try:
        found = ast.literal_eval(node)
    except ValueError:
        return None
    is_number = isinstance(found, (int, float)) and not isinstance(found, bool)
    return found if is_number else None
