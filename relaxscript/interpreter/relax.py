"""The reference semantics of Relax: an evaluator with environments, slow and obvious.

    interp = Interpreter(module)
    interp["main"](x, w)          or interp.main(x, w)

Every operator runs by its numpy meaning, every PrimFunc through `tir.evaluate`; everything that the
spec lets a program check is checked: arguments, results, match_casts, and the StructInfo of every
variable. The evaluator is made of generators: a call of a Relax function is yielded to `_run`,
which keeps the callers on a list. So recursion in the program is none in Python.

Source: spec "Detailed Semantics"; the numbers in comments are its rules. Here is what a call does;
what an expression means is in `expression.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.errors import VMError, meant_notes, nearest
from relaxscript.errors.exceptions import NoSuchNameError
from relaxscript.ir import relax
from relaxscript.ir.module import IRModule
from relaxscript.runtime import Closure
from relaxscript.runtime.arrays import as_given
from relaxscript.runtime.checks import AnyCheck
from relaxscript.runtime.coercion import coerce_argument, order_arguments
from relaxscript.runtime.error_context import add_call_notes, depth_error
from relaxscript.runtime.run_check import argument_count_error, match_arguments
from relaxscript.runtime.stack_guard import lacks_stack, run_scope
from relaxscript.semantics.error_context import (
    is_from_inside,
    locate_errors,
    locate_errors_in_signature,
    span_of_result,
    span_of_signature,
)
from relaxscript.semantics.prim_funcs import entry_closure

from .closure import CallRequest, Evaluation, RelaxClosure, declared_type
from .environment import RunEnvironment
from .expression import evaluate
from .module_functions import function_of, kernel_of, prim_func_of_symbol

__all__ = ["Interpreter", "RelaxClosure"]

_CALL_DEPTH_LIMIT = 10_000


class Interpreter:
    """Runs the functions of a module by the spec's semantics; `call_depth_limit` bounds recursion.

    Public functions are items and attributes; arguments are what `VirtualMachine` takes. Failures
    are `VMError`s with the codes of the virtual machine, and leave the interpreter usable.
    """

    def __init__(self, mod: IRModule | relax.BaseFunc) -> None:
        self.module = mod if isinstance(mod, IRModule) else IRModule.from_expr(mod)
        self.call_depth_limit = _CALL_DEPTH_LIMIT

    def __repr__(self) -> str:
        return f"<Interpreter of {', '.join(var.name_hint for var in self.module.functions)}>"

    # -- calling from outside ----------------------------------------------------------------------

    def __getitem__(self, name: str) -> Closure:
        """The public function `name`; raises `VMError` (RX0607) when there is none.

        PrimFuncs are public functions where there is no Relax function.
        """
        functions = self.module.relax_functions()
        if not functions and isinstance(name, str) and (entry := self._entry(name)):
            return entry
        public = [gv.name_hint for gv, f in functions.items() if not f.is_private]
        found = function_of(self.module, name)
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
        func = prim_func_of_symbol(self.module, symbol)
        if func is None:
            return None
        return entry_closure(symbol, func, kernel_of(self.module, func))

    def __getattr__(self, name: str) -> Closure:
        if name.startswith("__") or "module" not in self.__dict__:
            raise AttributeError(name)
        try:
            return self[name]
        except VMError as error:
            told = "; ".join([error.diagnostic.message, *error.diagnostic.notes])
            raise NoSuchNameError(told) from None

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
        checks = RunEnvironment(self, closure.name, closure.outer).signature(closure.function)
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
        except RecursionError as error:
            if lacks_stack(error):
                raise
            name = stack[-1][0].name
            message = f"`{name}` is nested too deeply for the interpreter"
            raise VMError(message, code="RX0609", notes=["split it into functions"]) from None
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
        env = RunEnvironment(self, closure.name, closure.outer)
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
        value = yield from evaluate(function.body, env)
        result = function.ret_struct_info
        if result is not None:
            env.span = span_of_result(function)
            with locate_errors(env.span):
                env.match(value, result, f"the result of `{closure.name}`")
        return value
