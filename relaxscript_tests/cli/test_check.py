"""`relaxscript check`: diagnostics on the standard error, a summary on the output, and `--fix`."""

from __future__ import annotations

import builtins
import io
import json
import os
import re
import sys

import pytest

from relaxscript.cli import autofix, main
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


def test_what_a_prompt_showed_last_is_no_name_of_a_file(write, capsys, monkeypatch):
    monkeypatch.setattr(builtins, "_", 4, raising=False)
    assert main(["check", write("model.py", IMPORTS + GOOD.replace('"n", 3', "_, 3"))]) == 1
    assert "the dimension `_` is not defined here" in capsys.readouterr().err


def test_what_only_a_run_tells_names_the_command_that_runs_it(write, capsys):
    text = IMPORTS + "N = len(open('x').read())\n" + GOOD.replace('"n", 3', "N, 3")
    assert main(["check", write("computed.py", text)]) == 0
    assert capsys.readouterr() == (
        "0 errors in 1 definition of 1 file\n"
        "computed.py: what depends on `N` is checked in a run only: "
        "`relaxscript run computed.py`\n",
        "",
    )


@pytest.mark.parametrize("annotation", ["R.Tensor[R.f32, n, N]", "Rows"])
def test_what_only_a_run_tells_may_bind_any_dimension(annotation, write, capsys):
    text = f"""from relaxscript.script import relax as R

N = len(open("x").read())
n = R.dim("n")
Rows = R.Tensor[R.f32, n, N]

@R.function
def taken(x: {annotation}) -> R.Tensor[R.f32, n]:
    y = R.zeros((n, 3), "float32")
    return R.take(y, R.const(0, "int64"), axis=1)
"""
    assert main(["check", write("computed.py", text)]) == 0
    assert capsys.readouterr().err == ""


