"""Programs as people write them for TVM, of which only the word `tvm` is changed."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from relaxscript.cli import main

HERE = Path(__file__).parent / "tvm_programs"
PROGRAMS = sorted(path.name for path in HERE.glob("*.py"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_for_tvm_runs_with_its_imports_changed(name: str, tmp_path: Path):
    text = (HERE / name).read_text("utf-8")
    assert re.search(r"^import tvm$", text, re.MULTILINE)
    changed = tmp_path / name
    changed.write_text(re.sub(r"\btvm\b", "relaxscript", text), "utf-8")
    runpy.run_path(str(changed), run_name="program")


@pytest.mark.parametrize("name", PROGRAMS)
def test_check_has_nothing_against_it_either(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture
):
    changed = tmp_path / name
    text = (HERE / name).read_text("utf-8")
    changed.write_text(re.sub(r"\btvm\b", "relaxscript", text), "utf-8")
    assert main(["check", str(changed)]) == 0, capsys.readouterr()


def test_there_are_programs_for_each_part():
    assert len(PROGRAMS) >= 9
