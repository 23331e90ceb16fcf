"""Bytecode as Python that can be read and run: the text of `Executable.as_python`.

Branches become `if` and `else` where they nest, as those that code generation makes do; a function
that jumps otherwise becomes a loop over what is between its jumps.
"""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterator, Sequence

from relaxscript.runtime.builtins import BUILTINS
from relaxscript.runtime.bytecode import (
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
from relaxscript.runtime.executable import Executable
from relaxscript.runtime.run_check import Check, TensorCheck, TupleCheck

__all__ = ["python_text"]

_HEAD = """\
# Run it with the program as `executable`: exec(executable.as_python(), {"executable": executable})
from relaxscript.runtime.builtins import read_if_cond as truth
from relaxscript.runtime.debug.python_scope import PythonScope

program = PythonScope(executable)
constants = executable.constants
"""
_OURS = {"PythonScope", "at", "constants", "executable", "program", "state", "truth"}
_DEEPEST = 40  # branches in branches; Python takes 100 levels
_REGISTER = re.compile(r"r\d+")


class _UnstructuredFlow(Exception):
    """Jumps that are no nested branches."""


def python_text(executable: Executable) -> str:
    """The functions of a program as a text that defines a function of the same name for each."""
    names = _PythonNames(executable)
    parts = [_HEAD + "".join(f"{line}\n" for line in names.lines)]
    for index, function in enumerate(executable.functions):
        if function.kind is VMFuncKind.VM_FUNC:
            parts.append("\n".join(_PythonWriter(executable, names, index).lines()) + "\n")
    return "\n\n".join(parts)


class _PythonNames:
    """An identifier for each function of the table, and the lines that define those not ours."""

    def __init__(self, executable: Executable) -> None:
        self.taken = {*_OURS, *keyword.kwlist, *dir(builtins)}
        self.functions: dict[tuple[int, str], str] = {}
        self.lines: list[str] = []
        self.executable = executable
        for index, function in enumerate(executable.functions):
            if function.kind is VMFuncKind.VM_FUNC:
                self.functions[index, "packed"] = self.unique(function.name)
        for at in executable.instructions:
            if isinstance(at, Call):
                self.used(at.func, "written" if self.writes(at) else "packed")

    def unique(self, wanted: str) -> str:
        name = _identifier(wanted)
        while name in self.taken or _REGISTER.fullmatch(name):
            name += "_"
        self.taken.add(name)
        return name

    def used(self, index: int, how: str) -> str:
        """The identifier that a call of a function uses."""
        if (index, how) not in self.functions:
            symbol = self.executable.functions[index].name
            name = self.functions[index, how] = self.unique(symbol)
            self.lines.append(f"{name} = program.{how}({symbol!r})")
        return self.functions[index, how]

    def writes(self, at: Call) -> bool:
        """True if a call is of a registered function that writes into its last argument."""
        callee = self.executable.functions[at.func]
        linked = callee.name in BUILTINS or callee.name in self.executable.externals
        dropped = at.dst == SpecialReg.VOID_ARG and at.result is None
        return dropped and not linked and callee.kind is VMFuncKind.PACKED_FUNC


class _PythonWriter:
    """Writes one function."""

    def __init__(self, executable: Executable, names: _PythonNames, index: int) -> None:
        self.executable = executable
        self.names = names
        self.index = index
        self.function: VMFunction = executable.functions[index]
        self.registers: dict[int, str] = {}
        given = self.function.param_names or [f"arg{i}" for i in range(self.function.num_args)]
        for register, name in enumerate(given):
            self.registers[register] = self.parameter(name)

    def parameter(self, wanted: str) -> str:
        name = _identifier(wanted)
        taken = {*self.names.taken, *self.registers.values()}
        while name in taken or _REGISTER.fullmatch(name):
            name += "_"
        return name

    def lines(self) -> list[str]:
        f = self.function
        params = ", ".join(["state", *(self.registers[i] for i in range(f.num_args))])
        name = self.names.functions[self.index, "packed"]
        head = [f"@program.function({f.name!r})", f"def {name}({params}):"]
        try:
            body = list(self.branches(f.start_instr, f.end_instr, 0))
        except _UnstructuredFlow:
            body = list(self.loop())
        return [*head, *(f"    {line}" for line in body)]

    # -- control -----------------------------------------------------------------------------------

    def branches(self, start: int, stop: int, depth: int) -> Iterator[str]:
        """The instructions from `start` to `stop`, whose jumps must be nested branches."""
        pc = start
        while pc < stop:
            match self.executable.instructions[pc]:
                case If(cond=cond, false_offset=offset):
                    other = pc + offset
                    end = self.end_of_branches(pc, other, stop)
                    if depth > _DEEPEST or not pc < other <= end <= stop:
                        raise _UnstructuredFlow
                    yield f"if truth({self.register(cond)}):"
                    leaving = other - 1 if end != other else other
                    yield from self.indented(pc + 1, leaving, depth)
                    if end != other:
                        yield "else:"
                        yield from self.indented(other, end, depth)
                    pc = end
                case Goto():
                    raise _UnstructuredFlow
                case at:
                    yield from self.statement(at, pc)
                    pc += 1

    def end_of_branches(self, pc: int, other: int, stop: int) -> int:
        """The instruction where both ways join: behind `else`, if the first one jumps there."""
        last = self.executable.instructions[other - 1] if pc < other - 1 < stop else None
        return other - 1 + last.offset if isinstance(last, Goto) else other

    def indented(self, start: int, stop: int, depth: int) -> Iterator[str]:
        for line in list(self.branches(start, stop, depth + 1)) or ["pass"]:
            yield f"    {line}"

    def loop(self) -> Iterator[str]:
        """A loop that runs, each time, what is between two jumps."""
        f, instructions = self.function, self.executable.instructions
        begins = {f.start_instr}
        for pc in range(f.start_instr, f.end_instr):
            match instructions[pc]:
                case If(false_offset=offset):
                    begins |= {pc + 1, pc + offset}
                case Goto(offset=offset):
                    begins.add(pc + offset)
        yield f"at = {f.start_instr}"
        yield "while True:"
        for begin in sorted(begins):
            yield f"    if at == {begin}:"
            for line in self.block(begin, begins):
                yield f"        {line}"

    def block(self, begin: int, begins: set[int]) -> Iterator[str]:
        for pc in range(begin, self.function.end_instr):
            if pc in begins and pc != begin:
                yield f"at = {pc}"
                return
            match self.executable.instructions[pc]:
                case If(cond=cond, false_offset=offset):
                    yield f"at = {pc + 1} if truth({self.register(cond)}) else {pc + offset}"
                    return
                case Goto(offset=offset):
                    yield f"at = {pc + offset}"
                    return
                case at:
                    yield from self.statement(at, pc)
                    if isinstance(at, Ret):
                        return

    # -- instructions ------------------------------------------------------------------------------

    def statement(self, at: Instruction, pc: int) -> Iterator[str]:
        match at:
            case Ret(result=register):
                value, check = self.register(register), self.function.return_check
                if check is not None:
                    value = f"state.returned({value}, {self.shapes(check)})"
                yield f"return {value}{self.note(at, pc)}"
            case Call(dst=dst, func=func, args=args, result=check):
                name = self.names.used(func, "written" if self.names.writes(at) else "packed")
                text = f"{name}({', '.join(map(self.argument, args))})"
                dropped = dst == SpecialReg.VOID_ARG
                if check is not None and not (dropped and check == TupleCheck(())):
                    text = f"state.checked({text}, {pc}, {self.shapes(check)})"
                target = "" if dropped else f"{self.register(dst)} = "
                yield f"{target}{text}{self.note(at, pc)}"

    def note(self, at: Instruction, pc: int) -> str:
        """The variable that has its value now, and the line of the source."""
        made = [v.name for v in self.function.variables if v.start == pc + 1]
        made = [name if name.isidentifier() else repr(name) for name in made]
        words = made if isinstance(at, Call) else []
        words += [f"line {at.span.line}"] if at.span is not None else []
        return f"  # {', '.join(words)}" if words else ""

    def shapes(self, check: Check) -> str:
        """The registers whose values a check asks for."""
        listed = ", ".join(f"{slot}: {self.register(slot)}" for slot in sorted(_slots(check)))
        return f"{{{listed}}}"

    def register(self, number: int) -> str:
        return self.registers.get(number, f"r{number}")

    def argument(self, arg: Arg) -> str:
        if arg in (VOID_ARG, VM_STATE):
            return "None" if arg == VOID_ARG else "state"
        match arg.kind:
            case ArgKind.REGISTER:
                return self.register(arg.value)
            case ArgKind.IMMEDIATE:
                return str(arg.value)
            case ArgKind.CONSTANT:
                return f"constants[{arg.value}]"
        callee = self.executable.functions[arg.value]
        if callee.kind is VMFuncKind.VM_FUNC:
            return self.names.functions[arg.value, "packed"]
        return f"program.value({callee.name!r})"


def _identifier(name: str) -> str:
    """A name that Python can take, as near as possible to `name`."""
    name = unicodedata.normalize("NFKC", name)
    if name.isidentifier():
        return name
    name = re.sub(r"[^0-9A-Za-z_]", "_", name)
    return name if name.isidentifier() else f"_{name}"


def _slots(check: Check) -> Sequence[int]:
    match check:
        case TensorCheck(shape_slot=int(slot)):
            return [slot]
        case TupleCheck(fields=fields):
            return [slot for field in fields for slot in _slots(field)]
    return []
