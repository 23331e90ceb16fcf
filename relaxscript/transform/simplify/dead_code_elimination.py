"""DeadCodeElimination: what nobody needs goes, bindings and whole functions."""

from __future__ import annotations

from collections.abc import Sequence

from relaxscript.analysis.mentioned_functions import mentioned_functions
from relaxscript.analysis.unused import remove_all_unused
from relaxscript.ir.module import IRModule, ModuleFunction
from relaxscript.ir.relax import (
    Attrs,
    ExternFunc,
    GlobalVar,
)
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.function_names import global_var_named
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["DeadCodeElimination"]


class DeadCodeElimination(ModulePass):
    """Remove bindings that nothing needs, and functions that no entry function reaches.

    Before:

        @R.function(private=True)
        def unused(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"): ...

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            with R.dataflow():
                lv = R.exp(x)
                gv = R.log(x)
                R.output(gv)
            return gv

    After:

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            with R.dataflow():
                gv = R.log(x)
                R.output(gv)
            return gv

    Entry functions are all that can be called from outside, those with a `global_symbol`, and those
    that `entry_functions` names. Inside a dataflow block every pure binding may go, a `match_cast`
    as well. Outside, calls and checks stay, since they may fail or not end; TVM removes such calls
    if they are pure. Impure calls stay everywhere. With `keep_failures` nothing goes whose absence
    a run could notice: in dataflow blocks calls and checks stay, too, and all Relax functions do.

    Raises `TypeError` where `entry_functions` is no list. Raises `DiagnosticError` (RX0703) for a
    name that is no function of the module. Source: TVM `relax.transform.DeadCodeElimination`.
    """

    removes_functions = True
    changes_failures = True
    opt_level = 1

    def __init__(
        self, entry_functions: Sequence[str] | None = None, *, keep_failures: bool = False
    ) -> None:
        self.entry_functions = tuple(entry_functions or ())
        self.keep_failures = keep_failures

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        entries = _entry_functions(mod, self.entry_functions, self.info.name)
        if self.keep_failures:
            entries += mod.relax_functions()
        mod = _without_unreached(mod, entries)
        smaller = mod.clone()
        for var, function in mod.relax_functions().items():
            smaller[var] = remove_all_unused(function, module=mod, keep_failures=self.keep_failures)
        if all(smaller[var] is function for var, function in mod.functions.items()):
            return mod
        # What only dead bindings called is reached no more.
        return _without_unreached(smaller, entries)


def _entry_functions(mod: IRModule, named: Sequence[str], step: str) -> list[GlobalVar]:
    """The functions from which a program starts."""
    chosen = [global_var_named(mod, name, step) for name in named]
    return [*chosen, *(var for var, f in mod.functions.items() if _is_public(f))]


def _is_public(function: ModuleFunction) -> bool:
    """True if others may call the function: an external one is somebody else's."""
    attrs = None if isinstance(function, ExternFunc) else function.attrs
    return isinstance(function, ExternFunc) or "global_symbol" in (attrs or Attrs())


def _without_unreached(mod: IRModule, entries: Sequence[GlobalVar]) -> IRModule:
    """The module without the functions that no entry function mentions, or what it reaches."""
    reached = {var.name_hint for var in entries}
    todo = list(reached)
    while todo and len(reached) < len(mod):
        for name in mentioned_functions(mod[todo.pop()]):
            if name in mod and name not in reached:
                reached.add(name)
                todo.append(name)
    if len(reached) == len(mod):
        return mod
    made = mod.clone()
    for var in mod:
        if var.name_hint not in reached:
            del made[var]
    return made
