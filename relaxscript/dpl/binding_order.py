"""The order of bindings in which each follows what it uses, near to the one that there was."""

from __future__ import annotations

from collections.abc import Mapping

from relaxscript.ir.prim import Var as PrimVar
from relaxscript.ir.relax import Binding, MatchCast, Var
from relaxscript.ir.walk import mentioned, variables
from relaxscript.sinfo import definable_shape_vars

__all__ = ["in_order"]


def in_order(bindings: Mapping[Var, Binding]) -> list[Binding] | tuple[Var, Var]:
    """The bindings, each behind those that it uses, and behind the casts of its dimensions.

    Where there is no such order it is two variables whose values use each other.
    """
    casts: dict[PrimVar, Var] = {}
    for binding in bindings.values():
        if isinstance(binding, MatchCast):
            for shape_var in definable_shape_vars(binding.struct_info):
                casts.setdefault(shape_var, binding.var)
    done: dict[Var, Binding] = {}
    waiting: set[Var] = set()
    for start in bindings:
        pending = [start]
        while pending:
            var = pending[-1]
            if var in done:
                pending.pop()
                continue
            needed = [v for v in _needs(bindings, var, casts) if v not in done and v is not var]
            if not needed:
                pending.pop()
                waiting.discard(var)
                done[var] = bindings[var]
                continue
            waiting.add(var)
            for other in needed:
                if other in waiting:
                    return var, other
            pending += reversed(needed)
    return list(done.values())


def _needs(bindings: Mapping[Var, Binding], var: Var, casts: Mapping[PrimVar, Var]) -> list[Var]:
    """The variables that are bound before one is."""
    binding = bindings[var]
    used = [v for v in mentioned(binding.value) if v in bindings]
    if casts:
        shape_vars = (v for v in variables(binding) if isinstance(v, PrimVar))
        used += [casts[v] for v in shape_vars if v in casts]
    return used
