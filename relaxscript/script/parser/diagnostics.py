"""Mistakes and where they are: what every parser does when something is wrong.

Each mistake is recorded at its place; `Failed` then climbs to whoever can go on without the value.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from relaxscript.errors import (
    AdvisedError,
    Diagnostic,
    DiagnosticError,
    Edit,
    InternalError,
    Label,
    Source,
    Span,
    UnplacedError,
    nearest,
)
from relaxscript.errors.user_frame import caller_span, raised_span
from relaxscript.ir.node import Node
from relaxscript.script.names.tir_types import ScalarType

from .reporter import Reporter

__all__ = ["UNKNOWN", "Failed", "Failures", "PartlyFailed", "SourceReporter", "with_user_names"]


class Failed(Exception):
    """A mistake inside was reported; whoever depends on it is unknown, and silent."""


class PartlyFailed(Failed):
    """Some of several values are unknown: `values` has UNKNOWN in their places.

    It is None where it is not even known how many there are.
    """

    def __init__(self, values: list[Any] | None) -> None:
        super().__init__()
        self.values = values


class Failures:
    """Mistakes in several parts, each of which is read: `with failures:` goes on behind one."""

    def __init__(self) -> None:
        self.last: Failed | None = None

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Failed):
            return False
        self.last = error
        return True

    def settle(self) -> None:
        """Raise `Failed` where one of the parts failed."""
        if self.last is not None:
            raise self.last


class _Unknown:
    """The value of a name whose definition failed."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()


class SourceReporter:
    """Records mistakes in one source."""

    def __init__(self, source: Source, reporter: Reporter) -> None:
        self.source = source
        self.reporter = reporter
        # What is blamed in the place of its parts: a dimension inside a string has no place.
        self.inside_string: ast.expr | None = None

    def error(
        self, at: ast.AST | Span | None, code: str, message: str, *, help: str | None = None,
        labels: Sequence[tuple[ast.AST | Span | None, str]] = (), notes: Sequence[str] = (),
        fix: str | None = None, edits: Sequence[Edit] = (),
    ) -> Failed:  # fmt: skip
        """Record a mistake at a piece of syntax or a place; raise what this returns.

        `fix` is the string to write in that place; `edits` are corrections elsewhere.
        """
        span = self.span(at) if isinstance(at, ast.AST) else at
        placed = [(self.span(at) if isinstance(at, ast.AST) else at, text) for at, text in labels]
        whole = (Edit(span, fix),) if fix is not None and span is not None else ()
        marks = tuple(Label(at, text) for at, text in placed if at is not None)
        return self.report(
            Diagnostic(code, message, span, marks, tuple(notes), help, (*whole, *edits))
        )

    def report(self, diagnostic: Diagnostic) -> Failed:
        """Record a diagnostic; raise what this returns."""
        self.record(diagnostic)
        return Failed()

    def record(self, diagnostic: Diagnostic) -> None:
        """Record what was found; it is complete from here on."""
        self.reporter.record(diagnostic)

    def near(self, name: str, candidates: Iterable[str]) -> str | None:
        """The candidate that was most likely meant by `name`, as long as mistakes are shown."""
        return None if self.reporter.is_full else nearest(name, candidates)

    def span(self, node: ast.AST) -> Span:
        """The place of a piece of syntax."""
        return self.source.span(self.inside_string or node)

    def written(self, node: ast.AST) -> str:
        """The source of a piece of syntax, as the user wrote it where that is one line."""
        text = self.span(node).text
        return text if "\n" not in text and is_expression(text) else ast.unparse(node)

    @contextmanager
    def at(
        self, node: ast.AST, code: str = "RX0112",
        instead: Callable[[], Diagnostic | None] = lambda: None,
    ) -> Iterator[None]:  # fmt: skip
        """Whatever the user's Python raises inside is blamed on `node`.

        `instead` may know better what to say where nothing of the user's own raised it.
        """
        try:
            yield
        except (Failed, InternalError, RecursionError):
            raise
        except DiagnosticError as error:
            # What has no script is blamed on the call that led to us: here that of the parser,
            # while the node that called back is nearer.
            far, near = caller_span(), self.span(node)
            for found in error.diagnostics:
                self.record(move_blame(found, far, near))
            raise Failed from None
        except UnplacedError as error:
            raise self.report(error.diagnostic("this", self.span(node), {})) from None
        except Exception as error:
            advised = error if isinstance(error, AdvisedError) else None
            reason = in_words(str(error) or type(error).__name__)
            if code != "RX0112":  # what our own forms raise
                said = reason if advised is None else advised.message
                help = None if advised is None else advised.help
                raise self.error(node, code, said, help=help) from error
            message = f"evaluating this Python raised {type(error).__name__}: {reason}"
            span = raised_span(error)
            better = instead() if span is None else None
            if better is not None:
                raise self.report(better) from error
            raised = [(span, "raised here")]
            raise self.error(node, code, message, labels=raised) from error


def move_blame(diagnostic: Diagnostic, far: Span | None, near: Span) -> Diagnostic:
    """A diagnostic that blames `near` where it blamed `far`."""
    if diagnostic.span != far:
        return diagnostic
    labels = tuple(Label(near if at == far else at, text) for at, text in diagnostic.labels)
    return replace(diagnostic, span=near, labels=labels)


def in_words(reason: str) -> str:
    """Python's words on a value, without the names of the classes that we make values of."""
    ours = {cls.__name__ for cls in (*every_kind(Node), *every_kind(ScalarType))}
    return re.sub(
        r"(?<!attribute )(?:object of type )?'(\w+)'(?: objects?)?",
        lambda named: "what is known only later" if named[1] in ours else named[0],
        reason,
    )


def every_kind(cls: type) -> Iterator[type]:
    """A class, and all that derive from it."""
    yield cls
    kinds: list[type] = cls.__subclasses__()
    for kind in kinds:
        yield from every_kind(kind)


def is_expression(text: str) -> bool:
    """True if a string is an expression of Python by itself."""
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def with_user_names(diagnostic: Diagnostic, written: Mapping[str, str]) -> Diagnostic:
    """Parameters that were given as names are called by these names, wherever code is quoted."""
    words = "|".join(re.escape(name) for name in sorted(written, key=len, reverse=True))
    if not words:
        return diagnostic
    name = re.compile(rf"(?<![\w.\"])({words})(?![\w\"]|\s*=)")

    def rename(text: str) -> str:
        return re.sub(r"`[^`]*`", lambda code: name.sub(lambda m: written[m[1]], code[0]), text)

    return replace(
        diagnostic,
        labels=tuple(Label(at, rename(text)) for at, text in diagnostic.labels),
        notes=tuple(rename(note) for note in diagnostic.notes),
        help=None if diagnostic.help is None else rename(diagnostic.help),
    )
