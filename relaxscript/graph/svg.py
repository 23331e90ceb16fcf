"""A layout as inline SVG that loads nothing, has no script, and follows light and dark."""

from __future__ import annotations

from relaxscript.errors.markup import escape

from .layout import Box, Path, PictureLayout, lay_out, reference_title, value_label
from .looks import NAME, style_sheet
from .picture import Cluster, DrawnNode, Item, NodeKind, Picture

__all__ = ["svg"]

MARGIN = 12.0


def svg(picture: Picture, *, linked: bool = False) -> str:
    """The picture. `linked` boxes lead to the lines of a script, `#L12`, on the same page."""
    layout = lay_out(picture)
    width, height = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN
    lift = 20.0 if picture.remark else 0.0
    width = max(width, 6.8 * len(picture.remark) + 2 * MARGIN if lift else 0.0)
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{NAME}" '
        # The boxes of a linked picture are links; those of an image would not be reached.
        f'role="{"group" if linked else "img"}" '
        f'viewBox="0 0 {_n(width)} {_n(height + lift)}" width="{_n(width)}" '
        f'height="{_n(height + lift)}" '
        # It shrinks to the width that there is, but not until nothing can be read.
        f'style="max-width:100%;min-width:{_n(0.6 * width)}px;height:auto" '
        f'aria-label="{escape(f"dataflow of {picture.name}")}">'
    ]
    kinds = frozenset(node.kind for node in picture.nodes()) | {"reference"}
    pieces.append(f"<style>{style_sheet(kinds)}</style>")
    pieces.append(f'<rect class="paper" width="{_n(width)}" height="{_n(height + lift)}"/>')
    if picture.remark:
        pieces.append(
            f'<text class="heading remark" x="{_n(MARGIN)}" y="18">{escape(picture.remark)}</text>'
        )
    pieces.append(f'<g transform="translate({_n(MARGIN)} {_n(MARGIN + lift)})">')
    pieces += _drawn(picture, layout, linked)
    return "\n".join([*pieces, "</g>", "</svg>"])


def _drawn(picture: Picture, layout: PictureLayout, linked: bool) -> list[str]:
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
    """The script of an item, its line, and where in a file it comes from."""
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
        f"<title>{escape(tooltip(cluster))}</title>"
        f'<rect class="frame {look}" x="{_n(box.x)}" y="{_n(box.y)}" rx="8" '
        f'width="{_n(box.width)}" height="{_n(box.height)}"/>'
        f'<text class="heading" x="{_n(box.x + 10)}" y="{_n(box.y + 14)}">{escape(cluster.title)}'
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
        f"<title>{escape(tooltip(node))}</title>"
        f'<rect class="box" x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(box.width)}" '
        f'height="{_n(box.height)}" rx="{_n(min(box.height / 2, 15) if pill else 6)}"/>'
        f'<text class="title" text-anchor="middle" x="{_n(middle)}" y="{_n(base)}">'
        f"{escape(title)}</text>"
    )
    if detail:
        text += (
            f'<text class="detail" text-anchor="middle" x="{_n(middle)}" y="{_n(base + 13)}">'
            f"{escape(detail)}</text>"
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
    return [f'<text class="value" x="{_n(x)}" y="{_n(y)}">{escape(said)}</text>']


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
    text = f'<g data-value="{path.value}"{last}><title>{escape(label)}</title>'
    text += f'<path class="{look}" d="{way}"/>'
    if ends:
        text += f'<path class="arrow" d="M{_n(x3 - 3.5)} {_n(y3 - 1)}h7l-3.5 7z"/>'
    return f"{text}</g>"
