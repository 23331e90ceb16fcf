"""Scripts as modules whose PrimFuncs have patterns, and what a function of them calls."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Binding, Call, Function, GlobalVar
from relaxscript.ir.walk import compounds
from relaxscript.script import from_source
from relaxscript.transform import AnnotateTIROpPattern, LegalizeOps

__all__ = ["callees", "legal_module"]


def legal_module(script: str) -> IRModule:
    """The module of a script without header, with operators as PrimFuncs that have patterns."""
    return AnnotateTIROpPattern()(LegalizeOps()(from_source(script)))


def callees(mod: IRModule, name: str = "main") -> list[str]:
    """The functions that a function calls, directly or by `call_tir`, in the order of its text."""
    function = mod[name]
    assert isinstance(function, Function)
    found = []
    for node in compounds(function):
        if isinstance(node, Binding) and isinstance(node.value, Call):
            call = node.value
            callee = call.op if isinstance(call.op, GlobalVar) else (*call.args, None)[0]
            if isinstance(callee, GlobalVar):
                found.append(callee.name_hint)
    return found
