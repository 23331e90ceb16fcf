"""Settings, by a block of Python or by the environment.

A call that says nothing itself (`strict=None`) asks `is_strict`. The innermost `config` around it
answers, and where there is none, `RELAXSCRIPT_STRICT` (`1` or `0`) of the environment. The progress
of long builds is shown in terminals and notebooks, unless `config` or `RELAXSCRIPT_PROGRESS` (`on`
or `off`) says otherwise.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TextIO

from .diagnostic import Diagnostic
from .exceptions import DiagnosticError
from .notebook import live_shell
from .user_frame import caller_span

__all__ = ["config", "is_strict", "shows_progress"]

_strict: ContextVar[bool | None] = ContextVar("relaxscript.strict", default=None)


_progress: ContextVar[bool | None] = ContextVar("relaxscript.progress_is_shown", default=None)


def config(
    *, strict: bool | None = None, progress: bool | None = None
) -> AbstractContextManager[None]:
    """Change how relaxscript behaves inside a `with`; what is None stays as it was.

    `strict=True` makes errors of the warnings about what can only be checked at run time, in
    decorators, `from_source` and builders. A call that says `strict=` itself goes before.
    `progress=True` shows on the standard error how far a build is that takes more than two seconds,
    False does not.

    Holds in this thread and task only, and goes before `RELAXSCRIPT_STRICT` and
    `RELAXSCRIPT_PROGRESS` of the environment. Raises `DiagnosticError` for what is neither True,
    False nor None.
    """
    for name, said in (("strict", strict), ("progress", progress)):
        if said is not None and not isinstance(said, bool):
            message = f"`{name}` is True or False, not {said!r}"
            raise DiagnosticError(Diagnostic("RX0103", message, caller_span()))
    return _inside(strict, progress)


@contextmanager
def _inside(strict: bool | None, progress: bool | None) -> Iterator[None]:
    token = _strict.set(_strict.get() if strict is None else strict)
    shown = _progress.set(_progress.get() if progress is None else progress)
    try:
        yield
    finally:
        _progress.reset(shown)
        _strict.reset(token)


def is_strict(said: bool | None = None) -> bool:
    """True if what cannot be decided is an error; `said` is what the call itself says."""
    if said is None:
        said = _strict.get()
    if said is None:
        said = os.environ.get("RELAXSCRIPT_STRICT", "0") not in ("", "0")
    return said


def shows_progress(stream: TextIO | None) -> bool:
    """True if the progress of long builds is to be shown on a stream.

    Where nothing is said, that is a terminal or a notebook, and no run of continuous integration.
    """
    said = _progress.get()
    if said is None:
        text = os.environ.get("RELAXSCRIPT_PROGRESS", "")
        said = text not in ("off", "0") if text else None
    if stream is None:
        return False
    if said is None:
        is_seen = stream.isatty() or hasattr(live_shell(), "kernel")
        said = is_seen and not os.environ.get("CI")
    return said
