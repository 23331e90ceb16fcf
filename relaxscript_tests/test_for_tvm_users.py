"""The page for TVM users keeps its word: its programs print what it shows, its imports work."""

from __future__ import annotations

import contextlib
import io
import re
import runpy

import pytest

from relaxscript_tests.architecture import readable

PAGE = readable("tutorials/for_tvm_users.md")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
(IMPORTS, _), *PROGRAMS = BLOCK.findall(PAGE)
ROW = re.compile(r"^\| `([^|]*)`[^|`]*\| `((?:from|import) relaxscript[^`]*)` \|$", re.MULTILINE)


@pytest.mark.parametrize(("program", "shown"), PROGRAMS)
def test_a_program_prints_what_stands_below_it(program, shown, tmp_path):
    path = tmp_path / "program.py"
    path.write_text(IMPORTS + program, "utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(path))
    assert printed.getvalue().rstrip() == shown.rstrip()


@pytest.mark.parametrize(("theirs", "ours"), ROW.findall(PAGE))
def test_an_import_of_the_tables_works_and_changes_what_the_table_says(theirs, ours):
    exec(ours, {})
    assert "tvm" in theirs


def test_the_tables_have_their_rows():
    assert len(ROW.findall(PAGE)) >= 12


def test_the_first_page_leads_to_it():
    assert "(tutorials/for_tvm_users.md)" in readable("README.md")
