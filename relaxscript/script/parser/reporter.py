"""The mistakes found in one definition, and how they leave the parser."""

from __future__ import annotations

from dataclasses import replace

from relaxscript.errors import Diagnostic, DiagnosticError

__all__ = ["Reporter"]


class Reporter:
    """Mistakes found so far in one definition; `strict` makes what cannot be decided one too.

    `steps` counts what loops and comprehensions over Python values have written out.
    """

    def __init__(self, strict: bool = False) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.strict = strict
        self.steps = 0

    @property
    def failed(self) -> bool:
        return any(d.severity == "error" for d in self.diagnostics)

    def finish(self) -> list[Diagnostic]:
        """Raise the errors, in the order of their places; give back the warnings.

        What is read twice (attributes belong to the header, and stand in the body) is wrong once.
        """
        ordered = sorted(dict.fromkeys(self.diagnostics), key=_position)
        if self.strict:
            ordered = [replace(d, severity="error") if d.code == "RX0207" else d for d in ordered]
        errors = [d for d in ordered if d.severity == "error"]
        if errors:
            raise DiagnosticError(errors)
        return ordered


def _position(diagnostic: Diagnostic) -> tuple[int, int]:
    span = diagnostic.span
    return (0, 0) if span is None else (span.line, span.column)
