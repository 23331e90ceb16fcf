"""What a notebook shows of a mistake: few lines, none of ours, and the picture as HTML."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import nbclient
import nbformat
import pytest

from relaxscript_tests.architecture import ROOT

# A shell as notebooks have it; what a cell prints is kept apart from what others print.
SHELL = """
import json, sys
from traitlets.config import Config
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
config = Config()
config.HistoryManager.hist_file = ":memory:"
config.InteractiveShell.colors = "NoColor"
shell = InteractiveShell.instance(config=config)
printed = []
for cell in json.loads(sys.argv[1]):
    with capture_output() as captured:
        result = shell.run_cell(cell, store_history=True)
    printed.append(captured.stdout + captured.stderr)
kinds, _ = shell.display_formatter.format(result.error_in_exec or result.result)
print(json.dumps({"printed": printed[-1], "html": kinds.get("text/html", "")}))
"""
IMPORTS = """
import numpy as np
import relaxscript as rx
from relaxscript.script import ir as I, relax as R
"""
WRONG = """
@R.function
def f(x: R.Tensor((2, 3), "float32"), w: R.Tensor((4, 5), "float32")):
    y = R.matmul(x, w)
    return R.sum(y, axes=1)
"""
FAILING = """
@rx.register_func("notebook.third")
def third(x):
    return x[3]

@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor((2, 3), "float32")):
        return R.call_packed("notebook.third", x, sinfo_args=R.Tensor((3,), "float32"))

vm = rx.jit(M)
"""
LINES = 10


def shown(*cells: str, folder: Path) -> tuple[str, str]:
    """What the last of these cells prints, and its error as HTML."""
    (folder / "shell.py").write_text(SHELL)
    command = [sys.executable, str(folder / "shell.py"), json.dumps([IMPORTS, *cells])]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=folder,
        env={"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(folder), "PATH": "", "HOME": str(folder)},
    )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    return found["printed"], found["html"]


def trace_of(printed: str, error: str) -> list[str]:
    """The lines that stand before the message."""
    before, _, _ = printed.partition(f"{error}: ")
    return [line for line in before.splitlines() if line.strip()]


# IPython leaves out the empty line with which a cell begins.
PICTURES = """\
error[RX0203]: `R.matmul` cannot multiply these operands
 --> Cell In[2], line 3
  |
2 | def f(x: R.Tensor((2, 3), "float32"), w: R.Tensor((4, 5), "float32")):
  |          ---------------------------               - `w` has 4 rows here
  |          `x` has 3 columns here
3 |     y = R.matmul(x, w)
  |                  -  ^ has 4 rows
  |                  has 3 columns
  = help: the last axis of `x` must equal the last-but-one axis of `w`

error[RX0103]: `R.sum` has no parameter `axes`
 --> Cell In[2], line 4
  |
4 |     return R.sum(y, axes=1)
  |                     ^^^^
  = help: did you mean `axis`?
  |
4 +     return R.sum(y, axis=1)
  |                     ~~~~
"""


@pytest.mark.slow
def test_mistakes_in_a_cell_are_their_pictures_and_nothing_else(tmp_path):
    printed, _ = shown(WRONG, folder=tmp_path)
    assert printed == PICTURES


@pytest.mark.slow
def test_a_mistake_without_a_place_comes_with_the_cell_that_made_it(tmp_path):
    cell = "def load():\n    return rx.load('missing.rx')\nload()"
    printed, _ = shown(cell, folder=tmp_path)
    lines = [line.strip() for line in printed.splitlines() if "^" not in line]
    assert lines == [
        "Cell In[2], line 3, in <module>", "load()",
        "Cell In[2], line 2, in load", "return rx.load('missing.rx')",
        "error[RX0701]: cannot read `missing.rx`: No such file or directory",
    ]  # fmt: skip


FAR_AWAY = """
from relaxscript.script import tir as T

@T.prim_func
def pick(places: T.Buffer((1,), "int64"), y: T.Buffer((1,), "int64")):
    y[0] = places[places[0]]

