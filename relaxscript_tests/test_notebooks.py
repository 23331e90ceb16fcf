"""The tutorials are run as notebooks: what is wrong with one is told, and with which cell."""

from __future__ import annotations

import json

import nbformat
import pytest

from relaxscript_tests.notebooks import check, find, write

pytestmark = pytest.mark.slow

LIMIT = 2  # seconds for a cell that hangs
HANGS = "# %%\nfrom threading import Event\n\nEvent().wait()\n\n# %%\n1 / 0\n"

GOOD = """\
# %% [markdown]
# # Numbers

# %%
import sys, time
x = 1
print("a", flush=True)
print("warned", file=sys.stderr, flush=True)
print("b")

# %% tags=["raises-exception"]
[x][3]

# %% tags=["varies"]
time.time()

# %% [markdown]
# Double it.
#
# <details><summary>Solution</summary>
#
# ```python
# x = 2 * x
# assert x == 2
# ```
#
# </details>

# %%
x
"""

WRONG = {
    "02_raises": '# %%\nx = 1\n\n# %%\nx / 0\nx\n\n# %%\nprint("after")\n',
    "03_calm": '# %% tags=["raises-exception"]\nx = 1\n',
    "04_dies": "# %%\nimport os\n\nos._exit(3)\n\n# %%\n1 / 0\n",
    "05_solution": (
        "# %% [markdown]\n# <details><summary>Solution</summary>\n#\n# ```python\n# a = 1\n"
        "# assert a == 2\n# ```\n#\n# </details>\n\n# %%\na\n"
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A good tutorial, which is stored, and one of each kind of mistake."""
    folder = tmp_path_factory.mktemp("tutorials")
    (folder / "01_good.py").write_text(GOOD, "utf-8")
    assert write(find(folder)) == []
    for name, text in WRONG.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    stored = nbformat.read(folder / "01_good.ipynb", as_version=4)
    for name in ("06_changed", "07_script"):
        (folder / f"{name}.py").write_text(GOOD, "utf-8")
    (folder / "07_script.py").write_text(GOOD.replace("x = 1", "x = 1.0"), "utf-8")
    nbformat.write(stored, folder / "07_script.ipynb")
    stored.cells[1].outputs[1]["text"] = "a\nc\n"
    stored.cells[-1].outputs = []
    nbformat.write(stored, folder / "06_changed.ipynb")
    return folder


@pytest.fixture(scope="module")
def told(folder):
    """What is told of each of them, all being run."""
    problems = check(find(folder))
    return {
        script.stem: [str(p) for p in problems if p.notebook == f"{script.stem}.ipynb"]
        for script in find(folder)
    }


def of_cells(told):
    """Without what is told of notebooks as a whole."""
    return [text for text in told if ", cell " in text.splitlines()[0]]


def test_a_notebook_that_says_what_its_script_says_is_right(told):
    assert told["01_good"] == []


def test_a_cell_that_raises_is_told_with_its_first_line_and_the_message(told):
    assert of_cells(told["02_raises"]) == [
        "02_raises.ipynb, cell 2: the cell raises ZeroDivisionError\n"
        "    | x / 0\n"
        "    division by zero"
    ]


def test_a_mistake_on_purpose_that_is_none_is_told(told):
    assert of_cells(told["03_calm"]) == [
        "03_calm.ipynb, cell 1: the cell is tagged `raises-exception`, and raises nothing\n"
        "    | x = 1"
    ]


def test_a_cell_that_hangs_ends_its_notebook(tmp_path):
    (tmp_path / "01_hangs.py").write_text(HANGS, "utf-8")
    missing, problem = check(find(tmp_path), LIMIT)
    assert "there is no such notebook" in missing.message
    assert str(problem) == (
        "01_hangs.ipynb, cell 1: the cell runs for more than 2 seconds; what follows was not run\n"
        "    | from threading import Event"
    )


def test_a_cell_that_ends_the_kernel_ends_its_notebook_only(told):
    assert of_cells(told["04_dies"]) == [
        "04_dies.ipynb, cell 1: the cell ends the kernel; what follows was not run\n    | import os"
    ]


def test_a_solution_is_run_where_it_stands(told):
    assert of_cells(told["05_solution"]) == [
        "05_solution.ipynb, cell 1: the solution raises AssertionError\n    | a = 1"
    ]


def test_outputs_that_differ_or_are_missing_are_told_with_a_diff(told):
    changed, missing = told["06_changed"]
    assert changed == (
        "06_changed.ipynb, cell 2: the outputs of this run are not those that are stored\n"
        "    | import sys, time\n"
        "    --- stored\n"
        "    +++ found\n"
        "    @@ -3,3 +3,3 @@\n"
        "     [stdout]\n"
        "     a\n"
        "    -c\n"
        "    +b"
    )
    assert missing.startswith("06_changed.ipynb, cell 6: the outputs of this run are not those")
    assert missing.endswith("    +[execute_result]\n    +[text/plain]\n    +2")


def test_a_script_that_says_something_else_is_told_with_a_diff(told):
    [text] = told["07_script"]
    assert text.startswith(
        "07_script.ipynb: the script beside it says something else: "
        "run `python .ci/tutorials.py --write 07_script`\n    --- notebook\n    +++ script\n"
    )
    assert "    -x = 1\n    +x = 1.0\n" in text


def test_a_script_without_a_notebook_is_told(told):
    assert told["04_dies"][0] == (
        "04_dies.ipynb: there is no such notebook: run `python .ci/tutorials.py --write 04_dies`"
    )


def test_a_file_that_is_no_notebook_is_told_and_written_anew(tmp_path):
    (tmp_path / "01_short.py").write_text("# %%\n1 + 1\n", "utf-8")
    (tmp_path / "01_short.ipynb").write_text('{"cells": [', "utf-8")
    [problem] = check(find(tmp_path))
    assert str(problem).startswith("01_short.ipynb: it is no notebook: run `python .ci/tutorials")
    assert write(find(tmp_path)) == []
    assert check(find(tmp_path)) == []


def test_what_is_stored_is_the_same_when_it_is_stored_again(folder):
    path = folder / "01_good.ipynb"
    before = path.read_bytes()
    assert write(find(folder, ["01"])) == []
    assert path.read_bytes() == before


def test_a_stored_notebook_has_outputs_and_nothing_of_the_run(folder):
    text = (folder / "01_good.ipynb").read_text("utf-8")
    stored = json.loads(text)
    assert [cell.get("execution_count") for cell in stored["cells"]] == [None, 1, 2, 3, None, 4]
    first, error, _, last = (cell["outputs"] for cell in stored["cells"] if "outputs" in cell)
    assert [output["text"] for output in first] == [["warned\n"], ["a\n", "b\n"]]
    assert [output["ename"] for output in error] == ["IndexError"]
    assert last[0]["data"]["text/plain"] == ["2"]  # what the solution left
    assert "execution" not in stored["cells"][1]["metadata"]
    assert set(stored["metadata"]) <= {"jupytext", "kernelspec"}
    nbformat.validate(stored)


def test_what_goes_wrong_is_not_stored(folder):
    [problem] = write(find(folder, ["02"]))
    assert (problem.cell, problem.message) == (2, "the cell raises ZeroDivisionError")
    assert not (folder / "02_raises.ipynb").exists()


def test_tutorials_are_found_by_their_number_name_or_file(folder):
    for name in ("01", "01_good", "tutorials/01_good.py", "01_good.ipynb"):
        assert [script.stem for script in find(folder, [name])] == ["01_good"]
    with pytest.raises(LookupError, match="no tutorial is called 1_good; there are 01_good, 02_"):
        find(folder, ["01", "1_good"])
