"""The tutorial of tensor expressions: as a script and as a notebook; its figures hold.

That the executors agree with numpy is asserted in the tutorial itself; here it is run, and read.
"""

from __future__ import annotations

import re

import jupytext
import nbformat
import pytest

from relaxscript_tests.architecture import ROOT
from relaxscript_tests.end_to_end.test_tutorial_digits import EXECUTE, run_in

pytestmark = pytest.mark.slow

TUTORIAL = ROOT / "tutorials" / "02_tensor_expressions.py"
NOTEBOOK = TUTORIAL.with_suffix(".ipynb")


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the tutorial prints as a plain script."""
    done = run_in(tmp_path_factory.mktemp("run"), "-W", "error", str(TUTORIAL))
    assert done.stderr == ""
    return done.stdout


def test_the_prim_funcs_are_printed_with_the_call(told):
    assert "soft = R.call_tir(cls.blur, (image,), out_sinfo=" in told
    assert re.search(r"^\d+ lines parsed back to an equal module$", told, re.M)
    assert "['blur', 'edges', 'main']" in told


def test_every_executor_agrees_with_numpy(told):
    found = re.findall(r"^(virtual machine, \w+) +at most (\S+) from plain numpy$", told, re.M)
    assert [name for name, _ in found] == [
        "virtual machine, reference",
        "virtual machine, llvm",
    ]
    assert all(float(error) < 1e-5 for _, error in found)


def test_the_pictures_are_a_picture(told):
    [path] = re.findall(r"^pictures of the photograph: (.*)$", told, re.M)
    with open(path, "rb") as picture:
        assert picture.read(8) == b"\x89PNG\r\n\x1a\n"


def test_the_mistake_is_told_at_the_line_of_the_function(told):
    assert "error[RX0503]: axis 1 of the tensor `A` has extent 3, and no element 3" in told
    assert '`A` is this `R.Tensor((2, 3), "float32")`' in told


def test_the_notebook_runs_and_shows_the_module_and_the_pictures(tmp_path):
    executed = tmp_path / "executed.ipynb"
    run_in(tmp_path, "-c", EXECUTE, str(NOTEBOOK), str(executed))
    outputs = [
        output
        for cell in nbformat.read(executed, as_version=4).cells
        for output in cell.get("outputs", ())
    ]
    kinds = [kind for output in outputs for kind in output.get("data", ())]
    assert kinds.count("image/png") == 1
    assert any("Picture" in output.get("data", {}).get("text/html", "") for output in outputs)


def test_the_notebook_says_what_the_script_says_and_is_stored_without_outputs():
    stored = nbformat.read(NOTEBOOK, as_version=4).cells
    script = jupytext.read(TUTORIAL).cells
    assert [(c.cell_type, c.source) for c in stored] == [(c.cell_type, c.source) for c in script]
    code = [cell for cell in stored if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)
