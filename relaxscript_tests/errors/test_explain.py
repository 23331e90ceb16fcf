"""Every code has a page in the common form."""

from __future__ import annotations

import ast
import textwrap
from types import SimpleNamespace

import pytest

from relaxscript.errors import CODES, DiagnosticError, explain, page_of
from relaxscript.errors.explain.sections import SECTIONS
from relaxscript_tests.markup import Markup

every_code = pytest.mark.parametrize("code", sorted(CODES))

NOT_PYTHON = {
    ("RX0113", "Wrong"),
    *(("RX0702", which) for which in ("Wrong", "Right")),
}


def programs(code: str) -> dict[str, str]:
    """The two programs of a page, by "Wrong" and "Right"."""
    _, rest = CODES[code].split("\n\nWrong:\n\n")
    wrong, right = rest.split("\n\nRight:\n\n")
    return {"Wrong": textwrap.dedent(wrong), "Right": textwrap.dedent(right)}


@every_code
def test_a_page_has_title_meaning_and_two_programs(code: str):
    title, meaning, *_ = CODES[code].split("\n\n")
    assert title.startswith(f"{code}: ")
    assert "\n" not in title
    assert len(meaning) > 30
    wrong, right = programs(code).values()
    assert wrong != right


@every_code
@pytest.mark.parametrize("which", ["Wrong", "Right"])
def test_the_programs_of_a_page_are_python(code: str, which: str):
    if (code, which) in NOT_PYTHON:
        with pytest.raises(SyntaxError, match=r"<unknown>, line \d+"):
            ast.parse(programs(code)[which])
    else:
        ast.parse(programs(code)[which])


@every_code
def test_pages_fit_on_a_screen(code: str):
    lines = CODES[code].split("\n")
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 45


@every_code
def test_a_page_names_its_section_of_the_specification_if_there_is_one(code: str):
    page = page_of(code)
    assert page.section == SECTIONS.get(code)
    assert (f"\n\nSpecification: {page.section}\n\n" in CODES[code]) == (page.section is not None)
    assert "Specification:" not in page.meaning


def test_what_the_specification_speaks_of_has_a_section():
    without = {code[:4] for code in CODES if code not in SECTIONS}
    assert without <= {"RX01", "RX05", "RX06", "RX07"}
    assert {code for code in CODES if code[:4] in ("RX02", "RX03", "RX04")} <= set(SECTIONS)


def test_every_criterion_of_well_formedness_has_its_code_and_normal_form_has_one():
    assert {code for code in CODES if code.startswith("RX03")} == {
        f"RX03{number:02}"
        for number in range(1, 27)  # 25 is normal form, 26 placement
    }


@pytest.mark.parametrize("written", ["RX0203", "rx0203", " RX0203\n", "203", "0203"])
def test_a_code_may_be_written_in_short(written: str):
    assert explain(written) == CODES["RX0203"]


def test_a_code_that_does_not_exist_is_refused():
    with pytest.raises(DiagnosticError, match="there is no diagnostic code `RX0999`"):
        explain("RX0999")
    with pytest.raises(DiagnosticError, match="codes look like RX0203"):
        explain("what is this")


def test_a_prompt_and_a_notebook_show_a_page_as_it_stands():
    page = explain("RX0203")
    assert isinstance(page, str)
    assert page == repr(page) == CODES["RX0203"]
    assert Markup(page._repr_html_()).text == page.replace("\n\n", "\n", 1)
    written: list[str] = []
    page._repr_pretty_(SimpleNamespace(text=written.append), False)
    assert written == [page]
