"""`relaxscript check --json`: one document with every part of every diagnostic."""

from __future__ import annotations

import json

import pytest

from relaxscript.cli import main
from relaxscript.version import __version__
from relaxscript_tests.cli.programs import BAD, GOOD, IMPORTS

TWO = (
    f"{IMPORTS}\n@R.function\n"
    'def f(image: R.Tensor(("n", 64), "float32"), w: R.Tensor((63, 2), "float32")):\n'
    "    y = R.matmul(image, w)\n    return imaeg\n"
)


@pytest.fixture
def printed(tmp_path, monkeypatch, capsys):
    """What the command prints for files of these texts, as data, and its status."""
    monkeypatch.chdir(tmp_path)

    def check(*options, **texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(text, "utf-8")
        status = main(["check", "--json", *options, *(f"{name}.py" for name in texts)])
        out, err = capsys.readouterr()
        assert err == ""
        return status, json.loads(out)

    return check


def test_a_document_says_what_it_is(printed):
    assert printed(a=GOOD) == (
        0,
        {
            "version": 1,
            "relaxscript": __version__,
            "diagnostics": [],
            "fixed": [],
            "unknown": [],
            "summary": {"files": 1, "definitions": 1, "errors": 0, "warnings": 0},
        },
    )


def test_what_only_a_run_can_tell_is_listed(printed):
    status, document = printed(a=GOOD.replace("3", "len(open('x').read())"))
    assert (status, document["diagnostics"]) == (0, [])
    assert document["unknown"] == [{"file": "a.py", "names": ["open"]}]


def test_every_part_of_a_diagnostic_is_there(printed):
    status, document = printed(a=TWO)
    assert status == 1
    operands, name = document["diagnostics"]
    assert (operands["file"], operands["code"], operands["severity"]) == ("a.py", "RX0203", "error")
    assert operands["message"] == "`R.matmul` cannot multiply these operands"
    assert operands["span"] == {
        "file": "a.py", "line": 5, "column": 25, "end_line": 5, "end_column": 26,
    }  # fmt: skip
    assert {"has 64 columns", "has 63 rows"} <= {label["text"] for label in operands["labels"]}
    assert all(set(label) == {"span", "text"} for label in operands["labels"])
    assert operands["help"].startswith("the last axis of")
    assert (operands["notes"], operands["fix"]) == ([], [])
    assert name["help"] == "did you mean `image`?"
    assert name["fix"] == [{"span": name["span"], "new_text": "image"}]


def test_several_files_make_one_document(printed):
    status, document = printed(a=BAD, b=GOOD, c=TWO)
    assert status == 1
    assert [found["file"] for found in document["diagnostics"]] == ["a.py", "c.py", "c.py"]
    assert document["summary"] == {"files": 3, "definitions": 3, "errors": 3, "warnings": 0}


def test_what_was_fixed_is_apart_from_what_is_left(printed):
    status, document = printed("--fix", a=TWO)
    assert status == 1
    assert [found["code"] for found in document["fixed"]] == ["RX0101"]
    assert [found["code"] for found in document["diagnostics"]] == ["RX0203"]


def test_columns_count_characters(printed):
    _, document = printed(a=BAD.replace("image", "имя").replace("imaeg", "имяя"))
    [found] = document["diagnostics"]
    assert (found["span"]["column"], found["span"]["end_column"]) == (23, 27)


def test_a_file_that_cannot_be_read_is_a_diagnostic_without_a_place(printed, capsys):
    assert main(["check", "--json", "missing.py"]) == 2
    [unreadable] = json.loads(capsys.readouterr().out)["diagnostics"]
    assert unreadable["file"] == "missing.py"
    assert (unreadable["code"], unreadable["span"]) == ("RX0701", None)


def test_the_documented_members_are_those_that_there_are(printed):
    from relaxscript.cli import json_report

    _, document = printed("--strict", a=TWO)
    members = {*document, *document["summary"]}
    for found in document["diagnostics"]:
        members |= {*found, *found["span"], *(found["fix"][0] if found["fix"] else ())}
    assert all(f'"{member}":' in json_report.__doc__ for member in members)
