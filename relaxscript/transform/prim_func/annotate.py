"""Attributes of PrimFuncs, and passes made of functions over PrimFuncs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Attrs
from relaxscript.ir.tir import PrimFunc
from relaxscript.ir.vdevice import Target
from relaxscript.transform.pass_infra.context import PassContext
from relaxscript.transform.pass_infra.passes import ModulePass, PrimFuncPass

__all__ = ["AnnotateEntryFunc", "Apply", "BindTarget", "Filter"]


class AnnotateEntryFunc(ModulePass):
    """Mark the PrimFunc as entry of a module that has no other function that can be called.

        @T.prim_func               →    @T.prim_func
        def main(...):                  def main(...):
            ...                             T.func_attr({"tir.is_entry_func": True})

    Source: TVM `tir.transform.AnnotateEntryFunc`.
    """

    name = "tir.AnnotateEntryFunc"

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        functions = {gvar: f for gvar, f in mod.functions.items() if not _is_private(f)}
        if len(functions) != 1:
            return mod
        ((gvar, function),) = functions.items()
        if not isinstance(function, PrimFunc):
            return mod
        if (function.attrs or Attrs()).get("tir.is_entry_func"):
            return mod
        made = mod.clone()
        made[gvar] = function.with_attr("tir.is_entry_func", True)
        return made


def _is_private(function: Any) -> bool:
    return "global_symbol" not in (function.attrs or Attrs())


class BindTarget(PrimFuncPass):
    """Say of each PrimFunc for which target it is to be compiled, where it does not say so.

        T.func_attr({"target": T.target("llvm")})

    Source: TVM `tir.transform.BindTarget`.
    """

    name = "tir.BindTarget"

    def __init__(self, target: Target | str) -> None:
        self.target = target if isinstance(target, Target) else Target(target)

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        if "target" in (func.attrs or Attrs()):
            return func
        made: PrimFunc = func.with_attr("target", self.target)
        return made


class Apply(PrimFuncPass):
    """Call a function with each PrimFunc; what it returns takes the place of it.

        Apply(lambda f: f.with_attr("tir.noalias", True))

    Raises `TypeError` for what cannot be called. Source: TVM `tir.transform.Apply`.
    """

    name = "tir.Apply"

    def __init__(self, ftransform: Callable[[PrimFunc], PrimFunc]) -> None:
        self.ftransform = ftransform

    def transform_function(self, func: PrimFunc, mod: IRModule, ctx: PassContext) -> PrimFunc:
        return self.ftransform(func)


class Filter(PrimFuncPass):
    """Remove the PrimFuncs for which a function is not true.

        Filter(lambda f: "keep" in f.attrs)

    Raises `TypeError` for what cannot be called. Source: TVM `tir.transform.Filter`.
    """

    removes_functions = True
    name = "tir.Filter"

    def __init__(self, fcond: Callable[[PrimFunc], bool]) -> None:
        self.fcond = fcond

    def transform_function(
        self, func: PrimFunc, mod: IRModule, ctx: PassContext
    ) -> PrimFunc | None:
        return func if self.fcond(func) else None
