"""The evaluator of PrimFuncs: each statement becomes a Python closure, run over numpy arrays.

`evaluate(func, args)` is the meaning of a PrimFunc; compiled code must do the same. Loops of every
kind run one after the other, in order; every element that is read or written is checked to lie in
its buffer; new memory is filled with values that show when they are used (NaN, the least integer).

Start with `evaluate`, then `compile_stmt` in `statement.py`. Expressions, the numbers they compute
and the arguments of a PrimFunc are those of every executor: `semantics/`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from relaxscript.errors import DiagnosticError, Span, VMError
from relaxscript.ir import prim, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import GlobalVar
from relaxscript.ir.stmt_functor import parts_of_tir
from relaxscript.runtime.stack_guard import lacks_stack
from relaxscript.semantics import tir_errors
from relaxscript.semantics.error_context import locate_errors
from relaxscript.semantics.expression import compile_expr
from relaxscript.semantics.expression_context import ExpressionContext, Frame, Rules, Run
from relaxscript.semantics.prim_func_abi import PrimFuncSignature
from relaxscript.semantics.vector_math import has_vector_math

from .external_calls import compile_external
from .memory import share_pointers, slot_of
from .reductions import compile_reduction
from .statement import compile_body, sequence

__all__ = ["evaluate"]


def evaluate(func: tir.PrimFunc, args: Sequence[Any], module: IRModule | None = None) -> Any:
    """Run a PrimFunc; it writes into the arrays that it is given.

    `args` are numpy arrays for buffers and Python numbers for scalars, in the order of
    `func.params`; `module` holds the functions that it calls. Gives what `T.ret` returns, else
    None. Raises `VMError` where arguments do not fit the signature or an index is out of bounds.
    So it does where an integer is divided by zero or an assertion fails. Raises `DiagnosticError`
    where the program has no meaning on a CPU.
    """
    with np.errstate(all="ignore"):
        try:
            return _call(func, args, module)
        except RecursionError as error:
            if lacks_stack(error):
                raise
            raise VMError(
                "the PrimFunc calls itself or nests expressions too deeply", code="RX0609"
            ) from None


def _call(
    func: tir.PrimFunc, args: Sequence[Any], module: IRModule | None, span: Span | None = None
) -> Any:
    """Run a function for the call at `span`, which is told where the arguments do not fit."""
    program = _program(func)
    with locate_errors(span):
        frame = program.signature.bind(args)

    def call(function: GlobalVar, operands: list[Any], span: Span | None) -> Any:
        return _call(_function(function, module, span), operands, module, span)

    frame[0] = call
    try:
        program.run(frame)
    except PrimFuncReturn as returned:
        return returned.value
    return None


def _function(var: GlobalVar, module: IRModule | None, span: Span | None) -> tir.PrimFunc:
    found = module[var] if module is not None and var in module else None
    if not isinstance(found, tir.PrimFunc):
        raise tir_errors.undefined("PrimFunc", var.name_hint, span)
    return found


class CompiledPrimFunc:
    """A PrimFunc as closures."""

    def __init__(self, func: tir.PrimFunc) -> None:
        _check_threads(func)
        self.signature = PrimFuncSignature(func)
        cx = ExpressionContext(self.signature.layout, RULES, has_vector_math(func))
        preparation = share_pointers(cx, self.signature.params)
        self.run: Run = sequence([*preparation, compile_body(cx, func.body)])


def _check_threads(func: tir.PrimFunc) -> None:
    """Refuse threads of a GPU that exchange elements: in order, they would not wait for others."""
    stack: list[tir.Stmt] = [func.body]
    seen: set[int] = set()
    while stack:
        stmt = stack.pop()
        if id(stmt) in seen:
            continue
        seen.add(id(stmt))
        if isinstance(stmt, tir.For) and stmt.kind == tir.ForKind.THREAD_BINDING:
            from relaxscript.transform.schedule.thread_loops import shared_by_threads

            found = shared_by_threads(func, stmt)
            if found is not None:
                raise DiagnosticError(found)
        stack += [part for part in parts_of_tir(stmt) if isinstance(part, tir.Stmt)]


@lru_cache(maxsize=256)
def _program(func: tir.PrimFunc) -> CompiledPrimFunc:
    return CompiledPrimFunc(func)


# ------------------------------------------------------------ calls and returned values


class PrimFuncReturn(Exception):
    """The evaluation of a PrimFunc ends here with a value."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value


def compile_return(cx: ExpressionContext, e: prim.Call) -> Run:
    run = compile_expr(cx, e.args[0])

    def leave(f: Frame) -> Any:
        raise PrimFuncReturn(run(f))

    return leave


def compile_function_call(cx: ExpressionContext, e: prim.Call, function: GlobalVar) -> Run:
    args = [compile_expr(cx, arg) for arg in e.args]
    span, dtype = e.span, e.dtype

    def call(f: Frame) -> Any:
        return f[0](function, [arg(f) for arg in args], span)

    def number(f: Frame) -> Any:
        value = call(f)
        if value is None:
            raise tir_errors.missing_return(function.name_hint, dtype, span)
        return value

    return call if dtype.kind in ("void", "handle") else number


RULES = Rules(slot_of, compile_reduction, compile_external, compile_function_call, compile_return)
