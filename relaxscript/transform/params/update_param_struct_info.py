"""UpdateParamStructInfo: other StructInfos of parameters, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable

from relaxscript.analysis.call_graph import all_global_vars
from relaxscript.analysis.components import components
from relaxscript.analysis.well_formedness import ill_formed
from relaxscript.builder.mutator import ExprMutator
from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.errors.exceptions import is_user_error
from relaxscript.ir.field_types import brief
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Call, Expr, Function, GlobalVar, Var
from relaxscript.ir.struct_info import StructInfo
from relaxscript.ir.structural_equality import structural_equal
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass

__all__ = ["UpdateParamStructInfo"]

__tracebackhide__ = is_user_error


class UpdateParamStructInfo(ModulePass):
    """Give parameters the StructInfos that `sinfo_func(param)` says, and derive bodies again.

    Before:

        @R.function
        def main(x: R.Tensor((2, 4), "float32"), w: R.Tensor((4,), "float32")):
            y: R.Tensor((2, 4), "float32") = R.multiply(x, w)
            return y

    After `UpdateParamStructInfo(lambda param: R.Tensor(param.struct_info.shape, "float16"))`:

        @R.function
        def main(x: R.Tensor((2, 4), "float16"), w: R.Tensor((4,), "float16")):
            y: R.Tensor((2, 4), "float16") = R.multiply(x, w)
            return y

    Each parameter is asked once, those of private and local functions too; where the function
    gives None it stays as it is. A declared result stays where the new one still fits it. Calls of
    a function whose result has changed are derived again too.

    Raises `DiagnosticError`. RX0201 is for what is no StructInfo. What no longer goes together is
    refused as it is in a script. Source: TVM `relax.transform.UpdateParamStructInfo`.
    """

    opt_level = 1
    changes_signatures = True
    runs_once = True

    def __init__(self, sinfo_func: Callable[[Var], StructInfo | None]) -> None:
        self.sinfo_func = sinfo_func

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        made, changed = mod.clone(), set[str]()
        for var in _callees_first(mod):
            before = mod[var]
            assert isinstance(before, Function)
            function = _Update(made, self.sinfo_func, changed).function(before, var.name_hint)
            if function is not before:
                made[var] = function
                if not structural_equal(made.struct_info(var), mod.struct_info(var)):
                    changed.add(var.name_hint)
        if all(made[var] is function for var, function in mod.functions.items()):
            return mod
        if (wrong := ill_formed(made)) and not ill_formed(mod):
            raise DiagnosticError(wrong)
        return made


def _callees_first(mod: IRModule) -> list[GlobalVar]:
    """The Relax functions, each behind those that it mentions, as far as these do not it."""
    functions = mod.relax_functions()
    by_name = {var.name_hint: var for var in functions}
    graph = {
        name: [v.name_hint for v in all_global_vars(functions[var]) if v.name_hint in by_name]
        for name, var in by_name.items()
    }
    return [by_name[name] for group in components(graph) for name in group]


class _Update(ExprMutator):
    """Asks for the StructInfo of each parameter; calls of `changed` functions are typed anew."""

    def __init__(
        self, mod: IRModule, ask: Callable[[Var], StructInfo | None], changed: set[str]
    ) -> None:
        super().__init__(mod)
        self._ask = ask
        self._changed_functions = changed

    def param_info(self, param: Var) -> StructInfo | None:
        info: object = self._ask(param)
        if info is None:
            return param.struct_info
        if not isinstance(info, StructInfo):
            message = f"`sinfo_func` gives {brief(info)} for `{param.name_hint}`, and no StructInfo"
            help = "give one, or None where the parameter is to stay as it is"
            raise DiagnosticError(Diagnostic("RX0201", message, param.span, help=help))
        return info

    def value(self, expr: Expr) -> Expr:
        match expr:
            case Call(op=GlobalVar(name_hint=name)) if name in self._changed_functions:
                return expr.replace(span=expr.span)  # of which nothing is known yet
        return expr
