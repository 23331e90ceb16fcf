"""The page of every code: what it means, a small wrong program, the mended one.

A page is one entry of one of the tables `language.py`, `struct_info.py`, `well_formed.py`,
`tir.py` and `runtime.py`: a title line, the meaning, then `Wrong:` and `Right:` programs,
indented.
"""

from __future__ import annotations

import textwrap
from typing import NamedTuple

from relaxscript.errors import diagnostic, exceptions

from . import language, runtime, struct_info, tir, well_formed

__all__ = ["CODES", "Page", "explain", "page_of"]

CODES: dict[str, str] = {
    code: page.strip("\n")
    for table in (language, struct_info, well_formed, tir, runtime)
    for code, page in table.PAGES.items()
}


class Page(NamedTuple):
    """A page in its parts; `title` is without the code."""

    code: str
    title: str
    meaning: str
    wrong: str
    right: str


def page_of(code: str) -> Page:
    """The parts of the page of a code as `CODES` spells it."""
    title, _, rest = CODES[code].removeprefix(f"{code}: ").partition("\n\n")
    meaning, _, programs = rest.partition("\n\nWrong:\n\n")
    wrong, _, right = programs.partition("\n\nRight:\n\n")
    return Page(code, title, meaning, textwrap.dedent(wrong), textwrap.dedent(right))


def explain(code: str) -> str:
    """The page of `code` ("RX0203", in any case; "203" is short for it).

    Raises DiagnosticError for a code that does not exist.
    """
    wanted = code.strip().upper().removeprefix("RX")
    page = CODES.get(f"RX{wanted:0>4}")
    if page is not None:
        return page
    close = diagnostic.nearest(f"RX{wanted:0>4}", CODES)
    help = f"did you mean {close}?" if close else "codes look like RX0203"
    raise exceptions.DiagnosticError(
        diagnostic.Diagnostic("RX0703", f"there is no diagnostic code `{code}`", None, help=help)
    )