def notebook(*cells):
    made = [{"cell_type": "markdown", "source": ["# A title"]}]
    made += [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    return json.dumps({"cells": made, "nbformat": 4})


def test_a_notebook_is_checked_cell_by_cell(write, capsys):
    file = write("a.ipynb", notebook(IMPORTS + "%pip list", BAD.removeprefix(IMPORTS)))
    assert main(["check", file]) == 1
    out, err = capsys.readouterr()
    assert out == "1 error in 1 definition of 1 file\n"
    assert " --> a.ipynb: cell 2, line 4\n" in err
    assert main(["check", "--json", file]) == 1
    [found] = json.loads(capsys.readouterr().out)["diagnostics"]
    assert (found["span"]["file"], found["span"]["cell"], found["span"]["line"]) == (file, 2, 4)


def test_a_notebook_is_mended_cell_by_cell(write, tmp_path, capsys):
    cells = [IMPORTS + "%pip list", BAD.removeprefix(IMPORTS), "print('imaeg')"]
    file = write("a.ipynb", notebook(*cells))
    assert main(["check", "--fix", file]) == 0
    out, _ = capsys.readouterr()
    assert out == (
        "fixed a.ipynb: cell 2, line 4: `imaeg` is not defined [RX0101]\n"
        "fixed 1 mistake; 0 errors in 1 definition of 1 file\n"
    )
    cells[1] = cells[1].replace("imaeg", "image")
    assert (tmp_path / file).read_text("utf-8") == notebook(*cells)


def test_the_changes_of_a_notebook_are_those_of_its_file(write, tmp_path, capsys):
    text = json.dumps(json.loads(notebook(IMPORTS, BAD.removeprefix(IMPORTS))), indent=1)
    file = write("a.ipynb", text)
    assert main(["check", "--diff", file]) == 1
    out, _ = capsys.readouterr()
    changed = [line for line in out.splitlines() if re.match(r"[+-](?![+-])", line)]
    assert [line.strip() for line in changed] == [
        '-    "    return R.add(image, imaeg)\\n"',
        '+    "    return R.add(image, image)\\n"',
    ]
    assert (tmp_path / file).read_text("utf-8") == text


def test_a_cell_that_is_no_python_does_not_keep_others_from_being_mended(write, tmp_path, capsys):
    cells = [IMPORTS, "1 + * 2", BAD.removeprefix(IMPORTS)]
    file = write("a.ipynb", notebook(*cells))
    assert main(["check", "--fix", file]) == 1
    assert "fixed 1 mistake; 1 error in 1 definition" in capsys.readouterr().out
    cells[2] = cells[2].replace("imaeg", "image")
    assert (tmp_path / file).read_text("utf-8") == notebook(*cells)


def test_a_notebook_that_may_not_be_written_is_said(write, tmp_path, capsys):
    file = write("a.ipynb", notebook(IMPORTS, BAD.removeprefix(IMPORTS)))
    (tmp_path / file).chmod(0o444)
    assert main(["check", "--fix", file]) == 2
    assert "error[RX0707]: cannot write `a.ipynb`: it is read-only" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": [{}]}', '{"cells": ' * 9999])
def test_a_notebook_that_is_none_is_a_mistake_of_the_command(write, text, capsys):
    assert main(["check", write("a.ipynb", text)]) == 2
    assert "cannot read `a.ipynb`: it is no notebook" in capsys.readouterr().err


def test_a_folder_stands_for_the_files_below_it(write, tmp_path, capsys):
    write("a.py", GOOD)
    for folder in ("inner", ".git", "env", "build"):
        (tmp_path / folder).mkdir()
        write(f"{folder}/b.py", BAD)
    write("env/pyvenv.cfg", "")
    write("inner/c.ipynb", notebook(GOOD))
    write("inner/d.txt", BAD)
    assert main(["check", "."]) == 1
    out, err = capsys.readouterr()
    assert out == "1 error in 3 definitions of 3 files\n"
    assert err.count(" --> ") == 1
    assert f" --> {os.path.join('inner', 'b.py')}:5:25\n" in err


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


# ---- strictly


UNDECIDED = f"""{IMPORTS}
@R.function
def f(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")):
    return R.add(x, y)
"""


def test_strictly_what_is_undecided_is_an_error(write, capsys, monkeypatch):
    file = write("a.py", UNDECIDED)
    monkeypatch.delenv("RELAXSCRIPT_STRICT", raising=False)
    assert main(["check", file]) == 0
    assert capsys.readouterr().out == "0 errors, 1 warning in 1 definition of 1 file\n"
    assert main(["check", "--strict", file]) == 1
    out, err = capsys.readouterr()
    assert out == "1 error in 1 definition of 1 file\n"
    assert err.startswith("error[RX0207]")


def test_the_environment_may_be_strict(write, monkeypatch):
    monkeypatch.setenv("RELAXSCRIPT_STRICT", "1")
    assert main(["check", write("a.py", UNDECIDED)]) == 1


# ---- --fix and --diff

# One of the mistakes shows only when another is mended; the last has no fix.
SEVERAL = f"""{IMPORTS}
@R.function
def twice(image: R.Tensor((2, 3), "float32"), é: R.Tensor((2, 3), "float32")):
\ty = R.nn.sofmax(imaeg)
\tz = R.sum(R.ad(é, y), axes=1)  # naïve
\treturn total
"""
CHANGES = {"sofmax": "softmax", "imaeg": "image", "R.ad(": "R.add(", "axes": "axis"}


def changed(text):
    for old, new in CHANGES.items():
        text = text.replace(old, new)
    return text


def test_what_has_a_fix_is_mended_and_the_rest_is_reported(write, capsys, tmp_path):
    assert main(["check", "--fix", write("a.py", SEVERAL)]) == 1
    assert (tmp_path / "a.py").read_text("utf-8") == changed(SEVERAL)
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "fixed a.py:5:6: `R.nn` has no `sofmax` [RX0102]",
        "fixed a.py:6:12: `R` has no `ad` [RX0102]",
        "fixed a.py:6:24: `R.sum` has no parameter `axes` [RX0103]",
        "fixed a.py:5:19: `imaeg` is not defined [RX0101]",
        "fixed 4 mistakes; 1 error in 1 definition of 1 file",
    ]
    assert err.startswith("error[RX0101]: `total` is not defined\n --> a.py:7:9\n")
    assert err.count("error[") == 1


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("head", "encoding"),
    [("", "utf-8"), ("", "utf-8-sig"), ("# coding: latin-1\n", "latin-1")],
)
def test_line_ends_byte_order_mark_and_encoding_stay(end, head, encoding, tmp_path):
    file = tmp_path / "a.py"
    text = (head + SEVERAL).replace("\n", end)
    file.write_bytes(text.encode(encoding))
    assert main(["check", "--fix", str(file)]) == 1
    assert file.read_bytes() == changed(text).encode(encoding)


def test_a_mended_file_has_no_mistakes_and_is_not_touched_again(write, capsys, tmp_path):
    file = write("a.py", BAD)
    assert main(["check", "--fix", file]) == 0
    assert capsys.readouterr().out.endswith("fixed 1 mistake; 0 errors in 1 definition of 1 file\n")
    before = (tmp_path / "a.py").stat()
    assert main(["check", "--fix", file]) == 0
    assert capsys.readouterr() == ("0 errors in 1 definition of 1 file\n", "")
    after = (tmp_path / "a.py").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_several_files_are_mended(write, tmp_path):
    files = [write("a.py", BAD), write("b.py", GOOD), write("c.py", BAD)]
    assert main(["check", "--fix", *files]) == 0
    mended = BAD.replace("imaeg", "image")
    assert [(tmp_path / file).read_text() for file in files] == [mended, GOOD, mended]


