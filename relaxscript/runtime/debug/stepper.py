"""Bytecode run step by step: what `VirtualMachine.step` gives.

A driver of its own, which can be asked before each instruction. `dispatch.py`, which runs calls at
full speed, knows nothing of it; both do the same and fail with the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from relaxscript.errors import InternalError, VMError, meant_notes, nearest
from relaxscript.runtime.builtins import read_if_cond
from relaxscript.runtime.bytecode import VOID_ARG, Arg, ArgKind, VMFuncKind, VMFunction
from relaxscript.runtime.coercion import require_written, to_runtime_value
from relaxscript.runtime.decode import (
    CALL,
    CALL_GLOBAL,
    CALL_UNTRUSTED,
    GOTO,
    IF,
    MATCH,
    RET,
    DecodedFunction,
    as_value,
)
from relaxscript.runtime.dispatch import Dispatcher, VMClosure
from relaxscript.runtime.error_context import add_context, depth_error, error_of_callee
from relaxscript.runtime.packed_func import get_global_func
from relaxscript.runtime.run_check import Heap, match
from relaxscript.runtime.values import kind_of

from .debug_info import Location, location, names_at, starts_of_line, starts_of_variable

__all__ = ["Stepper", "StepperFrame"]

_FEW = 20  # names that are listed where one of them was meant


class StepperFrame:
    """A call that is under way, its values under the names that the source gives them."""

    __slots__ = ("_begun", "_busy", "_code", "_heap", "_next", "_regs", "_vm")

    def __init__(self, vm: Dispatcher, code: DecodedFunction, regs: list[Any], heap: Heap) -> None:
        self._vm = vm
        self._code = code
        self._regs = regs
        self._heap = heap
        self._next = 0  # the step of the code that comes next
        self._begun = -1  # the instruction that was begun last
        self._busy = False  # whether that one is not done yet: it called a function, or failed

    @property
    def _pc(self) -> int:
        return self._begun if self._busy else self._code.steps[self._next][4]

    @property
    def location(self) -> Location:
        """The instruction that is next; of a caller its call, of a failed run the one to blame."""
        return location(self._code.executable, self._code.function, self._pc)

    @property
    def registers(self) -> Mapping[str, Any]:
        """The variables that have a value, parameters first."""
        named = names_at(self._code.function, self._pc)
        return {name: self._value(arg) for name, arg in named.items()}

    @property
    def shapes(self) -> Mapping[str, Any]:
        """The shape variables that have a value."""
        named = zip(self._code.function.shape_vars, self._heap)
        return {name: size for name, size in named if size is not None}

    def _value(self, arg: Arg) -> Any:
        executable = self._code.executable
        if arg == VOID_ARG:
            return None
        match arg.kind:
            case ArgKind.REGISTER:
                return self._regs[arg.value]
            case ArgKind.IMMEDIATE:
                return arg.value
            case ArgKind.CONSTANT:
                return executable.constants[arg.value]
        function = executable.functions[arg.value]
        if function.kind is VMFuncKind.VM_FUNC:
            return self._vm._closure(arg.value)
        found = executable.externals.get(function.name) or self._vm._builtins.get(function.name)
        if found is None:
            return get_global_func(function.name, allow_missing=True)
        return as_value(function.name, found)

    def __repr__(self) -> str:
        return f"<{self.location}>"


class Stepper:
    """A call that is run step by step; `VirtualMachine.step` makes one.

    `step`, `next`, `out` and `run` go on and give the stepper itself, so that a prompt shows where
    it is; they raise what a normal run raises, and after that show where it failed. A packed
    function runs as a whole, with whatever it calls on the machine again.
    """

    def __init__(
        self, vm: Dispatcher, closure: VMClosure, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self._vm = vm
        code = vm._code(closure.index)
        self._frames = [StepperFrame(vm, code, *vm._start(code, closure, args, kwargs))]
        self._stops: dict[str | int, set[tuple[int, int]]] = {}
        self._results: list[Any] = []
        self._error: BaseException | None = None
        self._greeted = False  # whether `run` has looked for a breakpoint at the very start

    # -- looking -----------------------------------------------------------------------------------

    @property
    def finished(self) -> bool:
        """True if the call has returned."""
        return bool(self._results)

    @property
    def result(self) -> Any:
        """The result of the call. Raises `VMError` (RX0608) before it has returned."""
        if not self._results:
            state = "failed" if self._error is not None else "has not ended yet"
            raise VMError(f"there is no result: the call {state}", code="RX0608")
        return self._results[0]

    @property
    def frames(self) -> tuple[StepperFrame, ...]:
        """The calls that are under way, the innermost last; none when the call has returned."""
        return tuple(self._frames)

    @property
    def location(self) -> Location | None:
        """The instruction that comes next; after a failure the one that failed, else None."""
        return self._frames[-1].location if self._frames else None

    @property
    def registers(self) -> Mapping[str, Any]:
        """The variables of the innermost call that have a value, by their names in the source."""
        return self._frames[-1].registers if self._frames else {}

    @property
    def shapes(self) -> Mapping[str, Any]:
        """The shape variables of the innermost call that have a value."""
        return self._frames[-1].shapes if self._frames else {}

    def __repr__(self) -> str:
        if self._results:
            return f"<stepper: finished with {kind_of(self._results[0])}>"
        state = "failed in" if self._error is not None else "before"
        return f"<stepper: {state} {self.location}>"

    # -- breakpoints -------------------------------------------------------------------------------

    @property
    def breakpoints(self) -> tuple[str | int, ...]:
        """The variables and lines at which `run` stops."""
        return tuple(self._stops)

    def break_at(self, where: str | int, function: str | None = None) -> Stepper:
        """Stop when a variable has got its value, or before a line of the source begins.

        In all functions of the program, or in the one that `function` names. Raises `VMError`
        (RX0607) for what the program does not have, and says what is near.
        """
        if isinstance(where, bool) or not isinstance(where, (str, int)):
            text = f"a breakpoint is the name of a variable or a line, got {kind_of(where)}"
            raise VMError(text, code="RX0608")
        executable = self._vm.executable
        functions = self._functions(function)
        found = set()
        for index, one in functions.items():
            if isinstance(where, str):
                starts = starts_of_variable(one, where)
            else:
                starts = starts_of_line(executable, one, where)
            found |= {(index, pc) for pc in starts}
        if not found:
            raise self._nowhere(where, list(functions.values()), function)
        self._stops[where] = self._stops.get(where, set()) | found
        return self

    def clear(self, where: str | int | None = None) -> Stepper:
        """Forget a breakpoint, or all. Raises `VMError` (RX0607) for one that was not set."""
        if where is None:
            self._stops.clear()
        elif where in self._stops:
            del self._stops[where]
        else:
            text = f"there is no breakpoint at {_noun(where)}"
            known = ", ".join(map(_noun, self._stops)) or "none"
            raise VMError(text, code="RX0607", notes=[f"breakpoints: {known}"])
        return self

    def _functions(self, name: str | None) -> dict[int, VMFunction]:
        functions = {
            index: function
            for index, function in enumerate(self._vm.executable.functions)
            if function.kind is VMFuncKind.VM_FUNC and name in (None, function.name)
        }
        if not functions:
            names = [f.name for f in self._vm.executable.functions if f.end_instr]
            near = nearest(str(name), names)
            notes = meant_notes(near)
            notes.append(f"functions: {', '.join(names)}")
            raise VMError(f"there is no function `{name}`", code="RX0607", notes=notes)
        return functions

    def _nowhere(self, where: str | int, functions: list[VMFunction], name: str | None) -> VMError:
        inside = f"`{name}`" if name is not None else "the program"
        if isinstance(where, str):
            names = {v.name for one in functions for v in one.variables}
            names.update(known for one in functions for known in names_at(one, -1))
            near = nearest(where, sorted(names))
            notes = meant_notes(near)
            if len(names) <= _FEW:
                notes.append(f"variables: {', '.join(sorted(names)) or 'none'}")
            return VMError(f"{inside} has no variable `{where}`", code="RX0607", notes=notes)
        executable = self._vm.executable
        spans = [
            executable.instructions[pc].span
            for one in functions
            for pc in starts_of_line(executable, one, None)
        ]
        lines = sorted({span.line for span in spans if span is not None})
        if not lines:
            notes = ["it was made without a source; stop at variables instead"]
        else:
            notes = [f"the nearest line with one is {min(lines, key=lambda n: abs(n - where))}"]
        return VMError(
            f"no instruction of {inside} comes from line {where}", code="RX0607", notes=notes
        )

    # -- going on ----------------------------------------------------------------------------------

    def step(self) -> Stepper:
        """Run one instruction; a call of bytecode is entered."""
        self._instruction()
        return self

    def next(self) -> Stepper:
        """Run one instruction, and a call up to its return or the next breakpoint in it."""
        depth = len(self._frames)
        return self._until(lambda: len(self._frames) <= depth)

    def out(self) -> Stepper:
        """Run up to the return of the innermost call, or the next breakpoint."""
        depth = len(self._frames)
        return self._until(lambda: len(self._frames) < depth)

    def run(self) -> Stepper:
        """Run up to the next breakpoint, which may be where the call begins, or to the end."""
        if self._frames and self._frames[0]._begun < 0 and not self._greeted:
            self._greeted = True
            if self._at_breakpoint():
                return self
        return self._until(lambda: False)

    def _until(self, reached: Callable[[], bool]) -> Stepper:
        self._instruction()
        while self._frames and not reached() and not self._at_breakpoint():
            self._instruction()
        return self

    def _at_breakpoint(self) -> bool:
        frame = self._frames[-1]
        here = (frame._code.index, frame._pc)
        return any(here in stops for stops in self._stops.values())

    # -- running -----------------------------------------------------------------------------------

    def _instruction(self) -> None:
        """Run the steps of one instruction; what follows a call of bytecode belongs to its return.

        An interrupted step can be taken again; a failed one cannot.
        """
        if self._results or self._error is not None:
            how = "has returned" if self._results else "failed"
            raise VMError(f"there is no next step: the call {how}", code="RX0608")
        while True:
            frame = self._frames[-1]
            step, at = frame._code.steps[frame._next], frame._next
            try:
                frame._next += 1
                frame._begun = step[4]
                jumped = self._step(frame, *step)
            except Exception as error:
                frame._busy = True
                self._error = error
                self._fail(error, frame)
            except BaseException:
                frame._next = at
                raise
            if jumped or not self._frames:
                return
            frame = self._frames[-1]
            if frame._code.steps[frame._next][4] != frame._begun:
                return

    def _step(self, frame: StepperFrame, op: int, dst: int, fn: Any, get: Any, pc: int) -> bool:
        """One step, as `Dispatcher._run` does it; whether it jumped."""
        regs, code = frame._regs, frame._code
        if op in (CALL, CALL_UNTRUSTED):
            value = fn(*get(regs))
            regs[dst] = value if op == CALL else to_runtime_value(value)
        elif op == CALL_GLOBAL:
            regs[dst] = value = to_runtime_value(get_global_func(fn).function(*get(regs)))
            if dst == code.void and value is not None:
                require_written(fn, value, get(regs))
        elif op == MATCH:
            regs[dst] = self._vm._match_result(regs, dst, fn, frame._heap, code, pc)
        elif op == RET:
            self._leave(frame, regs[dst], fn)
        elif op in (IF, GOTO):
            if op == GOTO or not read_if_cond(regs[dst]):
                frame._next = fn
            return True
        else:
            return self._call(frame, op, dst, fn, get(regs))
        return False

    def _call(self, frame: StepperFrame, op: int, dst: int, fn: Any, given: Any) -> bool:
        """Enter a function of the machine, or call any other value."""
        target, args, proved = self._vm._callee(op, fn, given)
        if target is None:
            frame._regs[dst] = self._vm._call_value(dst == frame._code.void, *args)
            return False
        if len(self._frames) > self._vm.call_depth_limit:
            raise depth_error(self._vm.call_depth_limit)
        entered = StepperFrame(self._vm, target, *self._vm._enter(target, args, -1, proved))
        frame._busy = True
        self._frames.append(entered)
        return True

    def _leave(self, frame: StepperFrame, value: Any, check: Any) -> None:
        if check is not None:
            code = frame._code
            where = f"the result of `{code.function.name}`"
            match(value, check, frame._heap, where, frame._regs, code.origins)
        self._frames.pop()
        if not self._frames:
            self._results.append(value)
            return
        caller = self._frames[-1]
        caller._busy = False
        caller._regs[caller._code.steps[caller._next - 1][1]] = value

    def _fail(self, error: Exception, frame: StepperFrame) -> None:
        """Raise what a normal run raises."""
        if isinstance(error, InternalError):
            raise error
        code, pc = frame._code, frame._begun
        callers = [(f._code, None, None, None, 0, f._begun) for f in self._frames[:-1]]
        if isinstance(error, VMError):
            raise add_context(error, code, pc, callers)
        raise add_context(error_of_callee(error, code, pc), code, pc, callers) from error


def _noun(where: str | int) -> str:
    return f"`{where}`" if isinstance(where, str) else f"line {where}"
