"""Exceptions and warnings that carry diagnostics.

`DiagnosticError` is for programs that are wrong, `VMError` for runs that fail. `RelaxWarning` is
for what cannot be decided beforehand, `InternalError` for mistakes of ours. `UnplacedError` never
reaches a user: code that knows the names of operands and no places raises it (an operator's rule an
`OperandError`). Code that knows the places turns it into a diagnostic. No hook of Python is
replaced: a `SyntaxError` is shown with its line anyway.
"""

from __future__ import annotations

import linecache
import os
import sys
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from .diagnostic import Diagnostic, Edit, Label, Nature
from .notebook import keep_lines, live_cell
from .operand_words import operand_words, with_words
from .render import render, render_body
from .span import Span

# How many frames of each traceback a notebook shows.
SHOWN_FRAMES = 2

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class InternalError(RuntimeError):
    """A mistake of relaxscript itself, not of the program that was given to it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return (
            f"internal error of relaxscript: {self.message}. This is our mistake, not yours; "
            "please report it together with the program that led here"
        )


class TVMError(RuntimeError):
    """The base of what is raised for programs that are wrong or fail, by the name that TVM has."""


class DiagnosticError(SyntaxError, TVMError):
    """The program is wrong; `.diagnostics` holds every mistake that was found, at least one.

    Python shows file, line and caret of the first by itself. `str(error)` is the whole rendering.
    The class is `DiagnosticTypeError` or `DiagnosticValueError` where the first is of that nature.
    So `except TypeError` and `except ValueError` catch it as they do elsewhere.
    """

    def __new__(cls, diagnostics: Diagnostic | Sequence[Diagnostic]) -> DiagnosticError:
        found = _as_tuple(diagnostics)
        kind = _OF_NATURE[_first(found).nature] if cls is DiagnosticError else cls
        return super().__new__(kind, found)

    def __init__(self, diagnostics: Diagnostic | Sequence[Diagnostic]) -> None:
        found = _as_tuple(diagnostics)
        first = _first(found)
        more = sum(diagnostic.severity == "error" for diagnostic in found) - 1
        message = first.message + (f" (and {more} more)" if more > 0 else "")
        others = ["\n" + render(other) for other in found if other is not first]
        notes = [note for note in (_format_further(first), *others) if note]
        # Of an error without a place Python shows `str(error)`, which has all, and then the notes.
        has_notes = sys.version_info >= (3, 11) and first.span is not None
        if not has_notes:
            message = "\n".join([message, *notes])
        super().__init__(message, _python_position(first.span))
        self.diagnostics = found
        if sys.version_info >= (3, 11) and has_notes:
            for note in notes:
                self.add_note(note)

    def __str__(self) -> str:
        return render(self.diagnostics)

    def _repr_html_(self) -> str:
        return render(self.diagnostics, style="html")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.diagnostics,), self.__dict__


class DiagnosticTypeError(DiagnosticError, TypeError):
    """A value of another kind, dtype or device is wanted, or a call has other parameters."""


class DiagnosticValueError(DiagnosticError, ValueError):
    """A value is of the right kind and cannot be what it is: a shape, an attribute."""


_OF_NATURE: Mapping[Nature | None, type[DiagnosticError]] = {
    None: DiagnosticError,
    "type": DiagnosticTypeError,
    "value": DiagnosticValueError,
}


def _as_tuple(diagnostics: Diagnostic | Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    found = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
    if not found:
        raise InternalError("a DiagnosticError was raised without a diagnostic")
    return found


def _first(found: Sequence[Diagnostic]) -> Diagnostic:
    """The first mistake, or the first of all where there are only warnings."""
    return next((one for one in found if one.severity == "error"), found[0])


class RelaxWarning(UserWarning):
    """Something that may go wrong; `.diagnostic` says what and where."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic)
        self.diagnostic = diagnostic

    def __str__(self) -> str:
        return "\n".join([self.diagnostic.message, _format_further(self.diagnostic)])

    def _repr_html_(self) -> str:
        return render(self.diagnostic, style="html")


