"""The page of constructs keeps its word: each block is accepted, or refused as the page shows."""

from __future__ import annotations

import re
import warnings
from typing import Any

import pytest

from relaxscript.errors import DiagnosticError, RelaxWarning, render
from relaxscript.script import from_source
from relaxscript_tests.architecture import readable
from relaxscript_tests.script.parser.round_trip import round_trip

PAGE = readable("tutorials/what_you_may_write.md")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
(IMPORTS, _), *BLOCKS = BLOCK.findall(PAGE)
ACCEPTED = [program for program, shown in BLOCKS if not shown]
REFUSED = [(program, shown) for program, shown in BLOCKS if shown]


def parsed(program: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RelaxWarning)
        return from_source(IMPORTS + program, mode="python", filename="model.py")


def test_each_construct_has_a_right_and_a_wrong_use():
    headings = re.findall(r"^## ", PAGE, re.MULTILINE)
    assert len(ACCEPTED) >= len(headings)
    assert len(REFUSED) >= len(headings)


@pytest.mark.parametrize("program", ACCEPTED)
def test_what_it_says_may_be_written_is_accepted_and_printed_back(program):
    round_trip(parsed(program))


@pytest.mark.parametrize(("program", "shown"), REFUSED)
def test_what_it_says_is_refused_gets_the_message_that_it_shows(program, shown):
    with pytest.raises(DiagnosticError) as caught:
        parsed(program)
    assert render(caught.value.diagnostics).rstrip() == shown.rstrip()
