"""What holds for the wrong programs of all tests as a whole: how many they are, and their words.

That each fix mends its program is checked where the program is: `check_rejected` applies all fixes,
those that they uncover too, and allows nothing to be left but what offered none.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

import pytest

from relaxscript.errors import CODES
from relaxscript_tests.architecture import python_files
from relaxscript_tests.rejected.corpus import Found, corpus, programs, share, summary, words_of
from relaxscript_tests.syntax import nodes_of

pytestmark = pytest.mark.slow  # whichever comes first makes all the mistakes

# Names of our classes that people write themselves, or that the specification uses for its things.
KNOWN_TO_USERS = {
    "PrimFunc", "PackedFunc", "ExternFunc", "IRBuilder", "BlockBuilder", "VDevice", "PrimValue",
}  # fmt: skip
# What a sentence may begin with although it is a capital letter: names.
NAMES = ("Relax ", "Python", "PrimFunc", "TIR ", "R.", "T.", "I.", "Assertion Failed")


@functools.cache
def our_classes() -> set[str]:
    """The names of classes of ours that are no plain words, as `IntImm` or `TensorStructInfo`."""
    found = {
        node.name.strip("_")
        for text in python_files("relaxscript").values()
        for node in nodes_of(text)
        if isinstance(node, ast.ClassDef)
    }
    return {name for name in found if re.search(r"[a-z][A-Z]|[A-Z]{2}", name)} - KNOWN_TO_USERS


def said() -> Iterator[tuple[str, str]]:
    """Each text that a diagnostic of the corpus says, with the test that hears it."""
    for found in corpus():
        yield from ((text, found.test) for text in words_of(found.diagnostic))


def those(pattern: str, but: str = r"(?!)") -> list[tuple[str, str]]:
    """The texts in which a pattern is found, those that match `but` excepted."""
    return [one for one in said() if re.search(pattern, one[0]) and not re.search(but, one[0])]


def test_there_are_hundreds_of_wrong_programs():
    assert len(list(programs())) >= 300
    assert len(corpus()) >= 300
    assert len({found.diagnostic.message for found in corpus()}) >= 300


def test_each_mistake_has_a_code_with_a_page_and_a_place():
    assert {found.diagnostic.code for found in corpus()} <= set(CODES)
    placed = [found for found in corpus() if found.diagnostic.span is not None]
    # A function that a virtual machine does not have stands nowhere.
    assert len(corpus()) - len(placed) <= 1


def test_most_say_what_to_write_and_many_write_it():
    assert share(lambda diagnostic: diagnostic.help or diagnostic.notes) > 0.5
    assert share(lambda diagnostic: diagnostic.fix) > 0.15


def test_what_is_offered_is_said():
    silent = [found for found in corpus() if found.diagnostic.fix and not found.diagnostic.help]
    assert silent == []


def test_a_name_that_was_nearly_written_is_offered_as_a_fix():
    # Layers of PyTorch become functions with other arguments. What plain Python calls, the frames
    # of a builder and `R.const` of an array, has no text that could be mended.
    no_fix = r"did you mean `R\.linear`"
    python = (
        "_frames_rejected.py::",
        "test_capture_rejected.py::test_values_that_are_no_values",
        "test_annotation_rejected.py::test_a_misspelt_keyword_of_plain_python",
    )
    unmended = [
        (found.test, found.diagnostic.help)
        for found in corpus()
        if re.match("did you mean", found.diagnostic.help or "") and not found.diagnostic.fix
        if not re.match(no_fix, found.diagnostic.help or "")
        and not any(words in found.test for words in python)
    ]
    assert unmended == []


def test_nothing_is_said_in_the_names_of_our_classes():
    classes = "|".join(sorted(our_classes()))
    # `T.IntImm(...)` is what a user wrote.
    assert those(rf"(?<![\w.])({classes})(?!\w)") == []


def test_nothing_raw_is_shown():
    raw = r"<relaxscript|<class |<function|<built-in| object at 0x|Check failed|AssertionError"
    assert those(raw) == []
    assert those(r"(must be|cannot be|cannot hold) .*, not \w+ \(|cannot hold \w+ \(") == []


def test_each_text_is_one_sentence_without_a_full_stop():
    assert those(r"[.!]$", but=r"\.\.\.$|\.$(?<=`\.)") == []
    assert those(r"[.!?] [A-Z]") == []
    assert those(r"\n") == []
    assert those(r"^\s|\s$|  ", but=r"`[^`]*  [^`]*`") == []


def test_each_text_begins_with_a_small_letter():
    assert [one for one in said() if one[0][0].isupper() and not one[0].startswith(NAMES)] == []


def test_a_label_says_something_of_its_place():
    assert those(r"\b(invalid|illegal)\b", but="^evaluating this Python") == []


@pytest.mark.parametrize("part", ["programs", "codes", "a label", "help", "a fix"])
def test_the_summary_counts(part: str):
    assert re.search(rf"\d+%? (have )?{part}|\d+ \w+ of \d+ {part}", summary())


def test_our_classes_are_found():
    assert {"IntImm", "TensorStructInfo", "SeqExpr", "PrimExpr"} <= our_classes()
    assert isinstance(corpus()[0], Found)
