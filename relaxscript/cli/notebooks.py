"""The cells of a saved notebook as sources, and the Python in them without what IPython adds."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from relaxscript.errors import Source

__all__ = ["cells_of", "is_notebook", "plain_python"]

# Magics of a whole cell whose other lines are Python; all other such cells are left out.
_OF_PYTHON = ("%%time", "%%timeit", "%%capture", "%%prun")
_MAGIC = re.compile(r"^(\s*)[%!?].*$|^(\s*)[\w.]+\?{1,2}\s*$", re.MULTILINE)
_ASSIGNED = re.compile(r"^(\s*[\w, ]+=\s*)[%!].*$", re.MULTILINE)


def is_notebook(file: str) -> bool:
    return file.endswith(".ipynb")


def cells_of(file: str, text: str) -> list[Source]:
    """The cells of Python in a notebook, numbered from 1 as they are when all are run in turn.

    Raises `ValueError` for a text that is no notebook.
    """
    try:
        cells = json.loads(text)["cells"]
        written = [_text_of(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("it is no notebook") from error
    return [Source(file, text, number) for number, text in enumerate(written, 1)]


def _text_of(source: Any) -> str:
    """The text of a cell, which is saved whole or as a list of lines."""
    return source if isinstance(source, str) else "".join(source)


def plain_python(text: str) -> str:
    """The text of a cell in which magics are comments; all lines keep their numbers."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    if first.startswith("%%"):
        if not first.startswith(_OF_PYTHON):
            return ""
        text = text.replace("%%", "# ", 1)
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        text = _ASSIGNED.sub(r"\1input()", text)
        return _MAGIC.sub(lambda found: f"{found[1] or found[2] or ''}pass", text)
    return text
