"""Display in IPython of what it cannot display itself, in notebooks as HTML.

IPython shows a `SyntaxError` as a file that could not be read, under frames of ours and its own. So
a handler for `DiagnosticError` alone is registered by its own `set_custom_exc`. A handler of the
user stays.

A function that is native code as a whole is a built-in function of Python, which takes no methods.
So IPython is told by its own `for_type` where the HTML of ours is; others have none.
"""

from __future__ import annotations

from types import BuiltinFunctionType, TracebackType
from typing import Any

from .exceptions import DiagnosticError, user_frames
from .notebook import live_shell
from .render import render

__all__ = ["register"]


def register() -> None:
    """Have a running IPython show our mistakes, unless its user has a handler of their own."""
    shell = live_shell()
    if shell is None:
        return
    if not shell.custom_exceptions:
        shell.set_custom_exc((DiagnosticError,), show)
    html = shell.display_formatter.formatters["text/html"]
    if BuiltinFunctionType not in html.type_printers:
        html.for_type(BuiltinFunctionType, html_of_builtin)


def html_of_builtin(function: Any) -> str | None:
    """The HTML of the closure for which a built-in function stands; None for one of others."""
    kind = type(function.__self__)
    if kind.__module__.partition(".")[0] != "relaxscript" or not hasattr(kind, "_repr_html_"):
        return None
    made: str = function.__self__._repr_html_()
    return made


def show(
    shell: Any, kind: type[BaseException], error: DiagnosticError, trace: TracebackType | None,
    tb_offset: int | None = None,
) -> list[str]:  # fmt: skip
    """Show the pictures, and the frames of the user's where nothing else says a place."""
    placed = any(diagnostic.span is not None for diagnostic in error.diagnostics)
    lines = [] if placed else "".join(user_frames(error)).splitlines()
    # A kernel shows what is published in the colours of the page; the line below marks the failure.
    if hasattr(shell, "kernel"):
        pictures = {"text/html": error._repr_html_(), "text/plain": str(error)}
        shell.display_pub.publish(pictures)
        lines.append(f"{kind.__name__}: {str(error.msg).partition(chr(10))[0]}")
    else:
        dull = str(shell.colors).lower() == "nocolor"
        lines += render(error.diagnostics, "text" if dull else "ansi").splitlines()
    shell._showtraceback(kind, error, lines)
    return lines
