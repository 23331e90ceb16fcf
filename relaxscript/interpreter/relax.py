"""The reference semantics of Relax: an evaluator with environments, slow and obvious.

    interp = Interpreter(module)
    interp["main"](x, w)          or interp.main(x, w)

Every operator runs by its numpy meaning, every PrimFunc through `tir.evaluate`; everything that the
spec lets a program check is checked: arguments, results, match_casts, and the StructInfo of every
variable. The evaluator is made of generators: a call of a Relax function is yielded to `_run`,
which keeps the callers on a list. So recursion in the program is none in Python.

Source: spec "Detailed Semantics"; the numbers in comments are its rules. Start at `_evaluate`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from relaxscript.errors import InternalError, Span, VMError, meant_notes, nearest
from relaxscript.ir import relax, tir
from relaxscript.ir.module import IRModule
from relaxscript.ir.struct_info import StructInfo
from relaxscript.op import Trait, traits_of
from relaxscript.runtime import Closure, PackedFunc, get_global_func
from relaxscript.runtime.arrays import as_given
from relaxscript.runtime.builtins import (
    BUILTINS,
    INVOKE_CLOSURE,
    MAKE_CLOSURE,
    MATCH_CAST,
    make_prim_value,
    make_shape,
    read_if_cond,
    tuple_getitem,
)
from relaxscript.runtime.checks import AnyCheck, TupleCheck
from relaxscript.runtime.coercion import (
    call_packed,
    coerce_argument,
    coerce_result,
    order_arguments,
)
from relaxscript.runtime.error_context import add_call_notes, depth_error
from relaxscript.runtime.run_check import argument_count_error, match, match_arguments
from relaxscript.runtime.stack_guard import run_scope
from relaxscript.runtime.values import kind_of
from relaxscript.semantics.check_calls import check_of
from relaxscript.semantics.checks import specialize_closure_type
from relaxscript.semantics.error_context import (
    WRITES_INTO_ARGS,
    is_from_inside,
    locate_errors,
    locate_errors_in_signature,
    name_of_matched,
    name_of_result,
    span_of_binding,
    span_of_body,
    span_of_result,
    span_of_signature,
)
from relaxscript.semantics.make_closure import LOCAL_NAME, make_closure
from relaxscript.semantics.prim_funcs import (
    entry_closure,
    kernel_argument,
    prim_func_closure,
    symbol_of,
)
from relaxscript.sinfo import erase_to_well_defined

from . import tir as prim_func_evaluator
from .calls import CallEvaluator
from .closure import CallRequest, Evaluation, RelaxClosure, declared_type
from .environment import RunEnvironment

__all__ = ["Interpreter", "RelaxClosure"]

_CALL_DEPTH_LIMIT = 10_000
_UNIT = TupleCheck(())


class Interpreter(CallEvaluator):
    """Runs the functions of a module by the spec's semantics; `call_depth_limit` bounds recursion.

    Public functions are items and attributes; arguments are what `VirtualMachine` takes. Failures
    are `VMError`s with the codes of the virtual machine, and leave the interpreter usable.
    """

    def __init__(self, mod: IRModule | relax.BaseFunc) -> None:
        super().__init__()
        self.module = mod if isinstance(mod, IRModule) else IRModule.from_expr(mod)
        self.call_depth_limit = _CALL_DEPTH_LIMIT

    # -- calling from outside ----------------------------------------------------------------------

    def __getitem__(self, name: str) -> Closure:
        """The public function `name`; raises `VMError` (RX0607) when there is none.

        PrimFuncs are public functions where there is no Relax function.
        """
        functions = self.module.relax_functions()
        if not functions and isinstance(name, str) and (entry := self._entry(name)):
            return entry
        public = [gv.name_hint for gv, f in functions.items() if not f.is_private]
        found = self._function(name)
        if not isinstance(found, relax.Function):
            near = nearest(name, public)
            notes = meant_notes(near)
            notes.append(f"public functions: {', '.join(public) or 'none'}")
            raise VMError(f"there is no function `{name}`", code="RX0607", notes=notes)
        if found.is_private:
            text = f"`{name}` is private: only functions of its module can call it"
            raise VMError(text, code="RX0607", span=span_of_signature(found))
        return RelaxClosure(self, name, found, info=declared_type(found))

    def _entry(self, symbol: str) -> Closure | None:
        """The PrimFunc of a global symbol as what can be called from outside."""
        for func in self.module.functions.values():
            if isinstance(func, tir.PrimFunc) and symbol_of(func) == symbol:
                return entry_closure(symbol, func, self._kernel(func))
        return None

    def __getattr__(self, name: str) -> Closure:
        if name.startswith("__") or "module" not in self.__dict__:
            raise AttributeError(name)
        try:
            return self[name]
        except VMError as error:
            raise AttributeError(error.diagnostic.message) from error

    def call(self, name: str, args: Sequence[Any]) -> Any:
        """The result of the public function `name`."""
        return self[name](*args)

    def call_from_outside(
        self, closure: RelaxClosure, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call a closure with what a user passes: converted, then checked like any arguments."""
        names = closure.param_names
        names = names[: len(names) - len(closure.bound_args)]
        with run_scope():
            with locate_errors_in_signature(closure.function):
                if kwargs:
                    args = order_arguments(closure.name, names, args, kwargs)
                if len(args) != len(names):
                    raise argument_count_error(closure.name, names, len(args))
                env = self._enter(closure, self._convert_arguments(closure, args))
            return as_given((*args, *kwargs.values()), self._run(closure, env))

    def _convert_arguments(self, closure: RelaxClosure, args: Sequence[Any]) -> list[Any]:
        checks = RunEnvironment(closure.name, closure.outer).signature(closure.function)
        names = closure.param_names
        return [
            coerce_argument(value, check, name, closure.name, i)
            for i, (value, check, name) in enumerate(zip(args, checks, names, strict=False))
        ]

    # -- calls -------------------------------------------------------------------------------------

    def _run(self, closure: RelaxClosure, env: RunEnvironment) -> Any:
        """Run a call to its end; `stack` holds the environments of the callers.

        A result is handed over in a list, which the caller empties: nobody else holds it then.
        """
        stack: list[tuple[RunEnvironment, Evaluation]] = [(env, self._body(closure, env))]
        returned: list[Any] | None = None
        try:
            while True:
                try:
                    request = stack[-1][1].send(returned)
                except StopIteration as done:
                    stack.pop()
                    if not stack:
                        return done.value
                    returned = [done.value]
                    continue
                stack.append(self._enter_request(request, len(stack)))
                del request
                returned = None
        except VMError as error:
            running = [(env.name, env.span) for env, _ in reversed(stack)]
            add_call_notes(error, running, is_from_inside(error, running[0][1]))
            raise

    def _enter_request(self, request: CallRequest, depth: int) -> tuple[RunEnvironment, Evaluation]:
        closure, args, span = request
        with locate_errors(span):
            if depth > self.call_depth_limit:
                raise depth_error(self.call_depth_limit)
            env = self._enter(closure, args)
        return env, self._body(closure, env)

    def _enter(self, closure: RelaxClosure, args: Sequence[Any]) -> RunEnvironment:
        """A scope with the arguments, checked as at the start of a function (12.2.1)."""
        params = closure.function.params
        values = [*args, *closure.bound_args]
        if len(values) != len(params):
            raise argument_count_error(closure.name, closure.param_names, len(args))
        env = RunEnvironment(closure.name, closure.outer)
        if closure.itself is not None:
            env.values[closure.itself] = closure.without_bound_args()
        checks = list(env.signature(closure.function))
        names = closure.param_names
        for held in env.held:  # captured variables that hold the shape of an argument
            checks.append(AnyCheck())
            names.append("captured")
            values.append(held)
        origins = env.origins
        match_arguments(values, checks, env.heap, names, closure.name, lambda: origins)
        env.note_origins(checks, [f"`{name}`" for name in names])
        env.values.update(zip(params, values, strict=False))
        return env

    def _body(self, closure: RelaxClosure, env: RunEnvironment) -> Evaluation:
        """The body of a function, and the check of its result."""
        function = closure.function
        value = yield from self._evaluate(function.body, env)
        result = function.ret_struct_info
        if result is not None:
            env.span = span_of_result(function)
            with locate_errors(env.span):
                self._match(value, result, env, f"the result of `{closure.name}`")
        return value

    def _apply(self, callee: Any, args: Sequence[Any], span: Span | None) -> Evaluation:
        """Call a value (12.2)."""
        match callee:
            case RelaxClosure() if callee.interpreter is self:
                return (yield CallRequest(callee, args, span)).pop()
            case PackedFunc(name=name) if name == INVOKE_CLOSURE and args:
                return (yield from self._apply(args[0], args[1:], span))
            case Closure(name=name, call=function) | PackedFunc(name=name, function=function):
                return call_packed(name, function, args)
        raise VMError(f"{kind_of(callee)} cannot be called", code="RX0613")

    # -- expressions -------------------------------------------------------------------------------

    def _evaluate(self, expr: relax.Expr, env: RunEnvironment) -> Evaluation:  # noqa: C901
        """The value of an expression, by the spec's rules in their order."""
        match expr:
            case relax.Constant(data):  # 1: a new tensor each time
                return np.array(data)
            case relax.Var():  # 2
                return env.lookup(expr)
            case relax.GlobalVar(name):
                return self._global(name, expr.span)
            case relax.Tuple(fields):  # 3
                return tuple((yield from self._each(fields, env)))
            case relax.PrimValue(value):  # 4
                return make_prim_value(env.state, env.dim(value), value.dtype)
            case relax.StringImm(value) | relax.DataTypeImm(value):  # 5, 6
                return value
            case relax.TupleGetItem(tuple_value, index):  # 7
                return tuple_getitem((yield from self._evaluate(tuple_value, env)), index)
            case relax.ShapeExpr(values):  # 8
                return make_shape(env.state, [env.dim(dim) for dim in values])
            case relax.Function():  # 9
                return self._closure(expr, env)
            case relax.If():  # 10
                return (yield from self._if_else(expr, env))
            case relax.ExternFunc(symbol):  # 11
                return self._extern(symbol)
            case relax.Call():  # 12
                return (yield from self._call(expr, env))
            case relax.SeqExpr():  # 13
                return (yield from self._sequence(expr, env))
        raise InternalError(f"there is no meaning of {type(expr).__name__}")

    def _each(
        self, exprs: Sequence[relax.Expr], env: RunEnvironment
    ) -> Generator[CallRequest, Any, list[Any]]:
        values: list[Any] = []
        for expr in exprs:
            value = yield from self._evaluate(expr, env)
            values.append(value)
        return values

    def _closure(
        self, function: relax.Function, env: RunEnvironment, var: relax.Var | None = None
    ) -> RelaxClosure:
        """A closure over everything in scope; `var` is the variable that it is bound to."""
        info = declared_type(function)
        name = f"{env.name}.{var.name_hint if var is not None else 'function'}"
        shapes = {v: env.heap[env.checks.slot(v)] for v in env.bound}
        info = specialize_closure_type(info, shapes)
        return RelaxClosure(self, name, function, env.snapshot(), info=info, itself=var)

    def _if_else(self, expr: relax.If, env: RunEnvironment) -> Evaluation:
        condition = yield from self._evaluate(expr.cond, env)
        with locate_errors(expr.cond_span, expr.span):
            branch = expr.true_branch if read_if_cond(condition) else expr.false_branch
        return (yield from self._evaluate(branch, env))

    def _global(self, name: str, span: Span | None) -> Any:
        found = self._function(name)
        match found:
            case relax.Function():
                called = (found.attrs or relax.Attrs()).get(LOCAL_NAME, name)
                return RelaxClosure(self, called, found, info=declared_type(found))
            case tir.PrimFunc():
                return prim_func_closure(name, found, self._kernel(found))
            case relax.ExternFunc(symbol):
                return self._extern(symbol)
        raise VMError(f"the module has no function `{name}`", code="RX0607", span=span)

    def _function(self, name: str) -> Any:
        """The function of the module with that name, or None."""
        return self.module[name] if name in self.module else None  # noqa: SIM401

    def _kernel(self, func: tir.PrimFunc) -> Callable[..., Any]:
        return lambda *args: prim_func_evaluator.evaluate(func, args, self.module)

    def _packed_kernel(self, func: tir.PrimFunc) -> Callable[..., Any]:
        kernel = self._kernel(func)
        return lambda *args: kernel(*map(kernel_argument, args))

    def _extern(self, symbol: str) -> PackedFunc:
        """The packed function of a name: a PrimFunc with that symbol, or a registered one."""
        for function in self.module.functions.values():
            if isinstance(function, tir.PrimFunc) and symbol_of(function) == symbol:
                return PackedFunc(symbol, self._packed_kernel(function))
        if symbol == MAKE_CLOSURE:
            return PackedFunc(symbol, make_closure)
        if symbol in BUILTINS:
            return PackedFunc(symbol, BUILTINS[symbol])
        return get_global_func(symbol)

    # -- bindings ----------------------------------------------------------------------------------

    def _sequence(self, seq: relax.SeqExpr, env: RunEnvironment) -> Evaluation:
        inner = env.enter_scope()
        for block in seq.blocks:
            for binding in block.bindings:
                env.span = span_of_binding(binding) or env.span
                with locate_errors(env.span):
                    yield from self._binding(binding, env)
            if isinstance(block, relax.DataflowBlock):
                for binding in block.bindings:
                    if isinstance(binding.var, relax.DataflowVar):
                        env.values.pop(binding.var, None)
        env.span = span_of_body(seq) or env.span
        with locate_errors(env.span):
            value = yield from self._evaluate(seq.body, env)
        env.leave_scope(inner)
        return value

    def _binding(self, binding: relax.Binding, env: RunEnvironment) -> Evaluation:
        var = binding.var
        if isinstance(binding.value, relax.Function):
            value: Any = self._closure(binding.value, env, var)
        else:
            value = yield from self._evaluate(binding.value, env)
        if isinstance(binding, relax.MatchCast):
            line = f" in line {binding.span.line}" if binding.span is not None else ""
            origin = "the value matched" + line
            self._match(value, binding.struct_info, env, name_of_matched(binding), origin)
        elif var.struct_info is not None and not _is_signature_check(binding.value):
            visible = env.bound
            info = erase_to_well_defined(var.struct_info, lambda v: True, lambda v: v in visible)
            check = env.check(info)
            value = () if value is None and check == _UNIT else value
            value = coerce_result(value, check) if _comes_from_outside(binding.value) else value
            self._match(value, info, env, name_of_result(binding, env.lookup))
        if var is not None:
            env.values[var] = value

    def _match(
        self, value: Any, info: StructInfo, env: RunEnvironment, where: str, origin: str = ""
    ) -> None:
        check = env.check(info)
        match(value, check, env.heap, where, env.held, lambda: env.origins)
        env.note_origins([check], [origin or where])


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
