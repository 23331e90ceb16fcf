"""The pages of the site: all there, each once, and what they say is what happens."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from relaxscript import structural_equal, transform
from relaxscript.cli.operators import operators
from relaxscript.errors import CODES, render
from relaxscript.errors.exceptions import DiagnosticError
from relaxscript.script import from_source
from relaxscript_tests.architecture import FACADES, FLOORS, ROOT, readable
from tutorials.site import api, diagnostics, operators as operator_pages, passes
from tutorials.site.house import data_flow, floor_plan, room_descriptions
from tutorials.site.pass_examples import EXAMPLES, WITHOUT
from tutorials.site.signatures import signature_of

PAGES = ROOT / "tutorials/site/pages"
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


OPAQUE = type("Opaque", (), {"__doc__": "What has no name."})()


def links_of(text: str) -> list[str]:
    return re.findall(r"\]\(([^)#]+)\.md\)", text)


@pytest.mark.slow
def test_every_operator_has_a_page_in_the_list_of_one_family():
    pages = dict(operator_pages.operator_pages())
    listed = [name for names in operator_pages.families().values() for name in names]
    assert sorted(listed) == sorted(operators())
    for name in listed:
        assert pages[f"operators/{name}"].startswith(f"# R.{name}\n")
        assert f"```python\nR.{name}(" in pages[f"operators/{name}"]
    assert set(listed) <= set(links_of(pages["operators/index"]))


@pytest.mark.slow
def test_the_page_of_an_operator_says_what_help_says():
    text = dict(operator_pages.operator_pages())["operators/nn.softmax"]
    assert "| `axis` | an integer; -1 unless given |" in text
    assert "```pycon\n>>> data = np.arange(6" in text
    assert re.findall("^## (.*)$", text, re.MULTILINE) == [
        "Types", "Example", "Compute", "Gradient", "Elsewhere",
    ]  # fmt: skip


def test_every_code_has_a_page_with_its_wrong_and_its_right_program():
    pages = dict(diagnostics.diagnostic_pages())
    assert set(links_of(pages["diagnostics/index"])) == set(CODES)
    for code in CODES:
        assert "\n## Wrong\n" in pages[f"diagnostics/{code}"]
        assert "\n## Right\n" in pages[f"diagnostics/{code}"]


def test_a_page_shows_the_message_of_its_wrong_program():
    assert (
        "It is told:\n\n```text\nerror[RX0203]"
        in dict(diagnostics.diagnostic_pages())["diagnostics/RX0203"]
    )


def test_every_pass_has_a_page_in_the_list_of_one_family():
    pages = dict(passes.pass_pages())
    known = passes.passes()
    named = [n for n in transform.__all__ if isinstance(getattr(transform, n), type)]
    infrastructure = {n for n in named if "pass_infra" in getattr(transform, n).__module__}
    ours = {n for n in named if issubclass(getattr(transform, n), transform.Pass)}
    assert ours - infrastructure == {name for name in known if not name.startswith("tir.")}
    assert sorted(known) == sorted(n for names in passes.families().values() for n in names)
    for name in known:
        assert pages[f"passes/{name}"].startswith(f"# {name}\n")
        assert name in links_of(pages["passes/index"])


def test_every_pass_has_an_example_or_is_known_to_have_none():
    known = {*EXAMPLES, *WITHOUT}
    assert [name for name in passes.passes() if name not in known] == []  # `pass_examples.py`
    assert known <= set(passes.passes())
    assert not set(EXAMPLES) & WITHOUT


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::relaxscript.errors.RelaxWarning")
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_pass_changes_its_example_into_another_script(name):
    example = EXAMPLES[name]
    mod = example.module()
    made = example.make(name)(mod)
    assert not structural_equal(mod, made)
    assert structural_equal(from_source(made.script(show_meta=True)), made)


@pytest.mark.slow
def test_every_facade_has_a_page_or_is_part_of_one():
    rooms = {room for rooms in api.ROOMS.values() for room in rooms}
    of_relax = {"ir.transform": "transform", "__main__": "", "__init__": ""}
    assert {of_relax.get(name, name) for name in FACADES} <= rooms
    pages = dict(api.api_pages())
    assert {f"api/relaxscript.{room}".rstrip(".") for room in rooms} < set(pages)


@pytest.mark.slow
def test_what_two_rooms_offer_is_described_once():
    text = "\n".join(text for _, text in api.api_pages())
    heads = re.findall(r"^:+\{py:\w+\} ([\w.]+).*\n:module: (.*)$", text, re.MULTILINE)
    assert len(heads) == len(set(heads)) > 1000
    assert ("build", "relaxscript") in heads
    assert ("build", "relaxscript.relax") not in heads
    assert ("Executable.as_text", "relaxscript") in heads
    assert "[`DeadCodeElimination`](/passes/DeadCodeElimination.md)" in text
    assert "[`matmul`](/operators/matmul.md)" in text


def test_a_signature_has_no_addresses_and_no_modules():
    def f(x: Path, y: Any = OPAQUE, *, z: type = int) -> dict[str, Path]: ...

    assert signature_of(f) == "(x: Path, y: Any = ..., *, z: type = int) -> dict[str, Path]"
    assert signature_of(f, bound=True).startswith("(y: ")
    assert signature_of(print).startswith("(*args")
    assert signature_of(type) == "(...)"


# ---------------------------------------------------------------- programs


@pytest.mark.parametrize("path", sorted(PAGES.glob("*.md")), ids=lambda path: path.stem)
def test_the_programs_of_a_page_print_what_stands_below_them(path, tmp_path):
    names: dict[str, Any] = {"__name__": "page"}
    for number, (program, shown) in enumerate(BLOCK.findall(path.read_text("utf-8"))):
        file = tmp_path / f"{number}.py"
        file.write_text(program, "utf-8")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, str(file), "exec"), names)
        assert printed.getvalue().rstrip() == shown.rstrip()


def test_the_mistake_on_the_first_page_is_drawn_as_it_shows():
    text = readable("tutorials/site/pages/index.md")
    [(program, _)] = BLOCK.findall(text)
    wrong = program.replace("w: R.Tensor((64,", "w: R.Tensor((63,").partition("\n\n\nprint")[0]
    with pytest.raises(DiagnosticError) as caught:
        from_source(wrong, filename="model.py")
    assert f"```text\n{render(caught.value.diagnostics).rstrip()}\n```" in text


def test_the_table_of_the_language_has_every_construct():
    rows = re.findall(
        r"^\| \[(.*?)\]\(tutorials/what_you_may_write\.md#([\w-]+)\) \| .+ \| .+ \|$",
        readable("tutorials/site/pages/language.md"),
        re.MULTILINE,
    )
    headings = re.findall(r"^## (.*)$", readable("tutorials/what_you_may_write.md"), re.MULTILINE)
    assert [name.lower() for name, _ in rows] == [heading.lower() for heading in headings]
    assert [anchor for _, anchor in rows] == [
        heading.lower().replace(",", "").replace(" ", "-") for heading in headings
    ]


# ---------------------------------------------------------------- drawings


def test_the_house_is_drawn_with_all_its_rooms():
    said = room_descriptions(readable("README.md"))
    drawn = floor_plan(readable("README.md"), {"arith": "api/relaxscript.arith"})
    rooms = [room for floor in FLOORS for room in floor if room not in FACADES]
    for room in rooms:
        if not room.startswith("__"):
            assert f">{room}</text>" in drawn
            assert room in said
    assert '<a href="api/relaxscript.arith.html"><rect ' in drawn


def test_drawings_have_a_name_for_those_who_do_not_see_them():
    for drawn in (data_flow(), floor_plan(readable("README.md"), {})):
        assert re.match(r'<svg class="house" [^>]*role="img" aria-label="[^"]+"><title>', drawn)
