"""The mistakes that `relaxscript check` found, as one JSON document for other programs.

    {
      "version": 1,                   what this description is about; new members may be added to it
      "relaxscript": "0.1.0",
      "diagnostics": [ diagnostic ],  what is wrong, file by file, in the order of the places
      "fixed": [ diagnostic ],        what --fix has mended, with the places it had then
      "unknown": [{"file": "model.py", "names": ["W"]}],   what only a run can tell; what depends
                                      on it was not checked
      "summary": {"files": 1, "definitions": 2, "errors": 1, "warnings": 0}
    }

    diagnostic: {
      "file": "model.py",             as it was given; "<stdin>" for -
      "severity": "error",            or "warning"
      "code": "RX0101",
      "message": "...",
      "span": span,                   the culprit; null where no text is to blame
      "labels": [{"span": span, "text": "..."}],
      "notes": ["..."],
      "help": "...",                  or null
      "fix": [{"span": span, "new_text": "..."}]   to be applied together; empty where there is none
    }

    span: {"file": "model.py", "line": 5, "column": 25, "end_line": 5, "end_column": 30}

The span in a notebook has "cell" as well, the number of a cell of code; lines count in that cell.

Lines and columns count from 1, columns in characters (Unicode code points); the end is exclusive.
A byte order mark is no character. `sarif.py` is the other form.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from relaxscript.errors import Diagnostic, Span
from relaxscript.version import __version__

from .report import errors_of
from .sarif import as_sarif

if TYPE_CHECKING:
    from .check import Checked

__all__ = ["as_json", "document"]


def document(form: Literal["json", "sarif"], checked: Sequence[Checked]) -> str:
    """The document in either form."""
    data = as_json(checked) if form == "json" else as_sarif(checked)
    return json.dumps(data, indent=2)


def as_json(checked: Sequence[Checked]) -> dict[str, Any]:
    """The document that is described above."""
    left = [diagnostic for file in checked for diagnostic in file.left]
    errors = len(errors_of(left))
    return {
        "version": 1,
        "relaxscript": __version__,
        "diagnostics": [_diagnostic(file.name, d) for file in checked for d in file.left],
        "fixed": [_diagnostic(file.name, d) for file in checked for d in file.fixed],
        "unknown": [
            {"file": file.name, "names": list(file.unknown)} for file in checked if file.unknown
        ],
        "summary": {
            "files": len(checked),
            "definitions": sum(file.scripts for file in checked),
            "errors": errors,
            "warnings": len(left) - errors,
        },
    }


def _diagnostic(file: str, diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "file": file,
        "severity": diagnostic.severity,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "span": None if diagnostic.span is None else _span(diagnostic.span),
        "labels": [{"span": _span(label.span), "text": label.text} for label in diagnostic.labels],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
        "fix": [{"span": _span(edit.span), "new_text": edit.new_text} for edit in diagnostic.fix],
    }


def _span(span: Span) -> dict[str, Any]:
    return {
        "file": span.filename,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        **({} if span.source.cell is None else {"cell": span.source.cell}),
    }
