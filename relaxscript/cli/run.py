"""`relaxscript run`: a Python file is run as by Python; mistakes in its scripts are drawn."""

from __future__ import annotations

import linecache
import runpy
import select
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from relaxscript.errors import DiagnosticError

from .files import read
from .report import complain

__all__ = ["run"]


def run(file: str, arguments: Sequence[str]) -> int:
    """Run a file as `__main__`; 1 when it raises, as Python gives.

    A `DiagnosticError` is drawn without traceback; another exception is shown by `sys.excepthook`
    with the frames of the file and what it called. Raises RX0701 when the file cannot be read.
    """
    read(file)
    linecache.checkcache(file)  # a run before may have read another text under this name
    try:
        with as_main_program(file, arguments):
            runpy.run_path(file, run_name="__main__")
    except DiagnosticError as error:
        complain(error.diagnostics)
        return 1
    except Exception as error:
        if isinstance(error, BrokenPipeError) and output_is_closed():
            raise
        trace = frames_of(file, error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    return 0


@contextmanager
def as_main_program(file: str, arguments: Sequence[str]) -> Iterator[None]:
    """Inside, `sys.argv` and `sys.path` are what Python makes them for the file."""
    argv, path = sys.argv, sys.path
    sys.argv = [file, *arguments]
    sys.path = [str(Path(file).resolve().parent), *path]
    try:
        yield
    finally:
        sys.argv, sys.path = argv, path


def frames_of(file: str, trace: TracebackType | None) -> TracebackType | None:
    """The traceback from the first frame of the file on; all of it when there is none."""
    found = trace
    while found is not None and found.tb_frame.f_code.co_filename != file:
        found = found.tb_next
    return found or trace


def output_is_closed() -> bool:
    """True if nobody reads the standard output any more; False where that cannot be asked."""
    try:
        asked = select.poll()
        asked.register(sys.stdout.fileno(), 0)
        answers = asked.poll(0)
    except (AttributeError, OSError, ValueError):
        return False
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in answers)
