"""Tutorials: each a script and the notebook made of it, which is executed and compared.

The script `NN_name.py` is what one edits; the notebook beside it holds the same cells, and the
outputs of a run. `check` runs each notebook once, on a fresh kernel in the folder of the tutorials,
and compares the texts and the outputs; `write` stores them. A solution of an exercise, folded into
a cell of text, is run where it stands.
"""

from __future__ import annotations

import asyncio
import difflib
import hashlib
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat.reader import NotJSONError

from relaxscript_tests.notebook_outputs import (
    VARIES,
    are_dressed_alike,
    differences,
    tags_of,
    tidied,
)

__all__ = ["Problem", "check", "find", "write"]

AT_A_TIME = 2
CELL_SECONDS = 120  # the limit of a cell, many times what one takes
RAISES = "raises-exception"  # Jupyter's own tag of cells that show a mistake
SOLUTION = re.compile(r"<details>.*?```python\n(.*?)\n```.*?</details>", re.DOTALL)


@dataclass(frozen=True)
class Problem:
    """What is wrong with a notebook, and with which cell of it, counted from 1."""

    notebook: str
    message: str
    cell: int = 0
    line: str = ""
    detail: str = ""

    def __str__(self) -> str:
        where = f"{self.notebook}, cell {self.cell}" if self.cell else self.notebook
        first = f"{where}: {self.message}"
        shown = [f"    | {self.line}"] if self.line else []
        return "\n".join([first, *shown, *(f"    {line}" for line in self.detail.splitlines())])


def find(folder: Path, names: Iterable[str] = ()) -> list[Path]:
    """The scripts of the tutorials with these names, or that begin with them; all if none is given.

    A `LookupError` tells of a name that none has.
    """
    scripts = sorted(folder.glob("[0-9]*.py"))
    if not (names := list(names)):
        return scripts
    found: dict[Path, None] = {}
    for name in names:
        stem = Path(name).stem
        named = [script for script in scripts if script.stem.startswith(stem)]
        if not named:
            known = ", ".join(script.stem for script in scripts)
            raise LookupError(f"no tutorial is called {name}; there are {known}")
        found.update(dict.fromkeys(named))
    return sorted(found)


def check(scripts: Sequence[Path], limit: float = CELL_SECONDS) -> list[Problem]:
    """All that is wrong with the tutorials; each notebook is run once, two at a time."""
    return _for_each(scripts, lambda script: _check(script, limit))


def write(scripts: Sequence[Path], limit: float = CELL_SECONDS) -> list[Problem]:
    """Store each script as a notebook with the outputs of a run, if nothing goes wrong in it.

    What is stored depends on the script and the outputs only: to write again changes nothing.
    """
    return _for_each(scripts, lambda script: _write(script, limit))


def _for_each(scripts: Sequence[Path], job: Callable[[Path], list[Problem]]) -> list[Problem]:
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return [problem for problems in pool.map(job, scripts) for problem in problems]


# ---------------------------------------------------------------- one tutorial


def _check(script: Path, limit: float) -> list[Problem]:
    path = script.with_suffix(".ipynb")
    made = _notebook(script)
    problems, numbers = _run(made, path, limit)
    advice = f"run `python .ci/tutorials.py --write {script.stem}`"
    if not path.is_file():
        return [Problem(path.name, f"there is no such notebook: {advice}"), *problems]
    try:
        stored = nbformat.read(path, as_version=4)
    except (NotJSONError, nbformat.ValidationError) as error:
        return [Problem(path.name, f"it is no notebook: {advice}", detail=str(error)), *problems]
    if diff := _difference_of_texts(stored, made):
        message = f"the script beside it says something else: {advice}"
        return [Problem(path.name, message, detail=diff), *problems]
    for number in sorted(numbers):
        before, after = stored.cells[number - 1], made.cells[number - 1]
        if diff := differences(before.outputs, after.outputs, tags_of(after)):
            message = "the outputs of this run are not those that are stored"
            problems.append(_of_cell(path, number, after, message, diff))
    return sorted(problems, key=lambda problem: problem.cell)


def _write(script: Path, limit: float) -> list[Problem]:
    path = script.with_suffix(".ipynb")
    made = _notebook(script)
    problems, _ = _run(made, path, limit)
    if problems:
        return problems
    _keep_examples(made, path)
    text = nbformat.writes(made) + "\n"
    if not path.is_file() or path.read_text("utf-8") != text:
        part = path.with_suffix(".part")
        part.write_text(text, "utf-8")
        part.replace(path)
    return []


def _notebook(script: Path) -> Any:
    """The notebook that a script is, without outputs; its cells are named by what they say."""
    notebook = jupytext.read(script)
    notebook.metadata.get("jupytext", {}).pop("text_representation", None)
    notebook.nbformat_minor = 5
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        name = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        seen[name] = seen.get(name, 0) + 1
        cell.id = name if seen[name] == 1 else f"{name}-{seen[name]}"
    return notebook


