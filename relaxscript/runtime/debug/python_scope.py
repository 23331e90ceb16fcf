"""Functions, checks and values that the text of `Executable.as_python` refers to.

Does one call after the other, by calls of Python; the machine is `dispatch.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from relaxscript.errors import InternalError, VMError
from relaxscript.runtime.builtins import BUILTINS, INVOKE_CLOSURE, State
from relaxscript.runtime.bytecode import Call
from relaxscript.runtime.coercion import call_packed, require_written, to_runtime_value
from relaxscript.runtime.decode import UNIT, DecodedFunction, as_value
from relaxscript.runtime.executable import Executable
from relaxscript.runtime.packed_func import PackedFunc, get_global_func
from relaxscript.runtime.run_check import Heap, argument_count_error, match, match_arguments
from relaxscript.runtime.values import Closure, kind_of

__all__ = ["PythonScope", "Running"]

_Shapes = Mapping[int, Any]


class Running(State):
    """A call that is under way; `shapes` are the registers that a check asks for, by number."""

    __slots__ = ("code",)

    def __init__(self, code: DecodedFunction, heap: Heap) -> None:
        super().__init__(code.function.name, heap, code.origins)
        self.code = code

    def checked(self, value: Any, pc: int, shapes: _Shapes) -> Any:
        """The result of the call in instruction `pc`, checked as the instruction says."""
        at = self.code.instruction(pc)
        assert isinstance(at, Call)
        value = () if value is None and at.result == UNIT else value
        where = f"the result of `{self.code.callee(pc)}`"
        self._match(value, at.result, where, shapes)
        return value

    def returned(self, value: Any, shapes: _Shapes) -> Any:
        """The result of this call, which must be what the function declares."""
        where = f"the result of `{self.function}`"
        self._match(value, self.code.function.return_check, where, shapes)
        return value

    def _match(self, value: Any, check: Any, where: str, shapes: Any) -> None:
        match(value, check, self.heap, where, shapes, self.origins)


class PythonScope:
    """The functions of an executable for a text that was made of it."""

    def __init__(self, executable: Executable) -> None:
        self.executable = executable

    def function(self, name: str) -> Callable[[Callable[..., Any]], Closure]:
        """A function of the text as a closure that checks its arguments."""
        index = self.executable.function_index[name]
        code = DecodedFunction(self.executable, index)
        function = code.function

        def decorate(body: Callable[..., Any]) -> Closure:
            def call(*args: Any) -> Any:
                if len(args) != function.num_args:
                    raise argument_count_error(name, code.names, len(args))
                heap: Heap = [None] * function.heap_size
                if function.param_checks:
                    match_arguments(args, function.param_checks, heap, code.names, name)
                try:
                    return body(Running(code, heap), *args)
                except RecursionError as error:
                    text = f"`{name}`: calls nest deeper than Python allows"
                    raise VMError(text, code="RX0609") from error

            return Closure(name, call, function.info)

        return decorate

    def packed(self, name: str) -> Callable[..., Any]:
        """The function that a call of `name` calls; registered ones are looked up at each call."""
        found = self._find_linked(name)
        if name == INVOKE_CLOSURE:
            return _apply
        if found is None:
            return lambda *args: call_packed(name, get_global_func(name).function, args)
        function = found.function if isinstance(found, PackedFunc) else found
        return lambda *args: _call_linked(name, function, args)

    def written(self, name: str) -> Callable[..., Any]:
        """The same for a registered function that writes into the last of its arguments."""
        function = self.packed(name)

        def call(*args: Any) -> None:
            result = function(*args)
            if result is not None:
                require_written(name, result, args)

        return call

    def value(self, name: str) -> Any:
        """A function outside of the program as a value."""
        found = self._find_linked(name)
        return get_global_func(name) if found is None else as_value(name, found)

    def _find_linked(self, name: str) -> Any:
        return self.executable.externals.get(name) or BUILTINS.get(name)


def _call_linked(name: str, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Call what the compiler linked in."""
    try:
        return to_runtime_value(function(*args))
    except (VMError, InternalError, RecursionError):
        raise
    except Exception as error:
        words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise VMError(f"`{name}` raised {words}", code="RX0606") from error


def _apply(callee: Any, *args: Any) -> Any:
    """Call a function value."""
    match callee:
        case State():  # TVM passes the state of the machine first
            return _apply(*args)
        case Closure():
            return to_runtime_value(callee(*args))
        case PackedFunc(name=name, function=function):
            return call_packed(name, function, args)
    raise VMError(f"{kind_of(callee)} cannot be called", code="RX0613")
