"""The language server as an editor meets it: a process, to which it speaks over its streams."""

from __future__ import annotations

import signal

import pytest

from relaxscript_tests.cli.lsp.editor import Editor, range_of
from relaxscript_tests.cli.lsp.texts import DIGITS, IMPORTS
from relaxscript_tests.cli.programs import BAD

pytestmark = pytest.mark.slow

LINES = DIGITS.split("\n")
LAST = next(number for number, line in enumerate(LINES) if "z = R.nn" in line)
A = LINES[LAST].index("(a,") + 1  # the first operand of the last binding
WHOLE = range_of(0, 0, 999, 0)


@pytest.fixture(scope="module")
def editor(tmp_path_factory):
    with Editor(tmp_path_factory.mktemp("workspace")) as editor:
        yield editor
    assert editor.process.returncode == 0
    assert b"".join(editor.errors) == b""


@pytest.fixture
def uri(editor, request):
    """A document with the example in it."""
    name = f"file:///models/{request.node.name}.py"
    assert editor.open(name, DIGITS) == []
    yield name
    editor.tell("textDocument/didClose", {"textDocument": {"uri": name}})


def test_the_server_says_what_it_can(editor):
    can = editor.capabilities
    assert can["textDocumentSync"]["change"] == 2
    assert can["positionEncoding"] == "utf-16"
    for name in ("hover", "definition", "inlayHint", "documentSymbol", "codeAction"):
        assert can[f"{name}Provider"]
    assert can["completionProvider"]["triggerCharacters"] == [".", '"']


def test_mistakes_are_told_while_one_types(editor, uri):
    editor.change(uri, 2, ((LAST, A, LAST, A + 1), "b"))
    [found] = editor.diagnostics(uri, 2)
    assert (found["code"], found["source"]) == ("RX0101", "relaxscript")
    assert found["range"] == range_of(LAST, A, LAST, A + 1)
    editor.change(uri, 3, ((LAST, A, LAST, A + 1), "a"))
    assert editor.diagnostics(uri, 3) == []


def test_what_only_a_run_can_tell_is_a_remark(editor, uri):
    editor.change(uri, 2, ((2, 0, 2, 10), "WIDTH = len(__file__)"))
    [found] = editor.diagnostics(uri, 2)
    assert found["severity"] == 3
    assert found["message"] == "what depends on `WIDTH` is checked in a run only"


def test_positions_are_units_of_utf_16(editor, uri):
    editor.change(uri, 2, ((LAST - 1, 12, LAST - 1, 13), "𝛼"), ((LAST, A, LAST, A + 1), "𝛼"))
    assert editor.diagnostics(uri, 2) == []
    found = editor.ask_at("hover", uri, LAST, A + 2)
    assert found["range"] == range_of(LAST, A, LAST, A + 2)
    editor.change(uri, 3, ((LAST - 1, 12, LAST - 1, 14), "🙂"))
    assert editor.diagnostics(uri, 3)[0]["range"]["start"] == {"line": LAST - 1, "character": 12}


def test_only_the_newest_text_is_told_of(editor, uri):
    for version in range(2, 40):
        editor.change(uri, version, ((LAST, A, LAST, A + 1), "ab"[version % 2]))
    assert [each["code"] for each in editor.diagnostics(uri, 39)] == ["RX0101"]
    told = [m["params"]["version"] for m in editor.told if m.get("params", {}).get("uri") == uri]
    assert told == sorted(told)
    assert all(version < 39 for version in told)


def test_hover_waits_for_the_newest_text(editor, uri):
    editor.change(uri, 2, ((LAST, 0, LAST, 0), "            q = R.exp(a)\n"))
    found = editor.ask_at("hover", uri, LAST, 12)
    assert found["contents"]["value"] == '```python\nq: R.Tensor((n, 64), "float32")\n```'


