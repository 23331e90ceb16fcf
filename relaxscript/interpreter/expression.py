"""The values of Relax expressions, by the spec's rules; the numbers in comments are theirs.

Evaluations are generators, which ask for calls of Relax functions by yielding them: `relax.py` runs
these. Start at `evaluate`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from relaxscript.errors import InternalError, Span, VMError
from relaxscript.ir import relax, tir
from relaxscript.op import Trait, traits_of
from relaxscript.runtime.builtins import (
    MATCH_CAST,
    make_prim_value,
    make_shape,
    read_if_cond,
    tuple_getitem,
)
from relaxscript.runtime.checks import TupleCheck
from relaxscript.runtime.coercion import coerce_result
from relaxscript.semantics.check_calls import check_of
from relaxscript.semantics.checks import specialize_closure_type
from relaxscript.semantics.error_context import (
    WRITES_INTO_ARGS,
    locate_errors,
    name_of_matched,
    name_of_result,
    span_of_binding,
    span_of_body,
)
from relaxscript.semantics.make_closure import LOCAL_NAME
from relaxscript.semantics.prim_funcs import prim_func_closure
from relaxscript.sinfo import erase_to_well_defined

from .calls import apply, call_operator, evaluated_operands
from .closure import CallRequest, Evaluation, RelaxClosure, declared_type
from .environment import RunEnvironment
from .module_functions import extern_function, function_of, kernel_of

__all__ = ["evaluate"]

_UNIT = TupleCheck(())


def evaluate(expr: relax.Expr, env: RunEnvironment) -> Evaluation:  # noqa: C901
    """The value of an expression, by the spec's rules in their order."""
    match expr:
        case relax.Constant(data):  # 1: a new tensor each time
            return np.array(data, order="C")
        case relax.Var():  # 2
            return env.lookup(expr)
        case relax.GlobalVar(name):
            return _global(name, expr.span, env)
        case relax.Tuple(fields):  # 3
            return tuple((yield from _each(fields, env)))
        case relax.PrimValue(value):  # 4
            return make_prim_value(env.state, env.dim(value), value.dtype)
        case relax.StringImm(value) | relax.DataTypeImm(value):  # 5, 6
            return value
        case relax.TupleGetItem(tuple_value, index):  # 7
            return tuple_getitem((yield from evaluate(tuple_value, env)), index)
        case relax.ShapeExpr(values):  # 8
            return make_shape(env.state, [env.dim(dim) for dim in values])
        case relax.Function():  # 9
            return _closure(expr, env)
        case relax.If():  # 10
            return (yield from _if_else(expr, env))
        case relax.ExternFunc(symbol):  # 11
            return extern_function(env.module, symbol)
        case relax.Call():  # 12
            return (yield from _call(expr, env))
        case relax.SeqExpr():  # 13
            return (yield from _sequence(expr, env))
    raise InternalError(f"there is no meaning of {type(expr).__name__}")


def _each(
    exprs: Sequence[relax.Expr], env: RunEnvironment
) -> Generator[CallRequest, Any, list[Any]]:
    values: list[Any] = []
    for expr in exprs:
        value = yield from evaluate(expr, env)
        values.append(value)
    return values


def _call(call: relax.Call, env: RunEnvironment) -> Evaluation:
    if isinstance(call.op, relax.Op):
        args = yield from _each(evaluated_operands(call), env)
        return (yield from call_operator(call, args, env))
    if isinstance(call.op, relax.ExternFunc | relax.GlobalVar):  # looked up as it is called
        args = yield from _each(call.args, env)
        callee = yield from evaluate(call.op, env)
    else:
        callee = yield from evaluate(call.op, env)
        args = yield from _each(call.args, env)
    return (yield from apply(callee, args, call.span, env))


def _closure(
    function: relax.Function, env: RunEnvironment, var: relax.Var | None = None
) -> RelaxClosure:
    """A closure over everything in scope; `var` is the variable that it is bound to."""
    info = declared_type(function)
    name = f"{env.name}.{var.name_hint if var is not None else 'function'}"
    shapes = {v: env.heap[env.checks.slot(v)] for v in env.bound}
    info = specialize_closure_type(info, shapes)
    return RelaxClosure(env.interpreter, name, function, env.snapshot(), info=info, itself=var)


def _if_else(expr: relax.If, env: RunEnvironment) -> Evaluation:
    condition = yield from evaluate(expr.cond, env)
    with locate_errors(expr.cond_span, expr.span):
        branch = expr.true_branch if read_if_cond(condition) else expr.false_branch
    return (yield from evaluate(branch, env))


def _global(name: str, span: Span | None, env: RunEnvironment) -> Any:
    found = function_of(env.module, name)
    match found:
        case relax.Function():
            called = (found.attrs or relax.Attrs()).get(LOCAL_NAME, name)
            return RelaxClosure(env.interpreter, called, found, info=declared_type(found))
        case tir.PrimFunc():
            return prim_func_closure(name, found, kernel_of(env.module, found))
        case relax.ExternFunc(symbol):
            return extern_function(env.module, symbol)
    raise VMError(f"the module has no function `{name}`", code="RX0607", span=span)


# -- bindings --------------------------------------------------------------------------------------


def _sequence(seq: relax.SeqExpr, env: RunEnvironment) -> Evaluation:
    inner = env.enter_scope()
    for block in seq.blocks:
        for binding in block.bindings:
            env.span = span_of_binding(binding) or env.span
            with locate_errors(env.span):
                yield from _binding(binding, env)
        if isinstance(block, relax.DataflowBlock):
            for binding in block.bindings:
                if isinstance(binding.var, relax.DataflowVar):
                    env.values.pop(binding.var, None)
    env.span = span_of_body(seq) or env.span
    with locate_errors(env.span):
        value = yield from evaluate(seq.body, env)
    env.leave_scope(inner)
    return value


def _binding(binding: relax.Binding, env: RunEnvironment) -> Evaluation:
    var = binding.var
    if isinstance(binding.value, relax.Function):
        value: Any = _closure(binding.value, env, var)
    else:
        value = yield from evaluate(binding.value, env)
    if isinstance(binding, relax.MatchCast):
        line = f" in line {binding.span.line}" if binding.span is not None else ""
        origin = "the value matched" + line
        env.match(value, binding.struct_info, name_of_matched(binding), origin)
    elif var.struct_info is not None and not _is_signature_check(binding.value):
        visible = env.bound
        info = erase_to_well_defined(var.struct_info, lambda v: True, lambda v: v in visible)
        check = env.check(info)
        value = () if value is None and check == _UNIT else value
        value = coerce_result(value, check) if _comes_from_outside(binding.value) else value
        env.match(value, info, name_of_result(binding, env.lookup))
    if var is not None:
        env.values[var] = value


def _is_signature_check(value: relax.Expr) -> bool:
    """True for a check of arguments or of a result, which each call makes by itself."""
    check = check_of(value)
    return check is not None and check[0] != MATCH_CAST


def _comes_from_outside(value: relax.Expr) -> bool:
    """True if a value may come from a function outside of the program, and is unchecked."""
    match value:
        case relax.Call(op=relax.Op() as op):
            traits = traits_of(op)
            return Trait.CALLS_OUT in traits and not traits & WRITES_INTO_ARGS
        case relax.Call():
            return True
    return False
