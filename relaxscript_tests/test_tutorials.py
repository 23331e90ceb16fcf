"""What every tutorial has: a notebook that says what its script says, a mistake, exercises.

Whether the outputs are those of a run is what `.ci/tutorials.py` looks at.
"""

from __future__ import annotations

import re

import jupytext
import nbformat
import pytest

from relaxscript_tests.architecture import ROOT
from relaxscript_tests.notebooks import SOLUTION, find

SCRIPTS = find(ROOT / "tutorials")
every_tutorial = pytest.mark.parametrize("script", SCRIPTS, ids=[path.stem for path in SCRIPTS])


def notebook(script):
    return nbformat.read(script.with_suffix(".ipynb"), as_version=4)


@every_tutorial
def test_the_notebook_says_what_the_script_says(script):
    assert [(cell.cell_type, cell.source) for cell in notebook(script).cells] == [
        (cell.cell_type, cell.source) for cell in jupytext.read(script).cells
    ]


@every_tutorial
def test_it_begins_with_a_title(script):
    assert re.match(r"# \S", notebook(script).cells[0].source)


@every_tutorial
def test_its_outputs_are_stored(script):
    code = [cell for cell in notebook(script).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == [*range(1, len(code) + 1)]
    assert sum(bool(cell.outputs) for cell in code) > len(code) / 3


@every_tutorial
def test_it_shows_a_mistake_with_its_message(script):
    assert re.search(r"\bRX0\d\d\d\b", str([c.get("outputs") for c in notebook(script).cells]))


@every_tutorial
def test_it_ends_with_exercises_whose_solutions_fold_open(script):
    texts = [cell.source for cell in notebook(script).cells if cell.cell_type == "markdown"]
    whole = "\n\n".join(texts)
    exercises = whole[whole.index("## Exercises") :]
    assert len(SOLUTION.findall(exercises)) >= 2
    assert exercises.count("<details><summary>Solution</summary>") == exercises.count("</details>")
    assert len(SOLUTION.findall(exercises)) == exercises.count("</details>")


def test_their_numbers_are_their_own():
    numbers = [path.stem.split("_")[0] for path in SCRIPTS]
    assert len(set(numbers)) == len(numbers)
