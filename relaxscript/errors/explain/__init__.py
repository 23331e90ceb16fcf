"""The page of every code: what it means, where the specification says so, a small wrong program,
the mended one.

A page is one entry of one of the tables `language.py`, `struct_info.py`, `well_formed.py`,
`well_formed_values.py`, `tir.py`, `runtime.py` and `files_and_builds.py`: a title line, the
meaning, then `Wrong:` and `Right:` programs, indented. The names that these use without an import
are those of `np`, `rx`, `relax`, `te`, `tir`, `I`, `R` and `T`. Sections of the specification are
in `sections.py`.
"""

from __future__ import annotations

import textwrap
from typing import Any, NamedTuple

from relaxscript.errors import diagnostic, exceptions, markup, suggest

from . import (
    files_and_builds,
    language,
    runtime,
    sections,
    struct_info,
    tir,
    well_formed,
    well_formed_values,
)

__all__ = ["CODES", "Page", "PageText", "explain", "page_of"]

# What the line of a page begins with that names a section.
_SPECIFICATION = "Specification: "


def _whole(code: str, page: str) -> str:
    """A page with the section of the specification that says more, after its meaning."""
    text = page.strip("\n")
    if code not in sections.SECTIONS:
        return text
    return text.replace(
        "\n\nWrong:\n\n", f"\n\n{_SPECIFICATION}{sections.SECTIONS[code]}\n\nWrong:\n\n", 1
    )


CODES: dict[str, str] = {
    code: _whole(code, page)
    for table in (
        language,
        struct_info,
        well_formed,
        well_formed_values,
        tir,
        runtime,
        files_and_builds,
    )
    for code, page in table.PAGES.items()
}


class Page(NamedTuple):
    """A page in its parts; `title` is without the code.

    `section` is that of the specification, None where it does not speak of this.
    """

    code: str
    title: str
    meaning: str
    wrong: str
    right: str
    section: str | None = None


class PageText(str):
    """The text of a page, which prompts and notebooks show as it stands."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    def _repr_html_(self) -> str:
        heading, _, rest = self.partition("\n\n")
        shown = "\n".join(map(_html_line, rest.split("\n")))
        return markup.page(markup.box(markup.title(heading), markup.preformatted(shown)))


def _html_line(line: str) -> str:
    """A line of a page; the headings of its programs are in bold."""
    return markup.hinted(line, "", "strong" if line in ("Wrong:", "Right:") else "")


def page_of(code: str) -> Page:
    """The parts of the page of a code as `CODES` spells it."""
    title, _, rest = CODES[code].removeprefix(f"{code}: ").partition("\n\n")
    said, _, programs = rest.partition("\n\nWrong:\n\n")
    meaning, _, section = said.partition(f"\n\n{_SPECIFICATION}")
    wrong, _, right = programs.partition("\n\nRight:\n\n")
    examples = textwrap.dedent(wrong), textwrap.dedent(right)
    return Page(code, title, meaning, *examples, section or None)


def explain(code: str) -> PageText:
    """The page of `code` ("RX0203", in any case; "203" is short for it).

    Raises DiagnosticError for a code that does not exist.
    """
    wanted = code.strip().upper().removeprefix("RX")
    page = CODES.get(f"RX{wanted:0>4}")
    if page is not None:
        return PageText(page)
    close = suggest.nearest(f"RX{wanted:0>4}", CODES)
    help = suggest.did_you_mean(close, "codes look like RX0203", quote="")
    raise exceptions.DiagnosticError(
        diagnostic.Diagnostic("RX0703", f"there is no diagnostic code `{code}`", None, help=help)
    )
