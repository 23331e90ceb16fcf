"""`relaxscript graph`: the dataflow of a function of a file that is not run."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from relaxscript.cli import main
from relaxscript_tests.cli.programs import BAD, GOOD, IMPORTS, MODULE


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def make(text):
        (tmp_path / "a.py").write_text(text, "utf-8")
        return "a.py"

    return make


def test_a_listing_is_printed_of_a_file_that_is_not_run(file, capsys):
    assert main(["graph", file(f"raise SystemExit\n{MODULE}")]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("main\n  parameter x: (2, 3) float32\n")
    assert "y = twice(x)" in out
    assert err == ""


def test_a_function_is_chosen_by_its_name(file, capsys):
    for name in ("Pair.twice", "twice"):
        assert main(["graph", file(MODULE), name]) == 0
        assert capsys.readouterr().out.startswith("twice\n")
    assert main(["graph", file(GOOD)]) == 0
    assert capsys.readouterr().out.startswith("twice\n")
    assert main(["graph", file(MODULE), "Pair"]) == 0
    assert capsys.readouterr().out.startswith("main\n")


def test_a_picture_and_a_text_for_graphviz_are_printed_or_written(file, capsys, tmp_path):
    assert main(["graph", "--svg", file(MODULE)]) == 0
    assert ElementTree.fromstring(capsys.readouterr().out).tag.endswith("svg")
    assert main(["graph", "--dot", file(MODULE), "-o", "a.dot"]) == 0
    assert capsys.readouterr().out == ""
    assert (tmp_path / "a.dot").read_text("utf-8").startswith('digraph "main" {')


def test_a_page_is_written_and_its_path_printed(file, capsys, tmp_path):
    assert main(["graph", "--view", file(MODULE), "-o", "page.html"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'page.html'}\n"


def test_a_file_with_mistakes_is_not_drawn(file, capsys):
    assert main(["graph", file(BAD)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "RX0101" in err


def test_an_unknown_name_is_refused_with_the_nearest(file, capsys):
    assert main(["graph", file(MODULE), "Pair.mian"]) == 2
    err = capsys.readouterr().err
    assert "`a.py` has no function `Pair.mian`" in err
    assert "did you mean `Pair.main`?" in err


def test_several_functions_that_could_be_meant_are_listed(file, capsys):
    assert main(["graph", file(GOOD + GOOD.replace("twice", "again"))]) == 2
    err = capsys.readouterr().err
    assert "`a.py` has several functions that could be meant" in err
    assert "there are: twice, again" in err


def test_a_file_without_functions_is_refused(file, capsys):
    assert main(["graph", file("x = 1\n")]) == 2
    assert "`a.py` has no function to draw" in capsys.readouterr().err


def test_a_prim_func_is_refused(file, capsys):
    text = f"{IMPORTS}\n@T.prim_func\ndef k(x: T.Buffer((4,))):\n    T.evaluate(0)\n"
    assert main(["graph", file(text), "k"]) == 2
    assert "`k` is a PrimFunc" in capsys.readouterr().err


def test_a_summary_is_told_and_all_is_drawn_when_asked(file, capsys):
    lines = [f"    x = R.{'exp' if i % 2 else 'sin'}(x)" for i in range(400)]
    body = "\n".join(lines)
    text = f'{IMPORTS}\n@R.function\ndef f(x: R.Tensor((2,), "float32")):\n{body}\n    return x\n'
    assert main(["graph", "--dot", file(text)]) == 0
    assert "a summary of 400 bindings" in capsys.readouterr().err
    assert main(["graph", "--all", file(text)]) == 0
    assert len(capsys.readouterr().out.split("\n")) > 400


def test_a_file_that_cannot_be_written_is_refused(file, capsys):
    assert main(["graph", "--svg", file(MODULE), "-o", "no/a.svg"]) == 2
    assert "`no/a.svg` cannot be written: No such file" in capsys.readouterr().err


def test_open_is_for_pages_only(file, capsys):
    with pytest.raises(SystemExit):
        main(["graph", "--open", file(MODULE)])
    assert "--open shows the page of --view; add --view" in capsys.readouterr().err
