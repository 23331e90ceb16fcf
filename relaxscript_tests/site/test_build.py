"""Builds of a site: one that is right says nothing, each that is broken says what and where."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from relaxscript_tests.architecture import ROOT
from tutorials.site.build import main, render
from tutorials.site.links import broken_links
from tutorials.site.sources import HERE, assemble, notebooks, places

pytestmark = pytest.mark.slow

NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": "# Numbers\n\nA formula: $x^2$."},
        {
            "cell_type": "code", "execution_count": 1, "metadata": {}, "source": "print(1)",
            "outputs": [
                {"name": "stdout", "output_type": "stream", "text": "stored output\n"},
                {
                    "ename": "VMError", "evalue": "x", "output_type": "error",
                    "traceback": ["Traceback (most recent call last):", "VMError: `x` is wrong"],
                },
            ],
        },
        {
            "cell_type": "markdown", "metadata": {},
            "source": "<details><summary>Solution</summary>\n\n```python\n1 + 1\n```\n\n</details>",
        },
    ],
    "metadata": {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    },
    "nbformat": 4, "nbformat_minor": 4,
}  # fmt: skip


@pytest.fixture
def source(tmp_path) -> Path:
    """A small site: a first page that names a page, a notebook, an operator and a diagnostic."""
    folder = tmp_path / "source"
    folder.mkdir()
    shutil.copytree(HERE / "assets", folder / "_static")
    (folder / "index.md").write_text(
        "# Start\n\nSee [more](more.md#a-part), `R.matmul(x, y)` and RX0203.\n\n"
        "```{toctree}\nmore\n01_numbers\n```\n"
    )
    (folder / "more.md").write_text("# More\n\n## A part\n\nText.\n")
    (folder / "01_numbers.ipynb").write_text(json.dumps(NOTEBOOK))
    return folder


@pytest.fixture
def built(source, tmp_path):
    """The pages of the small site, after changes of its sources, and what is wrong."""

    def build(**names: str) -> tuple[Path, list[str]]:
        out = tmp_path / "out"
        found = render(source, out, {"R.matmul": "more", "RX0203": "more", **names}, 1)
        return out, [*(line.replace(f"{source}/", "") for line in found), *broken_links(out)]

    return build


def test_a_site_that_is_right_says_nothing_and_links_the_names_in_it(built):
    out, problems = built()
    assert problems == []
    text = (out / "index.html").read_text()
    assert '<a class="reference internal" href="more.html"><code' in text
    assert '<a class="reference internal" href="more.html">RX0203</a>' in text
    assert 'href="more.html#a-part"' in text


def test_a_notebook_shows_what_is_stored_and_its_solutions_fold(built):
    out, _ = built()
    text = (out / "01_numbers.html").read_text()
    assert "stored output" in text
    assert "<details><summary>Solution</summary>" in text
    assert "<math " in text


def test_a_link_to_a_page_that_is_not_there_is_told_with_its_line(source, built):
    (source / "more.md").write_text("# More\n\n## A part\n\n[gone](nothing.md)\n")
    _, problems = built()
    assert any(p.startswith("more.md:5: WARNING") and "nothing.md" in p for p in problems)


def test_a_link_to_a_part_that_is_not_there_is_told_with_its_line(source, built):
    (source / "more.md").write_text("# More\n\nText, and [a part](#gone).\n\n## A part\n")
    _, problems = built()
    assert any(p.startswith("more.md:3: WARNING") and "gone" in p for p in problems)


def test_a_page_in_no_table_of_contents_is_told(source, built):
    (source / "lost.md").write_text("# Lost\n")
    _, problems = built()
    assert any("lost.md: WARNING" in p and "toctree" in p for p in problems)


def test_a_notebook_in_no_table_of_contents_is_told(source, built):
    shutil.copyfile(source / "01_numbers.ipynb", source / "02_lost.ipynb")
    _, problems = built()
    assert any("02_lost.ipynb: WARNING" in p and "toctree" in p for p in problems)


def test_a_page_that_a_table_of_contents_names_and_that_is_missing_is_told(source, built):
    (source / "more.md").unlink()
    _, problems = built()
    assert any(p.startswith("index.md:5: WARNING") and "more" in p for p in problems)


@pytest.mark.parametrize("text", ["{", "[]", '{"nbformat": 4, "nbformat_minor": 4}'])
def test_a_notebook_that_is_no_notebook_is_told(text, source, built):
    (source / "01_numbers.ipynb").write_text(text)
    _, problems = built()
    assert problems[0].startswith("01_numbers.ipynb: this is no notebook: ")


def test_a_directive_that_there_is_not_is_told_with_its_line(source, built):
    (source / "more.md").write_text("# More\n\n## A part\n\n```{nothing}\n```\n")
    _, problems = built()
    assert any("more.md" in p and ":5: " in p and "nothing" in p for p in problems)


def test_a_name_whose_page_has_no_such_place_is_told(built):
    _, problems = built(**{"R.matmul": "more#gone"})
    assert "index.html: there is nothing at more.html#gone" in problems


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (
            '<img src="https://example.org/x.png">',
            "loads https://example.org/x.png from the network",
        ),
        ('<script src="//example.org/x.js"></script>', "loads //example.org/x.js from the network"),
        ('<a href="gone.html">x</a>', "there is no gone.html"),
    ],
)
def test_what_only_the_network_or_nobody_has_is_told(written, problem, source, built):
    (source / "more.md").write_text(f"# More\n\n## A part\n\n{written}\n")
    assert f"more.html: {problem}" in built()[1]


def test_every_numbered_notebook_is_a_source_in_the_order_of_the_numbers():
    found = [path.name for path in notebooks(ROOT)]
    assert found[0] == "01_digits.ipynb"
    assert found == sorted(found)


def test_a_page_of_tutorials_that_nobody_lists_is_listed_behind_the_notebooks(tmp_path):
    for path in ("tutorials/site/pages/tutorials.md", "tutorials/site/pages/language.md",
                 "tutorials/what_you_may_write.md", "README.md", "CHANGELOG.md", "CONTRIBUTING.md",
                 "LICENSE", "relaxscript_tests/benchmarks/RESULTS.md",
                 "relaxscript_tests/benchmarks/RESULTS.svg"):  # fmt: skip
        (tmp_path / "root" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, tmp_path / "root" / path)
    (tmp_path / "root/tutorials/on_its_own.md").write_text("# On its own\n")
    (tmp_path / "root/tutorials/01_numbers.ipynb").write_text(json.dumps(NOTEBOOK))
    (tmp_path / "pages").mkdir()
    origin = assemble(tmp_path / "root", tmp_path / "pages")
    text = (tmp_path / "pages/tutorials.md").read_text()
    assert "\ntutorials/01_numbers\ntutorials/on_its_own\n```" in text
    assert origin["tutorials.md"] == "tutorials/site/pages/tutorials.md"
    assert origin["passes/FuseOps.md"] == "passes/FuseOps (made by tutorials.site.passes)"


def test_names_lead_to_operators_passes_diagnostics_and_rooms():
    found = places()
    assert found["R.nn.relu"] == "operators/nn.relu"
    assert found["DeadCodeElimination"] == "passes/DeadCodeElimination"
    assert found["RX0203"] == "diagnostics/RX0203"
    assert found["relaxscript.arith"] == "api/relaxscript.arith"
    assert found["IRModule"] == "api/relaxscript#relaxscript.IRModule"


def test_a_folder_of_something_else_stays_as_it_is(tmp_path, capsys):
    (tmp_path / "letter.txt").write_text("mine")
    assert main([str(tmp_path)]) == 1
    assert f"{tmp_path} is not empty, and holds no site" in capsys.readouterr().err
    assert (tmp_path / "letter.txt").read_text() == "mine"


def test_wrong_words_of_the_command_are_told(capsys):
    with pytest.raises(SystemExit):
        main(["--nothing"])
    assert "usage: python -m tutorials.site" in capsys.readouterr().err
