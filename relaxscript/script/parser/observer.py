"""Values of the expressions of a script, kept for those who ask at a place: editors.

A parser forgets what it has read of a definition with a mistake. The observer that a reporter has
keeps the value of every expression, mistakes or not. It keeps names that are bound as well.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .script_context import ScriptContext

__all__ = ["BoundName", "Observed", "Observer"]

Rules = Mapping[type[ast.AST], Callable[[Any, Any], Any]]


class Observed(NamedTuple):
    """A value, and the context in which it was read: that of one function, or outside of any."""

    value: Any
    cx: ScriptContext


class BoundName(NamedTuple):
    """A name that was bound, by a statement or, where there is none, by the header."""

    name: str
    observed: Observed
    statement: ast.stmt | None


class Observer:
    """Values by their syntax and bound names in their order, of one definition.

    What is read several times, as the body of a loop that is written out, has its last value.
    `check` is called for each expression; what it raises ends the reading.
    """

    def __init__(self, check: Callable[[], None] = lambda: None) -> None:
        self.check = check
        self.values: dict[ast.AST, Observed] = {}
        self.bound: list[BoundName] = []
        self.contexts: list[ScriptContext] = []

    def watch(self, cx: ScriptContext, rules: Rules) -> Rules:
        """The rules of a language, whose results are kept."""
        self.contexts.append(cx)
        return {kind: self._watched(rule) for kind, rule in rules.items()}

    def _watched(self, rule: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        values, check = self.values, self.check

        def watched(cx: Any, node: Any) -> Any:
            check()
            value = rule(cx, node)
            values[node] = Observed(value, cx)
            return value

        return watched

    def bind(self, cx: ScriptContext, name: str, value: Any, statement: ast.stmt | None) -> None:
        """Take note of a name that a script binds."""
        self.bound.append(BoundName(name, Observed(value, cx), statement))
