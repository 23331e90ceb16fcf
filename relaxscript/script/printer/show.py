"""Showing a script: colours in a terminal that wants them, HTML in a notebook, else plain text.

The styles are "light", "dark", "ansi" (the sixteen colours that every terminal has) and those of
pygments by name. A terminal is coloured only when it is one and `NO_COLOR` is not set. Where a call
says nothing, `RELAXSCRIPT_STYLE` and `RELAXSCRIPT_BLACK_FORMAT` (`1` or `0`) of the environment
decide, and `showing` in a block of Python.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from relaxscript.errors import meant_hint, nearest
from relaxscript.errors.notebook import live_shell

if TYPE_CHECKING:
    from .module import Printer

__all__ = ["showing", "text_to_show"]

NAMED = ("light", "dark")
FORMATTERS = (["ruff", "format", "-"], ["black", "-q", "-"])
_said: ContextVar[tuple[str | None, bool | None]] = ContextVar("showing", default=(None, None))


@contextmanager
def showing(style: str | None = None, black_format: bool | None = None) -> Iterator[None]:
    """Set the style and the layout of `show` inside; what is None stays as it was.

    Goes before `RELAXSCRIPT_STYLE` and `RELAXSCRIPT_BLACK_FORMAT`. Raises `ValueError` for a style
    that there is not.
    """
    check_style(style)
    outer_style, outer_format = _said.get()
    chosen = (style or outer_style, outer_format if black_format is None else black_format)
    token = _said.set(chosen)
    try:
        yield
    finally:
        _said.reset(token)


def text_to_show(
    text: str, style: str | None = None, black_format: bool | None = None,
    printer: Printer | None = None,
) -> str:  # fmt: skip
    """The script to print; empty when a notebook has displayed the script already.

    `printer` has printed it, and knows what to say of its names. Raises `ValueError` for a
    style that there is not.
    """
    said_style, said_format = _said.get()
    style = style or said_style or os.environ.get("RELAXSCRIPT_STYLE") or None
    check_style(style)
    if black_format is None:
        black_format = said_format
    if black_format is None:
        black_format = os.environ.get("RELAXSCRIPT_BLACK_FORMAT", "0") not in ("", "0")
    if black_format:
        text = format_text(text)
    if _display_html(text, style, printer):
        return ""
    wanted = sys.stdout is not None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    return highlight(text, style) if wanted else text


def check_style(style: str | None) -> None:
    """Refuse a style that nobody knows."""
    if style is None or style == "ansi" or style in NAMED:
        return
    from pygments.styles import get_all_styles

    known = [*NAMED, "ansi", *get_all_styles()]
    if style not in known:
        near = nearest(style, known)
        hint = meant_hint(near)
        raise ValueError(f"there is no style `{style}`{hint}")


def highlight(text: str, style: str | None = None) -> str:
    """The script with escape sequences for a terminal."""
    from pygments import highlight
    from pygments.formatters.terminal import TerminalFormatter
    from pygments.formatters.terminal256 import Terminal256Formatter
    from pygments.lexers.python import PythonLexer

    if style in (None, "ansi", "light", "dark"):
        formatter = TerminalFormatter(bg="dark" if style == "dark" else "light")
    else:
        formatter = Terminal256Formatter(style=style)
    return str(highlight(text, PythonLexer(), formatter)).rstrip("\n")


def format_text(text: str) -> str:
    """The script as ruff or black formats it; raises `RuntimeError` when neither is installed.

    A script that no formatter reads, one with line numbers for example, stays as it is.
    """
    import shutil  # like the next, slow to import and rarely needed
    import subprocess

    found = False
    for name, *arguments in FORMATTERS:
        # Tools of a virtual environment are beside its Python, whether it is active or not.
        program = shutil.which(name) or shutil.which(name, path=os.path.dirname(sys.executable))
        if program is None:
            continue
        found = True
        done = subprocess.run(
            [program, *arguments], input=text, capture_output=True, text=True, encoding="utf-8"
        )
        if done.returncode == 0:
            return done.stdout.rstrip("\n")
    if not found:
        raise RuntimeError("black_format needs ruff or black: `pip install ruff`")
    return text


def _display_html(text: str, style: str | None, printer: Printer | None) -> bool:
    """Display the script in the notebook that runs us, if one does."""
    shell = live_shell()
    if shell is None or not hasattr(shell, "kernel"):
        return False
    from .html import html, script_html

    if style in (None, "ansi") and printer is not None and printer.source.text == text:
        made = script_html(printer)
    else:
        made = html(text, None if style == "ansi" else style)
    shell.display_pub.publish({"text/plain": text, "text/html": made})
    return True
