"""The mistakes found in one definition, and how they leave the parser."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from relaxscript.builder import LEFT_TO_RUN_TIME
from relaxscript.errors import Diagnostic, DiagnosticError, Source, Span
from relaxscript.errors.exceptions import is_users

__all__ = ["EXPANDED", "Reporter"]

__tracebackhide__ = is_users


# What is said of the place where a macro is used.
EXPANDED = "is expanded here"

# How many places are shown beside a mistake that is met in many.
MOST_LABELS = 6

# How many mistakes are reported: nobody reads more, and each costs its picture. Nor is it worth the
# while to find out what else was meant.
MOST_MISTAKES = 200


class Reporter:
    """Mistakes found so far in one definition; `strict` makes what cannot be decided one too.

    Such a one stays a warning until all is read, so that it keeps nothing else from being checked.

    `steps` counts what loops and comprehensions over Python values have written out, `expansions`
    the uses of macros; `exhausted` says that these were too many.
    """

    def __init__(self, strict: bool = False) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.strict = strict
        self._refused: set[tuple[str, Span | None]] = set()
        self.warnings = 0
        # Before the first error; none is sought there again.
        self._harmless = 0
        # The definition or statement that is being read, and its source.
        self.reading: tuple[Source, ast.AST] | None = None
        self.steps = 0
        self.expansions = 0
        self.exhausted = False

    @property
    def failed(self) -> bool:
        """Whether a mistake was found; what was looked through once is not looked at again."""
        found = self.diagnostics
        while self._harmless < len(found) and found[self._harmless].severity != "error":
            self._harmless += 1
        return self._harmless < len(found)

    def forget(self, before: int) -> None:
        """Take back the warnings from there on: what they are about is read once more."""
        self.warnings -= len(self.diagnostics) - before
        del self.diagnostics[before:]
        self._harmless = min(self._harmless, before)

    @property
    def is_full(self) -> bool:
        """Whether what is found from now on is counted only."""
        return len(self.diagnostics) - self.warnings >= MOST_MISTAKES

    def undecided(self, diagnostic: Diagnostic, strict: bool | None = None) -> None:
        """Record what is left to a check at run time; `strict` is what the function says of it."""
        self.diagnostics.append(diagnostic)
        self.warnings += 1
        if self.strict if strict is None else strict:
            self._refused.add((diagnostic.message, diagnostic.span))

    def add_note(self, found: Diagnostic, note: str) -> None:
        """One more fact about the last thing that was recorded."""
        if self.diagnostics[-1] is found and note not in found.notes:
            self.diagnostics[-1] = replace(found, notes=(*found.notes, note))

    @contextmanager
    def strictly(self, strict: bool | None) -> Iterator[None]:
        """Inside, `strict` is as a definition says; None says nothing."""
        outer = self.strict
        self.strict = outer if strict is None else strict
        try:
            yield
        finally:
            self.strict = outer

    def settled(self) -> list[Diagnostic]:
        """All that was found; what had to be decided and was not is an error."""
        return [
            _as_error(d) if (d.message, d.span) in self._refused else d for d in self.diagnostics
        ]

    def finish(self) -> list[Diagnostic]:
        """Raise the errors, in the order of their places; give back the warnings.

        What is read twice (attributes belong to the header, and stand in the body, a macro is
        expanded wherever it is used) is wrong once.
        """
        found = _once(self.settled())
        errors = [d for d in found if d.severity == "error"]
        if errors:
            # Those that were found first: what they may have meant is known.
            shown = sorted(errors[:MOST_MISTAKES], key=_position)
            raise DiagnosticError([*shown, *_closing(errors[MOST_MISTAKES:])])
        return sorted(found, key=_position)


def _closing(rest: list[Diagnostic]) -> list[Diagnostic]:
    """What is said of the mistakes that are not reported."""
    if not rest:
        return []
    message = f"{len(rest)} more mistake{'s are' if len(rest) > 1 else ' is'} not shown"
    first = min(rest, key=_position)
    return [Diagnostic(first.code, message, first.span, help="correct those that are shown first")]


def _as_error(warning: Diagnostic) -> Diagnostic:
    """What is left to a check at run time, as strictness refuses it."""
    message = warning.message.removesuffix(LEFT_TO_RUN_TIME)
    notes = warning.notes
    if message != warning.message:
        notes = (*notes, "`strict=True` leaves nothing to a check at run time")
    return replace(warning, severity="error", message=message, notes=notes)


def _once(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Equal mistakes as one, with all the uses of macros that lead to them, if these are few."""
    found: dict[Diagnostic, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        facts = tuple(label for label in diagnostic.labels if not label.text.endswith(EXPANDED))
        # What was meant may have been sought for the first of them only.
        key = replace(diagnostic, labels=facts, help=None, fix=())
        found.setdefault(key, []).append(diagnostic)
    return [same[0] if len(same) == 1 else _merged(same) for same in found.values()]


def _merged(same: list[Diagnostic]) -> Diagnostic:
    labels = list(dict.fromkeys(label for diagnostic in same for label in diagnostic.labels))
    more = len(labels) - MOST_LABELS
    if more <= 0:
        return replace(same[0], labels=tuple(labels))
    note = f"and {more} more place{'s' if more > 1 else ''}"
    return replace(same[0], labels=tuple(labels[:MOST_LABELS]), notes=(*same[0].notes, note))


def _position(diagnostic: Diagnostic) -> tuple[int, int]:
    span = diagnostic.span
    return (0, 0) if span is None else (span.line, span.column)
