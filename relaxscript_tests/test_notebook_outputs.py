"""Outputs of notebooks: how they are stored, and what of them is compared."""

from __future__ import annotations

import base64

import pytest

from relaxscript_tests.notebook_outputs import are_dressed_alike, differences, tidied


def stream(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def shown(**data):
    data = {mime.replace("_", "/", 1): value for mime, value in data.items()}
    return {"output_type": "display_data", "metadata": {}, "data": data}


def error(message, traceback=()):
    return {
        "output_type": "error", "ename": "ValueError", "evalue": message,
        "traceback": list(traceback),
    }  # fmt: skip


def png(width, height, rest=b""):
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return base64.b64encode(head + rest).decode()


def test_how_streams_are_cut_is_not_stored():
    cut = [stream("a"), stream("x\n", "stderr"), stream("b\n"), shown(text_plain="1"), stream("c")]
    assert tidied(cut) == [
        stream("x\n", "stderr"),
        stream("ab\n"),
        shown(text_plain="1"),
        stream("c"),
    ]


def test_texts_are_compared_to_the_letter():
    assert differences([stream("a\nb\n")], [stream("a\nc\n")], []).splitlines()[2:] == [
        "@@ -1,3 +1,3 @@",
        " [stdout]",
        " a",
        "-b",
        "+c",
    ]
    assert differences([stream("a\n")], [stream("a\n")], []) == ""


def test_spaces_at_the_end_of_a_line_are_no_difference():
    assert differences([stream("a\n    \nb\n")], [stream("a\n\nb  \n")], []) == ""
    assert differences([stream("  a\n")], [stream("a\n")], []) != ""


def test_an_output_that_is_missing_is_a_difference():
    assert "+[stdout]\n+a" in differences([], [stream("a\n")], [])
    assert "-[stdout]\n-a" in differences([stream("a\n")], [], [])


@pytest.mark.parametrize("mime", ["text/html", "image/svg+xml"])
def test_of_html_and_svg_what_is_read_is_compared_not_how_it_looks(mime):
    before = shown(**{mime: "<style>.a { color: red }</style><b class='a'>1 &lt; 2</b>"})
    after = shown(**{mime: "<style>.a { color: blue }</style><i>1 &lt; 2</i>"})
    assert differences([before], [after], []) == ""
    other = shown(**{mime: "<b class='a'>1 &lt; 3</b>"})
    assert "-1 < 2\n+1 < 3" in differences([before], [other], [])


def test_html_that_says_what_the_text_says_is_shown_once():
    before, after = (shown(text_plain=n, text_html=f"<b>{n}</b>") for n in ("one", "two"))
    assert differences([before], [after], []).count("+two") == 1


def test_of_pictures_the_type_and_the_size_are_compared():
    before = shown(image_png=png(3, 4, b"x"))
    assert differences([before], [shown(image_png=png(3, 4, b"y"))], []) == ""
    assert "-3 × 4\n+3 × 5" in differences([before], [shown(image_png=png(3, 5))], [])
    assert differences([before], [shown(image_jpeg="")], [])


def test_of_errors_the_message_is_compared_not_the_lines_of_libraries():
    assert differences([error("a", ["line 1"])], [error("a", ["line 2"])], []) == ""
    assert "-a\n+b" in differences([error("a")], [error("b")], [])


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        (stream("3 ms\n"), stream("4 ms\n"), True),
        (stream("3 ms\n"), stream("4 ms\n1 s\n"), False),
        (stream("3 ms\n"), stream("3 ms\n", "stderr"), False),
        (error("3 ms"), error("4 ms"), True),
        (shown(text_plain="1"), shown(text_plain="2"), True),
        (shown(text_plain="1"), shown(text_plain="1\n2"), False),
        (shown(text_plain="1", text_html="1"), shown(text_plain="1"), False),
        (shown(image_png=png(1, 2)), shown(image_png=png(1, 3)), True),
    ],
)
def test_of_cells_that_vary_kinds_and_numbers_of_lines_are_compared(before, after, same):
    assert (differences([before], [after], ["varies"]) == "") is same


def test_an_example_of_yesterdays_look_is_none():
    stored, found = shown(text_html="<style>a{}</style>1"), shown(text_html="<style>b{}</style>2")
    assert are_dressed_alike([stored, stream("1")], [stored, stream("2")])
    assert not are_dressed_alike([stored], [found])
