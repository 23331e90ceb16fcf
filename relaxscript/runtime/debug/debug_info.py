"""Bytecode in the words of its source: variables instead of registers."""

from __future__ import annotations

from dataclasses import dataclass

from relaxscript.errors import Span
from relaxscript.errors.notebook import line_name
from relaxscript.runtime.bytecode import (
    VM_STATE,
    VOID_ARG,
    Arg,
    ArgKind,
    Call,
    Goto,
    If,
    Ret,
    SpecialReg,
    VMFunction,
)
from relaxscript.runtime.executable import Executable

__all__ = ["Location", "location", "names_at", "starts_of_line", "starts_of_variable"]


@dataclass(frozen=True, slots=True)
class Location:
    """An instruction: the function it is in, its number, its text, where it comes from."""

    function: str
    pc: int
    text: str
    span: Span | None = None

    @property
    def line(self) -> int | None:
        """The line of the source, None where that is not known."""
        return self.span.line if self.span is not None else None

    def __str__(self) -> str:
        span = self.span
        place = f" at {line_name(span.filename, span.line)}" if span is not None else ""
        return f"`{self.function}`{place}: {self.text}"


def names_at(function: VMFunction, pc: int) -> dict[str, Arg]:
    """The locations of the variables that have a value when instruction `pc` begins."""
    named = function.param_names or tuple(f"arg{i}" for i in range(function.num_args))
    found = {name: Arg(ArgKind.REGISTER, i) for i, name in enumerate(named)}
    for variable in function.variables:
        if variable.start <= pc < variable.stop:
            found[variable.name] = variable.arg
    return found


def starts_of_variable(function: VMFunction, name: str) -> set[int]:
    """The instructions that begin when a variable has just got its value."""
    found = {variable.start for variable in function.variables if variable.name == name}
    if name in list(names_at(function, -1)):
        found.add(function.start_instr)
    return found


def starts_of_line(executable: Executable, function: VMFunction, line: int | None) -> set[int]:
    """The instructions with which a line of the source begins; those of all lines for None."""
    found, before = set(), None
    for pc in range(function.start_instr, function.end_instr):
        at = executable.instructions[pc]
        if isinstance(at, Goto):  # what leaves a branch is no beginning of anything
            continue
        here = at.span.line if at.span is not None else None
        if here is not None and here != before and line in (None, here):
            found.add(pc)
        before = here
    return found


def location(executable: Executable, function: VMFunction, pc: int) -> Location:
    """Instruction `pc` of a function in words."""
    at = executable.instructions[pc]
    held = {arg: name for name, arg in names_at(function, pc).items()}

    def said(arg: Arg) -> str:
        return held.get(arg) or _plain(executable, arg)

    match at:
        case Call(dst=dst, func=func, args=args):
            made = {v.arg: v.name for v in function.variables if v.start == pc + 1}
            target = made.get(Arg(ArgKind.REGISTER, dst), f"%{dst}")
            target = "" if dst == SpecialReg.VOID_ARG else f"{target} = "
            text = f"{target}{executable.functions[func].name}({', '.join(map(said, args))})"
        case Ret(result=result):
            text = f"return {said(Arg(ArgKind.REGISTER, result))}"
        case Goto(offset=offset):
            text = f"goto {pc + offset}"
        case If(cond=cond, false_offset=offset):
            text = f"if {said(Arg(ArgKind.REGISTER, cond))} else goto {pc + offset}"
    return Location(function.name, pc, text, at.span)


def _plain(executable: Executable, arg: Arg) -> str:
    """An argument that no variable holds."""
    if arg in (VOID_ARG, VM_STATE):
        return "null" if arg == VOID_ARG else "vm"
    match arg.kind:
        case ArgKind.REGISTER:
            return f"%{arg.value}"
        case ArgKind.IMMEDIATE:
            return str(arg.value)
        case ArgKind.CONSTANT:
            return f"c[{arg.value}]"
    return executable.functions[arg.value].name
