"""Copies of functions that share no variable with the original.

Source: TVM `relax.utils.copy_with_new_vars`.
"""

from __future__ import annotations

from . import prim
from .field_types import brief
from .known_results import is_closed
from .relax import Function, Var
from .walk import Substitution, bound_vars, defined_by, free_vars

__all__ = ["Renaming", "copy_with_new_vars"]


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
    return Renaming(func).copy()


class Renaming:
    """A function to copy several times: what it binds is collected once."""

    def __init__(self, func: Function) -> None:
        self._function = func
        self._bound = bound_vars(func)
        scalars = [v for v in self._bound if isinstance(v, prim.Var)]
        self._scalars = _own_scalars(func, scalars)

    def new_scalars(self) -> dict[prim.Var, prim.Var]:
        """The shape variables of its own, and a new one for each."""
        return {v: type(v).make(v.name, v.dtype, span=v.span) for v in self._scalars}

    def copy(self) -> Function:
        """The function with new variables; see `copy_with_new_vars`."""
        renamed = Substitution(self.new_scalars())
        for v in self._bound:
            if isinstance(v, Var):
                info = v.struct_info
                known = info if info is None or is_closed(info) else renamed.apply(info)
                renamed[v] = type(v).make(v.name_hint, known, span=v.span)
        return renamed.apply(self._function)


def _own_scalars(func: Function, bound: list[prim.Var]) -> list[prim.Var]:
    """The shape variables among `bound` that are not defined around the function already.

    One that a match_cast inside of it defines may be.
    """
    if set(bound) <= set(defined_by(func, func.params)):
        return bound
    outside = set(free_vars(func))
    return [v for v in bound if v not in outside]
