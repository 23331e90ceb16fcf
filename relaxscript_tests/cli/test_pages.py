"""`relaxscript explain --all`: all pages as one of Markdown."""

from __future__ import annotations

import re

import pytest

from relaxscript.cli import main
from relaxscript.cli.pages import GROUPS, all_as_markdown
from relaxscript.errors import CODES, page_of


def test_every_code_has_its_meaning_and_both_programs():
    text = all_as_markdown()
    for code in CODES:
        page = page_of(code)
        section = "" if page.section is None else f"Specification: {page.section}\n\n"
        said = f"{page.meaning}\n\n{section}Wrong:\n\n```"
        assert f"\n### {code}: {page.title}\n\n{said}" in text
        for program in (page.wrong, page.right):
            assert f"\n{program}\n```" in text
    assert len(re.findall(r"^### ", text, re.MULTILINE)) == len(CODES)
    assert text.count("```") == 4 * len(CODES)


def test_the_list_leads_to_every_page():
    text = all_as_markdown()
    links = re.findall(r"^- \[(\w+)\]\(#(\w+)\)", text, re.MULTILINE)
    assert [code for code, _ in links] == sorted(CODES)
    assert [anchor for _, anchor in links] == re.findall(r'<a id="(\w+)"></a>', text)


def test_what_is_python_is_shown_as_such():
    text = all_as_markdown()
    assert '```python\n@R.function\ndef f(x: R.Tensor((2, 3), "float32")):' in text
    assert "```text\npip install relaxscript\n```" in text


def test_every_group_has_a_heading():
    assert re.findall(r"^## (.*)$", all_as_markdown(), re.MULTILINE) == list(GROUPS.values())


def test_the_command_prints_them(capsys):
    assert main(["explain", "--all"]) == 0
    assert capsys.readouterr().out == all_as_markdown() + "\n"


def test_a_code_and_all_codes_cannot_both_be_asked_for(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["explain", "--all", "RX0101"])
    assert "not allowed with argument" in capsys.readouterr().err
