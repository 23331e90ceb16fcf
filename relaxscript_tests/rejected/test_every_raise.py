"""No mistake is reported by a line that no test has seen reporting it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from relaxscript_tests.architecture import ROOT
from relaxscript_tests.rejected.sites import all_sites, sites_of, unreached

# Rooms whose tests are of bad input among others; what runs whole programs is not needed here.
ROOMS = (
    "analysis", "arith", "builder", "cli", "codegen", "errors", "frontend", "interpreter", "ir",
    "op", "rejected", "runtime", "script", "sinfo", "testing", "tir_builder", "transform",
)  # fmt: skip

LIMIT = 300  # seconds, many times what it takes


def where_bad_input_is_tested() -> list[str]:
    """The folders and files of tests that the recorder goes through, this one excepted."""
    folder = ROOT / "relaxscript_tests"
    rooms = [folder / name for name in ROOMS if (folder / name).is_dir()]
    return [str(path) for path in (*rooms, *sorted(folder.glob("test_*.py")))]


def record(target: Path) -> list[tuple[str, int]]:
    """The lines of ours that were executed while a mistake was made known."""
    plugin = "relaxscript_tests.rejected.recorder"
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", plugin, "-p", "no:cacheprovider"),
        "--continue-on-collection-errors",
        *("--ignore", __file__, "--ignore", str(ROOT / "relaxscript_tests/test_architecture.py")),
        *where_bad_input_is_tested(),
    ]
    settings = {
        "RELAXSCRIPT_TEST_SITES": str(target),
        "RELAXSCRIPT_TEST_EFFORT": "0.01",
        "PYTHONPATH": str(ROOT),
    }
    # A test that waits for a process of its own must not wait for ever: output goes to a file.
    said = target.with_suffix(".txt")
    with said.open("w") as output:
        subprocess.run(
            command, cwd=ROOT, env={**os.environ, **settings}, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT, timeout=LIMIT, check=False,
        )  # fmt: skip
    if not target.exists():
        pytest.fail(f"the tests of bad input could not be run:\n{said.read_text('utf-8')}")
    return [(path, line) for path, line in json.loads(target.read_text("utf-8"))]


def test_every_place_that_reports_a_mistake_is_reached(tmp_path):
    sites = all_sites()
    missed = unreached(sites, record(tmp_path / "sites.json"))
    if missed:
        listed = "\n".join(str(site) for site in missed)
        pytest.fail(f"{len(missed)} of {len(sites)} are never reached:\n{listed}", pytrace=False)


PROGRAM = """
def check(self, x):
    if x < 0:
        raise OperandError(
            "x", "is negative",
        )
    raise self.error(x, "RX0101", "no")
"""


def test_sites_are_found_in_the_syntax():
    first, second = sites_of("op/a.py", PROGRAM)
    assert (first.first, first.last) == (4, 6)
    assert str(second) == 'relaxscript/op/a.py:7: raise self.error(x, "RX0101", "no")'


def test_a_site_is_reached_by_any_of_its_lines():
    sites = sites_of("op/a.py", PROGRAM)
    assert unreached(sites, [("op/a.py", 5), ("op/a.py", 7)]) == []
    assert unreached(sites, [("op/a.py", 3), ("op/b.py", 5)]) == sites


def test_the_package_has_sites():
    assert len(all_sites()) > 50
