"""Applying the fixes that diagnostics offer.

A fix is done whole or not at all. Fixes that overlap cannot both be done; the first in the text is,
and who reads the result again finds out whether the other is still needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from .diagnostic import Diagnostic, Edit
from .span import LINE_END, Source

__all__ = ["FixedSource", "apply_fixes", "fix_source"]


class FixedSource(NamedTuple):
    """A source, and the diagnostics whose fixes are in it."""

    text: str
    applied: tuple[Diagnostic, ...]


class _Replacement(NamedTuple):
    """From character `start` to character `end` of the text there is `text` afterwards."""

    start: int
    end: int
    text: str


def apply_fixes(source: Source, diagnostics: Iterable[Diagnostic]) -> str:
    """The text of `source` with the fixes of `diagnostics` applied."""
    return fix_source(source, diagnostics).text


def fix_source(source: Source, diagnostics: Iterable[Diagnostic]) -> FixedSource:
    """The text of `source` with the fixes of `diagnostics`, and which of them could be applied.

    Left out are fixes that change another source, and those that overlap one before them. The same
    fix of several diagnostics is done once. New lines end as the line that is changed ends.
    """
    fixable = [d for d in diagnostics if d.fix and all(e.span.source == source for e in d.fix)]
    accepted: set[_Replacement] = set()
    applied: list[Diagnostic] = []
    for diagnostic in sorted(fixable, key=lambda d: min(edit.span.start for edit in d.fix)):
        changes = {_replacement(source, edit) for edit in diagnostic.fix}
        together = accepted | changes
        if not any(_overlap(new, old) for new in changes for old in together if new != old):
            accepted = together
            applied.append(diagnostic)
    pieces: list[str] = []
    at = 0
    for start, end, text in sorted(accepted):
        pieces += [source.text[at:start], text]
        at = end
    return FixedSource("".join([*pieces, source.text[at:]]), tuple(applied))


def _replacement(source: Source, edit: Edit) -> _Replacement:
    start, end = source.offset(*edit.span.start), source.offset(*edit.span.end)
    text = edit.new_text
    found = LINE_END.search(source.text, end) or LINE_END.search(source.text)
    if found is not None and found[0] != "\n":
        text = re.sub(r"(?<!\r)\n", lambda _: found[0], text)
    return _Replacement(start, end, text)


def _overlap(a: _Replacement, b: _Replacement) -> bool:
    """True if both change a character, or what comes first between two would be anyone's guess."""
    same_place = (a.start, a.end) == (b.start, b.end)
    return same_place or (a.start < b.end and b.start < a.end)
