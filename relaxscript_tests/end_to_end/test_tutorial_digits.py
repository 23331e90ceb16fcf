"""The digits tutorial, run as a script by the README's command; its figures hold.

What the executors compute is asserted in the tutorial itself; here it is run, and read. As a
notebook it is run by `.ci/tutorials.py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import nbformat
import pytest

from relaxscript.cli.scripts_in_file import definitions
from relaxscript.errors import Source
from relaxscript_tests.architecture import ROOT

pytestmark = pytest.mark.slow

TUTORIAL = ROOT / "tutorials" / "01_digits.py"
NOTEBOOK = TUTORIAL.with_suffix(".ipynb")


def run_in(folder, *command):
    """Run Python in an empty folder, which is the place for temporary files, too."""
    work = folder / "work"
    work.mkdir()
    done = subprocess.run(
        [sys.executable, *command],
        cwd=work, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder), "PYTHONUTF8": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list(work.iterdir()) == []
    return done


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What the main command of the README prints."""
    done = run_in(
        tmp_path_factory.mktemp("run"),
        "-W", "error", "-m", "relaxscript", "run", str(TUTORIAL),
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout


def test_training_shows_its_progress(told):
    losses = [float(loss) for loss in re.findall(r"epoch +\d+: loss ([\d.]+),", told)]
    assert len(losses) == 6
    assert losses == sorted(losses, reverse=True)


def test_the_sizes_of_the_data_are_told(told):
    assert "1348 images to learn from, 449 held out, 64 pixels each" in told


def test_every_executor_recognises_the_digits_it_has_not_seen(told):
    lines = re.findall(r"^(\S.*?) +accuracy ([\d.]+)%, at most (\S+) from plain numpy", told, re.M)
    assert [name for name, _, _ in lines] == [
        "reference interpreter",
        "virtual machine, reference",
        "virtual machine, plain",
        "virtual machine, llvm",
    ]
    assert all(float(accuracy) >= 95 for _, accuracy, _ in lines)
    assert all(float(difference) <= 1e-6 for _, _, difference in lines)
    assert len({accuracy for _, accuracy, _ in lines}) == 1


def test_batches_of_every_size_agree_in_every_image(told):
    equal = re.findall(r"(\d+) at a time: (\d+) of (\d+) images equal, optimised", told)
    assert equal == [("1", "449", "449"), ("7", "449", "449"), ("449", "449", "449")]


def test_the_module_is_printed_typed_and_parsed_back(told):
    assert "class Digits:" in told
    assert 'probabilities: R.Tensor((n, 10), "float32") = R.nn.softmax(' in told
    assert re.search(r"^\d+ lines parsed back to an equal module$", told, re.M)


def test_the_picture_is_a_picture(told):
    [path] = re.findall(r"^picture of 10 digits: (.*)$", told, re.M)
    with open(path, "rb") as picture:
        assert picture.read(8) == b"\x89PNG\r\n\x1a\n"


def test_the_mistake_gets_its_message(told):
    assert "error[RX0203]: `R.matmul` cannot multiply these operands" in told
    assert "^^ has 10 rows" in told
    assert "has 64 columns" in told


def test_the_notebook_shows_the_module_and_the_picture():
    outputs = [
        output
        for cell in nbformat.read(NOTEBOOK, as_version=4).cells
        for output in cell.get("outputs", ())
    ]
    kinds = [kind for output in outputs for kind in output.get("data", ())]
    assert kinds.count("image/png") == 1
    assert any("Digits" in output.get("data", {}).get("text/html", "") for output in outputs)
    assert "449 at a time: 449 of 449 images equal" in "".join(o.get("text", "") for o in outputs)


def test_only_the_mistake_on_purpose_is_found_without_running():
    scripts, others = definitions(Source(TUTORIAL.name, TUTORIAL.read_text("utf-8")))
    assert others == []
    assert [(script.name, [d.code for d in script.diagnostics]) for script in scripts] == [
        ("Digits", []),
        ("last_layer", ["RX0203"]),
    ]