def test_a_broken_text_keeps_what_was_known(editor, uri):
    hints = editor.ask("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": WHOLE})
    editor.change(uri, 2, ((LAST - 1, 16, LAST - 1, 200), "R.call_tir(cls.relu, ("))
    [found] = editor.diagnostics(uri, 2)
    assert (found["code"], found["range"]["start"]["line"]) == ("RX0113", LAST - 1)
    later = editor.ask("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": WHOLE})
    assert later == hints[1:]
    found = editor.ask_at("hover", uri, LAST, 12)
    assert found["contents"]["value"].startswith('```python\nz: R.Tensor((n, 10), "float32")')
    editor.change(uri, 3, ((0, 0, 0, 0), "((((" * 30 + "\n" + "'''\n"))
    assert editor.diagnostics(uri, 3)[0]["code"] == "RX0113"
    found = editor.ask_at("hover", uri, LAST + 2, 12)
    assert found["contents"]["value"].startswith('```python\nz: R.Tensor((n, 10), "float32")')


def test_a_name_leads_to_its_definition(editor, uri):
    column = LINES[LAST - 1].index("relu")
    found = editor.ask_at("definition", uri, LAST - 1, column)
    assert (found["uri"], found["range"]) == (uri, range_of(8, 8, 8, 12))
    assert editor.ask_at("definition", uri, LAST, LINES[LAST].index("softmax")) is None


def test_the_outline_has_modules_and_functions(editor, uri):
    [module] = editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert [each["name"] for each in module["children"]] == ["relu", "main"]


def test_a_name_that_is_being_typed_is_completed(editor, uri):
    editor.change(uri, 2, ((LAST, 16, LAST, 200), "R.nn.so"))
    found = editor.ask_at("completion", uri, LAST, 23)
    [softmax] = [item for item in found["items"] if item["label"] == "softmax"]
    assert softmax["detail"] == "R.nn.softmax(data, axis=-1)"
    resolved = editor.ask("completionItem/resolve", softmax)
    assert "Gradient:" in resolved["documentation"]["value"]


def test_a_call_shows_its_parameters(editor, uri):
    editor.change(uri, 2, ((LAST, 16, LAST, 200), "R.sum(a, axis="))
    found = editor.ask_at("signatureHelp", uri, LAST, 30)
    [signature] = found["signatures"]
    assert signature["label"] == "R.sum(x, axis=None, keepdims=False)"
    assert found["activeParameter"] == 1
    assert signature["documentation"]["kind"] == "markdown"  # `axis` in backticks is code
    assert "`axis`" in signature["documentation"]["value"]


def actions(editor, uri, **context):
    given = {
        "textDocument": {"uri": uri},
        "range": WHOLE,
        "context": {"diagnostics": [], **context},
    }
    return editor.ask("textDocument/codeAction", given)


def test_fixes_are_offered_one_by_one_and_all_at_once(editor):
    uri = "file:///models/bad.py"
    editor.open(uri, BAD)
    one, everything = actions(editor, uri)
    edits = [{"range": range_of(4, 24, 4, 29), "newText": "image"}]
    assert (one["title"], one["kind"]) == ("Replace `imaeg` by `image`", "quickfix")
    assert one["edit"] == {"changes": {uri: edits}}
    assert everything["kind"] == "source.fixAll.relaxscript"
    edits = [{"range": range_of(4, 27, 4, 29), "newText": "ge"}]
    assert everything["edit"] == {"changes": {uri: edits}}
    assert [a["kind"] for a in actions(editor, uri, only=["source.fixAll"])] == [
        "source.fixAll.relaxscript"
    ]
    assert [a["kind"] for a in actions(editor, uri, only=["quickfix"])] == ["quickfix"]
    assert actions(editor, uri, only=["refactor"]) == []


