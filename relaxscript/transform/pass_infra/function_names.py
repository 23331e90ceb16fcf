"""Functions of a module, as users of passes name them."""

from __future__ import annotations

from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import GlobalVar

__all__ = ["global_var_named"]


def global_var_named(mod: IRModule, name: object, step: str, relax_only: bool = False) -> GlobalVar:
    """The GlobalVar of a name that is given to the pass `step`; `relax_only` for Relax functions.

    Raises `DiagnosticError` (RX0703) where the module has no such function.
    """
    found = mod.relax_functions() if relax_only else mod.functions
    known = {var.name_hint: var for var in found}
    if not isinstance(name, str) or name not in known:
        sort = "Relax function" if relax_only else "function"
        near = nearest(name, list(known)) if isinstance(name, str) else None
        help = did_you_mean(near, f"there are {', '.join(known)}" if known else "there is none")
        message = f"`{step}` is given `{name}`, but the module has no {sort} of that name"
        raise DiagnosticError(Diagnostic("RX0703", message, mod.span, help=help))
    return known[name]
