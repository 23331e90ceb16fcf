"""What IPython says of the cells that it runs. It is asked only where a program runs in it."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["live_cell", "live_shell"]


def live_shell() -> Any:
    """The shell of IPython in which this program runs, None in plain Python."""
    ipython = sys.modules.get("IPython")
    get_shell = getattr(ipython, "get_ipython", None)  # missing while IPython is being imported
    return None if get_shell is None else get_shell()


def live_cell(filename: str) -> str | None:
    """`Cell In[8]` for the name under which IPython compiled a cell, None for any other."""
    shell = live_shell()
    described = getattr(getattr(shell, "compile", None), "format_code_name", None)
    if described is None:
        return None
    found = described(filename)
    return None if found is None else " ".join(found)
