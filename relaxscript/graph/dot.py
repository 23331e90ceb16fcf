"""A picture in the language of Graphviz: `dot -Tsvg`, or any tool that reads it."""

from __future__ import annotations

from relaxscript.errors.styles import visible

from .layout import value_label
from .looks import LIGHT
from .picture import STEPS, Cluster, DrawnEdge, DrawnNode, NodeKind, Picture

__all__ = ["dot"]

_SHAPES: dict[NodeKind, str] = {
    "parameter": "oval", "constant": "oval", "free": "oval", "result": "oval",
    "condition": "diamond", "merge": "invtriangle", "group": "folder",
}  # fmt: skip


def dot(picture: Picture) -> str:
    """The picture as one `digraph`; every text in it is quoted."""
    lines = [
        f"digraph {_quoted(picture.name)} {{",
        f"  graph [compound=true, label={_quoted(picture.remark or picture.name)}, labelloc=t];",
        '  node [shape=box, style="rounded,filled", fontname="monospace", fontsize=11];',
        '  edge [fontname="monospace", fontsize=9];',
        *_members(picture, picture.cluster(picture.root), "  "),
        *(f"  {_edge(picture, edge)}" for edge in picture.edges),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A string in quotes, in which a backslash is a backslash and no markup is meant."""
    line = visible(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{line.encode("utf-8", "replace").decode("utf-8")}"'


def _members(picture: Picture, cluster: Cluster, indent: str) -> list[str]:
    lines: list[str] = []
    for key in cluster.members:
        item = picture.items[key]
        if picture.is_beside(key):
            continue
        if isinstance(item, DrawnNode):
            lines.append(f"{indent}{_node(item)}")
            continue
        if cluster.kind not in STEPS:
            lines += [f"{indent}{_node(node)}" for node in _beside(picture, item)]
        style = "dashed" if item.kind == "dataflow" else "rounded"
        lines += [
            f"{indent}subgraph cluster_{key} {{",
            f"{indent}  label={_quoted(item.title)}; style={style}; color=gray;",
            *_members(picture, item, f"{indent}  "),
            f"{indent}}}",
        ]
    return lines


def _beside(picture: Picture, frame: Cluster) -> list[DrawnNode]:
    """The parameters that stand beside a frame of steps, or beside one in it."""
    found: list[DrawnNode] = []
    frames = [frame] if frame.kind in STEPS else []
    while frames:
        for key in frames.pop().members:
            item = picture.items[key]
            if picture.is_beside(key):
                found.append(picture.node(key))
            elif isinstance(item, Cluster) and item.kind in STEPS:
                frames.append(item)
    return found


def _node(node: DrawnNode) -> str:
    fill, border, text = LIGHT[node.kind]
    label = f"{node.title}\n{node.detail}" if node.detail else node.title
    shape = f", shape={_SHAPES[node.kind]}" if node.kind in _SHAPES else ""
    said = f", tooltip={_quoted(node.script)}" if node.script else ""
    colours = f'fillcolor="{fill}", color="{border}", fontcolor="{text}"'
    return f"n{node.key} [label={_quoted(label)}, {colours}{shape}{said}];"


def _edge(picture: Picture, edge: DrawnEdge) -> str:
    """An edge; one that ends at a cluster is drawn to a node in it and cut off at its frame."""
    said: list[str] = []
    source, target = picture.items[edge.source], picture.items[edge.target]
    label = value_label(source) if isinstance(source, DrawnNode) else ""
    if edge.control:
        said.append("style=dashed")
    elif label:
        said.append(f"label={_quoted(label)}")
    if isinstance(source, Cluster):
        said.append(f"ltail=cluster_{edge.source}")
    if isinstance(target, Cluster):
        said.append(f"lhead=cluster_{edge.target}")
    ends = f"n{_node_in(picture, edge.source, -1)} -> n{_node_in(picture, edge.target, 0)}"
    return f"{ends} [{', '.join(said)}];" if said else f"{ends};"


def _node_in(picture: Picture, key: int, which: int) -> int:
    """A node, or the first or last one in a cluster."""
    item = picture.items[key]
    while isinstance(item, Cluster):
        inside = [member for member in item.members if not picture.is_beside(member)]
        item = picture.items[inside[which]]
    return item.key
