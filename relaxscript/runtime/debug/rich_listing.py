"""The listing of an executable as HTML: functions fold, instructions tell their line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from relaxscript.errors import Span
from relaxscript.errors.markup import (
    box,
    escape,
    fold,
    hint_of,
    hinted,
    page,
    preformatted,
    title,
)  # fmt: skip

if TYPE_CHECKING:
    from relaxscript.runtime.executable import Executable

__all__ = ["executable_html"]

_OPEN_LINES, _ALL_OPEN_LINES = 40, 120  # of a function, and of all that are shown open
_INSTRUCTION = re.compile(r"(  )(\w+)( +)(.*)", re.DOTALL)


def executable_html(executable: Executable) -> str:
    """The whole output: what the executable is, and its functions with their instructions."""
    said = executable.stats().replace(" ()", "").split("\n")
    made = [title(f"Executable of {', '.join(executable.public_functions)}".rstrip(), said[1:3])]
    made.append(preformatted("\n".join(escape(line) for line in (said[0], said[3], ""))))
    left = _ALL_OPEN_LINES
    for lines in executable.listing():
        is_open = len(lines) <= min(_OPEN_LINES, left)
        left -= len(lines) if is_open else 0
        made.append(_function(lines, is_open))
    return page(box(*made, folds=True))


def _function(lines: Sequence[tuple[str, Span | None]], is_open: bool) -> str:
    (header, _), *rest = lines
    name, paren, parameters = header.partition("(")
    heading = f"{hinted(name, '', 'name')}{escape(paren + parameters)}"
    body = "".join(f"{_line(text, span)}\n" for text, span in rest)
    more = f"{len(rest):,} line{'s' if len(rest) != 1 else ''}"
    return fold(heading, preformatted(body), more, is_open)


def _line(text: str, span: Span | None) -> str:
    found = _INSTRUCTION.fullmatch(text)
    if found is None:
        return hinted(text, hint_of(span))
    before, word, gap, operands = found.groups()
    said = f"{hinted(word, '', 'keyword')}{gap}{escape(operands)}"
    hint = hint_of(span)
    return f'{before}<span title="{escape(hint)}">{said}</span>' if hint else f"{before}{said}"
