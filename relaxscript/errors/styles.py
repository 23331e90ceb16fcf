"""Lines of coloured pieces, and how they become text, ANSI or HTML.

Whoever draws says what a piece is for (its role), not how it looks; the looks are the tables here.
"""

from __future__ import annotations

import os
import unicodedata
from itertools import groupby
from typing import Literal, TextIO

Style = Literal["text", "ansi", "html"]
Role = Literal["plain", "strong", "error", "warning", "secondary", "gutter", "help", "note"]
Piece = tuple[str, Role]
Line = list[Piece]

ANSI: dict[Role, str] = {
    "strong": "1",
    "error": "1;31",
    "warning": "1;33",
    "secondary": "1;34",
    "gutter": "34",
    "help": "1;32",
    "note": "1;36",
}

# The page of a notebook may give any text a font in which columns do not align.
MONOSPACE = "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace"

# What a terminal would obey instead of showing: control characters and changes of direction.
HIDDEN = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) != "\n"},
    **dict.fromkeys((*range(0x7F, 0xA0), 0x2028, 0x2029), "\ufffd"),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd"),
}


def visible(text: str) -> str:
    """`text` with a sign for each character that would move the cursor or change colours."""
    return text.translate(HIDDEN)


def width(character: str) -> int:
    """The columns of a terminal that `character` takes: 0 for a combining one, 2 for a wide one."""
    if character.isascii():
        return 1
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def merge_pieces(cells: list[Piece]) -> Line:
    """`cells` with neighbours of one role joined."""
    groups = groupby(cells, key=lambda cell: cell[1])
    return [("".join(text for text, _ in group), role) for role, group in groups]


def paint(lines: list[Line], style: Style) -> str:
    """The lines as one string, without trailing spaces and without a newline at the end."""
    match style:
        case "text":
            return "\n".join("".join(text for text, _ in line).rstrip() for line in lines)
        case "ansi":
            return "\n".join("".join(_ansi(*piece) for piece in _trim(line)) for line in lines)
        case "html":
            from .markup import box, page, preformatted

            return page(box(preformatted(markup_of(lines))))


def markup_of(lines: list[Line]) -> str:
    """The lines as HTML that stands in a page, without the page."""
    return "\n".join("".join(_html(*piece) for piece in _trim(line)) for line in lines)


def automatic_style(stream: TextIO) -> Style:
    """ "ansi" where `stream` is a terminal with colours and NO_COLOR is unset, else "text"."""
    dull = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return "ansi" if stream.isatty() and not dull else "text"


def _trim(line: Line) -> Line:
    while line and not line[-1][0].strip():
        line = line[:-1]
    return [*line[:-1], (line[-1][0].rstrip(), line[-1][1])] if line else line


def _ansi(text: str, role: Role) -> str:
    return f"\x1b[{ANSI[role]}m{text}\x1b[0m" if role in ANSI and text.strip() else text


def _html(text: str, role: Role) -> str:
    from .markup import hinted

    return hinted(text, "", "" if role == "plain" else role)