class VMError(TVMError):
    """A run failed; `.span` is the Relax source that was running, `.diagnostic` the whole story.

    Raise it `from` the exception that caused it. The virtual machine stays usable. `.argument` is
    the position of the argument that does not fit, where it is one.
    """

    argument: int | None = None
    # The parameters of the operator that failed, by which its operands are called until it is
    # known where it is, and how many of them a call must have.
    parameters: tuple[str, ...] = ()
    required: int = 0
    # Those of them that are the operands of the call as it was made.
    operands: tuple[str, ...] = ()

    def __init__(
        self, message: str, *, code: str, span: Span | None = None, notes: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(code, message, span, notes=tuple(notes))

    @property
    def span(self) -> Span | None:
        """The place of the failing piece of Relax, if that is known."""
        return self.diagnostic.span

    @property
    def code(self) -> str:
        """The code of the failure, such as RX0601."""
        return self.diagnostic.code

    def locate(self, span: Span | None) -> VMError:
        """The same error; it blames `span` from now on unless it named a place already."""
        if self.diagnostic.span is None:
            self.diagnostic = replace(self.diagnostic, span=span)
            if span is not None and self.parameters:
                self.call_operands(operand_words(span.text, self.parameters, self.required))
        return self

    def call_operands(self, words: Mapping[str, str]) -> None:
        """Have operands called by the user's words, by the names of their parameters."""
        self.parameters = ()
        message = with_words(self.diagnostic.message, words)
        notes = tuple(with_words(note, words) for note in self.diagnostic.notes)
        self.diagnostic = replace(self.diagnostic, message=message, notes=notes)
        self.args = (message,)

    def __str__(self) -> str:
        body = render_body(self.diagnostic)
        return f"{self.diagnostic.message} [{self.code}]" + (f"\n{body}" if body else "")

    def _repr_html_(self) -> str:
        return render(self.diagnostic, style="html")

    def _render_traceback_(self) -> list[str]:
        return _traceback_of_user(self, type(self).__name__)

    def __reduce__(self) -> tuple[Any, ...]:
        return _vm_error, (type(self), self.diagnostic), self.__dict__


class NoSuchNameError(AttributeError):
    """An attribute that one of our objects has not, with what it has instead."""

    def _render_traceback_(self) -> list[str]:
        return _traceback_of_user(self, "AttributeError")


def _traceback_of_user(error: BaseException, kind: str) -> list[str]:
    """Lines for IPython: the user's frames, those of its cause too, then the error."""
    frames: list[str] = []
    cause: BaseException | None = error
    while cause is not None:
        frames += user_frames(cause)[-SHOWN_FRAMES:]
        cause = cause.__cause__
    text = "".join([*frames, f"{kind}: {error}"])
    return ["Traceback (most recent call last):", *text.split("\n")]


class UnplacedError(Exception):
    """A mistake, said by who knows no places; it is not for users.

    `callee` is what was called ("R.matmul"), where that is known.
    """

    callee: str | None = None

    @abstractmethod
    def diagnostic(
        self, callee: str, span: Span | None, operands: Mapping[str, Span | None]
    ) -> Diagnostic:
        """The diagnostic for a call of `callee` at `span`, its operands at `operands`."""

    def as_diagnostic_error(self, callee: str, span: Span | None) -> DiagnosticError:
        """The error for users: the mistake at `span`; `callee` where the error names none."""
        return DiagnosticError(self.diagnostic(self.callee or callee, span, {}))


class Remark(str):
    """A fact that is a whole sentence, "the dtype is int32"; other facts follow a name."""

    __slots__ = ()


class AdvisedError(Exception):
    """A plain Python error that keeps apart what is wrong and what to write instead."""

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(f"{message}; {help}" if help else message)
        self.message = message
        self.help = help


class AdvisedValueError(AdvisedError, ValueError):
    """A value that cannot be what it is, with what to write instead."""


class OperandError(UnplacedError):
    """Operands do not go together, said by a rule that knows their names and no places.

    `fact` is what is true of `operand`, the one to blame ("has 63 rows"); `also` says what is true
    of others. With `wanted` ("a tensor") the fact is what the operand is instead ("is a shape"). In
    `message`, `{callee}` stands for what is called: the function, until `callee` says more. `dims`
    maps an operand to the node of its annotation that makes the fact true; where the node has a
    `.span`, that place is shown too. `fix` maps an operand to the text to write in its place. `{}`
    in it is the text that is there. `cast` is the StructInfo that a match_cast of the operand could
    have, and with which it would fit. `nature` is that of the diagnostic, where the code does not
    say it.
    """

    def __init__(
        self,
        operand: str,
        fact: str,
        *,
        also: Mapping[str, str] | None = None,
        message: str | None = None,
        callee: str | None = None,
        wanted: str | None = None,
        code: str = "RX0203",
        help: str | None = None,
        fix: Mapping[str, str] | None = None,
        dims: Mapping[str, object] | None = None,
        cast: object = None,
        nature: Nature | None = None,
    ) -> None:
        super().__init__(operand, fact)
        self.operand = operand
        self.said = fact
        self.wanted = wanted
        self.also = dict(also or {})
        self.callee = callee
        self._message = message
        self.code = code
        self.help = help
        self.fix = dict(fix or {})
        self.dims = dict(dims or {})
        self.cast = cast
        self.nature = nature
        # What is wrong with other operands of the same call.
        self.others: tuple[OperandError, ...] = ()

    @property
    def message(self) -> str | None:
        """The sentence that says what is wrong, where there is one."""
        callee = "the function" if self.callee is None else f"`{self.callee}`"
        return None if self._message is None else self._message.replace("{callee}", callee)

    @property
    def fact(self) -> str:
        """The fact about the operand to blame."""
        return self.said if self.wanted is None else f"{self.said}, not {self.wanted}"

    @property
    def facts(self) -> dict[str, str]:
        """The facts about each operand that matters; the one to blame comes first."""
        return {self.operand: self.fact, **self.also}

    def diagnostic(
        self, callee: str, span: Span | None, operands: Mapping[str, Span | None]
    ) -> Diagnostic:
        """The diagnostic for a call of `callee` ("R.matmul") at `span`, its operands at `operands`.

        A fact about an operand that has no place of its own becomes a note.
        """
        culprit = operands.get(self.operand) or span
        placed = {name: operands.get(name) for name in self.facts}
        if placed[self.operand] is None:
            placed[self.operand] = span
        labels = [Label(at, self.facts[name]) for name, at in placed.items() if at is not None]
        for name, node in self.dims.items():
            at = node if isinstance(node, Span) else getattr(node, "span", None)
            if isinstance(at, Span) and name in self.facts:
                labels.append(Label(at, f"`{name}` {self.facts[name]} here"))
        edits = [
            Edit(at, text.replace("{}", at.text))
            for name, text in self.fix.items()
            if (at := operands.get(name)) is not None
        ]
        return Diagnostic(
            self.code,
            self.message or f"`{callee}` cannot take these operands",
            culprit,
            tuple(labels),
            tuple(f"`{name}` {self.facts[name]}" for name, at in placed.items() if at is None),
            self.help,
            tuple(edits),
            nature=self.nature,
        )

    def __str__(self) -> str:
        facts = "; ".join(f"`{name}` {fact}" for name, fact in self.facts.items())
        return ": ".join(part for part in (self.message, facts) if part)


def unplaced_error(error: BaseException) -> UnplacedError | None:
    """The error as it was before it got a place, for callers that know a better one."""
    said = error.__context__ if isinstance(error, DiagnosticError) else error
    return said if isinstance(said, UnplacedError) else None


_noted: ContextVar[list[Diagnostic] | None] = ContextVar("relaxscript.noted", default=None)


@contextmanager
def noted_warnings() -> Iterator[list[Diagnostic]]:
    """The warnings that are issued inside, which are issued all the same."""
    outer, noted = _noted.get(), list[Diagnostic]()
    token = _noted.set(noted)
    try:
        yield noted
    finally:
        _noted.reset(token)
        if outer is not None:
            outer.extend(noted)


def warn(diagnostic: Diagnostic) -> None:
    """Issue `diagnostic` as a `RelaxWarning` at the user's own file and line, or cell and line.

    Without a span that is the innermost line of Python that is not ours. Filters apply as usual.
    """
    noted = _noted.get()
    if noted is not None:
        noted.append(diagnostic)
    span = diagnostic.span
    if span is None:
        frame = sys._getframe(1)
        while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
            frame = frame.f_back
        filename, number = frame.f_code.co_filename, frame.f_lineno
        lines = [line.rstrip("\n") for line in linecache.getlines(filename, frame.f_globals)]
    else:
        filename, number, lines = span.filename, span.line, list(span.source.lines)
    cell = live_cell(filename)
    if cell is not None:
        keep_lines(cell, lines)
    warnings.warn_explicit(RelaxWarning(diagnostic), RelaxWarning, cell or filename, number)


def _format_remarks(diagnostic: Diagnostic) -> list[str]:
    """Everything but the message, as lines for those who show the source line themselves."""
    lines = [f"{span}: {text}" for span, text in diagnostic.labels if text]
    lines += [f"note: {note}" for note in diagnostic.notes]
    if diagnostic.help:
        lines.append(f"help: {diagnostic.help}")
    return [*lines, _code_of(diagnostic)]


def _format_further(first: Diagnostic) -> str:
    """The text below file, line, caret and message: the picture, where it says more than these."""
    if first.span is None or not (first.labels or first.fix):
        return "\n".join(_format_remarks(first))
    return "\n".join([render_body(first), _code_of(first)])


def _code_of(diagnostic: Diagnostic) -> str:
    return f"code: {diagnostic.code} (`relaxscript explain {diagnostic.code}` says more)"


def user_frames(error: BaseException) -> list[str]:
    """The frames of a traceback that are neither ours nor the notebook's own."""
    import traceback

    shown = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(PACKAGE)
        and f"{os.sep}IPython{os.sep}" not in frame.filename
    ]
    return [
        _with_cell(frame.filename, text) for frame, text in zip(shown, traceback.format_list(shown))
    ]


