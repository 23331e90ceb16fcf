"""Notebooks of marimo: definitions, mistakes and rich forms in its cells."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from relaxscript_tests.architecture import ROOT
from relaxscript_tests.markup import Markup

NOTEBOOK = """
import marimo

app = marimo.App()


@app.cell
def _():
    import numpy as np
    import relaxscript as rx
    from relaxscript.script import ir as I, relax as R
    return I, R, np, rx


@app.cell
def _(I, R):
    @I.ir_module
    class M:
        @R.function
        def main(x: R.Tensor(("n", 2), "float32")):
            y = R.nn.relu(x)
            return y

    M
    return (M,)


@app.cell
def _(M, np, rx):
    print(rx.jit(M).main(np.array([[-1, 2]], "float32")))
    return


@app.cell
def wrong(R):
    @R.function
    def f(x: R.Tensor((2,), "float32")):
        return R.add(x, z)
    return
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory) -> list[list[dict[str, Any]]]:
    """The outputs of each cell, which marimo writes as a notebook of Jupyter."""
    folder = tmp_path_factory.mktemp("marimo")
    (folder / "book.py").write_text(NOTEBOOK)
    command = ["-m", "marimo", "export", "ipynb", "book.py", "-o", "b.ipynb", "--include-outputs"]
    done = subprocess.run(
        [sys.executable, *command, "--sort", "top-down"], cwd=folder, capture_output=True,
        env={"PYTHONPATH": str(ROOT), "HOME": str(folder), "PATH": ""}, text=True, check=False,
    )  # fmt: skip
    assert (folder / "b.ipynb").exists(), done.stderr
    cells = json.loads((folder / "b.ipynb").read_text("utf-8"))["cells"]
    return [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.slow
def test_a_module_is_found_runs_and_is_shown(outputs):
    _, (shown,), (printed,), _ = outputs
    page = Markup("".join(shown["data"]["text/html"]))
    assert 'y: R.Tensor((n, 2), "float32") = R.nn.relu(x)' in page.text
    assert page.hints["y"].endswith("line 5: y = R.nn.relu(x)")
    assert "".join(printed["text"]) == "[[0. 2.]]\n"


@pytest.mark.slow
def test_a_mistake_is_shown_at_its_line(outputs):
    (error,) = outputs[-1]
    assert error["ename"] == "DiagnosticError"
    first, place, *_ = error["evalue"].splitlines()
    assert first == "error[RX0101]: `z` is not defined"
    assert place.startswith(" --> Cell ")
    assert place.endswith(", line 3")
