"""Bytecode decoded once for fast dispatch: a tuple of steps for each function.

A step is `(op, dst, fn, get, pc)`: what to do, the register it concerns, the callable (or number,
or name) to use. `get` takes all arguments out of the registers in one go. `pc` is the number of the
instruction that it came from. Constants, immediates and function values are registers too: they
follow the function's own in every register file. So a call costs one tuple unpacking, one
`itemgetter` and the callee, with no attribute looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from operator import itemgetter
from typing import Any

from relaxscript.errors import Span

from .argument_guard import Test, quick_test
from .builtins import BUILTINS, INVOKE_CLOSURE
from .bytecode import (
    VM_STATE,
    VOID_ARG,
    Arg,
    ArgKind,
    Call,
    Goto,
    If,
    Instruction,
    Ret,
    SpecialReg,
    VMFuncKind,
    VMFunction,
)
from .coercion import require_written
from .executable import Executable
from .packed_func import PackedFunc, get_global_func
from .run_check import Check, Origins, TupleCheck, origins_of
from .superinstructions import LONGEST, ArrayOperator, OperatorRow
from .values import Closure

__all__ = [
    "BLOCK",
    "CALL",
    "CALL_BYTECODE",
    "CALL_GLOBAL",
    "CALL_UNTRUSTED",
    "CALL_VALUE",
    "GOTO",
    "IF",
    "MATCH",
    "RET",
    "UNIT",
    "DecodedFunction",
    "Instrument",
    "Step",
    "decode",
]

# What a step does. The number is the order in which the dispatch loop asks.
CALL = 0  # dst := fn(args); fn is a builtin, its result a run-time value already
CALL_UNTRUSTED = 1  # dst := fn(args), the result made a run-time value
CALL_GLOBAL = 2  # the same with the packed function registered as fn at that moment
CALL_BYTECODE = 3  # dst := function number fn[0] of this program, arguments fn[1] being proved
CALL_VALUE = 4  # dst := the first argument, called with the others
IF = 5  # to step fn unless dst holds true
RET = 6  # leave with dst, which must match fn
GOTO = 7  # to step fn
MATCH = 8  # dst must match fn, None being the empty tuple where that is wanted
BLOCK = 9  # to the step that fn[0](registers) gives: a row of operators, see `superinstructions.py`

Step = tuple[int, int, Any, Any, int]
# Wraps a function by its name and the place of the call.
Instrument = Callable[[str, Callable[..., Any], Span | None], Callable[..., Any]]

UNIT = TupleCheck(())


class DecodedFunction:
    """A decoded function. `template` is the part of a register file after the arguments.

    `fused` is `steps` with a step before each row of operators that runs it at once.
    """

    __slots__ = (
        "executable", "function", "fused", "index", "names", "quick", "state", "steps",
        "template", "tests", "void",
    )  # fmt: skip

    def __init__(self, executable: Executable, index: int) -> None:
        self.executable = executable
        self.index = index
        self.function: VMFunction = executable.functions[index]
        named = self.function.param_names
        self.names = named or tuple(f"arg{i}" for i in range(self.function.num_args))
        function = self.function
        self.quick = quick_test(function.param_checks, function.num_args, function.heap_size)
        self.tests: dict[tuple[int, ...], Test] = {(): self.quick}
        self.steps: tuple[Step, ...] = ()
        self.fused: tuple[Step, ...] = ()
        self.template: list[Any] = []
        self.state = -1  # the register that wants the state of the call, -1: none does
        self.void = -1  # the register for what nobody wants

    def test(self, proved: tuple[int, ...]) -> Test:
        """The quick test where the arguments in these positions are known to fit."""
        found = self.tests.get(proved)
        if found is None:
            f = self.function
            found = quick_test(f.param_checks, f.num_args, f.heap_size, proved)
            self.tests[proved] = found
        return found

    def instruction(self, pc: int) -> Instruction:
        return self.executable.instructions[pc]

    def callee(self, pc: int) -> str:
        """The name of the function that instruction `pc` calls."""
        at = self.instruction(pc)
        return self.executable.functions[at.func].name if isinstance(at, Call) else ""

    def origins(self) -> Origins:
        """The origin of the value of each shape variable of this function, for messages."""
        checks: list[Check] = list(self.function.param_checks)
        found = origins_of(checks, [f"`{name}`" for name in self.names[: len(checks)]])
        for at in self.executable.instructions[self.function.start_instr : self.function.end_instr]:
            if not isinstance(at, Call):
                continue
            line = f" in line {at.span.line}" if at.span is not None else ""
            checks = [
                constant
                for arg in at.args
                if arg.kind is ArgKind.CONSTANT
                and isinstance(constant := self.executable.constants[arg.value], Check)
            ]
            checks += [at.result] if at.result is not None else []
            for slot, origin in origins_of(
                checks, [f"the value matched{line}"] * len(checks)
            ).items():
                found.setdefault(slot, origin)
        return found


class _RegisteredFunction:
    """A packed function that is looked up each time it is called."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *args: Any) -> Any:
        return get_global_func(self.name).function(*args)