def add_note(error: BaseException, note: str) -> None:
    """A note on an error, which Python shows behind the message."""
    if sys.version_info >= (3, 11):
        error.add_note(note)
    else:  # which shows no notes, but keeps them for who looks
        error.__notes__ = [*getattr(error, "__notes__", []), note]


def is_user_error(info: Any) -> bool:
    """True if pytest may leave out our frames, as `__tracebackhide__ = is_user_error` says.

    It asks with what it knows of an exception. Frames of a mistake of ours stay.
    """
    return isinstance(info.value, (DiagnosticError, VMError))


def _with_cell(filename: str, text: str) -> str:
    """A frame of a traceback, in which a cell of a notebook goes by its number."""
    cell = live_cell(filename)
    return text if cell is None else text.replace(f'File "{filename}"', cell, 1)


def _python_position(
    span: Span | None,
) -> tuple[str | None, int | None, int | None, str | None, int | None, int | None]:
    """The details of a SyntaxError; Python draws on one line only, so a span ends with its line."""
    if span is None:
        return None, None, None, None, None, None
    text = span.source.line(span.line)
    end = span.end_column if span.end_line == span.line else len(text) + 1
    return span.filename, span.line, span.column, text, span.line, end


# A traceback shows the name that users import.
for _kind in (
    InternalError, TVMError, DiagnosticError, DiagnosticTypeError, DiagnosticValueError,
    RelaxWarning, VMError, UnplacedError, OperandError, Remark, AdvisedError,
    AdvisedValueError,
):  # fmt: skip
    _kind.__module__ = "relaxscript.errors"


def _vm_error(kind: type[VMError], diagnostic: Diagnostic) -> VMError:
    return kind(diagnostic.message, code=diagnostic.code, span=diagnostic.span)
