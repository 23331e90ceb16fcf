"""The documentation site in a browser: every kind of page, search, keys, both themes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from relaxscript_tests.browser.watched_page import THEMES, contrast, served, watched

PAGES = (
    "index.html", "README.html", "tutorials.html", "language.html", "how_it_works.html",
    "differences.html", "operators/index.html", "operators/family-nn.activation.html",
    "operators/nn.softmax.html", "passes/index.html", "passes/FuseOps.html",
    "diagnostics/index.html", "diagnostics/RX0203.html", "api/index.html", "api/relaxscript.html",
    "tutorials/01_digits.html", "tutorials/what_you_may_write.html",
    "relaxscript_tests/benchmarks/RESULTS.html", "CHANGELOG.html", "CONTRIBUTING.html",
    "genindex.html",
)  # fmt: skip


@pytest.fixture(scope="module")
def address(site) -> Iterator[str]:
    with served(site) as found:
        yield found


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_loads_without_complaint_and_can_be_read(name, theme, browser, address, picture):
    with watched(browser, theme) as seen:
        page = seen.open(f"{address}/{name}")
        assert page.locator("h1").first.is_visible()
        assert contrast(page, "h1") > 7
        assert contrast(page, ".sidebar-tree a") > 4.5
        picture(page)


@pytest.mark.parametrize("name", ["index.html", "operators/nn.softmax.html", "how_it_works.html"])
def test_a_page_needs_no_server(name, browser, site):
    with watched(browser) as seen:
        page = seen.open((site / name).as_uri())
        assert page.locator("h1").first.is_visible()


def test_every_numbered_notebook_loads_without_complaint(browser, address, site):
    found = sorted(Path(site, "tutorials").glob("[0-9][0-9]_*.html"))
    assert found
    with watched(browser) as seen:
        for path in found:
            page = seen.open(f"{address}/tutorials/{path.name}")
            assert page.locator("div.cell").first.is_visible()


@pytest.mark.parametrize("word", ["softmax", "R.nn.softmax"])
@pytest.mark.parametrize("served_by", ["http", "file"])
def test_the_search_finds_an_operator(word, served_by, browser, address, site, picture):
    with watched(browser) as seen:
        page = seen.open(address + "/" if served_by == "http" else (site / "index.html").as_uri())
        page.locator("input.sidebar-search").fill(word)
        page.keyboard.press("Enter")
        page.locator("ul.search a[href*='operators/nn.softmax.html']").first.wait_for()
        picture(page)
        page.locator("ul.search a").first.click()  # the page of a name is before all others
        page.wait_for_url("**/operators/nn.softmax.html*")
        assert page.locator("h1").inner_text().startswith("R.nn.softmax")


def test_a_search_for_a_code_finds_its_page(browser, address):
    with watched(browser) as seen:
        page = seen.open(f"{address}/search.html?q=RX0203")
        page.locator("ul.search a[href*='diagnostics/RX0203.html']").first.wait_for()


def test_keys_reach_the_content_and_turn_pages(browser, address):
    with watched(browser) as seen:
        page = seen.open(f"{address}/index.html")
        page.keyboard.press("Tab")
        focused = "document.activeElement.textContent.trim()"
        assert page.evaluate(focused) == "Skip to content"
        page.keyboard.press("Enter")
        assert page.url.endswith("#furo-main-content")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("ArrowRight")
        page.wait_for_url("**/README.html")


def test_a_room_of_the_house_is_reached_by_keys_and_leads_to_its_page(browser, address, picture):
    with watched(browser) as seen:
        page = seen.open(f"{address}/how_it_works.html")
        room = page.locator("svg.house a", has_text="arith")
        room.focus()
        room.scroll_into_view_if_needed()
        picture(page)
        page.keyboard.press("Enter")
        page.wait_for_url("**/api/relaxscript.arith.html")


def test_the_theme_is_chosen_by_a_button_and_stays(browser, address, picture):
    with watched(browser, "light") as seen:
        page = seen.open(f"{address}/diagnostics/RX0203.html")
        ground = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(ground)
        themes = set()
        for _ in range(3):
            page.locator("button.theme-toggle:visible").first.click()
            themes.add(page.evaluate("document.body.dataset.theme"))
            if page.evaluate("document.body.dataset.theme") == "dark":
                break
        assert "dark" in themes
        page.reload()
        assert page.evaluate(ground) != light
        picture(page)


def test_what_a_notebook_shows_follows_the_button(browser, address, picture):
    with watched(browser, "light") as seen:
        page = seen.open(f"{address}/tutorials/03_errors.html")
        ground = "getComputedStyle(document.querySelector('.relaxscript .rx-box')).backgroundColor"
        light = page.evaluate(ground)
        while page.evaluate("document.body.dataset.theme") != "dark":
            page.locator("button.theme-toggle:visible").first.click()
        assert page.evaluate(ground) != light
        assert contrast(page, ".relaxscript pre") > 7
        picture(page)


def test_a_name_in_prose_leads_to_its_page(browser, address):
    with watched(browser) as seen:
        page = seen.open(f"{address}/passes/FuseOps.html")
        page.locator("article a", has_text="FuseTIR").first.click()
        page.wait_for_url("**/passes/FuseTIR.html")


def test_the_site_fits_a_telephone(browser, address, picture):
    with watched(browser) as seen:
        seen.page.set_viewport_size({"width": 390, "height": 800})
        page = seen.open(f"{address}/index.html")
        width = page.evaluate("document.documentElement.scrollWidth")
        picture(page)
        assert width <= 390