def _difference_of_texts(stored: Any, made: Any) -> str:
    def lines(notebook: Any) -> list[str]:
        found = []
        for cell in notebook.cells:
            found += [
                f"%% {cell.cell_type} {tags_of(cell) or ''}".rstrip(),
                *cell.source.split("\n"),
            ]
        return found

    diff = difflib.unified_diff(lines(stored), lines(made), "notebook", "script", n=2, lineterm="")
    return "\n".join(diff)


def _keep_examples(made: Any, path: Path) -> None:
    """Give cells that vary the stored outputs, if these still have that shape and look."""
    try:
        stored = {cell.source: cell for cell in nbformat.read(path, as_version=4).cells}
    except (FileNotFoundError, NotJSONError, nbformat.ValidationError):
        return
    for cell in made.cells:
        before = stored.get(cell.source)
        if before is None or cell.cell_type != "code" or VARIES not in tags_of(cell):
            continue
        if not before.get("outputs") or not are_dressed_alike(before.outputs, cell.outputs):
            continue
        if not differences(before.outputs, cell.outputs, tags_of(cell)):
            cell.outputs = before.outputs


# ---------------------------------------------------------------- one run


@dataclass(frozen=True)
class _Step:
    """A cell of code as the kernel gets it: one of the notebook, or a solution in a text of it."""

    number: int
    cell: Any
    solution: bool = False


def _steps(notebook: Any) -> list[_Step]:
    steps = []
    for number, cell in enumerate(notebook.cells, 1):
        if cell.cell_type == "code":
            steps.append(_Step(number, cell))
        elif cell.cell_type == "markdown":
            codes = [nbformat.v4.new_code_cell(code) for code in SOLUTION.findall(cell.source)]
            steps += [_Step(number, code, solution=True) for code in codes]
    return steps


def _run(notebook: Any, path: Path, limit: float) -> tuple[list[Problem], set[int]]:
    """Execute a notebook on a kernel of its own; its cells get their outputs.

    What went wrong is given, and the numbers of the cells whose outputs can be compared.
    """
    steps = _steps(notebook)
    client = NotebookClient(
        nbformat.v4.new_notebook(cells=[step.cell for step in steps]),
        timeout=limit, kernel_name="python3", allow_errors=True, record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )  # fmt: skip
    # Outside of the main thread nbclient leaves the handlers of signals as they are.
    hindered = asyncio.run(_execute(client, steps))
    problems: list[Problem] = []
    numbers: set[int] = set()
    for step in steps:
        if hindered and step is hindered[0]:
            hangs = isinstance(hindered[1], CellTimeoutError)
            message = f"runs for more than {limit:g} seconds" if hangs else "ends the kernel"
            problems.append(_wrong(path, step, f"{message}; what follows was not run"))
            break
        if unexpected := _unexpected(step):
            problems.append(_wrong(path, step, *unexpected))
        elif not step.solution:
            numbers.add(step.number)
    return problems, numbers


async def _execute(
    client: NotebookClient, steps: Sequence[_Step]
) -> tuple[_Step, Exception] | None:
    """Run the cells in order; the one that the kernel did not come back from, if there is one."""
    async with client.async_setup_kernel(env=_environment(), stderr=subprocess.DEVNULL):
        for index, step in enumerate(steps):
            try:
                await client.async_execute_cell(step.cell, index, store_history=not step.solution)
            except (CellTimeoutError, DeadKernelError) as error:
                client.shutdown_kernel = "immediate"
                return step, error
            step.cell.outputs = nbformat.from_dict(tidied(step.cell.outputs))
    return None


def _environment() -> dict[str, str]:
    """What a kernel finds in the variables of its environment: nothing that changes outputs."""
    kept = {k: v for k, v in os.environ.items() if k not in ("MPLBACKEND", "RELAXSCRIPT_STRICT")}
    return {**kept, "RELAXSCRIPT_PROGRESS": "off"}


def _unexpected(step: _Step) -> tuple[str, str] | None:
    """A message and its details, if a cell raised and should not have, or the other way round."""
    errors = [output for output in step.cell.outputs if output.output_type == "error"]
    raises = RAISES in tags_of(step.cell)
    if errors and not raises:
        return f"raises {errors[0].ename}", errors[0].evalue
    if raises and not errors:
        return f"is tagged `{RAISES}`, and raises nothing", ""
    return None


def _wrong(path: Path, step: _Step, message: str, detail: str = "") -> Problem:
    whose = "the solution" if step.solution else "the cell"
    return _of_cell(path, step.number, step.cell, f"{whose} {message}", detail)


def _of_cell(path: Path, number: int, cell: Any, message: str, detail: str) -> Problem:
    line = next(iter(cell.source.strip().splitlines()), "")
    return Problem(path.name, message, number, line, detail)
