"""The page of readings keeps its word: each program says and prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import warnings
from collections.abc import Iterator

import pytest

from relaxscript.errors import Diagnostic, DiagnosticError, RelaxWarning, VMError
from relaxscript_tests.architecture import readable

PAGE = readable("tutorials/how_we_read_the_specification.md")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
(IMPORTS, _), *READINGS = BLOCK.findall(PAGE)


def said_by(program: str, path: str) -> Iterator[str]:
    """What a program prints, warns of and fails with, line by line."""
    printed = io.StringIO()
    failed: tuple[Diagnostic, ...] = ()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        with open(path, "w", encoding="utf-8") as file:
            file.write(IMPORTS + program)
        try:
            runpy.run_path(path)
        except DiagnosticError as error:
            failed = error.diagnostics
        except VMError as error:
            failed = (error.diagnostic,)
    for warning in caught:
        assert isinstance(warning.message, RelaxWarning), warning
        yield in_short(warning.message.diagnostic)
    yield from printed.getvalue().splitlines()
    yield from map(in_short, failed)


def in_short(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}"


def test_every_reading_has_its_section_and_its_program():
    headings = re.findall(r"^### (.*)$", PAGE, re.MULTILINE)
    assert len(headings) == len(READINGS)
    assert all(re.fullmatch(r".+ \(.+\)", heading) for heading in headings)


@pytest.mark.parametrize(("program", "shown"), READINGS)
def test_what_stands_below_a_program_is_what_it_says(program, shown, tmp_path):
    assert "\n".join(said_by(program, str(tmp_path / "reading.py"))) == shown.rstrip()


def test_the_first_page_leads_to_it():
    assert "(tutorials/how_we_read_the_specification.md)" in readable("README.md")
