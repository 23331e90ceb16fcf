"""Execute every tutorial, as a script and as the notebook beside it, which has to say the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

ROOT = Path(__file__).resolve().parents[1]
CELL_SECONDS = 600


def cells(notebook: nbformat.NotebookNode) -> list[tuple[str, str]]:
    return [(cell.cell_type, cell.source.strip()) for cell in notebook.cells]


def problems_of(script: Path) -> list[str]:
    """What is wrong with one tutorial, given by its readable source."""
    name = script.relative_to(ROOT).as_posix()
    problems = []
    if subprocess.run([sys.executable, str(script)], cwd=ROOT, check=False).returncode:
        problems.append(f"{name} fails")
    stored = script.with_suffix(".ipynb")
    if not stored.is_file():
        return [*problems, f"{name} has no notebook: run `jupytext --to ipynb {name}`"]
    notebook = nbformat.read(stored, as_version=4)
    if cells(notebook) != cells(jupytext.read(script)):
        problems.append(f"{name} and its notebook differ: run `jupytext --sync {name}`")
    where = {"metadata": {"path": str(script.parent)}}
    client = NotebookClient(notebook, timeout=CELL_SECONDS, kernel_name="python3", resources=where)
    try:
        client.execute()
    except CellExecutionError as error:
        problems.append(f"the notebook of {name} fails: {error}")
    return problems


def main() -> int:
    scripts = sorted((ROOT / "tutorials").glob("*.py"))
    problems = [problem for script in scripts for problem in problems_of(script)]
    print(*problems, f"{len(scripts)} tutorials, {len(problems)} problems", sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
