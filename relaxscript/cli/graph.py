"""`relaxscript graph`: the dataflow of a function of a file, as a listing, a picture or a page.

Nothing of the file is run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Literal

from relaxscript.errors import Diagnostic, DiagnosticError, did_you_mean, nearest
from relaxscript.errors.files import replaced
from relaxscript.graph import FunctionGraph, graph_of
from relaxscript.ir.drawing import MAX_NODES
from relaxscript.ir.module import IRModule
from relaxscript.ir.relax import Function

from .files import sources_of
from .report import complain, errors_of, in_order
from .scripts_in_file import Script, definitions

__all__ = ["Picturing", "graph"]

Picturing = Literal["text", "svg", "dot", "view"]


def graph(
    file: str, name: str | None = None, *, form: Picturing = "text", out: str | None = None,
    whole: bool = False, open_browser: bool = False,
) -> int:  # fmt: skip
    """Show a function of a file; 1 where the file has mistakes.

    `name` is that of a function, `Digits.main` for one of a module. Without it, it is `main`, or
    the only one there is. `whole` draws all of a large function. Raises RX0701 when the file cannot
    be read, RX0707 when `out` cannot be written. RX0703 is for a name that there is not.
    """
    scripts, others = definitions(sources_of(file))
    diagnostics = in_order([*others, *(d for script in scripts for d in script.diagnostics)])
    complain(diagnostics)
    if errors_of(diagnostics):
        return 1
    found = _drawn(scripts, name, file, None if whole else MAX_NODES)
    if form == "view":
        print(found.view(out, open_browser=open_browser))
        return 0
    texts = {"text": found.__str__, "svg": found.to_svg, "dot": found.to_dot}
    text = texts[form]().rstrip("\n")
    if out is None:
        print(text)
    else:
        _write(out, text)
    if found.remark and form != "text":
        print(found.remark, file=sys.stderr)
    return 0


def _drawn(
    scripts: Sequence[Script], name: str | None, file: str, max_nodes: int | None
) -> FunctionGraph:
    """The graph of the function that is meant."""
    there: dict[str, tuple[Any, str | None]] = {}
    usual: list[str] = []
    for script in scripts:
        value = script.value
        if isinstance(value, IRModule):
            own = [var.name_hint for var in value]
            relax = [var.name_hint for var in value.relax_functions()]
            there |= {f"{script.name}.{each}": (value, each) for each in own}
            default = ["main"] if "main" in relax else relax if len(relax) == 1 else []
            usual += [f"{script.name}.{each}" for each in default]
        elif value is not None:
            there[script.name] = value, None
            usual += [script.name] if isinstance(value, Function) else []
    asked = usual
    if name is not None:
        asked = [each for each in there if name in (each, each.rpartition(".")[2])]
        modules = [s.name for s in scripts if isinstance(s.value, IRModule)]
        asked = asked or [each for each in usual if name in modules and each.startswith(f"{name}.")]
    if len(asked) == 1:
        return graph_of(*there[asked[0]], max_nodes)
    near = None if name is None else nearest(name, [*there])
    said = f"function `{name}`" if name is not None else "function to draw"
    message = f"`{file}` has {'several functions' if asked else f'no {said}'}"
    message += " that could be meant" if asked else ""
    help = did_you_mean(near, f"there are: {', '.join(asked or there) or 'none'}")
    raise DiagnosticError(Diagnostic("RX0703", message, None, help=help))


def _write(out: str, text: str) -> None:
    try:
        with replaced(out) as file:
            file.write(f"{text}\n".encode("utf-8", "replace"))
    except OSError as error:
        message = f"`{out}` cannot be written: {error.strerror or error}"
        raise DiagnosticError(Diagnostic("RX0707", message, None)) from None
