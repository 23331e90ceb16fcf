"""Scripts as modules whose PrimFuncs have patterns, and what a function of them calls."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Binding, Call, Function, GlobalVar
from relaxscript.ir.walk import compounds
from relaxscript.script import from_source
from relaxscript.transform import AnnotateTIROpPattern, LegalizeOps

__all__ = ["callees", "legal_module", "long_function"]


def legal_module(script: str) -> IRModule:
    """The module of a script without header, with operators as PrimFuncs that have patterns."""
    return AnnotateTIROpPattern()(LegalizeOps()(from_source(script)))


def long_function(values: list[str]) -> IRModule:
    """A function of one block, in which `v1`, `v2`, ... are bound to values."""
    lines = "\n".join(f"            v{i} = {value}" for i, value in enumerate(values, 1))
    return legal_module(
        "@I.ir_module\nclass M:\n    @R.function\n    def main(v0: R.Tensor((2, 3), 'float32')):\n"
        f"        with R.dataflow():\n{lines}\n            R.output(v{len(values)})\n"
        f"        return v{len(values)}\n"
    )


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
