"""The tutorial of tensor expressions: what its notebook shows.

That the executors agree with numpy is asserted in the tutorial itself; that the outputs are those
of a run is what `.ci/tutorials.py` looks at. Here they are read.
"""

from __future__ import annotations

import re

import nbformat
import pytest

from relaxscript_tests.architecture import ROOT

NOTEBOOK = ROOT / "tutorials" / "11_tensor_expressions.ipynb"


@pytest.fixture(scope="module")
def outputs():
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    return [output for cell in cells for output in cell.get("outputs", ())]


@pytest.fixture(scope="module")
def told(outputs):
    return "".join(output.get("text", "") for output in outputs)


def test_the_prim_funcs_are_printed_with_the_call(outputs, told):
    shown = "".join(output.get("data", {}).get("text/plain", "") for output in outputs)
    assert "soft = R.call_tir(cls.blur, (image,), out_sinfo=" in shown
    assert re.search(r"^\d+ lines parsed back to an equal module$", told, re.M)
    assert "['blur', 'edges', 'main']" in told


def test_every_executor_agrees_with_numpy(told):
    found = re.findall(r"^(virtual machine, \w+) +at most (\S+) from plain numpy$", told, re.M)
    assert [name for name, _ in found] == [
        "virtual machine, reference",
        "virtual machine, llvm",
    ]
    assert all(float(error) < 1e-5 for _, error in found)


def test_the_pictures_are_shown_and_the_module(outputs):
    kinds = [kind for output in outputs for kind in output.get("data", ())]
    assert kinds.count("image/png") == 1
    assert any("Picture" in output.get("data", {}).get("text/html", "") for output in outputs)


def test_the_mistake_is_told_at_the_line_of_the_function(outputs):
    [told] = [output["evalue"] for output in outputs if output["output_type"] == "error"]
    assert "error[RX0503]: axis 1 of the tensor `A` has extent 3, and no element 3" in told
    assert '`A` is this `R.Tensor((2, 3), "float32")`' in told
