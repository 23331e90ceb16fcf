"""The one style sheet: themes, and nothing outside of our own elements."""

from __future__ import annotations

import re

import pytest

from relaxscript.errors.style_sheet import DARK, LIGHT, style_sheet


def rules() -> list[tuple[str, str]]:
    """Each rule as what it is for and what it says; those of `@media` too."""
    flat = re.sub(r"@media [^{]*\{([^{}]*\{[^{}]*\})\}", r"\1", style_sheet())
    return re.findall(r"([^{}]+)\{([^{}]*)\}", flat)


def test_every_rule_is_for_our_own_elements():
    assert len(rules()) > 10
    for selector, _ in rules():
        parts = re.split(r",(?![^(]*\))", selector)
        assert all(".relaxscript" in part for part in parts), selector


def test_nothing_is_loaded():
    assert not re.search(r"https?:|url\(|@import|@font-face|expression", style_sheet())


def test_every_colour_that_is_used_is_there_for_light_and_dark():
    used = set(re.findall(r"var\(--rx-(\w+)\)", style_sheet()))
    assert used == set(LIGHT) == set(DARK)
    assert "@" not in style_sheet().replace("@media", "")


@pytest.mark.parametrize(
    ("light", "dark"),
    [
        ('[data-jp-theme-light="true"]', '[data-jp-theme-light="false"]'),
        ('[theme="light"]', '[theme="dark"]'),
        ('[data-theme="light"]', '[data-theme="dark"]'),
        (".vscode-light", ".vscode-dark"),
    ],
    ids=["Jupyter", "Colab", "Sphinx", "VS Code"],
)
def test_the_theme_of_the_page_goes_before_that_of_the_system(light: str, dark: str):
    (first,) = [s for s, said in rules() if f"--rx-text:{LIGHT['text']}" in said]
    preferred, chosen = [s for s, said in rules() if f"--rx-text:{DARK['text']}" in said]
    assert preferred == ".relaxscript"
    assert light in first
    assert dark in chosen
    assert "prefers-color-scheme: dark" in style_sheet()


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_of_every_colour_can_be_read(colours):
    backgrounds = ("page", "added", "removed", "shade")
    for name in set(colours) - {*backgrounds, "line", "bar"}:
        for background in backgrounds if name in ("text", "keyword") else ("page",):
            a, b = sorted([luminance(colours[name]), luminance(colours[background])])
            assert (b + 0.05) / (a + 0.05) >= 4.5, (name, background)
