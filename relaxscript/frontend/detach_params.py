"""Weights that functions have among their attributes, taken out of a module."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Attrs, BaseFunc, Constant

__all__ = ["detach_params"]

_KEY = "params"


def detach_params(mod: IRModule) -> tuple[IRModule, dict[str, list[np.ndarray[Any, Any]]]]:
    """The module without the attribute "params" of functions, and the arrays that were in it.

    The arrays are by the name of their function, in the order of its last parameters. Where no
    function has any, the module is the one that was given. Raises `DiagnosticError` (RX0103) for
    what is no module, and for a "params" that is no tuple of arrays.
    """
    if not isinstance(mod, IRModule):
        raise _refused(f"`detach_params` takes a module, not {brief(mod)}", mod)
    found: dict[str, list[np.ndarray[Any, Any]]] = {}
    detached = mod.clone()
    for var, function in mod.functions_items():
        if not isinstance(function, BaseFunc) or _KEY not in (function.attrs or ()):
            continue
        params = (function.attrs or Attrs())[_KEY]
        if not isinstance(params, tuple) or not all(isinstance(p, Constant) for p in params):
            what = f'the attribute "{_KEY}" of `{var.name_hint}`'
            raise _refused(f"{what} is a tuple of arrays, not {brief(params)}", function)
        found[var.name_hint] = [param.data for param in params]
        detached.update_func(var, function.without_attr(_KEY))
    return (detached, found) if found else (mod, found)


def _refused(message: str, at: Any) -> DiagnosticError:
    span = getattr(at, "span", None) or caller_span()
    return DiagnosticError(Diagnostic("RX0103", message, span))
