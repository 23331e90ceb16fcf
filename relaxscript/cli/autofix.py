"""Applying the fixes of a file or notebook again and again, until there is nothing more to fix."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff

from relaxscript.errors import Diagnostic, Source, fix_source

from .report import errors_of, in_order
from .scripts_in_file import definitions

__all__ = ["Looked", "difference", "look", "mend"]

# A fix may show a mistake that has a fix of its own; a chain of more is no longer what was meant.
ROUNDS = 20

LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True)
class Looked:
    """A file, or the cells of a notebook, with its scripts and its mistakes.

    `fixed` are the mistakes that were there before; `not_python` are the sources without a tree.
    """

    sources: tuple[Source, ...]
    scripts: int
    found: tuple[Diagnostic, ...]
    fixed: tuple[Diagnostic, ...] = ()
    unknown: tuple[str, ...] = ()
    not_python: frozenset[Source] = frozenset()


def look(sources: Sequence[Source], strict: bool | None) -> Looked:
    """The mistakes of a file, or of the cells of a notebook, in the order of their places."""
    scripts, others = definitions(sources, strict=strict)
    found = in_order([*others, *(d for script in scripts for d in script.diagnostics)])
    wrong = {script.name for script in scripts if errors_of(script.diagnostics)}
    unknown = dict.fromkeys(name for script in scripts for name in script.unknown)
    left = tuple(name for name in unknown if name not in wrong)
    no_trees = frozenset(d.span.source for d in others if d.code == "RX0113" and d.span is not None)
    return Looked(tuple(sources), len(scripts), tuple(found), unknown=left, not_python=no_trees)


def mend(looked: Looked, strict: bool | None) -> Looked:
    """Apply the fixes, and those of the mistakes that then are found.

    Ends when nothing is left that has a fix, when the same sources come up again, or after
    `ROUNDS`. Fixes after which a source is no longer Python are not taken.
    """
    seen = {looked.sources}
    for _ in range(ROUNDS):
        texts = [fix_source(source, looked.found) for source in looked.sources]
        sources = tuple(
            Source(source.filename, text, source.cell)
            for source, (text, _) in zip(looked.sources, texts, strict=True)
        )
        if sources in seen:
            break
        seen.add(sources)
        after = look(sources, strict)
        if after.not_python.difference(looked.sources):
            break
        applied = (diagnostic for _, some in texts for diagnostic in some)
        looked = replace(after, fixed=(*looked.fixed, *applied))
    return looked


def difference(before: Source, after: Source, mark: str = "") -> str:
    """The changes of a file in the form that `patch` reads; empty when there are none.

    `mark` is what the file begins with that is no part of its text: a byte order mark.
    """
    name = before.filename
    old, new = (LINE.findall(mark + source.text) for source in (before, after))
    return "".join(_end_lines(unified_diff(old, new, name, name)))


def _end_lines(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
