"""The page that `graph().view()` writes: script and graph lead to each other, by mouse and keys."""

from __future__ import annotations

from pathlib import Path

import pytest

import relaxscript as rx
from relaxscript_tests.browser.watched_page import THEMES, watched

PROGRAM = """
@I.ir_module
class Model:
    @R.function
    def main(x: R.Tensor(("n", 64), "float32"), w: R.Tensor((64, 10), "float32")):
        with R.dataflow():
            h = R.nn.relu(R.matmul(x, w))
            y = R.nn.softmax(h)
            R.output(y)
        return y
"""
HOSTILE = '<img src=x onerror="document.title=1">&"\'`</script>'


@pytest.fixture(scope="module")
def view(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("view") / "main.html"
    return Path(rx.from_source(PROGRAM).graph().view(path)).as_uri()


@pytest.mark.parametrize("theme", THEMES)
def test_a_page_shows_script_and_graph_in_both_themes(theme, view, browser, picture):
    with watched(browser, theme) as seen:
        page = seen.open(view)
        assert page.locator("svg .title", has_text="softmax").first.is_visible()
        assert page.locator(".line", has_text="R.nn.softmax").is_visible()
        dark = (
            page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
        )
        assert dark == (theme == "dark")
        picture(page)


def test_clicking_a_node_selects_its_line(view, browser, picture):
    with watched(browser) as seen:
        page = seen.open(view)
        page.locator("svg a", has=page.locator(".title", has_text="softmax")).last.click()
        chosen = page.locator(".line.chosen")
        assert chosen.count() == 1
        assert "R.nn.softmax" in chosen.inner_text()
        picture(page)


def test_clicking_a_line_selects_its_node(view, browser):
    with watched(browser) as seen:
        page = seen.open(view)
        page.locator(".line", has_text="R.matmul").click()
        assert "matmul" in page.locator("svg a.chosen").last.text_content()


def test_arrow_keys_go_along_the_wires_and_escape_lets_go(view, browser):
    with watched(browser) as seen:
        page = seen.open(view)
        page.locator("svg a", has=page.locator(".title", has_text="matmul")).last.focus()
        page.keyboard.press("ArrowDown")
        assert "R.nn.relu" in page.locator(".line.chosen").inner_text()
        page.keyboard.press("ArrowDown")
        assert "R.nn.softmax" in page.locator(".line.chosen").inner_text()
        page.keyboard.press("ArrowUp")
        assert "R.nn.relu" in page.locator(".line.chosen").inner_text()
        page.keyboard.press("Escape")
        assert page.locator(".chosen").count() == 0


def test_tab_reaches_the_nodes_and_enter_selects(view, browser):
    with watched(browser) as seen:
        page = seen.open(view)
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.closest('svg') !== null"):
                break
        page.keyboard.press("Enter")
        assert page.locator("svg .chosen").count() == 1
        assert page.locator(".line.chosen").count() >= 1


def test_without_scripts_links_lead_from_boxes_to_lines(view, browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(view)
    page.locator("svg a", has=page.locator(".title", has_text="softmax")).last.click()
    assert "#" in page.url
    assert page.locator(".line:target").count() == 1
    context.close()


def test_hostile_strings_stay_text(tmp_path, browser):
    mod = rx.from_source(PROGRAM)
    main = mod["main"].with_attr("note", HOSTILE)
    made = rx.IRModule({"main": main})
    path = made.graph().view(tmp_path / "hostile.html")
    with watched(browser) as seen:
        page = seen.open(Path(path).as_uri())
        assert page.title() != "1"
        assert page.locator("img").count() == 0
