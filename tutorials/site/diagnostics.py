"""Pages of diagnostics: what each code means, a wrong program with its message, the mended one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from relaxscript.cli.pages import GROUPS
from relaxscript.errors import CODES, Page, page_of

from .example_programs import told_by, whole_program
from .markdown import fence, page, prose, table, to_markdown

__all__ = ["NO_PROGRAMS", "diagnostic_pages", "message_of", "places"]

# Codes whose examples are commands of a shell.
NO_PROGRAMS = frozenset({"RX0702"})


def places() -> Mapping[str, str]:
    return {code: f"diagnostics/{code}" for code in CODES}


def diagnostic_pages() -> Iterator[tuple[str, str]]:
    """The index by groups, and a page for each code: where, and its Markdown."""
    pages = [page_of(code) for code in sorted(CODES)]
    groups = {GROUPS[key]: list(group) for key, group in groupby(pages, lambda p: p.code[:4])}
    sections = [
        f"## {name}\n\n"
        + table(
            ("code", "what is wrong"), [(f"[{p.code}]({p.code}.md)", prose(p.title)) for p in g]
        )
        for name, g in groups.items()
    ]
    contents = fence(
        "\n".join([":hidden:", "", *(f"{p.code} <{p.code}>" for p in pages)]), "{toctree}"
    )
    yield (
        "diagnostics/index",
        page(
            "Diagnostics",
            "Each mistake has a code, which stands in its message: `error[RX0203]`. A code is a "
            "category; its page says what the programs in it have in common. "
            "`relaxscript explain RX0203` prints the same.",
            contents,
            *sections,
        ),
    )
    yield from ((f"diagnostics/{p.code}", _diagnostic_page(p)) for p in pages)


def _diagnostic_page(found: Page) -> str:
    message = message_of(found)
    said = f"It is told:\n\n{fence(message, 'text')}" if message else ""
    section = f"*Specification: {found.section}*" if found.section else ""
    return page(
        f"{found.code}: {prose(found.title)}",
        to_markdown(found.meaning),
        section,
        "## Wrong",
        fence(whole_program(found.wrong)),
        said,
        "## Right",
        fence(whole_program(found.right)),
    )


def message_of(found: Page) -> str | None:
    """The words that the wrong program of a page is told; None where it is no program."""
    if found.code in NO_PROGRAMS:
        return None
    return told_by(whole_program(found.wrong))
