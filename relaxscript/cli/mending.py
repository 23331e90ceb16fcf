"""Applying the fixes of a file again and again, until there is nothing more to fix."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff

from relaxscript.errors import Diagnostic, Source, mended

from .definitions import definitions
from .report import errors_of, in_order

__all__ = ["Looked", "difference", "look", "mend"]

# A fix may show a mistake that has a fix of its own; a chain of more is no longer what was meant.
ROUNDS = 20

LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class Looked:
    """What is known of a text: how many scripts it has, what was fixed in it, what is wrong."""

    source: Source
    scripts: int
    found: tuple[Diagnostic, ...]
    fixed: tuple[Diagnostic, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def is_python(self) -> bool:
        return not (self.scripts == 0 and any(d.code == "RX0113" for d in self.found))


def look(
    source: Source, strict: bool | None, cells: Sequence[Source] | None = None
) -> Looked:  # fmt: skip
    """The mistakes of a text, or of the cells that it holds, in the order of their places."""
    scripts, others = definitions(source if cells is None else cells, strict=strict)
    found = in_order([*others, *(d for script in scripts for d in script.diagnostics)])
    wrong = {script.name for script in scripts if errors_of(script.diagnostics)}
    unknown = dict.fromkeys(name for script in scripts for name in script.unknown)
    left = tuple(name for name in unknown if name not in wrong)
    return Looked(source, len(scripts), tuple(found), unknown=left)


def mend(looked: Looked, strict: bool | None) -> Looked:
    """The text with its fixes applied, and with those of the mistakes that then are found.

    Ends when nothing is left that has a fix, when a text comes up again, or after `ROUNDS`. Fixes
    after which the text is no longer Python are not taken.
    """
    seen = {looked.source.text}
    for _ in range(ROUNDS):
        text, applied = mended(looked.source, looked.found)
        if text in seen:
            break
        seen.add(text)
        after = look(Source(looked.source.filename, text), strict)
        if not after.is_python:
            break
        fixed = (*looked.fixed, *applied)
        looked = replace(after, fixed=fixed)
    return looked


def difference(before: Source, after: Source, mark: str = "") -> str:
    """The changes of a text in the form that `patch` reads; empty when there are none.

    `mark` is what the file begins with that is no part of its text: a byte order mark.
    """
    name = before.filename
    old, new = (LINE.findall(mark + source.text) for source in (before, after))
    return "".join(_ended(unified_diff(old, new, name, name)))


def _ended(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
