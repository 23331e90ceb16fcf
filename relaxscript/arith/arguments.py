"""Arguments of the public functions of this room: expressions, numbers, conditions, variables.

Numbers are converted as everywhere; anything else raises `TypeError` with the name of the argument.
"""

from __future__ import annotations

from typing import Any

from relaxscript.ir import prim
from relaxscript.ir.field_types import brief
from relaxscript.ir.prim import PrimExpr, as_prim

__all__ = ["condition", "scalar", "variable", "wrong"]


def scalar(name: str, value: Any) -> PrimExpr:
    """A scalar expression, or a number as one."""
    if isinstance(value, PrimExpr):
        return value
    try:
        return as_prim(value)
    except TypeError:
        raise wrong(name, "a scalar expression or a number", value) from None


def condition(name: str, value: Any) -> PrimExpr:
    """A bool expression, or a bool of Python as one."""
    e = scalar(name, value)
    if e.dtype.is_bool and e.dtype.lanes == 1:
        return e
    raise TypeError(f"`{name}` must be a bool expression, not one of {e.dtype}")


def variable(name: str, value: Any) -> prim.Var:
    """A scalar variable."""
    if isinstance(value, prim.Var):
        return value
    raise wrong(name, "a scalar variable", value)


def wrong(name: str, wanted: str, value: Any) -> TypeError:
    """The error for an argument that is not what is wanted."""
    return TypeError(f"`{name}` must be {wanted}, not {brief(value)}")
