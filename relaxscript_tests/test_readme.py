"""The first page keeps its word: its programs run, and what it shows is what they say."""

from __future__ import annotations

import re

import pytest

from relaxscript.cli import main
from relaxscript.op import REGISTRY
from relaxscript_tests.architecture import readable

README = readable("README.md")


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


FIRST, MISTAKEN, THREE = blocks("python")
SHOWN, ONE_ERROR, ERRORS, _ = blocks("text")


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """The command on a file of that name and text: exit status, output and complaints."""

    def run(word, name, text):
        monkeypatch.chdir(tmp_path)
        (tmp_path / name).write_text(text, "utf-8")
        status = main([word, name])
        return (status, *capsys.readouterr())

    return run


def test_the_program_of_the_first_page_runs_on_three_executors_alike(command):
    status, output, complaints = command("run", "digits.py", FIRST + THREE)
    assert (status, complaints) == (0, "")
    assert SHOWN in output
    assert output.endswith("\n(5, 10)\n")


def test_its_one_mistake_is_drawn_as_the_first_page_shows(command):
    wrong = FIRST.replace("w: R.Tensor((64, 64)", "w: R.Tensor((63, 64)")
    for word in ("run", "check"):
        status, _, complaints = command(word, "digits.py", wrong)
        assert status == 1
        assert complaints.startswith(ONE_ERROR)
        assert complaints.count("error[") == 1


def test_its_file_with_several_mistakes_is_told_as_it_says(command):
    status, _, complaints = command("check", "model.py", MISTAKEN)
    assert (status, complaints) == (1, ERRORS)


def test_it_has_counted_the_operators():
    assert f"- **Operators**: {len(REGISTRY)} so far" in README
