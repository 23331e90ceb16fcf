"""The mistakes that `relaxscript check` found as SARIF 2.1.0, which code hosts and editors show.

One run; its rules are the pages of the codes that were found. A result points at the culprit; the
other places that matter are related locations, and notes and help follow the message. Columns count
Unicode code points. A file that could not be read or written is a notification of the tool.

Source: OASIS, Static Analysis Results Interchange Format Version 2.1.0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from relaxscript.errors import CODES, Diagnostic, Edit, Span, page_of
from relaxscript.version import __version__

from .pages import as_markdown

if TYPE_CHECKING:
    from .check import Checked

__all__ = ["as_sarif"]

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
LINK = re.compile(r"\[(?=[^\]\[]*\]\()")


def as_sarif(checked: Sequence[Checked]) -> dict[str, Any]:
    """The document, as JSON holds it."""
    found = [diagnostic for file in checked for diagnostic in file.left]
    placed = [(file.name, d) for file in checked for d in file.left if not _is_of_the_tool(d)]
    codes = sorted({diagnostic.code for _, diagnostic in placed})
    driver = {
        "name": "relaxscript",
        "semanticVersion": __version__,
        "rules": [_rule(code) for code in codes],
    }
    invocation = {
        "executionSuccessful": not any(file.failed for file in checked),
        "toolExecutionNotifications": [
            {"level": "error", "message": {"text": _message(d)}}
            for d in found
            if _is_of_the_tool(d)
        ],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": [_result(name, d, codes.index(d.code)) for name, d in placed],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _is_of_the_tool(diagnostic: Diagnostic) -> bool:
    """True if it says that a file could not be looked at, and nothing of what is in it."""
    return diagnostic.code.startswith("RX07")


def _rule(code: str) -> dict[str, Any]:
    page = page_of(code)
    warns = page.title.endswith(" (warning)")
    return {
        "id": code,
        "shortDescription": {"text": page.title.removesuffix(" (warning)")},
        "fullDescription": {"text": page.meaning.replace("\n", " ")},
        "help": {"text": CODES[code], "markdown": as_markdown(page)},
        "defaultConfiguration": {"level": "warning" if warns else "error"},
    }


def _result(file: str, diagnostic: Diagnostic, rule: int) -> dict[str, Any]:
    physical = {"artifactLocation": _artifact(file)}
    if diagnostic.span is not None:
        physical = _physical(diagnostic.span)
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": diagnostic.severity,
        "message": {"text": _message(diagnostic)},
        "locations": [{"physicalLocation": physical}],
    }
    if diagnostic.labels:
        result["relatedLocations"] = [
            {
                "id": number,
                "physicalLocation": _physical(label.span),
                "message": {"text": _plain(label.text)},
            }
            for number, label in enumerate(diagnostic.labels)
        ]
    if diagnostic.fix:
        result["fixes"] = [_fix(diagnostic)]
    return result


def _fix(diagnostic: Diagnostic) -> dict[str, Any]:
    edits = sorted(diagnostic.fix, key=lambda edit: edit.span)
    changes = [
        {"artifactLocation": _artifact(file), "replacements": [_replacement(e) for e in group]}
        for file, group in groupby(edits, key=lambda edit: edit.span.filename)
    ]
    return {
        "description": {"text": _plain(diagnostic.help or "apply the fix")},
        "artifactChanges": changes,
    }


def _replacement(edit: Edit) -> dict[str, Any]:
    return {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.new_text}}


def _physical(span: Span) -> dict[str, Any]:
    region = _region(span)
    if span.source.cell is not None:
        region["properties"] = {"cell": span.source.cell}
    return {"artifactLocation": _artifact(span.filename), "region": region}


def _region(span: Span) -> dict[str, Any]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def _artifact(file: str) -> dict[str, str]:
    """A file as a URI, relative where it was given so."""
    path = Path(file)
    return {"uri": path.as_uri() if path.is_absolute() else quote(path.as_posix())}


def _message(diagnostic: Diagnostic) -> str:
    notes = [f"note: {note}" for note in diagnostic.notes]
    help = [f"help: {diagnostic.help}"] if diagnostic.help else []
    return _plain("\n".join([diagnostic.message, *notes, *help]))


def _plain(text: str) -> str:
    """A string in which braces are themselves, and brackets make no link."""
    return LINK.sub(r"\\[", text.replace("{", "{{").replace("}", "}}"))
