"""The pages of `relaxscript explain` as Markdown."""

from __future__ import annotations

import ast
from itertools import groupby

from relaxscript.errors import CODES, Page, page_of

__all__ = ["all_as_markdown", "as_markdown"]

# What a code is about, by its first digits, in the order in which a program meets them.
GROUPS = {
    "RX01": "Syntax and names",
    "RX02": "Types, shapes and operands",
    "RX03": "Well-formedness",
    "RX04": "Purity",
    "RX05": "PrimFuncs",
    "RX06": "At run time",
    "RX07": "Files and builds",
}


def all_as_markdown() -> str:
    """One document: a list of the codes, then the meaning and the two programs of each."""
    pages = [page_of(code) for code in sorted(CODES)]
    parts = ["# Diagnostic codes", "`relaxscript explain CODE` prints one of these pages."]
    groups = [(GROUPS[key], list(group)) for key, group in groupby(pages, lambda p: p.code[:4])]
    for name, group in groups:
        lines = [f"- [{page.code}](#{page.code.lower()}): {page.title}" for page in group]
        parts += [f"**{name}**", "\n".join(lines)]
    for name, group in groups:
        parts.append(f"## {name}")
        # The anchor is written out: how one is made of a heading differs between renderers.
        parts += [
            f'<a id="{page.code.lower()}"></a>\n\n### {page.code}: {page.title}\n\n'
            f"{as_markdown(page)}"
            for page in group
        ]
    return "\n\n".join(parts)


def as_markdown(page: Page) -> str:
    """A page without its title."""
    section = [] if page.section is None else [f"Specification: {page.section}"]
    programs = ["Wrong:", _fence(page.wrong), "Right:", _fence(page.right)]
    return "\n\n".join([page.meaning, *section, *programs])


def _fence(program: str) -> str:
    try:
        ast.parse(program)
    except SyntaxError:
        return f"```text\n{program}\n```"
    return f"```python\n{program}\n```"
