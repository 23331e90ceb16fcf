"""Whom and what a failing run names, in the same words for the interpreter and for bytecode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from relaxscript.errors import Span, VMError
from relaxscript.ir import relax

__all__ = ["located", "place_of_result", "place_of_signature", "tell_callers"]

_SHOWN = 8  # callers that are named; a deep recursion has thousands


@contextmanager
def located(*spans: Span | None) -> Iterator[None]:
    """Failures inside blame the first of `spans` that is known, unless they name a place."""
    try:
        yield
    except VMError as error:
        error.locate(next((span for span in spans if span is not None), None))
        raise


def place_of_signature(function: relax.Function) -> Span | None:
    """The parameters of a function: to blame for arguments that do not fit."""
    nodes = [node for param in function.params for node in (param, param.struct_info)]
    spans = [node.span for node in nodes if node is not None and node.span is not None]
    return Span.cover(*spans) if spans else function.span


def place_of_result(function: relax.Function) -> Span | None:
    """What a function returns: to blame when it does not fit the declared result."""
    body = function.body
    return getattr(body, "body_span", None) or body.span or function.span


def tell_callers(error: VMError, calls: Sequence[tuple[str, Span | None]]) -> None:
    """Add the functions that were running to a failure.

    `calls` has the name of each, the outermost first, and the place in its caller that called it.
    """
    notes = [f"in `{calls[-1][0]}`"]
    callers = [name for name, _ in calls[:-1]]
    places = [span for _, span in calls[1:]]
    for name, span in zip(reversed(callers), reversed(places), strict=True):
        if len(notes) > _SHOWN:
            notes.append("...")
            break
        notes.append(f"called from `{name}`" + (f" at {span.filename}:{span.line}" if span else ""))
    known = error.diagnostic.notes
    if len(known) <= 2 * _SHOWN:  # runs nested in runs, each of which would add its own
        error.diagnostic = replace(error.diagnostic, notes=(*known, *notes))