def test_an_editor_that_can_gets_versions_and_asks_for_edits(tmp_path):
    resolving = {"resolveSupport": {"properties": ["edit"]}}
    with Editor(
        tmp_path, workspace={"workspaceEdit": {"documentChanges": True}},
        textDocument={"codeAction": resolving},
        general={"positionEncodings": ["utf-8"]},
    ) as editor:  # fmt: skip
        uri = "file:///models/bad.py"
        text = BAD.replace("image", "im𠀀ge").replace("imaeg", "im𠀀eg")
        [found] = editor.open(uri, text)
        assert editor.capabilities["positionEncoding"] == "utf-8"
        assert found["range"] == range_of(4, 27, 4, 35)
        editor.change(uri, 2, ((4, 27, 4, 27), " "))
        one, everything = actions(editor, uri)
        [change] = one["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": uri, "version": 2}
        assert "edit" not in everything
        resolved = editor.ask("codeAction/resolve", everything)
        assert resolved["edit"]["documentChanges"][0]["edits"] == [
            {"range": range_of(4, 34, 4, 36), "newText": "ge"}
        ]


def test_an_editor_that_shows_plain_text_gets_no_markdown(tmp_path):
    kinds = {"hover": {"contentFormat": ["plaintext"]},
             "completion": {"completionItem": {"documentationFormat": ["plaintext"]}},
             "signatureHelp": {"signatureInformation": {"documentationFormat": ["plaintext"]}},
             }  # fmt: skip
    with Editor(tmp_path, textDocument=kinds) as editor:
        uri = "file:///models/plain.py"
        editor.open(uri, DIGITS)
        found = editor.ask_at("hover", uri, LAST, A)["contents"]
        assert found == {"kind": "plaintext", "value": 'a: R.Tensor((n, 64), "float32")\n'}
        resolved = editor.ask("completionItem/resolve", {"label": "x", "data": {"name": "R.add"}})
        assert resolved["documentation"]["value"].startswith("R.add(x1, x2)\n")
        help = editor.ask_at("signatureHelp", uri, LAST, A)
        assert help["signatures"][0]["documentation"]["kind"] == "plaintext"


def test_to_open_a_file_never_runs_it(editor, tmp_path):
    ran = tmp_path / "ran"
    text = f"""{IMPORTS}
import pathlib
RAN = pathlib.Path({str(ran)!r})
RAN.write_text("module")
SIZES = [RAN.write_text(str(i)) for i in range(3)]

@I.ir_module
class Module:
    RAN.write_text("class")

    @R.function
    def main(x: R.Tensor((len(RAN.read_bytes()), 4), "float32") = RAN.write_text("default")):
        y = R.emit_te(lambda t: RAN.write_text("lambda"), x)
        z = R.const(RAN.write_text("constant"))
        w = __import__("os").system("touch {ran}")
        return z

@R.function
def f(x: R.Tensor((eval("RAN.write_text('annotation')"), 4), "float32")):
    return x
"""
    (tmp_path / "model.py").write_text(text)
    uri = (tmp_path / "model.py").as_uri()
    assert editor.open(uri, text)
    for line, written in enumerate(text.split("\n")):
        for character in range(0, len(written), 7):
            editor.ask_at("hover", uri, line, character)
            editor.ask_at("completion", uri, line, character)
    actions(editor, uri)
    editor.ask("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": WHOLE})
    assert not ran.exists()


