"""The pages of `relaxscript explain`: what one calls wrong gets its code, what it calls right none.

Pages whose examples are no programs of their own, but pieces of one or Python that runs, are left
to the tests of what they speak of.
"""

from __future__ import annotations

import re
import textwrap

import pytest

from relaxscript.compiler import build
from relaxscript.errors import CODES
from relaxscript.ir.module import IRModule
from relaxscript.script import from_source
from relaxscript.testing import diagnostics_of

EXAMPLE = re.compile(r"^(Wrong|Right):\n\n((?:    .*\n|\n)+)", re.MULTILINE)
WHOLE = re.compile(r"\s*(sizes = .*\s*)?@(R\.function|I\.ir_module|T\.prim_func)")


def examples(page: str) -> dict[str, str]:
    """The two examples of a page by their headings."""
    return {name: textwrap.dedent(text) for name, text in EXAMPLE.findall(page + "\n")}


def is_program(text: str) -> bool:
    return WHOLE.match(text) is not None and "exec(" not in text


PAGES = {
    code: examples(page)
    for code, page in CODES.items()
    if code < "RX06" and all(is_program(text) for text in examples(page).values())
}


def codes_of(text: str) -> set[str]:
    """The codes of what is found when a text is parsed and compiled."""
    constants, _, program = text.rpartition("}\n") if text.startswith("sizes") else ("", "", text)
    extra = {"sizes": {"hidden": 64}} if constants else {}

    def compiled() -> None:
        mod = from_source(program, mode="python", extra_vars=extra)
        build(mod if isinstance(mod, IRModule) else IRModule.from_expr(mod))

    return {diagnostic.code for diagnostic in diagnostics_of(compiled)}


@pytest.mark.parametrize("code", PAGES)
def test_what_a_page_calls_wrong_gets_its_code(code):
    assert codes_of(PAGES[code]["Wrong"]) == {code}


@pytest.mark.parametrize("code", PAGES)
def test_what_a_page_calls_right_is_accepted(code):
    assert codes_of(PAGES[code]["Right"]) == set()


def test_most_pages_of_the_language_show_programs():
    assert len(PAGES) > 25


def test_examples_are_taken_out_of_a_page():
    page = "RX1: a\n\nText.\n\nWrong:\n\n    x\n\n    y\n\nRight:\n\n    z\n"
    assert examples(page) == {"Wrong": "x\n\ny\n\n", "Right": "z\n\n"}
