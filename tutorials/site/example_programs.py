"""The programs of the pages of diagnostics, whole and run: what each of them is told."""

from __future__ import annotations

import ast
import io
import linecache
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from relaxscript.errors import Diagnostic, RelaxWarning, Source, VMError, render
from relaxscript.errors.exceptions import DiagnosticError
from relaxscript.runtime.packed_func import list_global_func_names, remove_global_func
from relaxscript.script.source.syntax_errors import syntax_error

__all__ = ["codes_in", "told_by", "whole_program"]

FILE = "model.py"
# What brings the names that examples use, by the beginning of the line that imports them.
_IMPORTS = {
    "import numpy as np": {"np": ""},
    "import relaxscript as rx": {"rx": ""},
    "from relaxscript import ": {"relax": "relax", "te": "te", "tir": "tir"},
    "from relaxscript.script import ": {"I": "ir as I", "R": "relax as R", "T": "tir as T"},
}


def whole_program(example: str) -> str:
    """An example below the imports of the names that it uses; one that is no Python as it is."""
    try:
        tree = ast.parse(example)
    except SyntaxError:
        return example
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    lines = []
    for start, names in _IMPORTS.items():
        wanted = [said for name, said in names.items() if name in used]
        if wanted:
            lines.append(start + ", ".join(wanted))
    return "\n".join([*lines, "", example]) if lines else example


def codes_in(told: str) -> set[str]:
    """The codes of the diagnostics in a text."""
    return set(re.findall(r"^(?:error|warning)\[(RX\d{4})\]", told, re.MULTILINE))


def told_by(program: str) -> str:
    """The words that a program is told when it is run as a file, in a folder of its own.

    They are those of the error that ends it, or of warnings, or else what it prints. An error that
    is none of ours is raised. What the program registers is taken back.
    """
    printed = io.StringIO()
    with redirect_stdout(printed):
        found = _diagnostics_of(program)
    return (render(found) if found else printed.getvalue()).strip()


def _diagnostics_of(program: str) -> Sequence[Diagnostic]:
    lines = [f"{line}\n" for line in program.split("\n")]
    linecache.cache[FILE] = (len(program), None, lines, FILE)
    registered = {*list_global_func_names()}
    with warnings.catch_warnings(record=True) as noted, _folder():
        warnings.simplefilter("always")
        try:
            exec(compile(program, FILE, "exec"), {"__name__": "__main__", "__file__": FILE})
        except DiagnosticError as error:
            return error.diagnostics
        except VMError as error:
            return [error.diagnostic]
        except SyntaxError as error:
            return [syntax_error(Source(FILE, program), error)]
        finally:
            del linecache.cache[FILE]
            for name in {*list_global_func_names()} - registered:
                remove_global_func(name)
    return list(_told(noted))


@contextmanager
def _folder() -> Iterator[None]:
    """Inside, relative paths are those of an empty folder."""
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _told(noted: Sequence[warnings.WarningMessage]) -> Iterator[Diagnostic]:
    """The diagnostics of warnings of ours."""
    for each in noted:
        if isinstance(each.message, RelaxWarning):
            yield each.message.diagnostic
