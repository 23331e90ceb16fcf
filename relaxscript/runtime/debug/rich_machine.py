"""Machines and closures as HTML: what can be called, with which arguments, and how it runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from relaxscript.errors.markup import box, escape, fold, hinted, page, preformatted, title
from relaxscript.runtime.values import kind_of

if TYPE_CHECKING:
    from relaxscript.runtime.dispatch import VMClosure
    from relaxscript.runtime.machine import VirtualMachine

__all__ = ["closure_html", "machine_html"]

# The lines of all functions that are shown open, and the letters of a list of names.
_OPEN_LINES, _LONGEST = 60, 60


def machine_html(machine: VirtualMachine) -> str:
    """The whole output: devices and memory, and each public function with its parameters."""
    program = machine.executable
    made: list[str] = []
    left = _OPEN_LINES
    for name in program.public_functions:
        function = program.functions[program.function_index[name]]
        how = "native code" if name in program.entries else "bytecode"
        lines = _parameters(function.param_names, function.info, function.num_args)
        left -= len(lines) + 1
        made.append(_folded(name, function.param_names, function.info, how, lines, left >= 0))
    for name, saved in machine._saved.items():
        made.append(_folded(name, (), saved.info, "saved", (), is_open=False))
    memory = machine.memory_cfg
    facts = [", ".join(map(str, machine.devices))]
    facts += [f"{memory} memory"] if isinstance(memory, str) else []
    names = ", ".join([*program.public_functions, *machine._saved])
    heading = title(f"VirtualMachine of {names or 'no public function'}", facts)
    return page(box(heading, *made, folds=True))


def closure_html(closure: VMClosure) -> str:
    """The whole output: what a function of a machine takes and gives, and what it captured."""
    function = closure.vm.executable.functions[closure.index]
    count = function.num_args - len(closure.captured)
    names = function.param_names[:count]
    how = "bytecode" if closure.native is None or closure.captured else "native code"
    lines = _parameters(names, closure.info, count)
    lines += [f"captured: {kind_of(value)}" for value in closure.captured]
    whole = _folded(closure.name, names, closure.info, how, lines, len(lines) <= _OPEN_LINES)
    return page(box(title(f"closure {closure.name}"), whole, folds=True))


def _folded(
    name: str, names: Sequence[str], info: object, how: str, lines: Sequence[str], is_open: bool
) -> str:  # fmt: skip
    """A function: what is called, and what stands below it."""
    listed = ", ".join(names)
    listed = listed if len(listed) <= _LONGEST else f"{listed[:_LONGEST]}..."
    result = getattr(info, "ret", None)
    gives = "" if result is None else f" -> {_in_a_line(result)}"
    said = f"{hinted(name, '', 'name')}{escape(f'({listed}){gives}')}"
    said += f"  {hinted(f'# {how}', '', 'gutter')}"
    if not lines:
        return preformatted(f"{said}\n")
    body = preformatted("".join(f"    {escape(line)}\n" for line in lines))
    return fold(said, body, f"{len(lines):,} line{'s' * (len(lines) != 1)}", is_open)


def _parameters(names: Sequence[str], info: object, count: int) -> list[str]:
    """Each parameter with its annotation, as far as names and annotations are known."""
    params = getattr(info, "params", None) or ()
    count = max(count, len(params)) if params else count
    lines: list[str] = []
    for place in range(count):
        name = names[place] if place < len(names) else f"arg{place}"
        lines.append(f"{name}: {_in_a_line(params[place])}" if place < len(params) else name)
    return lines


def _in_a_line(value: object) -> str:
    return " ".join(str(value).split())
