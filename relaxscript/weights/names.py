"""Names that should be the same on two sides, and are not: all that differ, in one message."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from relaxscript.errors import Diagnostic, DiagnosticError, meant_hint, nearest
from relaxscript.errors.exceptions import is_user_error

__all__ = ["listed", "refuse_unknown", "with_nearest"]

__tracebackhide__ = is_user_error

_MOST = 20  # names that a message lists


def refuse_unknown(what: str, given: Iterable[str], known: Collection[str]) -> None:
    """Raise RX0712 where names are given that are not known; the nearest ones are offered."""
    unknown = [name for name in given if name not in known]
    if unknown:
        message = f"{what} has {listed(unknown)}, which the file has not"
        notes = with_nearest(unknown, known)
        raise DiagnosticError(Diagnostic("RX0712", message, None, notes=notes))


def listed(names: Collection[str]) -> str:
    """Names in a sentence, the first twenty where there are more."""
    shown = ", ".join(f"`{name}`" for name in list(names)[:_MOST])
    return shown if len(names) <= _MOST else f"{shown} and {len(names) - _MOST} more"


def with_nearest(names: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    """Notes of what was probably meant, one for each name that is near a known one."""
    near = {name: nearest(name, known) for name in list(names)[:_MOST]}
    return tuple(
        f"`{name}` is not there{meant_hint(other)}" for name, other in near.items() if other
    )
