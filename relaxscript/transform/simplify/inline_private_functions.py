"""InlinePrivateFunctions: the bodies of private functions take the place of their calls."""

from __future__ import annotations

from relaxscript.analysis.call_graph import all_global_vars, detect_recursion
from relaxscript.builder import inline_functions
from relaxscript.ir.module import IRModule
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["InlinePrivateFunctions"]


class InlinePrivateFunctions(ModulePass):
    """Inline the calls of private Relax functions, and remove those that are then of no use.

    Before:

        @R.function(private=True)
        def twice(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            y = R.add(x, x)
            return y

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            z = cls.twice(x)
            return z

    After:

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            y = R.add(x, x)
            z = y
            return z

    Functions that call themselves, or each other, stay and are called. So do those that are used as
    values. A check of arguments or results that may fail becomes a `match_cast`. Signatures stay,
    even where more is known of a result afterwards.

    Source: TVM `relax.transform.InlinePrivateFunctions`.
    """

    removes_functions = True
    fails_as = (("RX0601", "RX0605"),)

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        recursive = {var.name_hint for group in detect_recursion(mod) for var in group}
        functions = mod.relax_functions()
        private = {
            var.name_hint: function
            for var, function in functions.items()
            if function.is_private and var.name_hint not in recursive
        }
        if not private:
            return mod
        made = mod.clone()
        for var, function in functions.items():
            inlined = inline_functions(function, private, mod)
            # More may be known of the result then, which is nothing to those who call.
            made[var] = inlined.replace(ret_struct_info=function.ret_struct_info)
        made = _without_unused(made, set(private))
        same = len(made) == len(mod) and all(made[v] is f for v, f in mod.functions.items())
        return mod if same else made


def _without_unused(mod: IRModule, private: set[str]) -> IRModule:
    """The module without those private functions that nothing else mentions any more."""
    kept = [function for var, function in mod.functions.items() if var.name_hint not in private]
    used: set[str] = set()
    while kept:
        mentioned = {var.name_hint for var in all_global_vars(kept.pop())} & private
        kept += [mod[name] for name in mentioned - used]
        used |= mentioned
    for name in private - used:
        del mod[name]
    return mod
