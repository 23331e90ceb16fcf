"""The virtual machine's program as data: four instructions over a register file.

    Call(dst, func, args)     call function number `func`, put the result into register `dst`
    Ret(result)               leave the function with the value of register `result`
    Goto(offset)              continue `offset` instructions further on (backwards if negative)
    If(cond, false_offset)    go on with the next instruction when the register holds true,
                              `false_offset` instructions further on otherwise

Everything else is a function that is called. Each instruction keeps the span of the Relax source
that it came from. `verify` says when a program is well formed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from relaxscript.errors import Span, VMError

from .run_check import Check

__all__ = [
    "VM_STATE",
    "VOID_ARG",
    "Arg",
    "ArgKind",
    "Call",
    "Goto",
    "If",
    "Instruction",
    "Ret",
    "SpecialReg",
    "VMFuncKind",
    "VMFunction",
    "Variable",
    "verify",
]


class ArgKind(IntEnum):
    """The kind of thing that an argument of a call refers to."""

    REGISTER = 0
    IMMEDIATE = 1
    CONSTANT = 2
    FUNCTION = 3


class SpecialReg(IntEnum):
    """Registers that are none: nothing (a destination drops the result), and the call's state."""

    VOID_ARG = 1 << 54
    VM_STATE = (1 << 54) + 1


@dataclass(frozen=True, slots=True)
class Arg:
    """An argument: a register, an immediate integer, or the number of a constant or function."""

    kind: ArgKind
    value: int


VOID_ARG = Arg(ArgKind.REGISTER, SpecialReg.VOID_ARG)
VM_STATE = Arg(ArgKind.REGISTER, SpecialReg.VM_STATE)


@dataclass(frozen=True, slots=True)
class Call:
    """Call a function. `result`, if given, is what its value must match (bindings included).

    A packed function's None is the empty tuple where `result` asks for the empty tuple. `proved`
    are the positions of arguments that are known to be what a function of the program asks for.
    `operands` are the variables that stand for the arguments, where the call has no place.
    """

    dst: int
    func: int
    args: tuple[Arg, ...]
    result: Check | None = None
    span: Span | None = None
    proved: tuple[int, ...] = ()
    operands: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Ret:
    result: int
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Goto:
    offset: int
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class If:
    cond: int
    false_offset: int
    span: Span | None = None


Instruction = Call | Ret | Goto | If


