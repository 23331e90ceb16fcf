"""Functions that take other arguments, while those that call them go on as before."""

from __future__ import annotations

from collections.abc import Mapping

from relaxscript.analysis.call_graph import all_global_vars
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function, GlobalVar
from relaxscript.ir.renaming import copy_with_new_vars
from relaxscript.ir.walk import rewrite
from relaxscript.transform.fuse.function_names import FunctionNames

__all__ = ["with_new_signatures"]


def with_new_signatures(mod: IRModule, changed: Mapping[GlobalVar, Function]) -> IRModule:
    """The module with other functions of these names; `mod` itself where there are none.

    What the module itself calls by such a name is a private copy of the function as it was: its
    callers have none of the new arguments.
    """
    if not changed:
        return mod
    made = mod.clone()
    for var, function in changed.items():
        made[var] = function
    names, copies = FunctionNames(mod), dict[str, GlobalVar]()
    is_changed = {var.name_hint for var in changed}
    todo = [v for f in made.relax_functions().values() for v in all_global_vars(f)]
    while todo:
        name = todo.pop().name_hint
        if name in copies or name not in is_changed:
            continue
        before = mod[name]
        assert isinstance(before, Function)
        copy = copy_with_new_vars(before).without_attr("global_symbol")
        copies[name] = GlobalVar.make(names.unique(f"{name}_with_params"))
        made[copies[name]] = copy
        todo += all_global_vars(copy)
    if copies:
        for var, function in made.relax_functions().items():
            made[var] = rewrite(
                function,
                lambda node: copies.get(node.name_hint) if isinstance(node, GlobalVar) else None,
            )
    return made
