"""Shapes as models write them: numbers, names of shape variables, and expressions of these."""

from __future__ import annotations

from collections.abc import Iterable
from keyword import iskeyword
from typing import Any

import numpy as np

from relaxscript.ir.field_types import brief
from relaxscript.ir.prim import PrimExpr

from .trace import model_error

__all__ = ["Dim", "as_shape"]

Dim = int | str | PrimExpr


def as_shape(shape: Any, owner: str) -> tuple[Dim, ...]:
    """A shape as a tuple; `owner` is what has it.

    Raises `DiagnosticError` (RX0711) for what is no row of dimensions.
    """
    if isinstance(shape, (str, PrimExpr)) or not isinstance(shape, Iterable):
        raise model_error(
            f"the shape of {owner} is {brief(shape)}, not a row of dimensions",
            help='write for example `(4,)` or `("n", 64)`',
        )
    return tuple([_dim(dim, owner) for dim in shape])


def _dim(dim: Any, owner: str) -> Dim:
    match dim:
        case bool():
            pass
        case int() | np.integer() if dim >= 0:
            return int(dim)
        case str() if dim.isidentifier() and not iskeyword(dim):
            return dim
        case PrimExpr() if dim.dtype.is_integer:
            return dim
    raise model_error(
        f"{brief(dim)} is no dimension of {owner}",
        help='a dimension is a number that is at least zero, or a name, such as "n"',
    )
