"""Mistakes and where they stand: what every parser does when something is wrong.

Each mistake is recorded at its place; `Failed` then climbs to whoever can go on without the value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from relaxscript.errors import (
    Diagnostic,
    DiagnosticError,
    Edit,
    InternalError,
    Label,
    OperandError,
    Source,
    Span,
)
from relaxscript.errors.caller import caller_span, raised_span

from .reporter import Reporter

__all__ = ["UNKNOWN", "Blame", "Failed"]


class Failed(Exception):
    """A mistake inside was reported; whoever depends on it is unknown, and silent."""


class _Unknown:
    """The value of a name whose definition failed."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


class Blame:
    """Records mistakes in one source."""

    def __init__(self, source: Source, reporter: Reporter) -> None:
        self.source = source
        self.reporter = reporter

    def error(
        self, node: ast.AST | None, code: str, message: str, *, help: str | None = None,
        labels: Sequence[tuple[ast.AST | Span | None, str]] = (), notes: Sequence[str] = (),
        fix: str | None = None,
    ) -> Failed:  # fmt: skip
        """Record a mistake at `node`; raise what this returns.

        `fix` is the text to write in the place of `node`.
        """
        span = None if node is None else self.span(node)
        placed = [(self.span(at) if isinstance(at, ast.AST) else at, text) for at, text in labels]
        edits = (Edit(span, fix),) if fix is not None and span is not None else ()
        marks = tuple(Label(at, text) for at, text in placed if at is not None)
        self.reporter.diagnostics.append(
            Diagnostic(code, message, span, marks, tuple(notes), help, edits)
        )
        return Failed()

    def report(self, diagnostic: Diagnostic) -> Failed:
        """Record a finished diagnostic."""
        self.reporter.diagnostics.append(diagnostic)
        return Failed()

    def span(self, node: ast.AST) -> Span | None:
        """Where a piece of syntax stands."""
        return self.source.span(node)

    @contextmanager
    def at(self, node: ast.AST, code: str = "RX0112") -> Iterator[None]:
        """Whatever the user's Python raises inside is blamed on `node`."""
        try:
            yield
        except (Failed, InternalError, RecursionError):
            raise
        except DiagnosticError as error:
            # What has no script is blamed on the call that led to us: here that of the parser,
            # while the node that called back stands nearer.
            far, near = caller_span(), self.span(node)
            self.reporter.diagnostics.extend(
                replace(d, span=near) if d.span == far else d for d in error.diagnostics
            )
            raise Failed from None
        except OperandError as error:
            raise self.report(error.diagnostic("this", self.span(node), {})) from None
        except Exception as error:
            reason = str(error) or type(error).__name__
            if code != "RX0112":
                raise self.error(node, code, reason) from error
            message = f"evaluating this Python raised {type(error).__name__}: {reason}"
            raised = [(raised_span(error), "raised here")]
            raise self.error(node, code, message, labels=raised) from error
