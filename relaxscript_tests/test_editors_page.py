"""The page on editors keeps its word: settings are well formed, and what one sees is so."""

from __future__ import annotations

import json
import re

from relaxscript.cli.command import command_line
from relaxscript.cli.lsp.hints import hints_in
from relaxscript.cli.lsp.mistakes import as_lsp
from relaxscript.cli.lsp.server import FIX_ALL
from relaxscript_tests.architecture import metadata, readable
from relaxscript_tests.cli.lsp.test_words import at, code
from relaxscript_tests.cli.lsp.texts import MARK, analysed, document, hover

PAGE = readable("tutorials/editors.md")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
[PROGRAM] = [text for language, text in BLOCKS if language == "python"]
HINTS, MISTAKE = [text for language, text in BLOCKS if language == "text"]


def test_the_command_and_the_extra_are_there():
    assert command_line().parse_args(["lsp"]).command == "lsp"
    assert 'pip install "relaxscript[lsp]"' in PAGE
    assert "pygls" in metadata()["options.extras_require"]["lsp"]


def test_the_settings_are_json_and_start_the_command():
    settings, _ = [json.loads(text) for language, text in BLOCKS if language == "json"]
    assert settings["glspc.server.command"].endswith("/bin/relaxscript")
    assert settings["glspc.server.commandArguments"] == ["lsp"]
    assert list(settings["[python]"]["editor.codeActionsOnSave"]) == [FIX_ALL]
    assert all('cmd = { "relaxscript", "lsp" }' in t for name, t in BLOCKS if name == "lua")


def test_the_hints_are_those_that_are_shown():
    analysis = analysed(PROGRAM)
    shown = [
        f"{analysis.source.line(hint.line)[: hint.column - 1].strip()}: {hint.info}"
        for hint in hints_in(analysis, 1, 99)
    ]
    assert shown == HINTS.splitlines()


def test_what_is_under_the_cursor_is_said():
    rows = re.findall(r"^\| `(.*?)` \| `(.*?)` \|$", PAGE, re.MULTILINE)
    assert len(rows) == 3
    for written, said in rows:
        middle = len(written) // 2 if written.isidentifier() else written.find(" ") + 1 or 1
        found = hover(at(PROGRAM, f"{written[:middle]}{MARK}{written[middle:]}"))
        assert code(found) == said


def test_the_mistake_is_told_in_these_words():
    text = PROGRAM.replace("(64, 10)", "(63, 10)")
    [found] = analysed(text).diagnostics
    assert as_lsp(document(text), found).message.splitlines()[0] == MISTAKE.strip()
