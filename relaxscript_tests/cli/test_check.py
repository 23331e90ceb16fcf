"""`relaxscript check`: diagnostics on the standard error, a summary or JSON on the output."""

from __future__ import annotations

import io
import json
import sys

import pytest

from relaxscript.cli import main
from relaxscript_tests.cli.programs import BAD, GOOD, IMPORTS, MODULE


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Files in a folder that is the working directory."""
    monkeypatch.chdir(tmp_path)

    def make(name, text):
        (tmp_path / name).write_text(text, "utf-8")
        return name

    return make


def test_a_good_file_has_no_errors(write, capsys):
    assert main(["check", write("good.py", GOOD)]) == 0
    assert capsys.readouterr() == ("0 errors in 1 definition of 1 file\n", "")


def test_dimensions_and_data_types_of_python_are_known_without_running_it(write, capsys):
    text = (
        IMPORTS
        + """
n, m = R.dim("n"), T.int64()
Image = R.Tensor[R.f32, n, m]

@R.function
def turned(x: Image, w: R.Tensor[R.f32, m, n * 2]) -> R.Tensor[R.f32, n, n * 2]:
    return R.matmul(x, w)
"""
    )
    assert main(["check", write("typed.py", text)]) == 0
    assert capsys.readouterr() == ("0 errors in 1 definition of 1 file\n", "")


def test_what_only_a_run_tells_names_the_command_that_runs_it(write, capsys):
    text = IMPORTS + "N = sum(range(4))\n" + GOOD.replace('"n", 3', "N, 3")
    assert main(["check", write("computed.py", text)]) == 0
    err = capsys.readouterr().err
    assert "`N` is known only when the file runs" in err
    assert "`relaxscript run FILE` runs it" in err


def test_mistakes_are_drawn_and_counted(write, capsys):
    assert main(["check", write("bad.py", BAD)]) == 1
    out, err = capsys.readouterr()
    assert out == "1 error in 1 definition of 1 file\n"
    assert err == (
        "error[RX0101]: `imaeg` is not defined\n"
        " --> bad.py:5:25\n"
        "  |\n"
        "5 |     return R.add(image, imaeg)\n"
        "  |                         ^^^^^\n"
        "  = help: did you mean `image`?\n"
        "  |\n"
        "5 +     return R.add(image, image)\n"
        "  |                         ~~~~~\n"
        "\n`relaxscript explain RX0101` tells more about RX0101\n"
    )


def test_all_files_are_checked(write, capsys):
    files = [write("bad.py", BAD), write("pair.py", MODULE), write("worse.py", BAD * 2)]
    assert main(["check", *files]) == 1
    out, err = capsys.readouterr()
    assert out == "3 errors in 4 definitions of 3 files\n"
    assert [line.split(":")[0] for line in err.splitlines() if "-->" in line] == [
        " --> bad.py",
        " --> worse.py",
        "  --> worse.py",
    ]


def test_mistakes_of_a_file_come_in_the_order_of_their_lines(write, capsys):
    text = f"{IMPORTS}\ndef late():\n    @R.functon\n    def g(x): ...\n{BAD}"
    main(["check", write("a.py", text)])
    err = capsys.readouterr().err
    assert [line.split()[-1] for line in err.splitlines() if "-->" in line] == [
        "a.py:4:6",
        "a.py:10:25",
    ]


def test_warnings_alone_are_no_failure(write, capsys):
    text = f"{IMPORTS}\n@R.function\ndef f(x):\n    return x\n"
    assert main(["check", write("a.py", text)]) == 0
    out, err = capsys.readouterr()
    assert out == "0 errors, 1 warning in 1 definition of 1 file\n"
    assert err.startswith("warning[RX0209]")


def test_the_standard_input_is_checked(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    assert main(["check", "-"]) == 1
    assert " --> <stdin>:5:25" in capsys.readouterr().err


def test_an_unreadable_file_makes_two_and_the_others_are_checked(write, capsys):
    assert main(["check", "missing.py", write("bad.py", BAD)]) == 2
    out, err = capsys.readouterr()
    assert out == "2 errors in 1 definition of 2 files\n"
    assert "error[RX0701]: cannot read `missing.py`: No such file or directory" in err
    assert "error[RX0101]" in err


def test_json_holds_every_part_of_a_diagnostic(write, capsys):
    text = (
        f"{IMPORTS}\n@R.function\n"
        'def f(image: R.Tensor(("n", 64), "float32"), w: R.Tensor((63, 2), "float32")):\n'
        "    y = R.matmul(image, w)\n    return imaeg\n"
    )
    assert main(["check", "--json", write("a.py", text)]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    operands, name = json.loads(out)
    assert operands["code"] == "RX0203"
    assert operands["severity"] == "error"
    assert operands["message"] == "`R.matmul` cannot multiply these operands"
    assert operands["span"] == {
        "filename": "a.py", "line": 5, "column": 25, "end_line": 5, "end_column": 26,
    }  # fmt: skip
    assert {"has 64 columns", "has 63 rows"} <= {label["text"] for label in operands["labels"]}
    assert all(set(label) == {"span", "text"} for label in operands["labels"])
    assert operands["help"].startswith("the last axis of")
    assert (operands["notes"], operands["fix"]) == ([], [])
    assert name["help"] == "did you mean `image`?"
    assert name["fix"] == [{"span": name["span"], "new_text": "image"}]


def test_json_of_good_and_unreadable_files(write, capsys):
    assert main(["check", "--json", write("good.py", GOOD)]) == 0
    assert json.loads(capsys.readouterr().out) == []
    assert main(["check", "--json", "missing.py"]) == 2
    [unreadable] = json.loads(capsys.readouterr().out)
    assert (unreadable["code"], unreadable["span"]) == ("RX0701", None)
