"""The page of models keeps its word: each part of its program prints what stands below it."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from relaxscript.errors import DiagnosticError
from relaxscript_tests.architecture import readable

PAGE = readable("tutorials/models_that_own_their_weights.md")
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
# The last part compares with torch: `frontend/nn/second_opinion_of_weights.py` runs it.
*PARTS, (WITH_TORCH, SHOWN_WITH_TORCH) = BLOCK.findall(PAGE)
NAMED = re.compile(r"# (\w+\.py)\n")


def printed_by(part: str, number: int, names: dict[str, Any]) -> str:
    """What a part prints, and what it fails with; a first line that is a comment names its file."""
    named = NAMED.match(part)
    path = Path(named[1] if named else f"part_{number}.py")
    path.write_text(part, "utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(part, str(path), "exec"), names)
        except DiagnosticError as error:
            print(error)
    return printed.getvalue()


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """What each part prints, run after those before it."""
    names: dict[str, Any] = {"__name__": "page"}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("page"))
        return [printed_by(part, number, names) for number, (part, _) in enumerate(PARTS)]


@pytest.mark.parametrize("number", range(len(PARTS)))
def test_what_stands_below_a_part_is_what_it_prints(outputs, number):
    assert outputs[number].rstrip() == PARTS[number][1].rstrip()


def test_torch_is_needed_for_the_last_part_alone():
    assert WITH_TORCH.startswith("import torch\n")
    assert not any("torch." in part for part, _ in PARTS)
    assert SHOWN_WITH_TORCH == "True\n"


def test_the_first_page_leads_to_it():
    assert "(tutorials/models_that_own_their_weights.md)" in readable("README.md")
