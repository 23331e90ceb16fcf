"""Laws of texts that are being typed: random edits of real programs, one after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

from relaxscript.cli.lsp.completion import completions, open_call_at
from relaxscript.cli.lsp.definitions import definition_of
from relaxscript.cli.lsp.documents import Document
from relaxscript.cli.lsp.hints import as_lsp_hint, hints_in
from relaxscript.cli.lsp.lookup import found_at
from relaxscript.cli.lsp.mistakes import as_lsp, fixes_in
from relaxscript.cli.lsp.symbols import outline
from relaxscript.cli.lsp.words import hover_text
from relaxscript_tests import examples
from relaxscript_tests.architecture import readable
from relaxscript_tests.cli.lsp.texts import DIGITS, IMPORTS, analysed, document

PAGES = ("what_you_may_write", "for_tvm_users", "models_that_own_their_weights")
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PROGRAMS = [
    DIGITS,
    *(readable(f"tutorials/{name}.py") for name in ("01_digits", "12_your_own_operator")),
    *(IMPORTS + block for page in PAGES for block in BLOCK.findall(readable(f"tutorials/{page}.md"))
      if "@R." in block or "@I." in block),
]  # fmt: skip
TYPED = [
    *"()[]{}\"'\n=,.:#@*\t\\𝛼🙂\x0c\rxn", '"""', "    ", "R.", "T.", "cls.", "def ", "return ",
    "lambda: ", "if x:\n", "for i in range(3):\n",
]  # fmt: skip
EDITS = 6


def edited(rng: np.random.Generator) -> Iterator[str]:
    """A program and what becomes of it: pieces typed, removed, cut off, lines twice."""
    text = PROGRAMS[rng.integers(len(PROGRAMS))]
    yield text
    for _ in range(EDITS):
        at = int(rng.integers(len(text) + 1))
        match rng.integers(10):
            case 0 | 1 | 2 | 3:
                text = text[:at] + text[at + int(rng.choice([1, 1, 1, 3, 10, 40])) :]
            case 4 | 5 | 6 | 7:
                text = text[:at] + TYPED[rng.integers(len(TYPED))] + text[at:]
            case 8:
                text = text[:at]
            case _:
                lines = text.split("\n")
                lines.insert(int(rng.integers(len(lines))), lines[rng.integers(len(lines))])
                text = "\n".join(lines)
        yield text


def shown(text: Document, analysis) -> list:
    return [as_lsp(text, each) for each in analysis.diagnostics]


@pytest.mark.slow
def test_what_is_kept_of_the_text_before_changes_no_answer(rng):
    for _ in range(examples(60)):
        before = None
        for version, text in enumerate(edited(rng)):
            opened = document(text, version)
            before = analysed(text, version, before)
            fresh = analysed(text, version)
            if fresh.read.tree is None:  # what was known before is all there is
                assert fresh.diagnostics[0] in before.diagnostics, text
            else:
                assert shown(opened, before) == shown(opened, fresh), text
            hints = [[(h.line, h.column, str(h.info)) for h in hints_in(each, 1, 10**6)]
                     for each in (before, fresh)]  # fmt: skip
            assert hints[0] == hints[1], text


@pytest.mark.slow
def test_every_question_has_an_answer_at_every_place(rng, caplog):
    for _ in range(examples(60)):
        before = None
        for version, text in enumerate(edited(rng)):
            opened = document(text, version)
            known = analysed(text, version, before)
            outline(opened, known)
            list(fixes_in(opened, known, opened.whole))
            hints = hints_in(known, 1, 10**6)
            assert all(as_lsp_hint(opened, hint, writable=True).label for hint in hints)
            for at in rng.integers(len(opened.source.text) + 1, size=20):
                place = opened.place(opened.range_between(int(at), int(at)).start)
                found = found_at(known, place)
                assert found is None or hover_text(found) != ""
                definition_of(known, place)
                for each in (known, before or known):
                    completions(each, opened.source, place)
                    open_call_at(each, opened.source, place)
            before = known
    assert caplog.text == ""
