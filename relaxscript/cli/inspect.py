"""`relaxscript inspect`: what a saved program holds, without running or compiling it."""

from __future__ import annotations

from relaxscript.artifact import Contents, inspect, readable
from relaxscript.dtypes import result_dtype
from relaxscript.ir import hooks

__all__ = ["inspect_file"]


def inspect_file(file: str) -> int:
    """Print what `relaxscript.save` wrote to a file, as a script. Raises RX0701."""
    found = inspect(file)
    print("\n".join(f"# {line}" for line in describe(found)))
    print(hooks.script_of(found.module, show=True, show_meta=False))
    return 0


def describe(found: Contents) -> list[str]:
    """The facts about a program beside its script."""
    lines = [f"saved by {readable(found.made_by)} for the target {readable(str(found.target))}"]
    for noun, names in (("PackedFunc", found.packed_funcs), ("C function", found.c_functions)):
        if names:
            written = ", ".join(map(readable, names))
            lines.append(f"calls the {noun}{'s' if len(names) > 1 else ''} {written}")
    if found.addressed:
        written = ", ".join(map(readable, found.addressed))
        lines.append(f"handles addresses of memory with {written}")
    for number, data in enumerate(found.constants):
        lines.append(f"constant {number}: {result_dtype(data)} of shape {data.shape}")
    return lines
