"""Diagnostics and fixes in the form of editors."""

from __future__ import annotations

from lsprotocol.types import DiagnosticSeverity, Position, Range

from relaxscript.cli.lsp.mistakes import as_lsp, fixed_text, fixes_in, replacing_edit
from relaxscript.errors import Source
from relaxscript_tests.cli.lsp.texts import IMPORTS, analysed, document
from relaxscript_tests.cli.programs import BAD

MISFIT = f"""{IMPORTS}
@R.function
def f(x: R.Tensor((2, 3), "float32"), 𝛼: R.Tensor((4, 5), "float32")):
    y = "🙂", R.matmul(x, 𝛼)
    return y
"""


def apply(text, edits):
    """A text after edits, from the last to the first."""
    changed = document(text)
    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character))[::-1]:
        start = changed.source.offset(*changed.place(edit.range.start))
        end = changed.source.offset(*changed.place(edit.range.end))
        changed = document(changed.text[:start] + edit.new_text + changed.text[end:])
    return changed.text


def test_a_diagnostic_has_its_help_and_its_labels():
    [found] = analysed(MISFIT).diagnostics
    shown = as_lsp(document(MISFIT), found)
    assert (shown.code, shown.severity, shown.source) == (
        "RX0203", DiagnosticSeverity.Error, "relaxscript",
    )  # fmt: skip
    first, *more = shown.message.split("\n")
    assert first == "`R.matmul` cannot multiply these operands: has 4 rows"
    assert more == [f"help: {found.help}"]
    # The emoji and each 𝛼 are two units of UTF-16.
    assert shown.range == Range(Position(4, 26), Position(4, 28))
    assert [each.message for each in shown.related_information][:1] == ["has 3 columns"]


def test_a_fix_is_offered_where_its_mistake_is():
    text = document(BAD)
    analysis = analysed(BAD)
    [fix] = fixes_in(text, analysis, text.range(analysis.diagnostics[0].span))
    assert fix.title == "Replace `imaeg` by `image`"
    assert fix.diagnostic.code == "RX0101"
    assert apply(BAD, fix.edits) == BAD.replace("imaeg", "image")
    assert not list(fixes_in(text, analysis, Range(Position(0, 0), Position(0, 3))))


def test_a_fix_that_is_long_is_called_by_its_help():
    text = IMPORTS + "@R.function\ndef f(x: R.Tensor((2, 3))):\n    y = R.exp(x)\n"
    [fix] = fixes_in(document(text), analysed(text), document(text).whole)
    assert fix.title == "End the function with `return y`"
    assert apply(text, fix.edits).endswith("    y = R.exp(x)\n    return y\n")


def test_new_lines_end_as_those_of_the_document():
    text = IMPORTS + "@R.function\ndef f(x: R.Tensor((2, 3))):\n    y = R.exp(x)\n"
    text = text.replace("\n", "\r\n")
    [fix] = fixes_in(document(text), analysed(text), document(text).whole)
    assert apply(text, fix.edits).endswith("    y = R.exp(x)\r\n    return y\r\n")


def test_all_fixes_are_those_of_check():
    text = BAD.replace("R.add", "R.ad")
    assert fixed_text(Source("model.py", text)) == BAD.replace("imaeg", "image")


def test_the_edit_to_another_text_is_small():
    for old, new in (("abc", "abc"), ("abc", "abxc"), ("aa", "a"), ("a", "aa"), ("🙂b", "🙂c"),
                     ("", "x"), ("x", "")):  # fmt: skip
        edits = replacing_edit(document(old), new)
        assert apply(old, edits) == new
        assert len(edits) == (old != new)
    [edit] = replacing_edit(document("line\nimaeg\nrest"), "line\nimage\nrest")
    assert edit.new_text == "ge"
    assert edit.range == Range(Position(1, 3), Position(1, 5))