class _RegisteredDestinationFunction(_RegisteredFunction):
    """The same where the call has the result written into its last argument."""

    def __call__(self, *args: Any) -> Any:
        result = super().__call__(*args)
        require_written(self.name, result, args)
        return result


class _Decoder:
    """Turns the instructions of one function into steps."""

    def __init__(
        self,
        code: DecodedFunction,
        closure: Callable[[int], Any],
        instrument: Instrument | None,
        builtins: Mapping[str, Callable[..., Any]],
    ) -> None:
        self.code = code
        self.builtins = builtins
        self.closure = closure
        self.instrument = instrument
        self.functions = code.executable.functions
        self.externals = code.executable.externals
        self.tail: list[Any] = []  # what follows the function's own registers
        self.slots: dict[Any, int] = {}
        self.steps: list[Step] = []
        self.on_arrays: dict[int, tuple[ArrayOperator, tuple[int, ...]]] = {}

    def run(self) -> None:
        function = self.code.function
        first: dict[int, int] = {}
        for pc in range(function.start_instr, function.end_instr):
            first[pc] = len(self.steps)
            self.instruction(self.code.instruction(pc), pc)
        for i, (op, dst, fn, get, pc) in enumerate(self.steps):
            if op in (IF, GOTO):
                self.steps[i] = (op, dst, first[fn], get, pc)
        self.code.steps = tuple(self.steps)
        self.code.fused = self.code.steps if self.instrument else tuple(self.fused())
        free = function.register_file_size - function.num_args
        self.code.template = [None] * free + self.tail

    def instruction(self, at: Instruction, pc: int) -> None:
        match at:
            case Call():
                self.call(at, pc)
            case Ret(result=register):
                self.steps.append((RET, register, self.code.function.return_check, None, pc))
            case Goto(offset=offset):
                self.steps.append((GOTO, 0, pc + offset, None, pc))
            case If(cond=register, false_offset=offset):
                self.steps.append((IF, register, pc + offset, None, pc))

    def call(self, at: Call, pc: int) -> None:
        args = list(at.args)
        callee = self.functions[at.func]
        if callee.name == INVOKE_CLOSURE and args and args[0] == VM_STATE:
            args = args[1:]  # TVM passes the state of the machine first
        registers = [self.register(arg, pc) for arg in args]
        get = _getter(registers)
        dst = at.dst
        if dst == SpecialReg.VOID_ARG:
            dst = self.code.void = self.extra("void")
        op, fn = self.target(at, dst == self.code.void)
        if (on_arrays := getattr(fn, "on_arrays", None)) is not None and registers:
            self.on_arrays[len(self.steps)] = on_arrays, tuple(registers)
        self.steps.append((op, dst, fn, get, pc))
        if at.result is not None and not (at.dst == SpecialReg.VOID_ARG and at.result == UNIT):
            self.steps.append((MATCH, dst, at.result, None, pc))

    def target(self, at: Call, into: bool) -> tuple[int, Any]:
        """The way to call the function of a call; `into` says that nobody wants its result."""
        callee = self.functions[at.func]
        if callee.kind is VMFuncKind.VM_FUNC:
            return CALL_BYTECODE, (at.func, at.proved)
        name, span = callee.name, at.span
        wrap = self.instrument
        if name == INVOKE_CLOSURE:
            return CALL_VALUE, None
        trusted = name not in self.externals and name in self.builtins
        found = self.externals.get(name) or self.builtins.get(name)
        if found is None:
            late = _RegisteredDestinationFunction(name) if into else _RegisteredFunction(name)
            return (CALL_UNTRUSTED, wrap(name, late, span)) if wrap else (CALL_GLOBAL, name)
        if isinstance(found, PackedFunc):
            found = found.function
        return CALL if trusted else CALL_UNTRUSTED, wrap(name, found, span) if wrap else found

    def register(self, arg: Arg, pc: int) -> int:
        """The register in which an argument is found."""
        if arg == VOID_ARG:
            return self.extra("null")
        if arg == VM_STATE:
            self.code.state = self.extra("state")
            return self.code.state
        match arg.kind:
            case ArgKind.REGISTER:
                return arg.value
            case ArgKind.IMMEDIATE:
                return self.extra(("immediate", arg.value), arg.value)
            case ArgKind.CONSTANT:
                constant = self.code.executable.constants[arg.value]
                return self.extra(("constant", arg.value), constant)
        return self.function_value(arg.value, pc)

    def function_value(self, index: int, pc: int) -> int:
        """The register that holds function number `index` as a value."""
        callee = self.functions[index]
        key = ("function", index)
        if callee.kind is VMFuncKind.VM_FUNC:
            return self.extra(key, self.closure(index))
        found = self.externals.get(callee.name) or self.builtins.get(callee.name)
        if found is None:  # resolved when evaluated
            slot = self.extra(key)
            found_then = partial(get_global_func, callee.name)
            self.steps.append((CALL, slot, found_then, _getter([]), pc))
            return slot
        return self.extra(key, as_value(callee.name, found))

    def extra(self, key: Any, value: Any = None) -> int:
        """A register behind the function's own."""
        if key not in self.slots:
            self.slots[key] = self.code.function.register_file_size + len(self.tail)
            self.tail.append(value)
        return self.slots[key]

    def fused(self) -> list[Step]:
        """The steps, with one before each row of operators; jumps lead to where they led."""
        rows = {row[0]: row for row in self.rows()}
        new: list[Step] = []
        moved: dict[int, int] = {}
        for i, step in enumerate(self.steps):
            moved[i] = len(new)
            if i in rows:
                row = [(self.steps[k][1], *self.on_arrays[k]) for k in rows[i]]
                new.append((BLOCK, 0, OperatorRow(len(new) + 1, row).cell, None, step[4]))
            new.append(step)
        for i, (op, dst, fn, get, pc) in enumerate(new):
            if op in (IF, GOTO):
                new[i] = (op, dst, moved[fn], get, pc)
        return new

    def rows(self) -> list[list[int]]:
        """The operators that follow one another, as far as nothing jumps between them."""
        targets = {fn for op, _, fn, _, _ in self.steps if op in (IF, GOTO)}
        rows: list[list[int]] = []
        for i in self.on_arrays:
            follows = bool(rows) and rows[-1][-1] == i - 1 and i not in targets
            if follows and len(rows[-1]) < LONGEST:
                rows[-1].append(i)
            else:
                rows.append([i])
        return rows


def as_value(name: str, function: Any) -> Any:
    """A function of the executable as a value: closures and packed functions as they are."""
    return function if isinstance(function, (Closure, PackedFunc)) else PackedFunc(name, function)


def _getter(registers: list[int]) -> Any:
    """A getter of several registers as a sequence; slices make it one for none and one, too."""
    match registers:
        case []:
            return itemgetter(slice(0, 0))
        case [one]:
            return itemgetter(slice(one, one + 1))
    return itemgetter(*registers)


def decode(
    code: DecodedFunction,
    closure: Callable[[int], Any],
    instrument: Instrument | None = None,
    builtins: Mapping[str, Callable[..., Any]] = BUILTINS,
) -> DecodedFunction:
    """Fill in the steps of `code`; `closure` makes the closure of a function number.

    `builtins` are those of the machine that runs it.
    """
    _Decoder(code, closure, instrument, builtins).run()
    return code
