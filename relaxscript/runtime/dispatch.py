"""The dispatch loop: runs the bytecode of an executable.

A call keeps its frames in a list of its own, so bytecode that calls bytecode uses no Python stack.
One machine serves any number of threads. A failing call leaves nothing behind. Start reading at
`Dispatcher._run`; `machine.py` is what users see of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from relaxscript.errors import InternalError, Span, VMError
from relaxscript.errors.exceptions import is_user_error

from .arrays import as_ndarray, has_ndarray
from .builtins import BUILTINS, INVOKE_CLOSURE, State, read_if_cond
from .bytecode import VM_STATE, ArgKind
from .coercion import (
    call_packed,
    coerce_argument,
    coerce_result,
    order_arguments,
    require_written,
    to_runtime_value,
)
from .debug.instrument import instrument_function
from .decode import (
    BLOCK,
    CALL,
    CALL_BYTECODE,
    CALL_GLOBAL,
    CALL_UNTRUSTED,
    GOTO,
    IF,
    MATCH,
    RET,
    UNIT,
    DecodedFunction,
    Instrument,
    decode,
)
from .error_context import add_context, depth_error, error_of_callee
from .executable import Executable
from .packed_func import PackedFunc, get_global_func
from .run_check import AnyCheck, Heap, argument_count_error, match, match_arguments
from .stack_guard import ACTIVE, FEW, run_scope
from .unoptimised import is_elsewhere
from .values import Closure, kind_of

__all__ = ["Dispatcher", "VMClosure"]

__tracebackhide__ = is_user_error

Lookup = Callable[[str], PackedFunc]
CALL_DEPTH_LIMIT = 10_000


class VMClosure(Closure):
    """A closure over a bytecode function of a machine, with the values it captures.

    There may be a built-in function that does the same (`Executable.entries`). This is then its
    `__self__`, and `native` keeps the code.
    """

    __slots__ = ("captured", "index", "native", "vm")

    def __init__(self, vm: Dispatcher, index: int, captured: tuple[Any, ...], info: object) -> None:
        self.name = vm.executable.functions[index].name
        self.info = info
        self.vm = vm
        self.index = index
        self.captured = captured
        self.native: Any = None

    @property
    def call(self) -> Callable[..., Any]:  # type: ignore[override]
        """Kept nowhere: a closure that holds itself would hold its tensors as well."""
        return self.__call__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.vm.call_from_outside(self, args, kwargs)

    def bind(self, captured: tuple[Any, ...], info: object = None) -> Closure:
        info = self.info if info is None else info
        return VMClosure(self.vm, self.index, (*captured, *self.captured), info)

    def _repr_html_(self) -> str:
        from .debug.rich_machine import closure_html

        return closure_html(self)


class Dispatcher:
    """Runs bytecode functions by their numbers; `call_depth_limit` bounds how deep calls nest."""

    def __init__(self, executable: Executable) -> None:
        self.executable = executable
        self.call_depth_limit = CALL_DEPTH_LIMIT
        self._codes: list[DecodedFunction | None] = [None] * len(executable.functions)
        self._instrument: Callable[..., Any] | None = None
        # What wraps every function that is called, where a profile is taken.
        self._profile: Instrument | None = None
        self._builtins: Mapping[str, Callable[..., Any]] = BUILTINS
        self._without_optimisation: Dispatcher | None = None

    def _closure(self, index: int) -> VMClosure:
        """Bytecode function number `index` as a value."""
        return VMClosure(self, index, (), self.executable.functions[index].info)

    # -- calling from outside ----------------------------------------------------------------------

    def call_from_outside(
        self, closure: VMClosure, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call a closure with what a user passes: converted, then checked like any arguments."""
        active = ACTIVE
        if len(active) >= FEW:
            with run_scope():
                return self._call(closure, args, kwargs)
        active.append(None)  # what `run_scope` does, without its cost
        try:
            return self._call(closure, args, kwargs)
        finally:
            active.pop()

    def unoptimised(self) -> Dispatcher:
        """The dispatcher of the program before it was optimised: itself where it is that."""
        found = self._without_optimisation
        if found is None:
            way = self.executable.unoptimised
            if way is None:
                return self
            found = self._without_optimisation = Dispatcher(way.executable)
            found.call_depth_limit, found._builtins = self.call_depth_limit, self._builtins
        if found._instrument is not self._instrument:
            found.set_instrument(self._instrument)
        return found

    def set_instrument(self, instrument: Callable[..., Any] | None) -> None:
        """Have a function called around packed calls, None for no function."""
        self._instrument = instrument
        self._codes = [None] * len(self.executable.functions)

    def unoptimised_closure(self, closure: VMClosure) -> VMClosure | None:
        """The same function of the program before it was optimised; None where it has no such."""
        other = self.unoptimised()
        index = other.executable.function_index.get(closure.name)
        if index is None:
            return None
        return VMClosure(other, index, closure.captured, closure.info)

    def _raise(
        self, error: VMError, closure: VMClosure, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> NoReturn:
        """Raise the failure of a run as the program tells it before it was optimised, if it does.

        The call is run once more for it where that changes nothing but time.
        """
        way = self.executable.unoptimised
        other = None
        if way is not None and way.repeatable(closure.name):
            other = self.unoptimised_closure(closure)
        try:
            if other is not None:
                other.vm._call(other, args, kwargs)
        except VMError as told:
            raise told from told.__cause__
        else:
            raise error
        finally:
            del error  # or it and this frame would hold each other, and the tensors

    def _call(self, closure: VMClosure, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._instrument is not None and self.executable.unoptimised is not None:
            other = self.unoptimised_closure(closure)
            if other is not None:
                return other.vm._call(other, args, kwargs)
        code = self._codes[closure.index] or self._code(closure.index)
        if not kwargs:
            heap = code.quick(values := (*args, *closure.captured))
            if heap is not None:
                try:
                    return self._run(code, self._registers(code, values, heap), heap)
                except VMError as error:
                    self._raise(error, closure, args, kwargs)
        if is_elsewhere((*args, *kwargs.values())) and self.executable.unoptimised is not None:
            other = self.unoptimised_closure(closure)
            if other is not None:
                return other.vm._call(other, args, kwargs)
        started = self._start(code, closure, args, kwargs)
        try:
            if has_ndarray((*args, *kwargs.values())):
                return as_ndarray(self._run(code, *started, lookup=_lookup_for_ndarrays))
            return self._run(code, *started)
        except VMError as error:
            self._raise(error, closure, args, kwargs)

    def _start(
        self,
        code: DecodedFunction,
        closure: VMClosure,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> tuple[list[Any], Heap]:
        """Registers and shape heap of a call from outside, its arguments converted and checked."""
        names = code.names[: len(code.names) - len(closure.captured)]
        try:
            if kwargs:
                args = order_arguments(code.function.name, names, args, kwargs)
            if len(args) != len(names):
                raise argument_count_error(code.function.name, names, len(args))
            values = self._convert_arguments(code, args)
            return self._enter(code, [*values, *closure.captured])
        except VMError as error:
            error.locate(code.function.place_of(error.argument))
            raise

    def _convert_arguments(self, code: DecodedFunction, args: tuple[Any, ...]) -> list[Any]:
        """Convert the arguments of a user to run-time values.

        An array for a function without checks stays the array that it is: who is called may write
        into it, and says itself what it cannot take.
        """
        checked = bool(code.function.param_checks)
        checks = code.function.param_checks or (AnyCheck(),) * len(args)
        values = []
        for i, value in enumerate(args):
            if type(value) is np.ndarray and (value.dtype.isnative or not checked):
                values.append(value)
                continue
            name = code.names[i]
            values.append(coerce_argument(value, checks[i], name, code.function.name, i))
        return values

    # -- running -----------------------------------------------------------------------------------

    def _code(self, index: int) -> DecodedFunction:
        """The decoded function number `index`."""
        codes = self._codes  # another list when the instrument is another: see `set_instrument`
        found = codes[index]
        if found is None:
            wrap = self._profile
            if self._instrument is not None:
                wrap = self._instrument_function
            code = DecodedFunction(self.executable, index)
            found = decode(code, self._closure, wrap, self._builtins)
            codes[index] = found
        return found

    def _enter(
        self,
        code: DecodedFunction,
        args: Sequence[Any],
        depth: int = -1,
        proved: tuple[int, ...] = (),
    ) -> tuple[list[Any], Heap]:
        """A register file and a shape heap for a call, its arguments checked unless `proved`."""
        if depth >= self.call_depth_limit:
            raise depth_error(self.call_depth_limit)
        heap = (code.tests.get(proved) or code.test(proved))(args)
        if heap is None:
            function = code.function
            if len(args) != function.num_args:
                raise argument_count_error(function.name, code.names, len(args))
            heap = [None] * function.heap_size
            if function.param_checks:
                match_arguments(args, function.param_checks, heap, code.names, function.name)
        return self._registers(code, args, heap), heap

    def _registers(self, code: DecodedFunction, args: Sequence[Any], heap: Heap) -> list[Any]:
        regs = [*args, *code.template]
        if code.state >= 0:
            regs[code.state] = State(code.function.name, heap, code.origins)
        return regs

    def _run(  # noqa: C901
        self, code: DecodedFunction, regs: list[Any], heap: Heap, lookup: Lookup = get_global_func
    ) -> Any:
        """Run a call to its end. `frames` holds the callers: their steps, registers and so on.

        A packed call costs one step: unpacking it, one `itemgetter` over the registers, the callee
        and a type test. `__setstate__` of a tuple's iterator is a jump. Only registers keep values.
        """
        ndarray, plain, frames = np.ndarray, to_runtime_value, list[Any]()
        steps: Any = iter(code.fused)
        pc = code.function.start_instr
        try:
            while True:
                for op, dst, fn, get, pc in steps:
                    if op == CALL:
                        regs[dst] = fn(*get(regs))
                    elif op == BLOCK:
                        steps.__setstate__(fn[0](regs))
                    elif op == CALL_UNTRUSTED:
                        value = fn(*get(regs))
                        regs[dst], value = value if type(value) is ndarray else plain(value), None
                    elif op == CALL_GLOBAL:
                        regs[dst] = plain(lookup(fn).function(*get(regs)))
                        if dst == code.void and regs[dst] is not None:
                            require_written(fn, regs[dst], get(regs))
                    elif op == IF:
                        if regs[dst] is not True and not read_if_cond(regs[dst]):
                            steps.__setstate__(fn)
                    elif op == GOTO:
                        steps.__setstate__(fn)
                    elif op == MATCH:
                        regs[dst] = self._match_result(regs, dst, fn, heap, code, pc)
                    elif op == RET:
                        if fn is not None:
                            self._check_result(regs[dst], fn, regs, heap, code)
                        if not frames:
                            return regs[dst]
                        value, (code, steps, regs, heap, dst, pc) = regs[dst], frames.pop()
                        regs[dst], value = value, None
                        break
                    else:
                        target, args, proved = self._callee(op, fn, get(regs))
                        if target is None:
                            regs[dst], args = self._call_value(dst == code.void, *args), None
                            continue
                        args = self._enter(target, args, len(frames), proved)
                        frames.append((code, steps, regs, heap, dst, pc))
                        code, steps, (regs, heap), args = target, iter(target.fused), args, None
                        break
        except InternalError:
            raise
        except VMError as error:
            add_context(error, code, pc, frames)
            raise
        except Exception as error:
            raise add_context(error_of_callee(error, code, pc), code, pc, frames) from error

    def fail(self, index: int, failure: BaseException, place: int = 0) -> None:
        """Raise what a call of function `index` raises where its kernel number `place` does.

        It has no branches: its kernels are called in the order of its instructions.
        """
        code = self._code(index)
        own = range(code.function.start_instr, code.function.end_instr)
        pc = [pc for pc in own if code.callee(pc) in self.executable.externals][place]
        try:
            raise failure
        except InternalError:
            raise
        except VMError as error:
            add_context(error, code, pc, [])
            raise
        except Exception as error:
            raise add_context(error_of_callee(error, code, pc), code, pc, []) from error

    def _callee(
        self, op: int, fn: Any, args: Any
    ) -> tuple[DecodedFunction | None, Any, tuple[int, ...]]:
        """The bytecode function to enter, its arguments, and which of these are proved to fit.

        None where it is none of ours.
        """
        if op == CALL_BYTECODE:
            index, proved = fn
            return self._codes[index] or self._code(index), args, proved
        callee, *rest = args
        if type(callee) is not VMClosure or callee.vm is not self:
            return None, args, ()
        return self._code(callee.index), [*rest, *callee.captured], ()

    def _call_value(self, into: bool, callee: Any, *args: Any) -> Any:
        """Call a function value that is no bytecode of this machine.

        `into` says that nobody wants what it returns: it writes into its last argument.
        """
        match callee:
            case Closure(call=call):
                return to_runtime_value(call(*args))
            case PackedFunc(name=name, function=function):
                if self._instrument is not None:
                    function = self._instrument_function(name, function)
                elif self._profile is not None:
                    function = self._profile(name, function, None)
                value = call_packed(name, function, args)
                if into and value is not None:
                    require_written(name, value, args)
                return value
        raise VMError(f"{kind_of(callee)} cannot be called", code="RX0613")

    def _check_result(
        self, value: Any, check: Any, regs: list[Any], heap: Heap, code: DecodedFunction
    ) -> None:  # fmt: skip
        match(value, check, heap, f"the result of `{code.function.name}`", regs, code.origins)

    def _match_result(
        self, regs: list[Any], dst: int, check: Any, heap: Heap, code: DecodedFunction, pc: int
    ) -> Any:
        """The result of a call, checked; None is the empty tuple where the call asks for that."""
        value = () if regs[dst] is None and check == UNIT else regs[dst]
        if type(value) is not np.ndarray:
            value = coerce_result(value, check)
        name = code.callee(pc)
        if name == INVOKE_CLOSURE:
            name = _name_of_called_value(code.instruction(pc), regs)
        match(value, check, heap, f"the result of `{name}`", regs, code.origins)
        return value

    def _instrument_function(
        self, name: str, function: Callable[..., Any], span: Span | None = None
    ) -> Callable[..., Any]:
        instrument = self._instrument
        return function if instrument is None else instrument_function(instrument, name, function)


def _name_of_called_value(call: Any, regs: Sequence[Any]) -> str:
    """The name of the function value that a call by `vm.builtin.invoke_closure` called."""
    callee = next(arg for arg in call.args if arg != VM_STATE)
    held = regs[callee.value] if callee.kind is ArgKind.REGISTER else None
    return held.name if isinstance(held, (Closure, PackedFunc)) else INVOKE_CLOSURE


def _lookup_for_ndarrays(name: str) -> PackedFunc:
    """The packed function of a name, which is given `NDArray`s for arrays of numpy."""
    found = get_global_func(name)
    return PackedFunc(name, lambda *args: found.function(*map(as_ndarray, args)))
