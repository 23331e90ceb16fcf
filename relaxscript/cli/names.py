"""What the names of a Python file mean, as far as that is plain without running it."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from relaxscript.errors import Diagnostic
from relaxscript.script.parser.base import UNKNOWN, Reporter
from relaxscript.script.parser.environment import Environment
from relaxscript.script.parser.plain import EVERYTHING

__all__ = ["FileNames", "merged"]


class FileNames(Environment):
    """The names that a definition of a file can see, innermost scope first.

    A name whose value only a run of the file can tell is unknown. It is noted in `unknown`, with
    the mistake that was reported for it so that whatever depends on it is left unfinished.
    """

    def __init__(self, scopes: Sequence[Mapping[str, Any]], reporter: Reporter) -> None:
        super().__init__(scopes, "data")
        self.reporter = reporter
        self.unknown: dict[str, Diagnostic] = {}

    def lookup(self, name: str) -> Any:
        try:
            value = super().lookup(name)
        except KeyError:
            if not hasattr(builtins, name) and not any(EVERYTHING in s for s in self.scopes):
                raise
            value = UNKNOWN
        if value is UNKNOWN and name not in self.unknown:
            message = (
                f"`{name}` is known only when the file runs; what depends on it is not checked"
            )
            help = "`relaxscript run FILE` runs it, and checks what depends on that too"
            self.unknown[name] = Diagnostic("RX0112", message, None, help=help)
            self.reporter.diagnostics.append(self.unknown[name])
        return value

    def names(self) -> list[str]:
        return [name for name in super().names() if name != EVERYTHING]


def merged(outcomes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What is known of names after one of several branches has run, nobody knows which.

    A name keeps a value on which those branches agree that bind it. Our own namespaces win: they
    have one meaning, and the other branch is for those who lack them.
    """
    names = {name: None for outcome in outcomes for name in outcome}
    return {name: _agreed([o[name] for o in outcomes if name in o]) for name in names}


def _agreed(values: list[Any]) -> Any:
    first = values[0]
    for value in values:
        if isinstance(value, ModuleType):
            return value
    if all(value is first or _same_literal(value, first) for value in values):
        return first
    return UNKNOWN


def _same_literal(a: Any, b: Any) -> bool:
    plain = (int, float, str, bool, tuple, type(None))
    return type(a) is type(b) and isinstance(a, plain) and repr(a) == repr(b)