rx.jit(pick).pick(np.array([7]), np.array([0]))
"""


@pytest.mark.slow
def test_callers_of_what_fails_are_in_cells_that_have_numbers(tmp_path):
    printed, _ = shown(FAR_AWAY, folder=tmp_path)
    assert printed.splitlines()[-1] == "  = note: called from `pick` at Cell In[2], line 4"


DOUBTFUL = """
@R.function
def f(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    return R.add(x, y)
"""


@pytest.mark.slow
@pytest.mark.parametrize("magic", ["", "%%time"])
def test_a_warning_names_its_cell_by_its_number_and_shows_its_line(magic, tmp_path):
    printed, _ = shown(f"{magic}{DOUBTFUL}", folder=tmp_path)
    first, *rest, last = [line for line in printed.splitlines() if " time" not in line]
    # IPython leaves out the empty line with which a cell begins.
    line = 4 if magic else 3
    assert first.startswith(f"Cell In[2]:{line}: RelaxWarning: ")
    assert rest[0] == f" --> Cell In[2], line {line}"
    assert any(one.startswith(f"{line - 1} | def f(") for one in rest)
    assert last == "  return R.add(x, y)"


@pytest.mark.slow
def test_a_warning_without_a_place_names_the_cell_that_called(tmp_path):
    cell = """
from relaxscript.errors import Diagnostic, warn

warn(Diagnostic("RX0201", "this may go wrong", None))"""
    printed, _ = shown(cell, folder=tmp_path)
    assert printed.startswith("Cell In[2]:3: RelaxWarning: this may go wrong\n")
    assert printed.splitlines()[-1].strip().startswith("warn(")


@pytest.mark.slow
def test_a_handler_of_the_users_is_left(tmp_path):
    setting = "get_ipython().set_custom_exc((ValueError,), lambda *a, **k: print('mine'))\n"
    again = "import importlib, relaxscript.errors\nimportlib.reload(relaxscript.errors)\n"
    printed, _ = shown(setting + again, "raise ValueError", folder=tmp_path)
    assert printed == "mine\n"


@pytest.mark.slow
def test_other_errors_are_shown_as_ever(tmp_path):
    printed, _ = shown("1 / 0", folder=tmp_path)
    assert "ZeroDivisionError" in printed
    assert "Traceback (most recent call last)" in printed


@pytest.mark.slow
def test_a_kernel_publishes_the_pictures_once_and_marks_the_cell_as_failed(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    cells = [nbformat.v4.new_code_cell(text) for text in (IMPORTS, WRONG)]
    book = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(book, allow_errors=True, kernel_name="python3").execute()
    pictures, error = book.cells[1].outputs
    assert pictures["data"]["text/plain"] + "\n" == PICTURES
    assert "prefers-color-scheme" in pictures["data"]["text/html"]
    assert error["traceback"] == [
        "DiagnosticValueError: `R.matmul` cannot multiply these operands (and 1 more)"
    ]


@pytest.mark.slow
def test_a_failing_run_shows_the_cells_and_nothing_of_ours(tmp_path):
    printed, _ = shown(FAILING, "vm.main(np.ones((2, 3), 'float32'))", folder=tmp_path)
    trace = trace_of(printed, "VMError")
    assert len(trace) <= LINES
    assert not any("relaxscript" in line for line in trace)
    # The latest comes last: the cell that calls, then the function that fails.
    assert [line for line in trace if "return x[3]" in line or "vm.main(" in line] == [
        "    vm.main(np.ones((2, 3), 'float32'))", "    return x[3]",
    ]  # fmt: skip
    assert "`notebook.third` raised IndexError" in printed
    assert "R.call_packed" in printed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (WRONG, "cannot multiply these operands"),
        (f"{FAILING}\nvm.main(np.ones((2, 3), 'float32'))", "raised IndexError"),
    ],
    ids=["a mistake", "a failing run"],
)
def test_an_error_is_displayed_as_html_with_the_same_content(cell, message, tmp_path):
    _, html = shown(cell, folder=tmp_path)
    assert "<pre" in html or "<div" in html
    assert message in html
    assert "script>" not in html


@pytest.mark.slow
def test_a_function_of_native_code_is_shown_by_its_parameters_and_others_are_not(tmp_path):
    made = WRONG.replace("y = R.matmul(x, w)\n    return R.sum(y, axes=1)", "return R.add(x, x)")
    _, html = shown(made, "rx.jit(rx.IRModule({'f': f})).f", folder=tmp_path)
    assert "<b>closure f</b>" in html
    assert shown("print", folder=tmp_path)[1] == ""