class VMFuncKind(IntEnum):
    """The kind of a function: called by name, or bytecode of this program."""

    PACKED_FUNC = 0
    VM_FUNC = 1


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the source: `arg` holds its value before the instructions `start` to `stop`.

    `stop` is exclusive. For people who look at a run; the machine does not use it.
    """

    name: str
    arg: Arg
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class VMFunction:
    """An entry of the function table; a packed function has a name only.

    The first `num_args` registers hold the arguments, then come the others. `param_checks` are
    matched when a call begins, in a fresh shape heap of `heap_size` slots. `return_check` is
    matched when it ends (there a `shape_slot` is the number of a register). Values that a closure
    captures are the last arguments. `info` is the run-time structural information of the function
    as a closure. A function that is not `public` can be called from inside the program only. `span`
    is where its parameters are written, `param_spans` where each of them is. `variables` are those
    of the source that the body binds. `shape_vars` are the names of the values in the slots of the
    shape heap. `weights` are the names of arguments by which they are bound, those of its fields
    for a tuple; `num_inputs` is the number of arguments before these, None where nothing says it.
    """

    kind: VMFuncKind
    name: str
    start_instr: int = 0
    end_instr: int = 0
    num_args: int = 0
    register_file_size: int = 0
    param_names: tuple[str, ...] = ()
    param_checks: tuple[Check, ...] = ()
    return_check: Check | None = None
    heap_size: int = 0
    public: bool = True
    pure: bool = True
    info: object = None
    span: Span | None = None
    param_spans: tuple[Span | None, ...] = ()
    variables: tuple[Variable, ...] = ()
    shape_vars: tuple[str, ...] = ()
    weights: tuple[str | tuple[str, ...], ...] = ()
    num_inputs: int | None = None

    def place_of(self, argument: int | None) -> Span | None:
        """The span of the parameter for an argument; of all parameters where that is not known."""
        if argument is None or argument >= len(self.param_spans):
            return self.span
        return self.param_spans[argument] or self.span


def verify(
    functions: Sequence[VMFunction],
    instructions: Sequence[Instruction],
    constants: Sequence[object],
) -> None:
    """Raise `VMError` unless the program can run without stepping outside itself.

    Registers, constants and functions exist, jumps stay inside their function, and no function runs
    past its end. No register is read that is not written on every way there.
    """
    names = set()
    for function in functions:
        if function.name in names:
            raise _malformed_bytecode(function, "the name is taken by another function")
        names.add(function.name)
        if function.kind is VMFuncKind.VM_FUNC:
            _Verifier(function, functions, instructions, constants).run()


def _malformed_bytecode(
    function: VMFunction, text: str, instruction: Instruction | None = None
) -> VMError:
    span = instruction.span if instruction is not None else function.span
    return VMError(f"malformed bytecode in `{function.name}`: {text}", code="RX0612", span=span)


@dataclass(slots=True)
class _Verifier:
    function: VMFunction
    functions: Sequence[VMFunction]
    instructions: Sequence[Instruction]
    constants: Sequence[object]

    def run(self) -> None:
        f = self.function
        if not 0 <= f.start_instr <= f.end_instr <= len(self.instructions):
            raise _malformed_bytecode(f, "its instructions are not in the program")
        if f.register_file_size < f.num_args:
            raise _malformed_bytecode(
                f, f"{f.register_file_size} registers cannot hold {f.num_args} arguments"
            )
        for listed, noun in ((f.param_names, "names"), (f.param_checks, "checks")):
            if listed and len(listed) != f.num_args:
                raise _malformed_bytecode(
                    f, f"{f.num_args} parameters, but {len(listed)} {noun} of parameters"
                )
        if f.start_instr == f.end_instr:
            raise _malformed_bytecode(f, "it has no instruction; it must end with a return")
        for index in range(f.start_instr, f.end_instr):
            self.operands(index)
        for variable in f.variables:
            self.variable(variable)
        self.flow()

    def variable(self, variable: Variable) -> None:
        f = self.function
        if not f.start_instr <= variable.start <= variable.stop <= f.end_instr:
            raise _malformed_bytecode(
                f, f"the variable `{variable.name}` reaches out of the function"
            )
        self.argument(variable.arg, variable.start, self.instructions[f.start_instr])

    def operands(self, index: int) -> None:
        at = self.instructions[index]
        match at:
            case Call(dst=dst, func=func, args=args):
                if not 0 <= func < len(self.functions):
                    raise _malformed_bytecode(
                        self.function, f"instruction {index} calls function {func}", at
                    )
                if dst != SpecialReg.VOID_ARG:
                    self.register(dst, index, at)
                for arg in args:
                    self.argument(arg, index, at)
            case Ret(result=register) | If(cond=register):
                self.register(register, index, at)

    def argument(self, arg: Arg, index: int, at: Instruction) -> None:
        tables = {ArgKind.CONSTANT: self.constants, ArgKind.FUNCTION: self.functions}
        match arg.kind:
            case ArgKind.REGISTER if arg not in (VOID_ARG, VM_STATE):
                self.register(arg.value, index, at)
            case ArgKind.CONSTANT | ArgKind.FUNCTION:
                if not 0 <= arg.value < len(tables[arg.kind]):
                    noun = arg.kind.name.lower()
                    raise _malformed_bytecode(
                        self.function, f"instruction {index} uses {noun} {arg.value}", at
                    )

    def register(self, register: int, index: int, at: Instruction) -> None:
        size = self.function.register_file_size
        if not 0 <= register < size:
            raise _malformed_bytecode(
                self.function, f"instruction {index} uses register {register} of {size}", at
            )

    def flow(self) -> None:
        """Follow every way through the function with the set of registers written, as bits."""
        f = self.function
        written: dict[int, int] = {f.start_instr: (1 << f.num_args) - 1}
        todo = [f.start_instr]
        while todo:
            index = todo.pop()
            at = self.instructions[index]
            known = written[index]
            for register in _reads(at):
                if not known >> register & 1:
                    raise _malformed_bytecode(
                        f, f"instruction {index} reads register {register} before it is written", at
                    )
            if isinstance(at, Call) and at.dst != SpecialReg.VOID_ARG:
                known |= 1 << at.dst
            for target in _targets(at, index):
                if not f.start_instr <= target < f.end_instr:
                    raise _malformed_bytecode(
                        f, f"instruction {index} leads out of the function", at
                    )
                before = written.get(target)
                after = known if before is None else before & known
                if after != before:
                    written[target] = after
                    todo.append(target)


def _reads(at: Instruction) -> list[int]:
    match at:
        case Call(args=args):
            return [
                arg.value
                for arg in args
                if arg.kind is ArgKind.REGISTER and arg not in (VOID_ARG, VM_STATE)
            ]
        case Ret(result=register) | If(cond=register):
            return [register]
    return []


def _targets(at: Instruction, index: int) -> tuple[int, ...]:
    match at:
        case Goto(offset=offset):
            return (index + offset,)
        case If(false_offset=offset):
            return (index + 1, index + offset)
        case Ret():
            return ()
    return (index + 1,)
