"""`relaxscript print`: what was understood of a file, as scripts; nothing of the file is run.

With passes, what these make of it, or what they change.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.errors.styles import automatic_style
from relaxscript.ir import hooks
from relaxscript.ir.module import IRModule

from .files import sources_of
from .report import complain, errors_of, in_order
from .scripts_in_file import Script, definitions

__all__ = ["print_scripts"]


def print_scripts(
    file: str, name: str | None = None, *, annotations: bool = True, passes: Sequence[str] = (),
    changes: bool = False,
) -> int:  # fmt: skip
    """Print the scripts of a file, or one of them; 1 when one that is asked for is not complete.

    `name` is that of a module or function, `Digits.main` for a function of a module. `passes` are
    run on each module before; with `changes` what they change is printed instead. Raises RX0701
    when the file cannot be read, RX0703 when nothing in it is called so, or no pass.
    """
    transform = transform_of(passes)
    scripts, others = definitions(sources_of(file))
    shown = scripts if name is None else [choose_script(scripts, name, file)]
    complete = [script for script in shown if script.value is not None]
    for place, script in enumerate(complete):
        member = name.removeprefix(f"{script.name}.") if name not in (None, script.name) else None
        before, value = script.value, transform(script.value)
        if member is not None:
            before, value = before[member], member_of(value, member, passes)
        text = changes_of(before, value) if changes else text_of(value, annotations)
        print("\n" * (place > 0) + text)
    complain(in_order([*others, *(d for script in shown for d in script.diagnostics)]))
    return 0 if len(complete) == len(shown) and not errors_of(others) else 1


def transform_of(passes: Sequence[str]) -> Callable[[Any], Any]:
    """The passes of these names, or pipelines, as a function of a module or of a function alone."""
    if not passes:
        return lambda value: value
    from relaxscript.transform.pass_infra.passes import find_pass
    from relaxscript.transform.pipeline import PIPELINE_MAP

    steps: list[Callable[[IRModule], IRModule]]
    steps = [PIPELINE_MAP[name]() if name in PIPELINE_MAP else find_pass(name) for name in passes]

    def transform(value: Any) -> IRModule:
        mod = value if isinstance(value, IRModule) else IRModule.from_expr(value)
        for step in steps:
            mod = step(mod)
        return mod

    return transform


def member_of(mod: IRModule, name: str, passes: Sequence[str]) -> Any:
    """The function of a name after passes, which may have removed it."""
    if name in mod:
        return mod[name]
    message = f"after {', '.join(passes)} the module has no function `{name}`"
    help = f"there are: {', '.join(functions_of(mod)) or 'none'}"
    raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))


def changes_of(before: Any, after: Any) -> str:
    """The changes from one to the other, coloured where that can be seen."""
    from relaxscript.script.difference import diff

    if not isinstance(before, IRModule) and isinstance(after, IRModule):
        before = IRModule.from_expr(before)
    return diff(before, after).text(automatic_style(sys.stdout))


def text_of(value: Any, annotations: bool) -> str:
    """A script that parses back to the same, coloured where that can be seen."""
    text: str = hooks.script_of(value, show=True, show_meta=True, show_all_struct_info=annotations)
    return text


def choose_script(scripts: Sequence[Script], name: str, file: str) -> Script:
    """The script that is called `name`, or whose function is."""
    names: list[str] = []
    for script in scripts:
        own = [script.name, *(f"{script.name}.{inner}" for inner in functions_of(script.value))]
        if name in own or (script.value is None and name.startswith(f"{script.name}.")):
            return script
        names += own
    near = nearest(name, names)
    help = did_you_mean(near, f"there are: {', '.join(names) or 'none'}")
    message = f"`{file}` has no module and no function `{name}`"
    raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))


def functions_of(value: Any) -> list[str]:
    """The names of a module's functions; none for a function."""
    return [var.name_hint for var in getattr(value, "functions", ())]
