"""The cells of IPython and of marimo. IPython is asked only where a program runs in it."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["keep_lines", "line_name", "live_cell", "live_shell"]

# A cell of which only its number is known, because a magic ran what is in it.
_NUMBERED = re.compile(r"<(In\[\d+\])>")
# The file that marimo says a cell is in; what comes before is different in every run.
_OF_MARIMO = re.compile(r".*__marimo__cell_(\w+)_(?:\.py)?", re.DOTALL)


def live_shell() -> Any:
    """The shell of IPython in which this program runs, None in plain Python."""
    ipython = sys.modules.get("IPython")
    get_shell = getattr(ipython, "get_ipython", None)  # missing while IPython is being imported
    return None if get_shell is None else get_shell()


def live_cell(filename: str) -> str | None:
    """`Cell In[8]` for a name under which a cell of a notebook is parsed, None for any other."""
    if numbered := _NUMBERED.fullmatch(filename):
        return f"Cell {numbered[1]}"
    if named := _OF_MARIMO.fullmatch(filename):
        return f"Cell {named[1]}"
    shell = live_shell()
    described = getattr(getattr(shell, "compile", None), "format_code_name", None)
    if described is None:
        return None
    found = described(filename)
    return None if found is None else " ".join(found)


def line_name(filename: str, line: int) -> str:
    """A line in words: `model.py:5`, or `Cell In[8], line 5` in a notebook."""
    cell = live_cell(filename)
    return f"{filename}:{line}" if cell is None else f"{cell}, line {line}"


def keep_lines(cell: str, lines: Sequence[str]) -> None:
    """Give Python the lines of a live cell by its name, as IPython does by a name of its own.

    What Python writes itself, such as a warning, has a line of the program then.
    """
    linecache.cache[cell] = (sum(map(len, lines)), None, [f"{line}\n" for line in lines], cell)
