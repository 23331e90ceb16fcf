"""Pictures of source lines: well-formed, complete in themselves, with bars of the right lengths."""

from __future__ import annotations

from xml.etree import ElementTree

from relaxscript.runtime.debug.line_picture import line_picture

SVG = "{http://www.w3.org/2000/svg}"


def parsed(lines, total=1.0):
    return ElementTree.fromstring(line_picture(lines, total))


def test_bars_are_as_long_as_their_lines_take():
    tree = parsed([("m.py:1", "a", 0.5), ("m.py:2", "b", 0.25), ("m.py:3", "c", 0.0)])
    bars = [float(bar.get("width")) for bar in tree.findall(f".//{SVG}rect[@class='bar']")]
    assert bars[0] == 2 * bars[1]
    assert len(bars) == 2


def test_each_line_and_the_whole_have_a_title_for_those_who_do_not_see_it():
    tree = parsed([("m.py:1", "a", 0.5), ("m.py:2", "b", 0.0)])
    assert [title.text for title in tree.findall(f".//{SVG}title")] == [
        "1.00 s by source line", "m.py:1: 500.00 ms, 50.0 % of the call", "m.py:2: nothing",
    ]  # fmt: skip
    assert (tree.get("role"), tree.get("aria-label")) == ("img", "1.00 s by source line")


def test_text_of_a_program_is_text_in_the_picture():
    code = "y = \"</text><script>alert(1)</script>\" if a < b & c else '\x00\x1b'"
    tree = parsed([("<m>.py:1", code, 0.5)])
    found = [text.text for text in tree.findall(f".//{SVG}text")]
    assert "<m>.py:1" in found
    assert code.replace("\x00", "\u2400").replace("\x1b", "\u241b") in found
    assert tree.find(f".//{SVG}script") is None


def test_a_picture_needs_nothing_beside_itself_and_suits_both_themes():
    text = line_picture([("m.py:1", "a", 0.5)], 1.0)
    links = [part for part in text.split() if "://" in part]
    assert links == ['xmlns="http://www.w3.org/2000/svg"']
    assert not any(sign in text for sign in ("url(", "@import", "href"))
    assert "@media (prefers-color-scheme: dark)" in text


def test_a_picture_in_a_page_has_the_colours_of_the_page():
    assert "<style>" not in line_picture([("m.py:1", "a", 0.5)], 1.0, whole=False)


def test_the_style_of_a_picture_is_for_nothing_around_it():
    style = parsed([]).find(f"{SVG}style").text
    selectors = [part.rpartition("}")[2] for part in style.split("{")[:-1]]
    named = [part.strip() for part in selectors if "@media" not in part]
    assert named
    assert all(part.startswith(".relaxscript-lines ") for part in named if part)


def test_indentation_is_kept():
    tree = parsed([("m.py:1", "\ty = x", 0.5)])
    assert [text.text for text in tree.findall(f".//{SVG}text")][-1] == "        y = x"


def test_a_picture_of_nothing_is_a_picture():
    assert parsed([], 0.0).find(f"{SVG}title").text == "0 ns by source line"
