"""Copies of functions that share no variable with the original.

Source: TVM `relax.utils.copy_with_new_vars`.
"""

from __future__ import annotations

from . import prim, relax
from .field_types import brief
from .relax import Function
from .walk import Substitution, bound_vars, free_vars

__all__ = ["copy_with_new_vars"]


def copy_with_new_vars(func: Function) -> Function:
    """The same function over variables of its own: structurally equal, and it shares none.

    Every variable that `func` defines is new, inside branches and local functions too, and so are
    its shape variables. What it uses and does not define stays what it is. A function that stands
    twice in a program needs this, since one variable is bound once. Raises `TypeError` for what is
    no function. Source: TVM `relax.utils.copy_with_new_vars`.
    """
    if not isinstance(func, Function):
        what = "`copy_with_new_vars.func` must be a Function"
        raise TypeError(f"{what}, not {brief(func)}")
    outside = set(free_vars(func))
    defined = [v for v in bound_vars(func) if v not in outside]
    renamed = Substitution(
        {v: type(v).make(v.name, v.dtype, span=v.span) for v in defined if isinstance(v, prim.Var)}
    )
    for v in defined:
        if isinstance(v, relax.Var):
            info = v.struct_info
            known = info if info is None else renamed.apply(info)
            renamed[v] = type(v).make(v.name_hint, known, span=v.span)
    return renamed.apply(func)
