"""ApplyPassToFunction: a pass on some functions of a module, while the others stay as they are."""

from __future__ import annotations

import re
from copy import copy

from relaxscript.errors import Diagnostic, DiagnosticError
from relaxscript.ir.module import IRModule, ModuleFunction
from relaxscript.ir.relax import Attrs, ExternFunc, GlobalVar, remember_struct_info

from .context import PassContext
from .passes import DECLARATIONS, ModulePass, Pass

__all__ = ["ApplyPassToFunction"]


class ApplyPassToFunction(ModulePass):
    """Run the pass `transform` on the functions whose whole names match `func_name_regex`.

        ApplyPassToFunction(DeadCodeElimination(), "main|step_.*")

    The pass sees the others as functions from elsewhere, of which it knows the StructInfo only. So
    it cannot look into them. Functions that it adds are added. A private one that matches is not
    removed as unused, since the others may call it. Instruments are told of this pass only.

    Raises `DiagnosticError` (RX0703) for no match with `error_if_no_function_matches_regex`, and
    where the text is no regular expression. Source: TVM `tvm.ir.transform.ApplyPassToFunction`.
    """

    def __init__(
        self,
        transform: Pass,
        func_name_regex: str,
        error_if_no_function_matches_regex: bool = False,
    ) -> None:
        try:
            self.pattern = re.compile(func_name_regex)
        except re.error as error:
            message = f'"{func_name_regex}" is no regular expression: {error}'
            raise DiagnosticError(Diagnostic("RX0703", message, None)) from None
        self.inner = transform
        self.must_match = error_if_no_function_matches_regex
        # What the pass declares, this one does to some functions.
        self.__dict__.update({name: getattr(transform, name) for name in DECLARATIONS})

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        chosen = {var for var in mod.functions if self.pattern.fullmatch(var.name_hint)}
        if not chosen:
            if self.must_match:
                names = ", ".join(var.name_hint for var in mod.functions) or "none"
                message = f'no function of the module is named as "{self.pattern.pattern}" says'
                help = f"there are: {names}"
                raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))
            return mod
        part = mod.clone()
        for var, function in mod.functions.items():
            part[var] = _public(function, var) if var in chosen else _elsewhere(mod, var)
        with _without_instruments(ctx):
            result = self.inner(part)
        if result is part:
            return mod
        return _merge(mod, part, result, chosen)


def _without_instruments(ctx: PassContext) -> PassContext:
    """The same context for a pass on part of a module, which is no module that users know."""
    made = copy(ctx)
    made.instruments = ()
    return made


def _public(function: ModuleFunction, var: GlobalVar) -> ModuleFunction:
    """A function that is kept, whoever calls it."""
    if isinstance(function, ExternFunc) or (function.attrs or Attrs()).get("global_symbol"):
        return function
    made: ModuleFunction = function.with_attr("global_symbol", var.name_hint)
    return made


def _elsewhere(mod: IRModule, var: GlobalVar) -> ModuleFunction:
    """The place of a function that the pass is not to see."""
    made = ExternFunc(var.name_hint)
    remember_struct_info(made, mod.struct_info(var))
    return made


def _merge(mod: IRModule, part: IRModule, result: IRModule, chosen: set[GlobalVar]) -> IRModule:
    """The module with what the pass made of the chosen functions, and with those that it added."""
    made = mod.clone()
    for var in chosen:
        if var not in result:
            del made[var]
        elif result[var] is not part[var]:
            made[var] = _with_visibility_of(mod[var], result[var])
    for var, function in result.functions.items():
        if var not in mod:
            made[var] = function
    made.attrs, made.global_infos = result.attrs, dict(result.global_infos)
    same = list(made.functions.items()) == list(mod.functions.items())
    return (
        mod if same and (made.attrs, made.global_infos) == (mod.attrs, mod.global_infos) else made
    )


def _with_visibility_of(before: ModuleFunction, made: ModuleFunction) -> ModuleFunction:
    if isinstance(made, ExternFunc) or isinstance(before, ExternFunc):
        return made
    if (before.attrs or Attrs()).get("global_symbol"):
        return made
    private: ModuleFunction = made.without_attr("global_symbol")
    return private
