"""The looks of a picture: the colours of each kind of node, in light and in dark.

Rules are written out for both themes: variables of CSS are not known to all programs that turn SVG
into other pictures. No rule has a `<` or `&`, so XML and HTML read them alike.
"""

from __future__ import annotations

from collections.abc import Mapping

from relaxscript.errors.style_sheet import CHOSEN_DARK, CHOSEN_LIGHT
from relaxscript.errors.styles import MONOSPACE

__all__ = ["LIGHT", "NAME", "style_sheet"]

NAME = "relaxscript-graph"

# The fill, border and text of each kind of node.
_Look = tuple[str, str, str]
LIGHT: Mapping[str, _Look] = {
    "operator": ("#e8f0fe", "#5b8def", "#12305e"),
    "kernel": ("#f0e9fd", "#8f6be0", "#3a2370"),
    "function": ("#e1f4f1", "#2f9e8f", "#0c4a42"),
    "packed": ("#fdeee2", "#dd8440", "#663408"),
    "closure": ("#e1f4f1", "#2f9e8f", "#0c4a42"),
    "match_cast": ("#fff7d9", "#c79a1e", "#5c4505"),
    "parameter": ("#eaf6e6", "#63a653", "#22501a"),
    "constant": ("#f1f3f5", "#98a2ad", "#3d4752"),
    "free": ("#fdeaea", "#cf5a5a", "#701c1c"),
    "tuple": ("#f6f7f9", "#a8b1bb", "#3d4752"),
    "field": ("#f6f7f9", "#a8b1bb", "#3d4752"),
    "name": ("#f6f7f9", "#a8b1bb", "#3d4752"),
    "condition": ("#fff3d6", "#d29b21", "#5c4505"),
    "merge": ("#fff3d6", "#d29b21", "#5c4505"),
    "result": ("#2f3a48", "#2f3a48", "#ffffff"),
    "group": ("#eef1f5", "#7b8794", "#27313c"),
    "reference": ("#ffffff", "#9aa5b1", "#52606d"),
}
DARK: Mapping[str, _Look] = {
    "operator": ("#1b2b47", "#5f8ee6", "#d8e5ff"),
    "kernel": ("#2d2147", "#9a7bea", "#e7dcff"),
    "function": ("#123832", "#3db3a2", "#cdf3ec"),
    "packed": ("#3f2814", "#d98a4c", "#ffe3cc"),
    "closure": ("#123832", "#3db3a2", "#cdf3ec"),
    "match_cast": ("#3a3110", "#c9a437", "#fdf0c0"),
    "parameter": ("#1d3418", "#6fb45f", "#d9f2d2"),
    "constant": ("#2a2f36", "#7d8894", "#d5dbe1"),
    "free": ("#421d1d", "#e07b7b", "#ffdcdc"),
    "tuple": ("#262b31", "#727d89", "#d5dbe1"),
    "field": ("#262b31", "#727d89", "#d5dbe1"),
    "name": ("#262b31", "#727d89", "#d5dbe1"),
    "condition": ("#3a2f10", "#d3a63c", "#fdeec0"),
    "merge": ("#3a2f10", "#d3a63c", "#fdeec0"),
    "result": ("#e3e6ea", "#e3e6ea", "#14181d"),
    "group": ("#2a3038", "#8894a1", "#e3e6ea"),
    "reference": ("#1c1f24", "#6b7682", "#aab4bf"),
}
# The background, the wires, what is written beside them, a frame, what fills it, and its title.
LIGHT_PAPER = ("#ffffff", "#8c97a3", "#5f6b7a", "#c3cad2", "#5f6b7a0d", "#5f6b7a", "#0b57d0")
DARK_PAPER = ("#14171b", "#77828e", "#9aa6b2", "#3f4852", "#aab4bf0f", "#9aa6b2", "#8ab4f8")


def style_sheet(kinds: frozenset[str]) -> str:
    """The rules for nodes of these kinds, in light and in dark."""
    shape = (
        f".{NAME}{{font-family:{MONOSPACE};font-size:12px}}"
        f".{NAME} .box{{stroke-width:1.2}}.{NAME} .title{{font-weight:600}}"
        f".{NAME} text{{stroke:none}}"
        f".{NAME} .detail,.{NAME} .value{{font-size:10px}}"
        f".{NAME} .value{{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}}"
        f".{NAME} .frame{{stroke-dasharray:5 4}}.{NAME} .branch{{stroke-dasharray:none}}"
        f".{NAME} .heading{{font-size:11px}}.{NAME} .reference .box{{stroke-dasharray:3 2}}"
        f".{NAME} .group .box{{stroke-dasharray:2 2}}.{NAME} .remark{{font-style:italic}}"
        f".{NAME} .wire{{fill:none;stroke-width:1.2}}.{NAME} .control{{stroke-dasharray:3 3}}"
        f".{NAME} :is(.node:hover,.node:focus,.chosen) .box{{stroke-width:2.6}}"
        f".{NAME} .node:focus,.{NAME} a:focus{{outline:none}}"
    )
    light, dark = _colours(LIGHT, LIGHT_PAPER, kinds), _colours(DARK, DARK_PAPER, kinds)
    preferred = f"{_rules(light)}@media (prefers-color-scheme:dark){{{_rules(dark)}}}"
    chosen = _rules(light, f":is({CHOSEN_LIGHT})") + _rules(dark, f":is({CHOSEN_DARK})")
    return f"{shape}{preferred}{chosen}"


def _rules(rules: list[tuple[str, str]], theme: str = "") -> str:
    return "".join(f"{theme} .{NAME}{selector}{{{said}}}" for selector, said in rules)


def _colours(
    looks: Mapping[str, _Look], paper: tuple[str, ...], kinds: frozenset[str]
) -> list[tuple[str, str]]:
    ground, wire, value, frame, inside, heading, chosen = paper
    rules = [
        ("", f"background:{ground}"),
        (" .paper", f"fill:{ground}"),
        (" .wire", f"stroke:{wire}"),
        (" .arrow", f"fill:{wire}"),
        (" .value", f"fill:{value};stroke:{ground}"),
        (" .frame", f"stroke:{frame};fill:{inside}"),
        (" .whole", f"stroke:none;fill:{ground}"),
        (" .heading", f"fill:{heading}"),
    ]
    for kind, (fill, border, text) in looks.items():
        if kind in kinds:
            rules.append((f" .{kind} .box", f"fill:{fill};stroke:{border}"))
            rules.append((f" .{kind} :is(.title,.detail)", f"fill:{text}"))
    return [*rules, (" .chosen .box", f"stroke:{chosen};stroke-width:3")]
