"""Lookup of functions by name in a module: its own functions, and packed functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from relaxscript.ir import relax, tir
from relaxscript.ir.module import IRModule
from relaxscript.runtime import PackedFunc, get_global_func
from relaxscript.runtime.builtins import BUILTINS, MAKE_CLOSURE
from relaxscript.semantics.make_closure import make_closure
from relaxscript.semantics.prim_funcs import kernel_argument, symbol_of

from . import tir as prim_func_evaluator

__all__ = ["extern_function", "function_of", "kernel_of", "prim_func_of_symbol"]


def function_of(module: IRModule, name: str) -> relax.BaseFunc | None:
    """The function of the module with that name."""
    return module[name] if name in module else None  # noqa: SIM401


def prim_func_of_symbol(module: IRModule, symbol: str) -> tir.PrimFunc | None:
    """The PrimFunc with that global symbol."""
    for function in module.functions.values():
        if isinstance(function, tir.PrimFunc) and symbol_of(function) == symbol:
            return function
    return None


def kernel_of(module: IRModule, func: tir.PrimFunc) -> Callable[..., Any]:
    """The evaluator of a PrimFunc."""
    return lambda *args: prim_func_evaluator.evaluate(func, args, module)


def extern_function(module: IRModule, symbol: str) -> PackedFunc:
    """The packed function of a name: a PrimFunc with that symbol, or a registered one."""
    function = prim_func_of_symbol(module, symbol)
    if function is not None:
        kernel = kernel_of(module, function)
        return PackedFunc(symbol, lambda *args: kernel(*map(kernel_argument, args)))
    if symbol == MAKE_CLOSURE:
        return PackedFunc(symbol, make_closure)
    if symbol in BUILTINS:
        return PackedFunc(symbol, BUILTINS[symbol])
    for made in module.external_mods:
        if symbol in made:
            return PackedFunc(symbol, made[symbol])
    return get_global_func(symbol)
