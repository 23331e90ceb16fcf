"""The report of a command: diagnostics drawn on the standard error, in colour on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from relaxscript.errors import Diagnostic, automatic_style, render

__all__ = ["complain", "errors_of", "in_order"]


def complain(diagnostics: Sequence[Diagnostic]) -> None:
    """Draw diagnostics, and say where more is told of the first."""
    if not diagnostics:
        return
    sys.stdout.flush()  # so that both streams of one terminal show things in their order
    print(render(diagnostics, automatic_style(sys.stderr)), file=sys.stderr)
    code = (errors_of(diagnostics) or diagnostics)[0].code
    print(f"\n`relaxscript explain {code}` tells more about {code}", file=sys.stderr)


def errors_of(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Those that are errors, not warnings."""
    return [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Those of one file, by their places."""
    return sorted(diagnostics, key=_place)


def _place(diagnostic: Diagnostic) -> tuple[int, int, int]:
    span = diagnostic.span
    return (0, 0, 0) if span is None else (span.source.cell or 0, *span.start)
