"""Without llvmlite everything but native code works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from relaxscript_tests.architecture import ROOT

# One file of each kind: control flow on all executors, the machine, passes. `.ci/long` runs more.
FILES = ["end_to_end/test_control.py", "runtime/test_machine.py", "transform/test_pipeline.py"]


@pytest.mark.slow
def test_whatever_asks_for_no_native_code_passes_without_llvmlite():
    paths = [str(Path("relaxscript_tests") / name) for name in FILES]
    command = [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    plugin = ["-p", "relaxscript_tests.without_llvmlite"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, *plugin, *paths], cwd=ROOT, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    passed, left_out = (int(n) for n in re.findall(r"(\d+) (?:passed|skipped)", done.stdout))
    assert passed > left_out > 0
