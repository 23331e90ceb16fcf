"""Methods of functions that make other functions of them; `builder/` says how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import hooks

if TYPE_CHECKING:
    from relaxscript.errors import Span

    from .prim import PrimExpr, Var as PrimVar
    from .relax import Function, GlobalVar, Var
    from .struct_info import StructInfo

__all__ = ["bind_params", "bind_symbolic_vars", "create_empty", "inline_functions"]


def bind_params(self: Function, binding_map: Mapping[Var | str, Any]) -> Function:
    """This function with values in the place of parameters, which it then has no more.

    Keys are parameters or their names, values arrays or expressions. Shape variables take the
    sizes of the values; what may not fit is checked when the function runs, by a match_cast.
    Raises `DiagnosticError` for other keys, and for what cannot fit. Source: TVM.
    """
    bound: Function = hooks.bind_params(self, binding_map)
    return bound


def bind_symbolic_vars(
    self: Function, binding_map: Mapping[PrimVar | str, PrimExpr | int]
) -> Function:
    """This function with other sizes in the place of shape variables.

    Keys are variables or their names, values integers or scalars of the same dtype. Raises
    `DiagnosticError` for what is no shape variable of the function. Source: TVM.
    """
    bound: Function = hooks.bind_symbolic_vars(self, binding_map)
    return bound


def inline_functions(self: Function, function_map: Mapping[GlobalVar | str, Function]) -> Function:
    """This function with the bodies of others in the place of their calls.

    Keys are the names by which they are called. Calls inside of what is inlined are inlined
    too. What of a call or its result is checked when it runs still is, by a match_cast. The
    call of a function with the attribute `relax.force_pure` stays inside of a pure function.
    Raises `DiagnosticError` where one calls itself. Source: TVM.
    """
    made: Function = hooks.inline_functions(self, function_map)
    return made


def create_empty(
    params: Sequence[Var],
    ret_struct_info: StructInfo,
    is_pure: bool = True,
    attrs: Mapping[str, Any] | None = None,
    span: Span | None = None,
) -> Function:
    """A function of these parameters and this result that has no body yet.

    It is well-formed, so other functions can call it until `update_func` gives the real one. Where
    it runs, it fails: its body calls a packed function that is not registered. Raises `TypeError`
    where `ret_struct_info` is none. Source: TVM.
    """
    made: Function = hooks.create_empty(params, ret_struct_info, is_pure, attrs, span)
    return made
