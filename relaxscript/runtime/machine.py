"""The virtual machine: runs the bytecode of an executable.

A call keeps its frames in a list of its own, so bytecode that calls bytecode uses no Python stack
and one machine serves any number of threads. A failing call leaves nothing behind: the machine
holds no state of any run but what `set_input` stores. Start reading at `VirtualMachine.run`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from relaxscript.errors import InternalError, VMError, nearest

from .benchmark import BenchmarkResult, evaluate_time
from .blame import blamed, raised, too_deep
from .builtins import State, read_if_cond
from .bytecode import VMFuncKind
from .check import AnyCheck, Heap, match, match_arguments, wrong_number
from .coercion import call_packed, coerce, in_order, run_time_value
from .decode import (
    CALL,
    CALL_BYTECODE,
    CALL_GLOBAL,
    CALL_UNTRUSTED,
    GLOBAL_VALUE,
    GOTO,
    IF,
    MATCH,
    RET,
    UNIT,
    Code,
    decode,
)
from .executable import Executable
from .packed_func import PackedFunc, get_global_func
from .profiler import Recorder, Report
from .values import Closure, Device, cpu, device, kind_of

__all__ = ["VMClosure", "VMInstrumentReturnKind", "VirtualMachine"]

CALL_DEPTH_LIMIT = 10_000


class VMInstrumentReturnKind:
    """What an instrument answers before a call: let it run, or skip it."""

    NO_OP = 0
    SKIP_RUN = 1


class VMClosure(Closure):
    """A closure over a bytecode function of a machine, with the values it captures."""

    __slots__ = ("captured", "index", "vm")

    def __init__(
        self, vm: VirtualMachine, index: int, captured: tuple[Any, ...], info: object
    ) -> None:
        super().__init__(vm.executable.functions[index].name, self._call, info)
        self.vm = vm
        self.index = index
        self.captured = captured

    def _call(self, *args: Any, **kwargs: Any) -> Any:
        return self.vm.call_from_outside(self, args, kwargs)

    def bind(self, captured: tuple[Any, ...], info: object = None) -> Closure:
        info = self.info if info is None else info
        return VMClosure(self.vm, self.index, (*captured, *self.captured), info)


class VirtualMachine:
    """Runs the functions of an executable: `vm["main"](x)` or `vm.main(x)`.

    Arguments are numpy arrays or what `to_tensor` takes, numbers for prim values, tuples, shapes;
    parameters may be given by name. `call_depth_limit` bounds how deep bytecode calls nest.
    `profile=True` makes a machine whose `profile` works. One machine may be used from many threads
    at once.
    """

    NAIVE_ALLOCATOR = 1
    POOLED_ALLOCATOR = 2

    def __init__(
        self,
        rt_mod: Executable,
        device: Device | str | Sequence[Device | str] | None = None,
        memory_cfg: str | Mapping[Device, str] | None = None,
        profile: bool = False,
    ) -> None:
        if not isinstance(rt_mod, Executable):
            raise VMError(
                f"a virtual machine runs an Executable, got {kind_of(rt_mod)}", code="RX0608"
            )
        self.executable = rt_mod
        self.devices = _devices(device)
        self.memory_cfg = _memory(memory_cfg)
        self.profiles = profile
        self.call_depth_limit = CALL_DEPTH_LIMIT
        self._codes: list[Code | None] = [None] * len(rt_mod.functions)
        self._instrument: Callable[..., Any] | None = None
        self._saved: dict[str, Closure] = {}
        self._inputs: dict[str, tuple[Closure, tuple[Any, ...], dict[str, Any]]] = {}
        self._outputs: dict[str, Any] = {}

    # -- finding functions -------------------------------------------------------------------------

    def __getitem__(self, key: str) -> Closure:
        """The public function `key`; raises `VMError` when there is none."""
        if key in self._saved:
            return self._saved[key]
        index = self.executable.function_index.get(key)
        function = self.executable.functions[index] if index is not None else None
        if index is None or function is None or function.kind is not VMFuncKind.VM_FUNC:
            raise self._no_function(key)
        if not function.public:
            raise VMError(
                f"`{key}` is private: only functions of its module can call it",
                code="RX0607",
                span=function.span,
            )
        return self.closure(index)

    def __getattr__(self, name: str) -> Closure:
        if name.startswith("_") or "executable" not in self.__dict__:
            raise AttributeError(name)
        try:
            return self[name]
        except VMError as error:
            raise AttributeError(error.diagnostic.message) from error

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.executable.public_functions})

    def __repr__(self) -> str:
        return f"<VirtualMachine of {self.executable!r}>"

    def _no_function(self, key: str) -> VMError:
        names = [*self.executable.public_functions, *self._saved]
        near = nearest(key, names)
        notes = [f"did you mean `{near}`?"] if near else []
        notes.append(f"public functions: {', '.join(names) or 'none'}")
        return VMError(f"there is no function `{key}`", code="RX0607", notes=notes)

    def closure(self, index: int) -> VMClosure:
        """Bytecode function number `index` as a value."""
        return VMClosure(self, index, (), self.executable.functions[index].info)

    # -- calling from outside ----------------------------------------------------------------------

    def invoke_closure(self, closure: Closure | PackedFunc, *args: Any) -> Any:
        """Call a function value, such as a closure that a call returned."""
        if not isinstance(closure, (Closure, PackedFunc)):
            raise VMError(f"{kind_of(closure)} cannot be called", code="RX0613")
        return closure(*args)

    def call_from_outside(
        self, closure: VMClosure, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call a closure with what a user passes: converted, then checked like any arguments."""
        code = self.code(closure.index)
        names = code.names[: len(code.names) - len(closure.captured)]
        try:
            if kwargs:
                args = in_order(code.function.name, names, args, kwargs)
            if len(args) != len(names):
                raise wrong_number(code.function.name, names, len(args))
            values = self._converted(code, args)
            regs, heap = self.enter(code, [*values, *closure.captured])
        except VMError as error:
            error.locate(code.function.span)
            raise
        return self.run(code, regs, heap)

    def _converted(self, code: Code, args: tuple[Any, ...]) -> list[Any]:
        checks = code.function.param_checks or (AnyCheck(),) * len(args)
        values = []
        for i, value in enumerate(args):
            if type(value) is np.ndarray and value.dtype.isnative:
                values.append(value)
                continue
            try:
                values.append(coerce(value, checks[i]))
            except VMError as error:
                place = f"`{code.names[i]}` of `{code.function.name}`"
                message = f"{place}: {error.diagnostic.message}"
                error.diagnostic = replace(error.diagnostic, message=message)
                raise
        return values

    # -- running -----------------------------------------------------------------------------------

    def code(self, index: int) -> Code:
        """The decoded function number `index`."""
        found = self._codes[index]
        if found is None:
            wrap = self._instrumented if self._instrument is not None else None
            found = decode(Code(self.executable, index), self.closure, wrap)
            self._codes[index] = found
        return found

    def enter(self, code: Code, args: Sequence[Any]) -> tuple[list[Any], Heap]:
        """A register file and a shape heap for a call, its arguments checked."""
        function = code.function
        if len(args) != function.num_args:
            raise wrong_number(function.name, code.names, len(args))
        heap: Heap = [None] * function.heap_size
        if function.param_checks:
            match_arguments(args, function.param_checks, heap, code.names, function.name)
        regs = [*args, *code.template]
        if code.state >= 0:
            regs[code.state] = State(function.name, heap, code.origins)
        return regs, heap

    def run(self, code: Code, regs: list[Any], heap: Heap) -> Any:  # noqa: C901
        """Run a call to its end. `frames` holds the callers: their steps, registers and so on.

        A packed call costs one step: unpacking it, one `itemgetter` over the registers, the callee
        and a type test of its result. `__setstate__` of a tuple's iterator is a jump.
        """
        ndarray, registered = np.ndarray, get_global_func
        frames: list[Any] = []
        steps: Any = iter(code.steps)
        pc = code.function.start_instr
        try:
            while True:
                for op, dst, fn, get, pc in steps:
                    if op == CALL:
                        regs[dst] = fn(*get(regs))
                    elif op == CALL_UNTRUSTED:
                        value = fn(*get(regs))
                        regs[dst] = value if type(value) is ndarray else run_time_value(value)
                    elif op == CALL_GLOBAL:
                        value = registered(fn).function(*get(regs))
                        plain = type(value) is ndarray and value.dtype.isnative
                        regs[dst] = value if plain else run_time_value(value)
                    elif op == IF:
                        if regs[dst] is not True and not read_if_cond(regs[dst]):
                            steps.__setstate__(fn)
                    elif op == GOTO:
                        steps.__setstate__(fn)
                    elif op == GLOBAL_VALUE:
                        regs[dst] = registered(fn)
                    elif op == MATCH:
                        regs[dst] = self._matched(regs, dst, fn, heap, code, pc)
                    elif op == RET:
                        value = regs[dst]
                        if fn is not None:
                            where = f"the result of `{code.function.name}`"
                            match(value, fn, heap, where, regs, code.origins)
                        if not frames:
                            return value
                        code, steps, regs, heap, dst, pc = frames.pop()
                        regs[dst] = value
                        break
                    else:
                        target, args = self._callee(op, fn, get(regs))
                        if target is None:
                            regs[dst] = self._call_value(*args)
                            continue
                        if len(frames) >= self.call_depth_limit:
                            raise too_deep(self.call_depth_limit)
                        entered = self.enter(target, args)
                        frames.append((code, steps, regs, heap, dst, pc))
                        code, steps, (regs, heap) = target, iter(target.steps), entered
                        break
        except InternalError:
            raise
        except VMError as error:
            blamed(error, code, pc, frames)
            raise
        except Exception as error:
            raise blamed(raised(error, code, pc), code, pc, frames) from error

    def _callee(self, op: int, fn: Any, args: Any) -> tuple[Code | None, Any]:
        """The bytecode function to enter and its arguments; None where it is none of ours."""
        if op == CALL_BYTECODE:
            return self._codes[fn] or self.code(fn), args
        callee, *rest = args
        if type(callee) is not VMClosure or callee.vm is not self:
            return None, args
        return self.code(callee.index), [*rest, *callee.captured]

    def _call_value(self, callee: Any, *args: Any) -> Any:
        """Call a function value that is no bytecode of this machine."""
        match callee:
            case Closure(call=call):
                return run_time_value(call(*args))
            case PackedFunc(name=name, function=function):
                if self._instrument is not None:
                    function = self._instrumented(name, function)
                return call_packed(name, function, args)
        raise VMError(f"{kind_of(callee)} cannot be called", code="RX0613")

    def _matched(
        self, regs: list[Any], dst: int, check: Any, heap: Heap, code: Code, pc: int
    ) -> Any:
        """The result of a call, checked; None is the empty tuple where the call asks for that."""
        value = () if regs[dst] is None and check == UNIT else regs[dst]
        match(value, check, heap, f"the result of `{code.callee(pc)}`", regs, code.origins)
        return value

    # -- watching ----------------------------------------------------------------------------------

    def set_instrument(self, instrument: Callable[..., Any] | str | None) -> None:
        """Have `instrument(func, name, before_run, result, *args)` called around packed calls.

        It is called before (result None) and after; when it answers `SKIP_RUN` before, the function
        is not called and its result is None. A text names a registered function; None ends it.
        """
        found = get_global_func(instrument) if isinstance(instrument, str) else instrument
        if found is not None and not callable(found):
            raise VMError(f"{kind_of(found)} cannot be an instrument", code="RX0613")
        self._instrument = found
        self._codes = [None] * len(self.executable.functions)

    def _instrumented(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        instrument = self._instrument
        if instrument is None:
            return function

        def watched(*args: Any) -> Any:
            answer = instrument(function, name, True, None, *args)
            result = None
            if answer is None or int(answer) != VMInstrumentReturnKind.SKIP_RUN:
                result = function(*args)
            instrument(function, name, False, result, *args)
            return result

        return watched

    def time_evaluator(
        self,
        func_name: str,
        dev: Device | str | None = None,
        number: int = 10,
        repeat: int = 1,
        min_repeat_ms: float = 0,
        cooldown_interval_ms: float = 0,
        repeats_to_cooldown: int = 1,
        f_preproc: str = "",
    ) -> Callable[..., BenchmarkResult]:
        """A function that calls `func_name` with its arguments and says how long that takes.

        `repeat` means of `number` calls each; a repeat is lengthened to `min_repeat_ms`.
        `f_preproc` names a packed function that is called before each repeat.
        """
        function = self[func_name]
        prepare = get_global_func(f_preproc) if f_preproc else None

        def evaluator(*args: Any) -> BenchmarkResult:
            return evaluate_time(
                lambda: function(*args), number, repeat, min_repeat_ms,
                cooldown_interval_ms, repeats_to_cooldown, prepare,
            )  # fmt: skip

        return evaluator

    def profile(self, func_name: str, *args: Any) -> Report:
        """Call `func_name` once and say how often each packed function ran and how long it took.

        For machines made with `profile=True`; raises `VMError` on others.
        """
        if not self.profiles:
            raise VMError(
                "this machine does not profile; make it with `profile=True`", code="RX0608"
            )
        watched = VirtualMachine(self.executable, self.devices, self.memory_cfg)
        watched.call_depth_limit = self.call_depth_limit
        recorder = Recorder()
        watched.set_instrument(recorder)
        return recorder.run(lambda: watched[func_name](*args))

    # -- calls in several steps --------------------------------------------------------------------

    def save_function(
        self,
        func_name: str,
        saved_name: str,
        *args: Any,
        include_return: bool = True,
        **kwargs: Any,
    ) -> None:
        """Make `vm[saved_name]()` call `func_name` with these arguments."""
        function = self[func_name]
        if saved_name in self._saved or saved_name in self.executable.function_index:
            raise VMError(f"there is a function `{saved_name}` already", code="RX0607")

        def saved() -> Any:
            result = function(*args, **kwargs)
            return result if include_return else None

        self._saved[saved_name] = Closure(saved_name, saved)

    def set_input(self, func_name: str, *args: Any, **kwargs: Any) -> None:
        """Store the arguments with which `invoke_stateful(func_name)` will call."""
        function = self[func_name]
        self._inputs[func_name] = (function, args, kwargs)
        self._outputs.pop(func_name, None)

    def invoke_stateful(self, func_name: str) -> None:
        """Call `func_name` with what `set_input` stored; `get_outputs` has the result."""
        if func_name not in self._inputs:
            self[func_name]
            raise VMError(f"`{func_name}` has no inputs; call `set_input` first", code="RX0607")
        function, args, kwargs = self._inputs[func_name]
        self._outputs[func_name] = function(*args, **kwargs)

    def get_outputs(self, func_name: str) -> Any:
        """The result of the last `invoke_stateful(func_name)`."""
        if func_name not in self._outputs:
            self[func_name]
            raise VMError(
                f"`{func_name}` has no outputs; call `invoke_stateful` first", code="RX0607"
            )
        return self._outputs[func_name]


def _devices(given: Device | str | Sequence[Device | str] | None) -> tuple[Device, ...]:
    """The devices of a machine; the host is among them always."""
    if given is None:
        return (cpu(),)
    listed = [given] if isinstance(given, (Device, str)) else list(given)
    devices = [device(one) for one in listed]
    return tuple(dict.fromkeys([*devices, cpu()]))


def _memory(given: str | Mapping[Device, str] | None) -> str | Mapping[Device, str] | None:
    """The allocators asked for, by their names; numpy allocates all tensors, whatever they are."""
    names = given.values() if isinstance(given, Mapping) else [given]
    for name in names:
        if name not in (None, "naive", "pooled"):
            raise VMError(
                f'memory_cfg is "naive", "pooled" or a dict from devices to these, got {name!r}',
                code="RX0608",
            )
    return given
