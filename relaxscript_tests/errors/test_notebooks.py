"""What a notebook shows of a mistake: few lines, none of ours, and the picture as HTML."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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


def test_a_mistake_in_a_cell_takes_few_lines(tmp_path):
    printed, _ = shown(WRONG, folder=tmp_path)
    assert len(trace_of(printed, "DiagnosticValueError")) <= LINES
    assert "DiagnosticValueError: `R.matmul` cannot multiply these operands" in printed
    assert "y = R.matmul(x, w)" in printed
    assert "has 4 rows" in printed


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
