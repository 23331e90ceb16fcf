"""A layout as inline SVG that loads nothing, has no script, and follows light and dark.

Rules are written out for both themes rather than with variables of CSS, which programs that turn
SVG into other pictures do not know.
"""

from __future__ import annotations

from collections.abc import Mapping

from relaxscript.errors.styles import MONOSPACE

from .escape import xml_text
from .layout import Box, Layout, Path, lay_out, reference_title, value_label
from .picture import Cluster, DrawnNode, Item, NodeKind, Picture

__all__ = ["NAME", "style_sheet", "svg"]

NAME = "relaxscript-graph"
MARGIN = 12.0

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
# Themes that a notebook chose by itself, against what the system prefers: Jupyter, Colab, VS Code.
CHOSEN_LIGHT = ':is([data-jp-theme-light="true"],html[theme="light"],.vscode-light)'
CHOSEN_DARK = ':is([data-jp-theme-light="false"],html[theme="dark"],.vscode-dark)'


def style_sheet(kinds: frozenset[str]) -> str:
    """The rules for nodes of these kinds, in light and in dark."""
    shape = (
        f".{NAME}{{font-family:{MONOSPACE};font-size:12px}}"
        f".{NAME} .box{{stroke-width:1.2}}.{NAME} .title{{font-weight:600}}"
        f".{NAME} text{{stroke:none}}"
        f".{NAME} .detail,.{NAME} .value{{font-size:10px}}"
        f".{NAME} .value{{paint-order:stroke;stroke-width:3px;stroke-linejoin:round}}"
        f".{NAME} .frame{{stroke-dasharray:5 4}}.{NAME} .whole,.{NAME} .branch{{stroke-dasharray:none}}"
        f".{NAME} .heading{{font-size:11px}}.{NAME} .reference .box{{stroke-dasharray:3 2}}"
        f".{NAME} .group .box{{stroke-dasharray:2 2}}.{NAME} .remark{{font-style:italic}}"
        f".{NAME} .wire{{fill:none;stroke-width:1.2}}.{NAME} .control{{stroke-dasharray:3 3}}"
        f".{NAME} .node:hover .box,.{NAME} .node:focus .box,.{NAME} .chosen .box{{stroke-width:2.6}}"
        f".{NAME} .node:focus,.{NAME} a:focus{{outline:none}}"
    )
    dark = _colours(DARK, DARK_PAPER, kinds)
    return (
        f"{shape}{_rules(_colours(LIGHT, LIGHT_PAPER, kinds))}"
        f"@media (prefers-color-scheme:dark){{{_rules(dark)}}}"
        f"{_rules(_colours(LIGHT, LIGHT_PAPER, kinds), CHOSEN_LIGHT)}{_rules(dark, CHOSEN_DARK)}"
    )


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
        (" .chosen .box", f"stroke:{chosen}"),
    ]
    for kind, (fill, border, text) in looks.items():
        if kind in kinds:
            rules.append((f" .{kind} .box", f"fill:{fill};stroke:{border}"))
            rules.append((f" .{kind} :is(.title,.detail)", f"fill:{text}"))
    return rules


def svg(picture: Picture, *, linked: bool = False, styled: bool = True) -> str:
    """The picture. `linked` boxes lead to the lines of a script, `#L12`, on the same page."""
    layout = lay_out(picture)
    width, height = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN
    lift = 20.0 if picture.remark else 0.0
    width = max(width, 6.2 * len(picture.remark) + 2 * MARGIN if lift else 0.0)
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{NAME}" role="img" '
        f'viewBox="0 0 {_n(width)} {_n(height + lift)}" width="{_n(width)}" '
        f'height="{_n(height + lift)}" '
        # It shrinks to the width that there is, but not until nothing can be read.
        f'style="max-width:100%;min-width:{_n(0.6 * width)}px;height:auto" aria-label="{xml_text(f"dataflow of {picture.name}")}">'
    ]
    kinds = frozenset(node.kind for node in picture.nodes()) | {"reference"}
    if styled:
        pieces.append(f"<style>{xml_style(style_sheet(frozenset(kinds)))}</style>")
    pieces.append(f'<rect class="paper" width="{_n(width)}" height="{_n(height + lift)}"/>')
    if picture.remark:
        pieces.append(
            f'<text class="heading remark" x="{_n(MARGIN)}" y="18">{xml_text(picture.remark)}</text>'
        )
    pieces.append(f'<g transform="translate({_n(MARGIN)} {_n(MARGIN + lift)})">')
    pieces += _drawn(picture, layout, linked)
    return "\n".join([*pieces, "</g>", "</svg>"])


def xml_style(rules: str) -> str:
    """Rules as the content of `<style>`, which XML and HTML read alike: neither `<` nor `&`."""
    return rules.replace("<", "").replace("&", "")


def _drawn(picture: Picture, layout: Layout, linked: bool) -> list[str]:
    frames = [box for box in layout.boxes if isinstance(picture.items[box.key], Cluster)]
    nodes = [box for box in layout.boxes if isinstance(picture.items[box.key], DrawnNode)]
    nodes.sort(key=lambda box: (box.key, box.y))
    found = [_frame(box, picture, linked) for box in frames]
    found += [_wire(path, picture) for path in layout.paths]
    for box in nodes:
        if not box.is_reference:
            found += _value(box, picture)
    return found + [_node(box, picture, linked) for box in nodes]


