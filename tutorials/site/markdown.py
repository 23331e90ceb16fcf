"""Docstrings as Markdown: prose, programs, lists and tables of words.

A docstring is nearly Markdown already: code in prose is between backticks, programs are indented.
What is left is to escape what only Markdown would see, and to say in which language a program is.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

__all__ = ["fence", "page", "prose", "row", "table", "to_markdown"]

_CODE = re.compile(r"(``[^`]+``|`[^`\n]+`)")
_SPECIAL = re.compile(r"([\\*_<>\[\]{}$#|~@])")
_ITEM = re.compile(r"(?:[-*]|\d+\.) ")
_COLUMNS = re.compile(r"\S {2,}\S")


def page(title: str, *parts: str) -> str:
    """A page of its title and parts, those that are empty left out."""
    return "\n\n".join([f"# {title}", *(part for part in parts if part)]) + "\n"


def prose(text: str) -> str:
    """Text in which only what is between backticks means something to Markdown."""
    pieces = _CODE.split(text)
    return "".join(
        piece if number % 2 else _SPECIAL.sub(r"\\\1", piece) for number, piece in enumerate(pieces)
    )


def fence(program: str, language: str | None = None) -> str:
    """A program between fences that are longer than any in it."""
    longest = max(map(len, re.findall(r"`{3,}", program)), default=2)
    marks = "`" * (longest + 1)
    return f"{marks}{language or _language(program)}\n{program.rstrip()}\n{marks}"


def _language(program: str) -> str:
    if program.lstrip().startswith(">>>"):
        return "pycon"
    try:
        ast.parse(program)
    except SyntaxError:
        return "text"
    return "python"


def row(cells: Iterable[str]) -> str:
    """A row of a table; the cells are Markdown already."""
    return f"| {' | '.join(cell.replace(chr(10), ' ') for cell in cells)} |"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    return "\n".join([row(heads), row("---" for _ in heads), *map(row, rows)])


def to_markdown(docstring: str) -> str:
    """A docstring, as `inspect.getdoc` gives it, as Markdown."""
    return "\n\n".join(_block(lines) for lines in _blocks(docstring.strip("\n").split("\n")))


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Lines that belong together: a paragraph, a list, or a program with its empty lines."""
    block: list[str] = []
    for line in lines:
        if block and _is_indented(block[0]):
            ends = bool(line) and not _is_indented(line)
        elif block and _ITEM.match(block[0]):
            ends = not line
        else:
            ends = not line or (bool(block) and block[-1].endswith(":") and _is_indented(line))
        if ends and block:
            yield block
            block = []
        if line or block:
            block.append(line)
    if block:
        yield block


def _is_indented(line: str) -> bool:
    return line.startswith("    ")


def _block(lines: list[str]) -> str:
    text = "\n".join(lines).rstrip()
    if _is_indented(text):
        return fence("\n".join(line[4:] for line in text.split("\n")))
    if _ITEM.match(text):
        return "\n".join(_item(line) for line in lines)
    if len(lines) > 1 and sum(bool(_COLUMNS.search(line)) for line in lines) * 2 >= len(lines):
        return fence(text, "text")
    return prose(text)


def _item(line: str) -> str:
    """A line of a list: what marks an item is not escaped."""
    mark = _ITEM.match(line)
    start = mark.end() if mark else len(line) - len(line.lstrip())
    return line[:start].replace("*", "-") + prose(line[start:])
