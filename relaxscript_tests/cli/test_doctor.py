"""`relaxscript doctor`: what is installed, what is missing, and whether models run."""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from relaxscript.cli import doctor as report, main
from relaxscript.errors import VMError

REQUIRED = [
    "numpy>=2.1.2",
    "llvmlite>=0.45",
    'pytest[dev]>=8; extra == "test"',
    'relaxscript[more]; extra == "test"',
    "no-such-package-1 ; extra == 'more'",
    'no.such-package_2 (>=3,<4) ; extra == "more"',
]


@pytest.fixture
def required(monkeypatch):
    """What the metadata of the package say; changing the list changes them."""
    lines = list(REQUIRED)
    monkeypatch.setattr(metadata, "requires", lambda name: lines)
    return lines


def lines_of(capsys):
    out, err = capsys.readouterr()
    assert err == ""
    return dict(line.split("  ", 1) for line in out.splitlines() if "  " in line)


@pytest.fixture
def on_the_path(monkeypatch):
    """However the package is installed, Python has its folder on the path."""
    monkeypatch.setenv("PYTHONPATH", str(report.PACKAGE.parent))


def test_a_working_installation_is_reported_piece_by_piece(required, on_the_path, capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    said = {what.strip(): says.strip() for what, _, says in
            (line.partition("  ") for line in out.splitlines())}  # fmt: skip
    assert said["numpy"].startswith(f"{np.__version__}, BLAS ")
    assert "LLVM " in said["llvmlite"]
    assert int(said["threads"]) >= 1
    assert said["editors"] == "find the package"
    assert said["one folder up"] == "Python imports the package"
    assert said["extra test"] == "complete"
    assert said["a small model on the reference interpreter"] == "works"
    assert said["a small model on the virtual machine, reference"] == "works"
    assert said["a small model on the virtual machine, llvm"] == "works"
    assert out.endswith("\nall is well\n")


def clone_in(folder: Path) -> Path:
    """A package in a folder of its own name, as a clone has it."""
    package = folder / "relaxscript" / "relaxscript"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    return package


def test_a_clone_that_python_takes_for_the_package_is_named_with_what_to_do(tmp_path, monkeypatch):
    package = clone_in(tmp_path)
    # No folder of this environment is on the path of the Python that is asked.
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr(report, "FIND", HIDDEN + report.FIND)
    editors, above = report.visibility(package)
    again = f"pip install -e {package.parent}  (again, in this environment)"
    assert editors == (
        "editors", f"do not find the package, which is not on Python's path: {again}", False,
    )  # fmt: skip
    assert above == (
        "one folder up",
        f"in {tmp_path} Python takes the folder {package.parent} for the package: {again}",
        False,
    )


# As an installation without a plain path: what is installed here is not there.
HIDDEN = """
import os, sys
there = os.path.join("relaxscript", "__init__.py")
path = sys.path[1:]
sys.path[1:] = [folder for folder in path if not os.path.exists(os.path.join(folder, there))]
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
"""


def test_a_clone_on_the_path_is_found_by_all(tmp_path, monkeypatch):
    package = clone_in(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    assert [finding.well for finding in report.visibility(package)] == [True, True]


def test_a_python_that_cannot_be_asked_what_it_finds_is_a_failure(monkeypatch, tmp_path):
    monkeypatch.setattr(report.sys, "executable", str(tmp_path / "python"))
    [finding] = report.visibility()
    assert finding.what == "one folder up"
    assert finding.says.startswith("Python cannot be asked: ")
    assert not finding.well


def test_missing_extras_come_with_the_command_that_installs_them(required):
    assert report.extra_says("more") == (
        "no-such-package-1 is missing, no.such-package_2 is missing: "
        'pip install "relaxscript[more]"'
    )


def test_a_missing_package_is_a_failure(required, capsys):
    required[0] = "no-such-package>=1"
    assert main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "no-such-package" in out
    assert "is missing\n" in out
    assert out.endswith("\nnot all is well: see above what is missing or fails\n")


def test_a_package_that_is_too_old_is_a_failure(required):
    required[0] = "numpy>=99.1"
    [numpy] = [finding for finding in report.installation() if finding.what == "numpy"]
    assert numpy.says == f"{metadata.version('numpy')} is older than 99.1"
    assert not numpy.well


@pytest.mark.parametrize(
    ("a", "b"), [("2.0", "2"), ("2.0.1rc1", "2.0.1"), ("0.50.0", "0.50"), ("1.10", "1.10.0")]
)
def test_versions_are_compared_as_numbers(a, b):
    assert report.numbers(a) == report.numbers(b)
    assert report.numbers("1.9") < report.numbers("1.10")


def test_an_executor_that_fails_is_named_with_the_reason():
    def broken(mod):
        raise VMError("nothing works", code="RX0601")

    assert report.trial("it", broken) == (
        "it", "fails with VMError: nothing works [RX0601]", False,
    )  # fmt: skip


def test_an_executor_that_computes_something_else_is_named():
    finding = report.trial("it", lambda mod: {"main": lambda x, w: x @ w})
    assert finding == ("it", "computes something else than numpy", False)


def test_without_metadata_the_two_main_packages_are_looked_into(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", missing)
    assert [need.name for need in report.needs()] == ["numpy", "llvmlite"]


def test_threads_are_those_that_the_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 8}, raising=False)
    assert report.threads() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert report.threads() == 6
