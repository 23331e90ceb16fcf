"""The progress of long builds, on the standard error of a terminal or notebook.

    with showing_progress("building"):
        note_progress("pass FuseOps")

    building for 3 s: pass FuseOps

Nothing is shown of what takes less than two seconds. A thread shows the rest, since what takes long
may be one call of LLVM; it ends with the build, and its line goes with it.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TextIO

from relaxscript.errors import shows_progress

__all__ = ["Progress", "note_progress", "showing_progress"]

# Seconds before anything is shown, and between two looks at what there is to show.
PATIENCE, INTERVAL = 2.0, 0.2

_current: ContextVar[Progress | None] = ContextVar("relaxscript.progress", default=None)


@contextmanager
def showing_progress(task: str) -> Iterator[None]:
    """Show how far a task is while the block runs, where that is wanted; an inner one adds nothing.

    `relaxscript.config(progress=...)` and `RELAXSCRIPT_PROGRESS` say where it is.
    """
    stream = sys.stderr
    if _current.get() is not None or not shows_progress(stream):
        yield
        return
    progress = Progress(task, stream)
    token = _current.set(progress)
    ended = threading.Event()
    thread = threading.Thread(
        target=progress.show, args=(ended.wait,), name="relaxscript progress", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        _current.reset(token)


def note_progress(step: str) -> None:
    """Say which step of the task in this thread begins."""
    progress = _current.get()
    if progress is not None:
        progress.step = step


class Progress:
    """A task and the step that it is at, shown on a stream."""

    def __init__(self, task: str, stream: TextIO) -> None:
        self.task = task
        self.step = ""
        self._stream = stream
        self._began = time.monotonic()
        self._shown = ""

    def show(self, wait: Callable[[float], bool]) -> None:
        """Show each step until `wait(seconds)` says that the task has ended."""
        if wait(PATIENCE):
            return
        while True:
            self._write(self._line())
            if wait(INTERVAL):
                break
        self._write("")

    def _line(self) -> str:
        seconds = time.monotonic() - self._began
        step = f": {self.step}" if self.step else ""
        return f"{self.task} for {seconds:.0f} s{step}"[:100]

    def _write(self, line: str) -> None:
        """Write a line over the one before."""
        if line == self._shown:
            return
        rest = " " * (len(self._shown) - len(line))
        try:
            self._stream.write(f"\r{line}{rest}" if line else f"\r{rest}\r")
            self._stream.flush()
        except (OSError, ValueError):  # closed: who reads has gone
            return
        self._shown = line
