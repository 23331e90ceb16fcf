"""Blocks that are written as functions of their own, one for all blocks with the same code.

    define internal void @relaxscript_shared0(ptr %p0, i64 %p1, ptr %p2, ...) { ... }

The axes of a block are parameters of the function. So is whatever its code uses of what is computed
around it. Products of a module differ in their sizes and in what follows them. The code of their
tiles, which takes LLVM longest, is the same. A block is written before it is known whether others
have its code: its indices are proved anew.

Code that may fail stays where it is: what its failures tell is one place in one PrimFunc.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from relaxscript.ir import tir
from relaxscript.semantics.shared_blocks import SHARED

from .context import FunctionContext
from .expression import assign_variable, emit_variable
from .ir_writer import NAME, Value

__all__ = ["emit_shared_block", "is_shared"]

_DEFINED = re.compile(r"^\s*%([\w.]+) = |^([\w.]+):", re.MULTILINE)
# What belongs to the function around a block.
_OUTER = ("%status", "%details", "label %exit")


def is_shared(s: tir.BlockRealize) -> bool:
    """True for a block whose code others may share."""
    return SHARED in s.block.annotations


def emit_shared_block(cx: FunctionContext, s: tir.BlockRealize, body: Callable[[], None]) -> None:
    """Write a block as a call of a function; `body` writes what follows its axes.

    Where that is not possible, its code stays where it is.
    """
    asm = cx.asm
    axes = []
    for axis, value in zip(s.block.iter_vars, s.iter_values, strict=True):
        assign_variable(cx, axis.var, value)
        given = emit_variable(cx, axis.var)
        name = asm.in_loop(asm.name(), given.type)
        cx.values[axis.var] = name
        axes.append((name, given))
    start = asm.name()
    before = _Marks(len(asm.entry), len(asm.leave), len(asm.lines) + 1, asm.late_lines)
    asm.jump(start)
    asm.begin(start)
    around, asm.outer_loops = asm.outer_loops, len(asm.loops)
    body()
    asm.outer_loops = around
    function = _lifted(cx, before, start)
    names = {name.text[1:]: given for name, given in axes}
    if function is None:
        asm.rename(before.lines, {name: given.text for name, given in names.items()})
    else:
        del asm.entry[before.entry :]
        del asm.lines[before.lines - 1 :]
        symbol = cx.module.shared_function(function.text)
        passed = [names.get(name) or Value(asm.types[name], f"%{name}") for name in function.free]
        asm.do(f"call void @{symbol}({', '.join(map(str, passed))})")
    done = asm.name()
    asm.jump(done)
    asm.begin(done)


class _Marks(NamedTuple):
    """The ends of the parts of a function that were written before a block."""

    entry: int
    leave: int
    lines: int
    late: int


class _Lifted(NamedTuple):
    """The parameters and the body of a function, and what the parameters are where it is called."""

    text: str
    free: tuple[str, ...]


def _lifted(cx: FunctionContext, before: _Marks, start: str) -> _Lifted | None:
    """The code that was written since as a function; None where it may fail or needs the heap."""
    asm = cx.asm
    if len(asm.leave) > before.leave or asm.late_lines > before.late:
        return None
    entry = "".join(f"  {line}\n" for line in asm.entry[before.entry :])
    code = "\n".join(asm.lines[before.lines :])
    if any(outer in code for outer in _OUTER):
        return None
    inside = {a or b for a, b in _DEFINED.findall(f"{entry}{code}")}
    names: dict[str, str] = {}
    free: list[str] = []

    def renamed(found: re.Match[str]) -> str:
        name = found[1]
        if name not in names:
            if name in inside:
                names[name] = f"v{len(names)}"
            else:
                names[name] = f"p{len(free)}"
                free.append(name)
        return f"%{names[name]}"

    whole = f"{entry}  br label %{start}\n{code}\n"
    text = re.sub(r"^([\w.]+):", r"%\1:", whole, flags=re.MULTILINE)
    text = re.sub(r"^%(\w+):", r"\1:", NAME.sub(renamed, text), flags=re.MULTILINE)
    if any(name not in asm.types for name in free):
        return None
    params = ", ".join(f"{asm.types[name]} %p{k}" for k, name in enumerate(free))
    return _Lifted(f"({params}) nounwind {{\nentry:\n{text}  ret void\n}}", tuple(free))