def _n(value: float) -> str:
    """A number with one decimal at most, so that the text is the same everywhere."""
    return f"{round(value, 1):g}" if abs(value) < 100_000 else f"{value:.0f}"


def tooltip(item: Item) -> str:
    """What is known of an item: how often it stands there, its script, and where it comes from."""
    parts: list[str] = []
    if isinstance(item, DrawnNode):
        parts.append(item.script or f"{item.name or item.title}: {_whole(item)}".rstrip(": "))
        if item.kind == "group":
            parts = [f"{item.members} bindings that are not shown", *parts]
    elif item.script:
        parts.append(item.script)
    else:
        parts.append(item.title)
    if item.line is not None:
        parts.append(f"line {item.line} of the script")
    if item.source:
        parts.append(item.source)
    return "\n".join(parts)


def _whole(node: DrawnNode) -> str:
    return "" if node.info is None else str(node.info)


def _frame(box: Box, picture: Picture, linked: bool) -> str:
    cluster = picture.cluster(box.key)
    look = {"function": "whole", "branch": "branch"}.get(cluster.kind, "plain")
    text = (
        f"<title>{xml_text(tooltip(cluster))}</title>"
        f'<rect class="frame {look}" x="{_n(box.x)}" y="{_n(box.y)}" rx="8" '
        f'width="{_n(box.width)}" height="{_n(box.height)}"/>'
        f'<text class="heading" x="{_n(box.x + 10)}" y="{_n(box.y + 14)}">{xml_text(cluster.title)}'
        "</text>"
    )
    return _group("cluster", cluster, text, linked)


def _node(box: Box, picture: Picture, linked: bool) -> str:
    node = picture.items[box.key]
    assert isinstance(node, DrawnNode)
    kind: NodeKind = "reference" if box.is_reference else node.kind
    title = reference_title(node) if box.is_reference else node.title
    middle, detail = box.x + box.width / 2, "" if box.is_reference else node.detail
    base = box.y + (box.height / 2 + 4 if not detail else 16)
    pill = node.is_leaf or box.is_reference or kind in ("result", "condition", "merge")
    text = (
        f"<title>{xml_text(tooltip(node))}</title>"
        f'<rect class="box" x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(box.width)}" '
        f'height="{_n(box.height)}" rx="{_n(min(box.height / 2, 15) if pill else 6)}"/>'
        f'<text class="title" text-anchor="middle" x="{_n(middle)}" y="{_n(base)}">'
        f"{xml_text(title)}</text>"
    )
    if detail:
        text += (
            f'<text class="detail" text-anchor="middle" x="{_n(middle)}" y="{_n(base + 13)}">'
            f"{xml_text(detail)}</text>"
        )
    return _group(f"node {kind.replace(' ', '_')}", node, text, linked, box.is_reference)


def _group(look: str, item: Item, text: str, linked: bool, again: bool = False) -> str:
    """A group of one item; in a page, a link to its line, which a keyboard reaches as well."""
    said = f'class="{look}" data-item="{item.key}"'
    if not linked:
        return f"<g {said}>{text}</g>"
    name = "" if again else f' id="n{item.key}"'
    if item.line is None:
        return f"<g {said}{name}>{text}</g>"
    end = f' data-end="{item.end_line}"' if isinstance(item, DrawnNode) else ""
    return f'<a {said}{name} href="#L{item.line}" data-line="{item.line}"{end}>{text}</a>'


def _value(box: Box, picture: Picture) -> list[str]:
    """The name and shape of a value, below the box that it leaves, where somebody uses it."""
    node = picture.items[box.key]
    assert isinstance(node, DrawnNode)
    said = value_label(node)
    if not said or node.kind == "result":
        return []
    x, y = box.x + box.width / 2 + 6, box.y + box.height + 11
    return [f'<text class="value" x="{_n(x)}" y="{_n(y)}">{xml_text(said)}</text>']


def _wire(path: Path, picture: Picture) -> str:
    """A wire, with an arrow where it ends, and the value that flows in it."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = path.points
    ends = path.last is not None
    y3 -= 6 if ends else 0
    y2 = min(y2, y3)
    bend = (y2 - y1) / 2
    way = f"M{_n(x0)} {_n(y0)}"
    if y1 > y0:
        way += f"V{_n(y1)}"
    if abs(x2 - x1) < 0.05:
        way += f"V{_n(y3)}"
    else:
        way += f"C{_n(x1)} {_n(y1 + bend)} {_n(x2)} {_n(y2 - bend)} {_n(x2)} {_n(y2)}"
        way += f"V{_n(y3)}" if y3 > y2 else ""
    look = "wire control" if path.control else "wire"
    source = picture.items[path.value]
    label = value_label(source) or source.title if isinstance(source, DrawnNode) else source.title
    last = f' data-last="{path.last}"' if ends else ""
    text = f'<g data-value="{path.value}"{last}><title>{xml_text(label)}</title><path class="{look}" d="{way}"/>'
    if ends:
        text += f'<path class="arrow" d="M{_n(x3 - 3.5)} {_n(y3 - 1)}h7l-3.5 7z"/>'
    return f"{text}</g>"
