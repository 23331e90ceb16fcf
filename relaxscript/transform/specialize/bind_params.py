"""BindParams: parameters of a function become constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relaxscript.builder import bind_params
from relaxscript.ir.module import IRModule
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.function_names import global_var_named
from relaxscript.transform.pass_infra.passes import ModulePass

from .changed_signature import with_function

__all__ = ["BindParams"]


class BindParams(ModulePass):
    """Replace parameters of the function `func_name` by constants.

    Before:

        @R.function
        def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4,), "float32")):
            y = R.multiply(x, w)
            return y

    After `BindParams("main", {"w": np.float32([1, 2, 3, 4])})`:

        @R.function
        def main(x: R.Tensor(("n", 4), "float32")):
            y = R.multiply(x, R.const([1.0, 2.0, 3.0, 4.0], "float32"))
            return y

    The keys of `params` are names or variables, its values arrays or constants. Shape variables
    that an array determines become numbers, and what follows from them is derived again.

    Raises `DiagnosticError`. RX0703 is for a function that is not there, RX0101 for a parameter
    that it lacks. RX0206 is for an array that does not fit. Calls of the function by others that
    fit no more are refused as well. Source: TVM `relax.transform.BindParams`.
    """

    changes_signatures = True
    runs_once = True

    def __init__(self, func_name: str, params: Mapping[Any, Any]) -> None:
        self.func_name = func_name
        self.params = params

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        var = global_var_named(mod, self.func_name, self.info.name, relax_only=True)
        return with_function(mod, var, bind_params(mod[var], self.params, mod))

    def call_as_before(
        self, before: IRModule, call: Callable[..., Any], name: str, args: Sequence[Any]
    ) -> Any:
        """Call the function without the arguments that are bound."""
        if name == self.func_name:
            args = [
                arg
                for arg, param in zip(args, before[name].params)
                if param not in self.params and param.name_hint not in self.params
            ]
        return call(name, *args)
