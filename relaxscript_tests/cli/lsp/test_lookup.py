"""What stands at a place, and the value of it."""

from __future__ import annotations

import ast

from relaxscript.cli.lsp.lookup import found_at, path_at, word_at
from relaxscript.errors import Source
from relaxscript_tests.cli.lsp.texts import DIGITS, analysed

ANALYSIS = analysed(DIGITS)


def test_every_name_in_a_script_has_a_value():
    unknown = []
    for definition in ANALYSIS.definitions:
        for node in ast.walk(definition.node):
            if isinstance(node, (ast.Name, ast.arg)):
                found = found_at(ANALYSIS, ANALYSIS.source.name_span(node).start)
                if found is None or found.observed is None or found.node is not node:
                    unknown.append(ANALYSIS.source.name_span(node).text)
    assert unknown == []


def test_no_place_of_a_text_is_too_much():
    for line, text in enumerate(ANALYSIS.source.lines, 1):
        for column in range(1, len(text) + 3):
            found_at(ANALYSIS, (line, column))


def test_a_name_reaches_to_just_behind_it():
    source = Source("a.py", "f(xy, z)")
    tree = ast.parse(source.text)
    names = [getattr(path_at(source, tree, (1, c))[-1], "id", None) for c in (3, 4, 5, 6, 7, 8)]
    assert names == ["xy", "xy", "xy", None, "z", "z"]


def test_a_word_is_found_from_any_of_its_letters():
    source = Source("a.py", "ab.c1 = 2")
    assert [word_at(source, (1, c)) for c in range(1, 8)] == ["ab"] * 3 + ["c1"] * 3 + [""]
