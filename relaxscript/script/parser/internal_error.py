"""Crashes of ours while a script is read: reported as ours, with what was being read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from relaxscript.errors import DiagnosticError, InternalError

from .reporter import Reporter

__all__ = ["as_internal_error"]


@contextmanager
def as_internal_error(reporter: Reporter) -> Iterator[None]:
    """Whatever is raised inside and is no finding is an `InternalError`, caused by it."""
    try:
        yield
    except (DiagnosticError, InternalError, RecursionError, MemoryError, Warning):
        raise
    except Exception as error:
        what = f"{type(error).__name__} ({error})" if str(error) else type(error).__name__
        where = ""
        if reporter.reading is not None:
            source, node = reporter.reading
            where = f" at {source.span(node)}"
        raise InternalError(f"{what} while a script was read{where}") from error
