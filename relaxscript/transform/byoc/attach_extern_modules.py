"""AttachExternModules: packed functions that a module brings with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.user_frame import caller_span
from relaxscript.ir.module import IRModule
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["AttachExternModules"]


class AttachExternModules(ModulePass):
    """Give a module packed functions of its own, which `build` links to the calls of their names.

    Before:

        y = R.call_dps_packed("double", (x,), out_sinfo=R.Tensor((4,), "float32"))

    where `double` is looked up among the registered functions when the program runs. After
    `AttachExternModules([{"double": double}])` the script is the same, and the call means this
    function, whatever is registered. Of one name the function that came first is meant.

    `extern_modules` are mappings from names to callables. Those of `relax.frontend.nn` give one by
    their method `load`. A second run attaches nothing more.
    Raises `DiagnosticError` (RX0610) for anything else.

    Source: TVM `relax.transform.AttachExternModules`.
    """

    def __init__(self, extern_modules: Iterable[Any]) -> None:
        super().__init__()
        self.extern_modules = tuple([_loaded(module) for module in extern_modules])
        for functions in self.extern_modules:
            if not isinstance(functions, Mapping) or not all(map(callable, functions.values())):
                message = f"`{functions!r}` is no mapping from names to callables"
                help = 'write for example `AttachExternModules([{"double": double}])`'
                raise DiagnosticError(Diagnostic("RX0610", message, caller_span(), help=help))

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        known = {id(functions) for functions in mod.external_mods}
        new = tuple([f for f in self.extern_modules if id(f) not in known])
        if not new:
            return mod
        made = mod.clone()
        made.external_mods = (*mod.external_mods, *new)
        return made


def _loaded(module: Any) -> Any:
    """The functions of what has them to load; a mapping is loaded already."""
    load = None if isinstance(module, Mapping) else getattr(module, "load", None)
    return load() if callable(load) else module
