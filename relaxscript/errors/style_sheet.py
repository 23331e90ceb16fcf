"""The one style sheet of what notebooks show: colours for light and dark, and the shapes of parts.

Every rule is for `.relaxscript` and what is in it, so nothing else on a page changes. The theme is
the system's, unless the page has chosen one: Jupyter, VS Code, Colab, marimo and pages of Sphinx
say so by attributes and classes. An output with a class `light` or `dark` has that one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from .styles import MONOSPACE

__all__ = ["CHOSEN_DARK", "CHOSEN_LIGHT", "DARK", "LIGHT", "style_sheet"]

# What is coloured, by the name of its variable: `--rx-error`. The first four are of the whole.
LIGHT: Mapping[str, str] = {
    "text": "#1f2328",
    "page": "#f7f8fa",
    "line": "#d5dae1",
    "shade": "#e9edf2",
    "error": "#b3261e",
    "warning": "#8a5a00",
    "secondary": "#0b57d0",
    "gutter": "#5f6b7a",
    "help": "#0a6b2d",
    "note": "#00696f",
    "keyword": "#a626a4",
    "number": "#a04a00",
    "bar": "#d1570f",
    "added": "#d7f5de",
    "removed": "#fde2df",
}
DARK: Mapping[str, str] = {
    "text": "#e3e6ea",
    "page": "#1b1e23",
    "line": "#3a4048",
    "shade": "#2a2f37",
    "error": "#ff8a80",
    "warning": "#ffcf70",
    "secondary": "#8ab4f8",
    "gutter": "#93a1b3",
    "help": "#81d99a",
    "note": "#7fdbe0",
    "keyword": "#d8a1f0",
    "number": "#f2b27a",
    "bar": "#f0883e",
    "added": "#173d26",
    "removed": "#4d2222",
}

# Themes that a page chose by itself, against what the system prefers.
CHOSEN_LIGHT = '[data-jp-theme-light="true"],[theme="light"],[data-theme="light"],.vscode-light'
CHOSEN_DARK = (
    '[data-jp-theme-light="false"],[theme="dark"],[data-theme="dark"],.vscode-dark,.dark-theme'
)

# Selectors below `.relaxscript` and what they say; a name of a colour stands for its variable.
_RULES: tuple[tuple[str, str], ...] = (
    (
        ":is(pre,table,ul,summary)",
        f"font:0.92em/1.45 {MONOSPACE};margin:0;padding:0;border:0;background:none;"
        "color:inherit;text-align:left",
    ),
    ("pre", "white-space:pre;tab-size:4"),
    (".rx-box summary>pre", "font-size:1em;display:inline"),
    (".rx-box", "background:@page;border-radius:4px;padding:0.6em 0.8em;overflow-x:auto"),
    (".rx-box+.rx-box", "margin-top:0.5em"),
    (".rx-folds", "padding-left:1.7em"),
    ("summary", "cursor:pointer;list-style:none;position:relative"),
    ("summary::-webkit-details-marker", "display:none"),
    ("summary::before", "content:'\\25B8';position:absolute;left:-1.1em;color:@gutter"),
    ("details[open]>summary::before", "content:'\\25BE'"),
    ("summary:hover::before", "color:@text"),
    ("details:not([open])>summary::after", "content:' \\2026\\A0' attr(data-more);color:@gutter"),
    ("[title]:hover", "background:@shade;border-radius:2px;outline:1px solid @line"),
    (".rx-title", f"font:0.92em/1.45 {MONOSPACE};color:@gutter;padding-bottom:0.35em"),
    (".rx-title b", "color:@text"),
    ("caption.rx-title", "font-size:1em;text-align:left;caption-side:top;white-space:pre"),
    ("table.rx-rows", "border-collapse:collapse;width:auto;margin:0"),
    (
        "table.rx-rows :is(th,td)",
        "padding:0.15em 0.9em 0.15em 0;border:0;white-space:pre;text-align:left",
    ),
    ("table.rx-rows th", "color:@gutter;font-weight:normal;border-bottom:1px solid @line"),
    ("table.rx-rows :is(th,td).right", "text-align:right"),
    ("table.rx-rows tbody tr", "background:none;border:0"),
    ("table.rx-rows tbody tr:hover", "background:@shade"),
    ("ul", "margin:0.5em 0 0;padding:0 0 0 1.2em;color:@gutter"),
    (":is(.added,.removed)", "display:block"),
    (".added", "background:@added"),
    (".removed", "background:@removed"),
    ("svg text", f"fill:@text;font:12px {MONOSPACE}"),
    ("svg .less", "fill:@gutter"),
    ("svg .bar", "fill:@bar"),
    ("svg .back", "fill:@shade"),
    ("svg .page", "fill:none"),
)
# Those whose text is coloured, some in bold.
_COLOURED = (
    *("error", "warning", "secondary", "gutter", "help", "note"),
    *("keyword", "number"),
)
# What is in the colours of others.
_LIKE = {"string": "help", "name": "secondary", "kind": "note"}
_BOLD = ("strong", "error", "warning", "secondary", "help", "note")


def _rule(selector: str, said: str) -> str:
    for name in sorted(LIGHT, key=len, reverse=True):
        said = said.replace(f"@{name}", f"var(--rx-{name})")
    return f".relaxscript {selector}{{{said}}}"


def _variables(selector: str, colours: Mapping[str, str]) -> str:
    said = ";".join(f"--rx-{name}:{colour}" for name, colour in colours.items())
    return f"{selector}{{{said}}}"


@cache
def style_sheet() -> str:
    """The rules, without a line between them: every output of a notebook brings them along."""
    # What a page has chosen is more specific than what the system prefers.
    light = f".relaxscript,:is({CHOSEN_LIGHT}) .relaxscript,.relaxscript.light"
    dark = f":is({CHOSEN_DARK}) .relaxscript,.relaxscript.dark"
    parts = [
        _variables(light, LIGHT),
        f"@media (prefers-color-scheme: dark){{{_variables('.relaxscript', DARK)}}}",
        _variables(dark, DARK),
        ".relaxscript{color:var(--rx-text)}",
        *(_rule(selector, said) for selector, said in _RULES),
        *(_rule(f".{name}", f"color:@{name}") for name in _COLOURED),
        *(_rule(f".{name}", f"color:@{other}") for name, other in _LIKE.items()),
        _rule(f":is({','.join(f'.{name}' for name in _BOLD)})", "font-weight:bold"),
    ]
    return "".join(parts)
