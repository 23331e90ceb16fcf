"""A test that meets a mistake shows its own lines and the picture, and none of our frames."""

from __future__ import annotations

import subprocess
import sys

import pytest

from relaxscript_tests.architecture import ROOT

TEST = """
import numpy as np
import relaxscript as rx
from relaxscript.script import ir as I, relax as R

def test_it():
    {lines}
"""
FUNCTION = """@R.function
    def f(x: R.Tensor((2, 3), "float32")):
        return R.nn.relu({x})
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (FUNCTION.format(x="y"), "`y` is not defined"),
        (FUNCTION.format(x="x") + "    rx.build(f, target='cuda')", 'there is no target "cuda"'),
        (
            FUNCTION.format(x="x") + "    rx.build(f, relax_pipeline=['Normalise'])",
            'there is no pass "Normalise"',
        ),
        (
            FUNCTION.format(x="x") + "    rx.build(f, relax_pipeline=['Normalize'])",
            "which the pass `VMShapeLower` lowers",
        ),
        (FUNCTION.format(x="x") + "    rx.jit(f).f(np.ones(3))", "expected a tensor of shape"),
        ("rx.load('missing.rx')", "cannot read `missing.rx`"),
        ("rx.from_source('f')", "only imports, modules and functions are allowed here"),
    ],
)
def test_a_failing_test_is_all_that_pytest_shows(lines, message, tmp_path):
    (tmp_path / "test_one.py").write_text(TEST.format(lines=lines))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_one.py"],
        cwd=tmp_path, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert message in done.stdout
    assert "\ntest_one.py:" in done.stdout
    assert "relaxscript/" not in done.stdout.replace("relaxscript explain", "")
