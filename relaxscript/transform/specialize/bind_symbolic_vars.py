"""BindSymbolicVars: sizes of a program become numbers or other sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relaxscript.analysis.struct_infos import defined_symbolic_vars
from relaxscript.builder import bind_symbolic_vars
from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.ir.module import IRModule
from relaxscript.ir.prim import Var as ShapeVar
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.function_names import global_var_named
from relaxscript.transform.pass_infra.passes import ModulePass

from .changed_signature import with_function

__all__ = ["BindSymbolicVars"]


class BindSymbolicVars(ModulePass):
    """Replace shape variables of the function `func_name`, or of all functions, by sizes.

    Before:

        @R.function
        def main(x: R.Tensor(("n", "m"), "float32")) -> R.Tensor(("n * m",), "float32"):
            y = R.flatten(x)
            return y

    After `BindSymbolicVars({"n": 3})`:

        @R.function
        def main(x: R.Tensor((3, "m"), "float32")) -> R.Tensor(("3 * m",), "float32"):
            y = R.flatten(x)
            return y

    The keys of `binding_map` are names or variables, its values integers or scalar expressions.
    Without `func_name`, each function is given those that it has. The call of a function that
    cannot take such sizes fails where it is reached, by a match_cast.

    Raises `DiagnosticError`. RX0703 is for a function that is not there. RX0101 is for a shape
    variable that the function lacks, or every function. Other values raise what
    `Function.bind_symbolic_vars` does. Source: TVM `relax.transform.BindSymbolicVars`.
    """

    changes_signatures = True
    fails_as = (("RX0601", "RX0605"),)
    runs_once = True
    opt_level = 1

    def __init__(self, binding_map: Mapping[Any, Any], func_name: str | None = None) -> None:
        self.binding_map = binding_map
        self.func_name = func_name

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        if self.func_name is not None:
            var = global_var_named(mod, self.func_name, self.info.name, relax_only=True)
            return with_function(mod, var, bind_symbolic_vars(mod[var], self.binding_map, mod))
        known: dict[Any, ShapeVar] = {}
        made = mod
        for var, function in mod.relax_functions().items():
            own: dict[Any, ShapeVar] = {}
            for size in defined_symbolic_vars(function):
                own[size] = own[size.name] = size
            known |= own
            given = {key: value for key, value in self.binding_map.items() if key in own}
            made = with_function(made, var, bind_symbolic_vars(function, given, mod))
        for key in self.binding_map:
            if key not in known:
                raise _unknown(key, [name for name in known if isinstance(name, str)])
        return made


def _unknown(key: object, names: list[str]) -> DiagnosticError:
    name = key.name if isinstance(key, ShapeVar) else str(key)
    message = f"no function of the module has the shape variable `{name}`"
    every = f"there are {', '.join(names)}" if names else "there are none"
    help = did_you_mean(nearest(name, names), every)
    return DiagnosticError(Diagnostic("RX0101", message, None, help=help))
