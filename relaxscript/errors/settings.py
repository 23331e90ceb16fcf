"""Settings, by a block of Python or by the environment.

A call that says nothing itself (`strict=None`) asks `is_strict`. The innermost `config` around it
answers, and where there is none, `RELAXSCRIPT_STRICT` (`1` or `0`) of the environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

from .diagnostic import Diagnostic
from .exceptions import DiagnosticError
from .user_frame import caller_span

__all__ = ["config", "is_strict"]

_strict: ContextVar[bool | None] = ContextVar("relaxscript.strict", default=None)


def config(*, strict: bool | None = None) -> AbstractContextManager[None]:
    """Change how relaxscript behaves inside a `with`; what is None stays as it was.

    `strict=True` makes errors of the warnings about what can only be checked at run time, in
    decorators, `from_source` and builders. A call that says `strict=` itself goes before. Holds in
    this thread and task only, and goes before `RELAXSCRIPT_STRICT` of the environment. Raises
    `DiagnosticError` for what is neither True, False nor None.
    """
    if strict is not None and not isinstance(strict, bool):
        message = f"`strict` is True or False, not {strict!r}"
        raise DiagnosticError(Diagnostic("RX0103", message, caller_span()))
    return _inside(strict)


@contextmanager
def _inside(strict: bool | None) -> Iterator[None]:
    token = _strict.set(_strict.get() if strict is None else strict)
    try:
        yield
    finally:
        _strict.reset(token)


def is_strict(said: bool | None = None) -> bool:
    """True if what cannot be decided is an error; `said` is what the call itself says."""
    if said is None:
        said = _strict.get()
    if said is None:
        said = os.environ.get("RELAXSCRIPT_STRICT", "0") not in ("", "0")
    return said
