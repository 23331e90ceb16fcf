"""Modules in which a function takes other arguments than before."""

from __future__ import annotations

from relaxscript.analysis.call_graph import all_global_vars
from relaxscript.analysis.well_formedness import ill_formed
from relaxscript.errors import DiagnosticError
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function, GlobalVar

__all__ = ["with_function"]


def with_function(mod: IRModule, var: GlobalVar, function: Function) -> IRModule:
    """The module with another function of a name; `mod` itself where it is the same one.

    Raises `DiagnosticError` where that leaves calls which do not fit.
    """
    if function is mod[var]:
        return mod
    made = mod.clone()
    made[var] = function
    if _is_mentioned(var, made) and (wrong := ill_formed(made)) and not ill_formed(mod):
        raise DiagnosticError(wrong)
    return made


def _is_mentioned(var: GlobalVar, mod: IRModule) -> bool:
    """True if a function of the module may call the one of this name."""
    names = (v.name_hint for f in mod.functions.values() for v in all_global_vars(f))
    return var.name_hint in names
