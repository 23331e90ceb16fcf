"""Sequences of patterns that use each other, and other constraints of a context."""

from __future__ import annotations

from collections.abc import Sequence

from . import possible
from .constraints import Link, current_constraints, pattern_error, require_constraints
from .pattern import DFPattern, require_pattern, require_patterns

__all__ = ["DFConstraint", "PatternSeq", "SameShapeConstraint"]


class DFConstraint:
    """A constraint of a context that is no pattern."""

    __slots__ = ()


class SameShapeConstraint(DFConstraint):
    """Patterns of the context that match what is sure to be of one shape.

    Raises `DiagnosticError` outside of a `PatternContext`.
    """

    __slots__ = ("args",)

    def __init__(self, *args: DFPattern) -> None:
        self.args = require_patterns(args, "pattern")
        require_constraints("same_shape_as").add_same_shape(self.args)

    def __repr__(self) -> str:
        return f"SameShapeConstraint({', '.join(map(repr, self.args))})"


class PatternSeq:
    """Patterns of which each is used by the next, `a ^ b ^ c`, or only by the next, `a >> b`."""

    __slots__ = ("links", "patterns")

    def __init__(self, patterns: Sequence[DFPattern], only_use: bool = False) -> None:
        self.patterns = require_patterns(patterns, "pattern")
        if not self.patterns:
            raise pattern_error("a sequence has at least one pattern")
        pairs = zip(self.patterns, self.patterns[1:])
        self.links = tuple(Link(a, b, -1, only_use) for a, b in pairs)
        context = current_constraints()
        for link in self.links if context is not None else ():
            context.add_link(link)  # type: ignore[union-attr]

    def __getitem__(self, index: int) -> DFPattern:
        return self.patterns[index]

    def __len__(self) -> int:
        return len(self.patterns)

    def used_by(self, other: DFPattern | PatternSeq, index: int = -1) -> PatternSeq:
        """Say that another pattern, or the first of a sequence, uses the last one of this."""
        return self._continue(other, index, False)

    def only_used_by(self, other: DFPattern | PatternSeq, index: int = -1) -> PatternSeq:
        """Say that another pattern uses the last one of this, and nobody else does."""
        return self._continue(other, index, True)

    def __xor__(self, other: DFPattern | PatternSeq) -> PatternSeq:
        return self.used_by(other)

    def __rshift__(self, other: DFPattern | PatternSeq) -> PatternSeq:
        return self.only_used_by(other)

    def dup(self) -> PatternSeq:
        """The same sequence of other patterns."""
        made = PatternSeq([self.patterns[0].dup()])
        for link in self.links:
            made = made._continue(link.consumer.dup(), link.index, link.only, said=False)
        return made

    def _continue(
        self, other: DFPattern | PatternSeq, index: int, only: bool, said: bool = True
    ) -> PatternSeq:
        word = "only_used_by" if only else "used_by"
        following = other if isinstance(other, PatternSeq) else None
        first = following[0] if following else require_pattern(other, f"the operand of `{word}`")
        link = Link(self.patterns[-1], first, index, only)
        possible.check_use(link, word)
        made = object.__new__(PatternSeq)
        made.patterns = (*self.patterns, *(following.patterns if following else (first,)))
        made.links = (*self.links, link, *(following.links if following else ()))
        context = require_constraints(word) if said else current_constraints()
        if context is not None:
            for each in made.links:
                context.add_link(each)
        return made

    def __repr__(self) -> str:
        words = [f" {'>>' if link.only else '^'} {link.consumer!r}" for link in self.links]
        return repr(self.patterns[0]) + "".join(words)
