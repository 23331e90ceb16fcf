"""What the names of a Python file mean, as far as that is plain without running it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

from relaxscript.errors import Diagnostic
from relaxscript.script.parser.diagnostics import UNKNOWN
from relaxscript.script.parser.environment import Environment, is_builtin
from relaxscript.script.parser.reporter import Reporter
from relaxscript.script.source.plain_names import EVERYTHING

from .safe_calls import BUILTINS, is_harmless, member_of

__all__ = ["FileNames", "merged"]


class FileNames(Environment):
    """The names that a definition of a file can see, innermost scope first.

    What only a run of the file can tell is unknown. It is noted in `unknown`, with a mistake that
    is reported for it so that whatever depends on it is left unfinished.
    """

    def __init__(self, scopes: Sequence[Mapping[str, Any]], reporter: Reporter) -> None:
        super().__init__(scopes, "data")
        self.reporter = reporter
        self.unknown: dict[str, Diagnostic] = {}

    def lookup(self, name: str) -> Any:
        for scope in self.scopes:
            if name in scope:
                value = scope[name]
                break
        else:
            starred = any(EVERYTHING in scope for scope in self.scopes)
            if not is_builtin(name) and not starred:
                raise KeyError(name)
            value = BUILTINS.get(name, UNKNOWN)
        if value is UNKNOWN:
            self.leave_to_run(name)
        return value

    def member(self, owner: Any, name: str) -> tuple[bool, Any]:
        return member_of(owner, name)

    def may_call(self, callee: Any, args: Iterable[Any]) -> bool:
        return is_harmless(callee, args)

    def leave_to_run(self, written: str) -> bool:
        if written not in self.unknown:
            message = f"`{written}` is known only when the file runs"
            self.unknown[written] = Diagnostic("RX0112", message, None)
            self.reporter.diagnostics.append(self.unknown[written])
        return True

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