def test_modules_of_the_folder_are_not_imported(tmp_path):
    ran = tmp_path / "ran"
    for name in ("pygls", "lsprotocol", "asyncio", "cattrs", "astunparse", "model"):
        (tmp_path / f"{name}.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    with Editor(tmp_path) as editor:
        assert editor.open("file:///m.py", IMPORTS + "import model\n" + BAD)
    assert not ran.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once(tmp_path, number):
    with Editor(tmp_path) as editor:
        editor.process.send_signal(number)
        assert editor.process.wait() == -number


def test_the_end_of_the_input_ends_it(tmp_path):
    with Editor(tmp_path) as editor:
        editor.process.stdin.close()
        assert editor.process.wait() == 0


def test_a_question_that_is_taken_back_keeps_no_other_from_its_answer(editor, uri):
    editor.change(uri, 2, ((LAST, A, LAST, A + 1), "x"))
    place = {"textDocument": {"uri": uri}, "position": {"line": LAST, "character": A}}
    first, second = (editor.begin("textDocument/hover", place) for _ in range(2))
    editor.tell("$/cancelRequest", {"id": first})
    assert "x: R.Tensor" in editor.answer(second)["contents"]["value"]
    assert editor.reply(first)["error"]["code"] == -32800
    assert editor.diagnostics(uri, 2) == []


def test_what_editors_tell_beside_is_passed_over(editor):
    editor.tell("workspace/didChangeConfiguration", {"settings": {}})
    editor.tell("$/setTrace", {"value": "off"})
    editor.tell("textDocument/didSave", {"textDocument": {"uri": "file:///saved.py"}})
    editor.tell("$/cancelRequest", {"id": 99_999})


def test_what_is_no_script_is_left_alone(editor):
    assert editor.open("file:///plain.py", "def f(:\n") == []
    cell = {"uri": "vscode-notebook-cell:/a.ipynb#1", "languageId": "python", "version": 1,
            "text": BAD}  # fmt: skip
    editor.tell("textDocument/didOpen", {"textDocument": cell})
    note = {"uri": "file:///a.md", "languageId": "markdown", "version": 1, "text": BAD}
    editor.tell("textDocument/didOpen", {"textDocument": note})
    for document in (cell, note):
        assert editor.ask_at("hover", document["uri"], 4, 12) is None
        editor.change(document["uri"], 2, ((0, 0, 0, 0), "x"))
    assert not [m for m in editor.told if m.get("params", {}).get("uri") == note["uri"]]


def test_a_file_whose_language_the_editor_does_not_name_goes_by_its_ending(editor):
    assert len(editor.open("file:///unnamed.py", BAD, language="")) == 1


def test_what_a_file_was_before_has_no_mistakes(editor):
    uri = "git:/models/former.py?%7B%22ref%22%3A%22HEAD%22%7D"
    assert editor.open("file:///models/former.py", BAD)
    assert editor.open(uri, BAD) == []
    assert editor.ask_at("documentSymbol", uri, 0, 0)  # all else is answered


def test_a_closed_document_has_no_mistakes(editor):
    uri = "file:///closed.py"
    assert editor.open(uri, BAD)
    editor.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    found = editor.notification("textDocument/publishDiagnostics", uri=uri)
    assert found["diagnostics"] == []
    assert editor.ask_at("hover", uri, 4, 12) is None


@pytest.mark.parametrize(
    "text",
    ["x = " + "(" * 5000, "x = " + "-" * 100_000 + "1", "\0", "x = '\ud83d'", "\n" * 10_000,
     "@R.function\ndef f(x: R.Tensor((" + "1 + " * 20_000 + "1,))): return x\n"],
    ids=["parentheses", "signs", "null", "surrogate", "lines", "sum"],
)  # fmt: skip
def test_no_text_ends_the_server(editor, uri, text):
    editor.change(uri, 2, ((0, 0, 999, 0), IMPORTS + text))
    editor.diagnostics(uri, 2)
    editor.change(uri, 3, ((0, 0, 99_999, 0), DIGITS))
    assert editor.diagnostics(uri, 3) == []


def test_a_request_that_makes_no_sense_is_answered_with_nothing(editor, uri):
    assert editor.ask_at("hover", uri, 10**6, 10**6) is None
    assert editor.ask_at("definition", uri, 10**6, 3) is None
    assert editor.ask_at("hover", "file:///nowhere.py", 0, 0) is None
    assert editor.ask_at("completion", "file:///nowhere.py", 0, 0) is None
    assert editor.ask("completionItem/resolve", {"label": "x"}) == {"label": "x"}


FIRST, SECOND = "vscode-notebook-cell:/n.ipynb#1", "vscode-notebook-cell:/n.ipynb#2"
THIRD, NOTEBOOK = "vscode-notebook-cell:/n.ipynb#3", "file:///n.ipynb"
DOUBLE = (
    '@R.function\ndef double(x: R.Tensor(("n", 4), "float32")):\n    y = R.add(x, x)\n    return y'
)


def cell(uri, text):
    return {"uri": uri, "languageId": "python", "version": 1, "text": text}


def change_notebook(editor, version, **cells):
    identifier = {"uri": NOTEBOOK, "version": version}
    given = {"notebookDocument": identifier, "change": {"cells": cells}}
    editor.tell("notebookDocument/didChange", given)


def test_the_cells_of_a_notebook_are_one_program(editor):
    cells = [cell(FIRST, f"%matplotlib inline\n{IMPORTS}"), cell(SECOND, DOUBLE)]
    kinds = [{"kind": 2, "document": each["uri"]} for each in cells]
    whole = {"uri": NOTEBOOK, "notebookType": "jupyter-notebook", "version": 1, "cells": kinds}
    given = {"notebookDocument": whole, "cellTextDocuments": cells}
    editor.tell("notebookDocument/didOpen", given)
    assert editor.diagnostics(FIRST, 1) == editor.diagnostics(SECOND, 1) == []

    found = editor.ask_at("hover", SECOND, 2, 4)
    assert found["contents"]["value"] == '```python\ny: R.Tensor((n, 4), "float32")\n```'
    assert found["range"] == range_of(2, 4, 2, 5)
    [hint] = editor.ask("textDocument/inlayHint", {
        "textDocument": {"uri": SECOND}, "range": WHOLE,
    })  # fmt: skip
    assert hint["position"] == {"line": 2, "character": 5}
    assert editor.ask("textDocument/inlayHint", {
        "textDocument": {"uri": FIRST}, "range": WHOLE,
    }) == []  # fmt: skip
    place = editor.ask_at("definition", SECOND, 0, 1)
    assert (place["uri"], place["range"]["start"]["line"]) == (FIRST, 1)
    [symbol] = editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": SECOND}})
    assert symbol["selectionRange"] == range_of(1, 4, 1, 10)

    edit = {"range": range_of(2, 10, 2, 13), "text": "addd"}
    document = {"uri": SECOND, "version": 2}
    change_notebook(editor, 2, textContent=[{"document": document, "changes": [edit]}])
    [wrong] = editor.diagnostics(SECOND, 2)
    assert (wrong["code"], wrong["range"]) == ("RX0102", range_of(2, 8, 2, 14))
    [fix] = actions(editor, SECOND)
    assert fix["edit"]["changes"] == {
        SECOND: [{"range": range_of(2, 8, 2, 14), "newText": "R.add"}]
    }
    assert actions(editor, FIRST) == []
    items = editor.ask_at("completion", SECOND, 2, 10)["items"]
    assert "add" in [item["label"] for item in items]

    array = {"start": 1, "deleteCount": 1, "cells": [{"kind": 2, "document": THIRD}]}
    structure = {"array": array, "didOpen": [cell(THIRD, DOUBLE)], "didClose": [{"uri": SECOND}]}
    change_notebook(editor, 3, structure=structure)
    assert editor.notification("textDocument/publishDiagnostics", uri=SECOND)["diagnostics"] == []
    assert editor.diagnostics(THIRD, 1) == []
    assert editor.ask_at("hover", SECOND, 2, 4) is None
    assert editor.ask_at("hover", THIRD, 2, 4) is not None

    closing = {"notebookDocument": {"uri": NOTEBOOK}, "cellTextDocuments": [{"uri": THIRD}]}
    editor.tell("notebookDocument/didClose", closing)
    assert editor.ask_at("hover", THIRD, 2, 4) is None