def test_warnings_that_have_a_fix_are_mended(write, tmp_path):
    file = write("a.py", f"{IMPORTS}\n@R.function\ndef f(x):\n    return x\n")
    assert main(["check", "--fix", file]) == 0
    assert "def f(x: R.Object):" in (tmp_path / "a.py").read_text()


def test_a_file_that_cannot_be_written_stays_and_its_mistakes_are_reported(write, capsys, tmp_path):
    file = write("a.py", BAD)
    (tmp_path / "a.py").chmod(0o444)
    assert main(["check", "--fix", file, write("b.py", BAD)]) == 2
    out, err = capsys.readouterr()
    assert "cannot write `a.py`: it is read-only" in err
    assert "error[RX0101]" in err
    assert out.splitlines() == [
        "fixed b.py:5:25: `imaeg` is not defined [RX0101]",
        "fixed 1 mistake; 2 errors in 2 definitions of 2 files",
    ]
    assert (tmp_path / "a.py").read_text() == BAD


def test_the_mended_standard_input_goes_to_the_standard_output(monkeypatch, capfdbinary):
    text = SEVERAL.replace("\n", "\r\n").encode("utf-8-sig")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert main(["check", "--fix", "-"]) == 1
    out, err = capfdbinary.readouterr()
    assert out == changed(SEVERAL).replace("\n", "\r\n").encode("utf-8-sig")
    assert err.endswith(b"fixed 4 mistakes; 1 error in 1 definition of 1 file\n")


def test_an_input_whose_encoding_lacks_what_is_written_is_refused(monkeypatch, capsys):
    text = f"# coding: ascii\n{BAD}".encode("ascii")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    monkeypatch.setattr(autofix, "fix_source", lambda source, _: (source.text + "# é", ()))
    assert main(["check", "--fix", "-"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "cannot write the mended standard input: its ascii has no `é`" in err


def test_changes_are_shown_and_not_made(write, capsys, tmp_path):
    file = write("a.py", BAD)
    assert main(["check", "--diff", file]) == 1
    out, err = capsys.readouterr()
    assert out == (
        "--- a.py\n+++ a.py\n@@ -2,4 +2,4 @@\n \n @R.function\n"
        ' def twice(image: R.Tensor((2, 3), "float32")):\n'
        "-    return R.add(image, imaeg)\n+    return R.add(image, image)\n"
    )
    assert err.splitlines() == [
        "would fix a.py:5:25: `imaeg` is not defined [RX0101]",
        "would fix 1 mistake; 0 errors in 1 definition of 1 file",
    ]
    assert (tmp_path / "a.py").read_text() == BAD


def test_with_both_changes_are_only_shown(write, tmp_path):
    assert main(["check", "--fix", "--diff", write("a.py", BAD)]) == 1
    assert (tmp_path / "a.py").read_text() == BAD


def test_changes_are_those_of_the_bytes_of_the_file(tmp_path, capfdbinary):
    file = tmp_path / "a.py"
    text = f"x = 'é'\n{BAD}".replace("\n", "\r\n").removesuffix("\r\n")
    file.write_bytes(text.replace("x = 'é'\r\n", "", 1).encode("utf-8-sig"))
    assert main(["check", "--diff", str(file)]) == 1
    shown = capfdbinary.readouterr().out
    assert b"+    return R.add(image, image)\n\\ No newline at end of file\n" in shown
    assert b" @R.function\r\n" in shown
    file.write_bytes(b"\xef\xbb\xbf@R.functon\ndef f(x): ...\n")
    main(["check", "--diff", str(file)])
    file.write_bytes(f"\ufeff{IMPORTS}@R.functon\ndef f(x): ...\n".encode())
    main(["check", "--diff", str(file)])
    assert b"\n \xef\xbb\xbffrom relaxscript" in capfdbinary.readouterr().out


def test_a_file_without_fixes_has_no_changes_to_show(write, capsys):
    assert main(["check", "--diff", write("good.py", GOOD)]) == 0
    assert capsys.readouterr() == ("", "0 errors in 1 definition of 1 file\n")


@pytest.mark.parametrize("form", ["--json", "--sarif"])
def test_two_documents_on_one_output_are_refused(form, capsys):
    with pytest.raises(SystemExit) as left:
        main(["check", "--fix", form, "-"])
    assert left.value.code == 2
    assert "--fix writes the mended standard input where" in capsys.readouterr().err
