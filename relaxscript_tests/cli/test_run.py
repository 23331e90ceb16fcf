"""`relaxscript run`: as Python runs a file, with mistakes drawn instead of a traceback."""

from __future__ import annotations

import sys

import pytest

from relaxscript.cli import main
from relaxscript_tests.cli.programs import BAD, GOOD


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def start(text, *arguments):
        (tmp_path / "a.py").write_text(text, "utf-8")
        return main(["run", "a.py", *arguments])

    return start


def test_a_file_is_run_as_the_main_program(run, capsys):
    text = "import sys\nprint(__name__, __file__, sys.argv)\n"
    assert run(text, "-x", "--json", "b") == 0
    assert capsys.readouterr() == ("__main__ a.py ['a.py', '-x', '--json', 'b']\n", "")


def test_modules_beside_the_file_can_be_imported(run, tmp_path, capsys):
    (tmp_path / "beside_it_42.py").write_text("x = 42")
    assert run("import beside_it_42\nprint(beside_it_42.x)") == 0
    assert capsys.readouterr().out == "42\n"
    del sys.modules["beside_it_42"]


def test_arguments_and_search_path_are_as_before_afterwards(run):
    before = sys.argv, sys.path, list(sys.path)
    run("import sys\nsys.argv.append('x')\nsys.path.append('y')\nraise KeyError")
    assert (sys.argv, sys.path, list(sys.path)) == before
    assert sys.argv is before[0]


def test_scripts_of_the_file_are_parsed_where_they_stand(run, capsys):
    assert run(f"{GOOD}\nprint(twice.params[0].name_hint)") == 0
    assert capsys.readouterr().out == "x\n"


def test_a_mistake_is_drawn_without_traceback(run, capsys):
    assert run(f"print('before', flush=True)\n{BAD}print('after')") == 1
    out, err = capsys.readouterr()
    assert out == "before\n"
    assert err.startswith("error[RX0101]: `imaeg` is not defined\n --> a.py:6:25\n")
    assert "Traceback" not in err
    assert err.endswith("`relaxscript explain RX0101` tells more about RX0101\n")


def test_another_exception_is_shown_as_usual_from_the_file_on(run, capsys):
    assert run("def f():\n    return 1 / 0\nf()\n") == 1
    err = capsys.readouterr().err
    assert err.startswith(
        'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n'
    )
    assert err.endswith("ZeroDivisionError: division by zero\n")
    assert "relaxscript" not in err


def test_a_syntax_error_of_the_file_is_shown_as_usual(run, capsys):
    assert run("def f(:\n") == 1
    err = capsys.readouterr().err
    assert 'File "a.py", line 1' in err
    assert "SyntaxError" in err


def test_the_exit_status_that_the_file_asks_for_is_kept(run):
    with pytest.raises(SystemExit) as caught:
        run("raise SystemExit(7)")
    assert caught.value.code == 7


def test_a_file_that_cannot_be_read_makes_two(run, capsys):
    assert main(["run", "missing.py"]) == 2
    assert capsys.readouterr().err.startswith("error[RX0701]: cannot read `missing.py`")
