"""The first page keeps its word: its programs run, and what it shows is what they say."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from relaxscript.cli import main
from relaxscript.relax import transform
from relaxscript_tests.architecture import ROOT, readable

README = readable("README.md")


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, in their order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


FIRST, MISTAKEN, THREE, OWNING, TRANSFORMING, TRAINING = blocks("python")
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


def test_its_program_runs_as_it_says_also_without_a_machine(command):
    at_once = FIRST.replace("model.main(x, w, v)", "Digits.main(x, w, v)")
    status, output, complaints = command("run", "digits.py", at_once)
    assert (status, complaints) == (0, "")
    assert output.endswith("\n(5, 10)\n")


def test_its_picture_is_the_graph_of_its_program(command):
    drawn = FIRST + 'print("----", Digits.graph()._repr_svg_(), sep="\\n")'
    _, output, _ = command("run", "digits.py", drawn)
    assert output.partition("----\n")[2] == readable("tutorials/digits.svg").rstrip("\n") + "\n"


def test_it_links_to_every_tutorial():
    tutorials = ROOT / "tutorials"
    names = [path.name for path in [*tutorials.glob("*.ipynb"), *tutorials.glob("*.md")]]
    assert not [name for name in names if f"](tutorials/{name}" not in README]


def test_its_model_that_owns_its_weights_runs(command):
    status, output, complaints = command("run", "net.py", OWNING)
    assert (status, output, complaints) == (0, "(5, 10)\n", "")


def test_its_program_transforms_a_program(command):
    status, output, complaints = command("run", "passes.py", TRANSFORMING)
    assert (status, complaints) == (0, "")
    assert '+            y: R.Tensor((n, 8), "float32") = R.multiply(x, x)\n' in output
    assert output.endswith("\n[[9. 9. 9. 9. 9. 9. 9. 9.]]\n")


def test_its_program_trains_a_model(command):
    assert command("run", "training.py", TRAINING) == (0, "True\n", "")


def test_what_it_says_is_not_there_is_not_there():
    absent = README.partition("## What is not there yet")[2].partition("\n## ")[0]
    words = re.findall(r"`([A-Z]\w+)`", absent)
    assert "`tir.Schedule`" in absent
    assert not [name for name in words if hasattr(transform, name)]


@pytest.mark.parametrize("pipeline", ["zero", "default_build"])
def test_the_pipelines_that_it_names_build_its_program(command, pipeline):
    asked = "rx.VirtualMachine(rx.build(Digits, relax_pipeline=PIPELINE))".replace(
        "PIPELINE", repr(pipeline)
    )
    assert f'"{pipeline}"' in README
    status, output, complaints = command("run", "digits.py", FIRST.replace("rx.jit(Digits)", asked))
    assert (status, complaints) == (0, "")
    assert output.endswith("\n(5, 10)\n")


@pytest.mark.slow
def test_strict_type_checkers_find_nothing_wrong_with_its_program(tmp_path):
    (tmp_path / "digits.py").write_text(f"# pyright: strict\n{FIRST}{THREE}", "utf-8")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(ROOT)]}))
    command = [sys.executable, "-m", "pyright", "--outputjson", "-p", str(tmp_path)]
    done = subprocess.run(
        [*command, "--pythonpath", sys.executable], cwd=tmp_path, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] == 1
    assert [d["message"] for d in found["generalDiagnostics"]] == []


def test_its_one_mistake_is_drawn_as_the_first_page_shows(command):
    wrong = FIRST.replace("w: R.Tensor[R.f32, 64, 64]", "w: R.Tensor[R.f32, 63, 64]")
    for word in ("run", "check"):
        status, _, complaints = command(word, "digits.py", wrong)
        assert status == 1
        assert complaints.startswith(ONE_ERROR)
        assert complaints.count("error[") == 1


def test_its_file_with_several_mistakes_is_told_as_it_says(command):
    status, _, complaints = command("check", "model.py", MISTAKEN)
    assert (status, complaints) == (1, ERRORS)
