"""AttachGlobalSymbol: every function can be called by its name."""

from __future__ import annotations

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Attrs, Function
from relaxscript.ir.tir import PrimFunc
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["AttachGlobalSymbol"]


class AttachGlobalSymbol(ModulePass):
    """Give each function that has no `global_symbol`, a private one, its name in the module as one.

    Before:

        @R.function(private=True)
        def twice(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"): ...

    After:

        @R.function
        def twice(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"): ...

    Source: TVM `relax.transform.AttachGlobalSymbol`.
    """

    adds_functions = True

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        private = [
            (var, function)
            for var, function in mod.functions.items()
            if isinstance(function, (Function, PrimFunc))
            and not (function.attrs or Attrs()).get("global_symbol")
        ]
        if not private:
            return mod
        made = mod.clone()
        for var, function in private:
            made[var] = function.with_attr("global_symbol", var.name_hint)
        return made
