"""`relaxscript print`: what was understood of a file, as scripts; nothing of the file is run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.ir import hooks

from .files import sources_of
from .report import complain, errors_of, in_order
from .scripts_in_file import Script, definitions

__all__ = ["print_scripts"]


def print_scripts(file: str, name: str | None = None, *, annotations: bool = True) -> int:
    """Print the scripts of a file, or one of them; 1 when one that is asked for is not complete.

    `name` is that of a module or function, `Digits.main` for a function of a module. Raises RX0701
    when the file cannot be read, RX0703 when nothing in it is called so.
    """
    scripts, others = definitions(sources_of(file))
    shown = scripts if name is None else [choose_script(scripts, name, file)]
    complete = [script for script in shown if script.value is not None]
    for place, script in enumerate(complete):
        value = script.value
        if name is not None and name != script.name:
            value = value[name.removeprefix(f"{script.name}.")]
        print("\n" * (place > 0) + text_of(value, annotations))
    complain(in_order([*others, *(d for script in shown for d in script.diagnostics)]))
    return 0 if len(complete) == len(shown) and not errors_of(others) else 1


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
