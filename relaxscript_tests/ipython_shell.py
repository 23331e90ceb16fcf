"""Cells that are run in a shell of IPython, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from relaxscript_tests.architecture import ROOT

__all__ = ["Shown", "run_cells"]

# A shell as terminals have it. What a cell prints is kept apart from what others print.
SHELL = """
import json, sys
from traitlets.config import Config
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
config = Config()
config.HistoryManager.hist_file = ":memory:"
config.InteractiveShell.colors = "NoColor"
shell = InteractiveShell.instance(config=config)
shown = []
for cell in json.loads(sys.argv[1]):
    with capture_output() as captured:
        result = shell.run_cell(cell, store_history=True)
    shown.append((captured.stdout + captured.stderr, result.success))
print(json.dumps(shown))
"""


class Shown(NamedTuple):
    """What a cell prints, and whether it ran to its end."""

    printed: str
    succeeded: bool


def run_cells(cells: list[str], folder: Path) -> list[Shown]:
    """What each of some cells shows, which are run one after the other in one shell."""
    (folder / "shell.py").write_text(SHELL)
    done = subprocess.run(
        [sys.executable, str(folder / "shell.py"), json.dumps(cells)],
        capture_output=True, text=True, check=True, cwd=folder,
        env={"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder), "PATH": "", "HOME": str(folder)},
    )  # fmt: skip
    return [Shown(*one) for one in json.loads(done.stdout.splitlines()[-1])]
