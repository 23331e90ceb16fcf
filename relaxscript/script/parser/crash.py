"""Crashes of ours while a script is read: reported as ours, with what was being read."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from relaxscript.errors import DiagnosticError, InternalError, Source, Span

__all__ = ["reported_as_ours"]


@contextmanager
def reported_as_ours() -> Iterator[None]:
    """Whatever is raised inside and is no finding is an `InternalError`, caused by it."""
    try:
        yield
    except (DiagnosticError, InternalError, RecursionError, MemoryError, Warning):
        raise
    except Exception as error:
        place = _being_read(error.__traceback__)
        what = f"{type(error).__name__} ({error})" if str(error) else type(error).__name__
        where = "" if place is None else f" at {place}"
        raise InternalError(f"{what} while a script was read{where}") from error


def _being_read(trace: TracebackType | None) -> Span | None:
    """The innermost piece of syntax that a parser had in its hands."""
    found: Span | None = None
    while trace is not None:
        held = trace.tb_frame.f_locals
        node, source = held.get("node"), getattr(held.get("self"), "source", None)
        if isinstance(node, ast.AST) and hasattr(node, "lineno") and isinstance(source, Source):
            found = source.span(node)
        trace = trace.tb_next
    return found
