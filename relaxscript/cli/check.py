"""`relaxscript check`: the mistakes in files, without running anything of them."""

from __future__ import annotations

import json as json_text
from collections.abc import Sequence
from typing import Any

from relaxscript.errors import Diagnostic, DiagnosticError, Span

from .definitions import definitions
from .reading import read
from .report import complain, errors_of, in_order

__all__ = ["check"]


def check(files: Sequence[str], *, json: bool = False) -> int:
    """Report the mistakes of every script in the files; 1 when there are errors.

    With `json`, an array of diagnostics is printed; otherwise they are drawn, and a line sums up.
    A file that cannot be read does not keep the others from being checked; it makes 2 of it.
    """
    found: list[Diagnostic] = []
    count, unreadable = 0, False
    for file in files:
        try:
            scripts, others = definitions(read(file))
        except DiagnosticError as error:
            found += error.diagnostics
            unreadable = True
            continue
        count += len(scripts)
        found += in_order([*others, *(d for script in scripts for d in script.diagnostics)])
    if json:
        print(json_text.dumps([as_data(diagnostic) for diagnostic in found], indent=2))
    else:
        complain(found)
        print(summary(found, count, len(files)))
    if unreadable:
        return 2
    return 1 if errors_of(found) else 0


def summary(diagnostics: Sequence[Diagnostic], scripts: int, files: int) -> str:
    """ "1 error, 2 warnings in 3 definitions of 1 file" """
    errors = len(errors_of(diagnostics))
    warnings = len(diagnostics) - errors
    found = number(errors, "error") + (f", {number(warnings, 'warning')}" if warnings else "")
    return f"{found} in {number(scripts, 'definition')} of {number(files, 'file')}"


def number(count: int, noun: str) -> str:
    """ "0 errors", "1 error", "2 errors" """
    return f"{count} {noun}{'s' * (count != 1)}"


def as_data(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic as JSON holds it; lines and columns count from 1, ends are exclusive."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "span": place(diagnostic.span),
        "labels": [{"span": place(label.span), "text": label.text} for label in diagnostic.labels],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
        "fix": [{"span": place(edit.span), "new_text": edit.new_text} for edit in diagnostic.fix],
    }


def place(span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    return {
        "filename": span.filename,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }
