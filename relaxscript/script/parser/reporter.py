"""The mistakes found in one definition, and how they leave the parser."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from relaxscript.builder import left_to_run_time
from relaxscript.errors import Diagnostic, DiagnosticError, Label, Source, Span, quantity
from relaxscript.errors.exceptions import is_user_error

if TYPE_CHECKING:
    from .observer import Observer

__all__ = ["MOST_MISTAKES", "Reporter"]

__tracebackhide__ = is_user_error


# How many places are shown beside a mistake that is met in many.
MOST_LABELS = 6

# How many mistakes are reported: nobody reads more, and each costs its picture. Nor is it worth the
# while to find out what else was meant.
MOST_MISTAKES = 200


class _Use(NamedTuple):
    """A use of a macro, or a call of a lambda, inside which something is read."""

    label: Label
    of_mistakes: bool = False

    def leads_to(self, diagnostic: Diagnostic) -> bool:
        """True if a diagnostic inside is shown together with it."""
        if not self.of_mistakes:
            return True
        span = diagnostic.span
        elsewhere = span is not None and not self.label.span.contains(span)
        return elsewhere and diagnostic.severity == "error"


class Reporter:
    """Mistakes found so far in one definition; `strict` makes what cannot be decided one too.

    Such a one stays a warning until all is read, so that it keeps nothing else from being checked.

    `steps` counts what loops and comprehensions over Python values have written out, `expansions`
    the uses of macros; `exhausted` says that these were too many.
    """

    def __init__(self, strict: bool = False) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.strict = strict
        # What was not decided, with its message as a mistake, and what strictness refuses of it.
        self._undecided: dict[tuple[str, Span | None], str] = {}
        self._refused: set[tuple[str, Span | None]] = set()
        # The places where macros are used.
        self._expansions: set[Label] = set()
        self._uses: list[_Use] = []
        self.warnings = 0
        # Before the first error; none is sought there again.
        self._harmless = 0
        # Who keeps what expressions mean.
        self.observer: Observer | None = None
        # The definition or statement that is being read, and its source.
        self.reading: tuple[Source, ast.AST] | None = None
        self.steps = 0
        self.expansions = 0
        self.exhausted = False

    @property
    def failed(self) -> bool:
        """True if a mistake was found; each diagnostic is looked at once."""
        found = self.diagnostics
        while self._harmless < len(found) and found[self._harmless].severity != "error":
            self._harmless += 1
        return self._harmless < len(found)

    def failed_since(self, before: int) -> bool:
        """True if a mistake is among the diagnostics from number `before` on."""
        return any(d.severity == "error" for d in self.diagnostics[before:])

    def record(self, diagnostic: Diagnostic) -> None:
        """Record a finding, with the uses of macros and lambdas that led to it, innermost first."""
        labels = diagnostic.labels
        for use in reversed(self._uses):
            if use.leads_to(diagnostic) and use.label not in labels:
                labels = (*labels, use.label)
        if labels is not diagnostic.labels:
            diagnostic = replace(diagnostic, labels=labels)
        self.diagnostics.append(diagnostic)

    @contextmanager
    def inside_macro(self, name: str, span: Span) -> Iterator[None]:
        """Mistakes inside are due to the use of a macro at `span`."""
        label = Label(span, f"`{name}` is expanded here")
        self._expansions.add(label)
        with self._used(_Use(label)):
            yield

    @contextmanager
    def inside_lambda(self, span: Span) -> Iterator[None]:
        """Mistakes inside that are elsewhere are due to the call of a lambda at `span`."""
        with self._used(_Use(Label(span, "called here"), of_mistakes=True)):
            yield

    @contextmanager
    def _used(self, use: _Use) -> Iterator[None]:
        self._uses.append(use)
        try:
            yield
        finally:
            self._uses.pop()

    @property
    def is_full(self) -> bool:
        """True if further mistakes are only counted."""
        return len(self.diagnostics) - self.warnings >= MOST_MISTAKES

    def record_undecided(
        self, diagnostic: Diagnostic, strict: bool | None = None, checked: bool = True
    ) -> None:
        """Record what is not decided; `strict` is what the function says of it.

        Unless it is `checked` when the program runs, strictness has nothing to say of that.
        """
        warning = left_to_run_time(diagnostic) if checked else diagnostic
        self.record(warning)
        self.warnings += 1
        key = warning.message, warning.span
        self._undecided[key] = diagnostic.message
        if self.strict if strict is None else strict:
            self._refused.add(key)

    @contextmanager
    def strictly(self, strict: bool | None) -> Iterator[None]:
        """Inside, `strict` is as a definition says; None says nothing."""
        outer = self.strict
        self.strict = outer if strict is None else strict
        try:
            yield
        finally:
            self.strict = outer

    def settle(self) -> list[Diagnostic]:
        """All that was found; what had to be decided and was not is an error.

        A warning of what is found to be an error as well is that error.
        """
        known = [((d.message, d.span), d) for d in self.diagnostics]
        plain = [self._undecided.get(key, key[0]) for key, _ in known]
        found = [
            _as_error(d, message) if key in self._refused else d
            for (key, d), message in zip(known, plain)
        ]
        wrong = {(d.message, d.span) for d in found if d.severity == "error"}
        return [
            d for d, message in zip(found, plain)
            if d.severity == "error" or (message, d.span) not in wrong
        ]  # fmt: skip

    def finish(self) -> list[Diagnostic]:
        """Raise the errors, in the order of their places; give back the warnings.

        What is read twice (attributes belong to the header, and are written in the body, a macro is
        expanded wherever it is used) is wrong once.
        """
        found = _once(self.settle(), self._expansions)
        errors = [d for d in found if d.severity == "error"]
        if errors:
            # Those that were found first: what they may have meant is known.
            shown = sorted(errors[:MOST_MISTAKES], key=_position)
            raise DiagnosticError([*shown, *_count_hidden(errors[MOST_MISTAKES:])])
        return sorted(found, key=_position)


def _count_hidden(rest: list[Diagnostic]) -> list[Diagnostic]:
    """The mistake that tells how many more are not reported."""
    if not rest:
        return []
    message = f"{len(rest)} more mistake{'s are' if len(rest) > 1 else ' is'} not shown"
    first = min(rest, key=_position)
    return [Diagnostic(first.code, message, first.span, help="correct those that are shown first")]


def _as_error(warning: Diagnostic, message: str) -> Diagnostic:
    """A warning as strictness refuses it: nothing is left to a check at run time."""
    notes = warning.notes
    if message != warning.message:
        notes = (*notes, "`strict=True` leaves nothing to a check at run time")
    return replace(warning, severity="error", message=message, notes=notes)


def _once(diagnostics: Iterable[Diagnostic], expansions: Container[Label]) -> list[Diagnostic]:
    """Equal mistakes as one, with all the uses of macros that lead to them, if these are few."""
    found: dict[Diagnostic, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        facts = tuple(label for label in diagnostic.labels if label not in expansions)
        # What was meant may have been sought for the first of them only.
        key = replace(diagnostic, labels=facts, help=None, fix=())
        found.setdefault(key, []).append(diagnostic)
    return [same[0] if len(same) == 1 else _merge(same) for same in found.values()]


def _merge(same: list[Diagnostic]) -> Diagnostic:
    labels = list(dict.fromkeys(label for diagnostic in same for label in diagnostic.labels))
    more = len(labels) - MOST_LABELS
    if more <= 0:
        return replace(same[0], labels=tuple(labels))
    note = f"and {quantity(more, 'more place')}"
    return replace(same[0], labels=tuple(labels[:MOST_LABELS]), notes=(*same[0].notes, note))


def _position(diagnostic: Diagnostic) -> tuple[int, int]:
    span = diagnostic.span
    return (0, 0) if span is None else (span.line, span.column)
