"""The cells of a saved notebook: read as sources, without what IPython adds, and written back."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from relaxscript.errors import Source

__all__ = ["cells_of", "is_notebook", "plain_python", "with_cells"]

# Magics of a whole cell whose other lines are Python; all other such cells are left out.
_OF_PYTHON = ("%%time", "%%timeit", "%%capture", "%%prun")
_MODULE = re.compile(r"%%relax\b")
_NAMESPACES = "from relaxscript.script import ir as I, relax as R, tir as T"
_MAGIC = re.compile(r"^(\s*)[%!?].*$|^(\s*)[\w.]+\?{1,2}\s*$", re.MULTILINE)
_ASSIGNED = re.compile(r"^(\s*[\w, ]+=\s*)[%!].*$", re.MULTILINE)

_SPACE = re.compile(r"[ \t\r\n]*")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
# What is written as an escape although JSON would leave it as it is.
_ESCAPED = re.compile(r"\\u(?!00[01])")


def is_notebook(file: str) -> bool:
    return file.endswith(".ipynb")


def cells_of(file: str, text: str) -> list[Source]:
    """The cells of Python in a notebook, numbered from 1 as they are when all are run in turn.

    Raises `ValueError` for what is no notebook.
    """
    try:
        cells = json.loads(text)["cells"]
        written = [_text_of(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("it is no notebook") from error
    return [Source(file, text, number) for number, text in enumerate(written, 1)]


def _text_of(source: Any) -> str:
    """The source of a cell, which is saved whole or as a list of lines."""
    return source if isinstance(source, str) else "".join(source)


def plain_python(text: str) -> str:
    """The source of a cell in which magics are comments; all lines keep their numbers."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    if _MODULE.match(first):
        # The cell finds the namespaces without an import; the line keeps its number.
        text = text.replace(first, _NAMESPACES, 1)
    elif first.startswith("%%"):
        if not first.startswith(_OF_PYTHON):
            return ""
        text = text.replace("%%", "# ", 1)
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        text = _ASSIGNED.sub(r"\1input()", text)
        return _MAGIC.sub(lambda found: f"{found[1] or found[2] or ''}pass", text)
    return text


class _Part(NamedTuple):
    """A part of an object or array in JSON: its name in an object, and its place."""

    name: str | None
    start: int
    end: int


def with_cells(notebook: Source, cells: Sequence[Source]) -> str:
    """The text of a notebook in which its cells of Python are `cells`; all else is as it was.

    In a cell that changes, the lines that it had already are spelled as they were.
    """
    text = notebook.text
    pieces: list[str] = []
    at = 0
    for place, before, after in zip(
        _places_of_code(text), cells_of(notebook.filename, text), cells, strict=True
    ):
        if before != after:
            pieces += [text[at : place.start], _spell_cell(text, place, after.text)]
            at = place.end
    return "".join([*pieces, text[at:]])


def _places_of_code(text: str) -> list[_Part]:
    """The places of the sources of the cells of Python in a notebook's JSON."""
    whole = {part.name: part for part in _parts(text, _end_of_space(text, 0))}
    cells = [
        {part.name: part for part in _parts(text, cell.start)}
        for cell in _parts(text, whole["cells"].start)
    ]
    kinds = [text[cell["cell_type"].start : cell["cell_type"].end] for cell in cells]
    return [cell["source"] for cell, kind in zip(cells, kinds, strict=True) if _is_code(kind)]


def _is_code(kind: str) -> bool:
    return bool(json.loads(kind) == "code")


def _spell_cell(text: str, place: _Part, cell: str) -> str:
    """A cell as JSON in the place of another: a string for a string, a list of lines for a list."""
    ascii_only = text.isascii() and _ESCAPED.search(text) is not None
    if text[place.start] == '"':
        return json.dumps(cell, ensure_ascii=ascii_only)
    parts = list(_parts(text, place.start))
    known = {json.loads(text[part.start : part.end]): part for part in parts}
    opening = text[place.start : parts[0].start]
    between = [text[a.end : b.start] for a, b in pairwise(parts)]
    pieces = [opening]
    for number, line in enumerate(_LINE.findall(cell)):
        if number:
            pieces.append(between[min(number, len(between)) - 1] if between else f",{opening[1:]}")
        old = known.get(line)
        new = json.dumps(line, ensure_ascii=ascii_only)
        pieces.append(new if old is None else text[old.start : old.end])
    return "".join([*pieces, text[parts[-1].end : place.end]])


def _parts(text: str, start: int) -> Iterator[_Part]:
    """The parts of the object or array that begins at `start`."""
    value_at = json.JSONDecoder().raw_decode
    closing = "}" if text[start] == "{" else "]"
    at = _end_of_space(text, start + 1)
    while text[at] != closing:
        name = None
        if closing == "}":
            name, at = value_at(text, at)
            at = _end_of_space(text, _end_of_space(text, at) + 1)
        end = value_at(text, at)[1]
        yield _Part(name, at, end)
        at = _end_of_space(text, end)
        if text[at] == ",":
            at = _end_of_space(text, at + 1)


def _end_of_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
