"""Diagnostics for a definition whose source cannot be found: the situation and the way out."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from relaxscript.errors import Diagnostic

__all__ = ["not_found", "source_changed"]

WAY_OUT = "put the definition in a file, or parse its source with `relaxscript.from_source(text)`"

# What runs a source under a name that says so, and keeps none of it.
_RUN_BY = {
    "<timed exec>": "it was run by `%%time`, and is in no cell of this session",
    "<magic-timeit>": "it was run by `%%timeit`, and is in no cell of this session",
    "<console>": "it was typed at a prompt that does not keep what is typed",
    "<input>": "it was typed at a prompt that does not keep what is typed",
}


def not_found(name: str, filename: str, scope: Mapping[str, Any]) -> Diagnostic:
    """The diagnostic for a definition that has no source."""
    message = f"the source of `{name}` cannot be found: {_situation(filename, scope)}"
    typed = filename in ("<stdin>", "<console>", "<input>") and hasattr(sys, "ps1")
    help = f"use `ipython`, {WAY_OUT}" if typed else WAY_OUT
    return Diagnostic("RX0111", message, None, help=help)


def source_changed(name: str, filename: str) -> Diagnostic:
    """The diagnostic for a definition whose file has another source by now."""
    message = (
        f"the source of `{name}` cannot be found: "
        f"`{filename}` is not the source any more from which Python made `{name}`"
    )
    help = (
        f"import or run `{filename}` again, or parse a string with `relaxscript.from_source(text)`"
    )
    return Diagnostic("RX0111", message, None, help=help)


def _situation(filename: str, scope: Mapping[str, Any]) -> str:
    if filename == "<stdin>":
        return _standard_input()
    if filename == "<string>":
        if sys.argv[:1] == ["-c"] and scope.get("__name__") == "__main__":
            return "it is not in the command of `python -c`, but was executed from a string"
        return "it was executed from a string, which Python does not keep"
    if filename in _RUN_BY:
        return _RUN_BY[filename]
    if filename.startswith("<"):
        return f"it was executed under the name `{filename}`, of which no source is kept"
    if os.path.exists(filename):
        return f"`{filename}` cannot be read as text"
    if scope.get("__cached__") == filename or filename.endswith((".pyc", ".pyo")):
        return f"only the compiled form `{filename}` is there"
    return f"the file `{filename}` is not there any more"


def _standard_input() -> str:
    if hasattr(sys, "ps1"):
        return "it was typed at Python's prompt, which does not keep what is typed"
    return "Python reads this program from the standard input, and does not keep it"
