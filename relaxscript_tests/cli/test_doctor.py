"""`relaxscript doctor`: what is installed, what is missing, and whether models run."""

from __future__ import annotations

import os
from importlib import metadata

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


def test_a_working_installation_is_reported_piece_by_piece(required, capsys):
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    said = {what.strip(): says.strip() for what, _, says in
            (line.partition("  ") for line in out.splitlines())}  # fmt: skip
    assert said["numpy"].startswith(f"{np.__version__}, BLAS ")
    assert "LLVM " in said["llvmlite"]
    assert int(said["threads"]) >= 1
    assert said["extra test"] == "complete"
    assert said["a small model on the reference interpreter"] == "works"
    assert said["a small model on the virtual machine, reference"] == "works"
    assert said["a small model on the virtual machine, llvm"] == "works"
    assert out.endswith("\nall is well\n")


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
