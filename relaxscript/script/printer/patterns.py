"""The patterns of `match` statements as text; part of the unparser, which astunparse has not."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

__all__ = ["PatternUnparser"]


class PatternUnparser:
    """Visitors of `match` for a class that has `fill`, `write`, `dispatch`, `enter` and `leave`."""

    fill: Callable[..., None]
    write: Callable[[str], None]
    dispatch: Callable[[Any], None]
    enter: Callable[[], None]
    leave: Callable[[], None]

    def _Match(self, t: ast.Match) -> None:
        self.fill("match ")
        self.dispatch(t.subject)
        self.enter()
        for case in t.cases:
            self.dispatch(case)
        self.leave()

    def _match_case(self, t: ast.match_case) -> None:
        self.fill("case ")
        self.dispatch(t.pattern)
        if t.guard is not None:
            self.write(" if ")
            self.dispatch(t.guard)
        self.enter()
        self.dispatch(t.body)
        self.leave()

    def _MatchValue(self, t: ast.MatchValue) -> None:
        self.dispatch(t.value)

    def _MatchSingleton(self, t: ast.MatchSingleton) -> None:
        self.write(repr(t.value))

    def _MatchSequence(self, t: ast.MatchSequence) -> None:
        self._joined("[", [self._alone(p) for p in t.patterns], "]")

    def _MatchStar(self, t: ast.MatchStar) -> None:
        self.write(f"*{t.name or '_'}")

    def _MatchMapping(self, t: ast.MatchMapping) -> None:
        parts = [self._pair(k, p) for k, p in zip(t.keys, t.patterns)]
        if t.rest:
            parts.append(lambda: self.write(f"**{t.rest}"))
        self._joined("{", parts, "}")

    def _alone(self, pattern: ast.pattern) -> Callable[[], None]:
        return lambda: self.dispatch(pattern)

    def _pair(self, key: ast.expr, pattern: ast.pattern) -> Callable[[], None]:
        def write() -> None:
            self.dispatch(key)
            self.write(": ")
            self.dispatch(pattern)

        return write

    def _MatchClass(self, t: ast.MatchClass) -> None:
        self.dispatch(t.cls)
        parts = [self._alone(p) for p in t.patterns]
        parts += [self._named(n, p) for n, p in zip(t.kwd_attrs, t.kwd_patterns)]
        self._joined("(", parts, ")")

    def _named(self, name: str, pattern: ast.pattern) -> Callable[[], None]:
        def write() -> None:
            self.write(f"{name}=")
            self.dispatch(pattern)

        return write

    def _MatchAs(self, t: ast.MatchAs) -> None:
        if t.pattern is None:
            self.write(t.name or "_")
            return
        self._grouped(t.pattern, (ast.MatchAs,))
        self.write(f" as {t.name}")

    def _MatchOr(self, t: ast.MatchOr) -> None:
        for i, pattern in enumerate(t.patterns):
            if i:
                self.write(" | ")
            self._grouped(pattern, (ast.MatchAs, ast.MatchOr))

    def _grouped(self, pattern: ast.pattern, weak: tuple[type, ...]) -> None:
        plain = isinstance(pattern, ast.MatchAs) and pattern.pattern is None
        if isinstance(pattern, weak) and not plain:
            self._joined("(", [self._alone(pattern)], ")")
        else:
            self.dispatch(pattern)

    def _joined(self, opening: str, parts: list[Callable[[], None]], closing: str) -> None:
        self.write(opening)
        for i, part in enumerate(parts):
            if i:
                self.write(", ")
            part()
        self.write(closing)
