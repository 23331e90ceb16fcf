"""Context of failing calls: which function, where in the Relax source, and who called it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from relaxscript.errors import Span, VMError
from relaxscript.errors.notebook import line_name

from .builtins import BUILTINS
from .bytecode import Call
from .decode import DecodedFunction
from .stack_guard import lacks_stack

__all__ = ["add_call_notes", "add_context", "depth_error", "error_of_callee"]

_SHOWN = 8  # callers that are named; a deep recursion has thousands
_ENOUGH = 16  # notes


def error_of_callee(error: Exception, code: DecodedFunction, pc: int) -> VMError:
    """The error for a function outside of the program that raised `error`.

    Raises `error` itself where a packed function further outside is to blame.
    """
    callee = code.callee(pc)
    ours = callee in code.executable.externals or callee in BUILTINS
    if (ours or not callee) and lacks_stack(error):
        raise error
    if isinstance(error, RecursionError):
        text = "calls through packed functions nest deeper than Python allows"
        return VMError(f"`{callee}`: {text}", code="RX0609")
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return VMError(f"`{callee}` raised {words}", code="RX0606" if ours else "RX0604")


def depth_error(limit: int) -> VMError:
    """The error for a recursion that does not end in time."""
    return VMError(
        f"calls nest deeper than {limit}; does the recursion end?",
        code="RX0609",
        notes=["`call_depth_limit` sets how deep calls may nest"],
    )


def add_context(error: VMError, code: DecodedFunction, pc: int, frames: list[Any]) -> VMError:
    """`error` with the instruction `pc` of `code` as its place, and its callers as notes.

    An error from deeper down (a packed function that called the machine again) keeps its place.
    """
    span = code.instruction(pc).span
    placed = error.span is not None
    at = code.instruction(pc)
    if error.operands and isinstance(at, Call) and at.operands:
        given = zip(error.operands, at.operands)
        error.call_operands({parameter: name for parameter, name in given if name is not None})
    error.locate(span)
    running = [(code.function.name, span)]
    running += [(f[0].function.name, f[0].instruction(f[5]).span) for f in reversed(frames)]
    add_call_notes(error, running, placed)
    return error


def add_call_notes(
    error: VMError, running: Sequence[tuple[str, Span | None]], placed: bool
) -> None:
    """Add the functions that were running to a failure, the innermost first.

    With each comes the place where it was. `placed` says that the failure has a place of its own,
    further inside than the innermost function.
    """
    (name, span), *callers = running
    notes = [f"called from `{name}`{_at(span)}" if placed else f"in `{name}`"]
    shown = callers if len(callers) <= _SHOWN else callers[: _SHOWN - 2]
    notes += [f"called from `{name}`{_at(at)}" for name, at in shown]
    if len(shown) < len(callers):
        notes.append(f"... {len(callers) - len(shown) - 1} more calls")
        name, at = callers[-1]
        notes.append(f"called from `{name}`{_at(at)}")
    known = error.diagnostic.notes
    if len(known) <= _ENOUGH:  # runs nested in runs, each of which would add its own
        error.diagnostic = replace(error.diagnostic, notes=(*known, *notes))


def _at(span: Span | None) -> str:
    return f" at {line_name(span.filename, span.line)}" if span is not None else ""
