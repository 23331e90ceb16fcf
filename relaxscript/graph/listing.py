"""A picture as text: what it shows, in the order of the program, indented as its frames are.

main
  parameter x: (n, 64) float32
  dataflow
    h = matmul(x, w)             (n, 64) float32
  return h
"""

from __future__ import annotations

from collections import defaultdict

from .picture import LEAVES, Cluster, DrawnNode, Picture
from .wording import columns

__all__ = ["listing"]

# The column of the shapes, where what is before is not longer.
_SHAPES_AT = 44


def listing(picture: Picture) -> str:
    """The lines of a picture."""
    operands: dict[int, list[int]] = defaultdict(list)
    for edge in sorted(picture.edges, key=lambda edge: (edge.target, edge.place)):
        if not edge.control:
            operands[edge.target].append(edge.source)
    lines = [f"# {picture.remark}"] if picture.remark else []
    stack: list[tuple[int, int]] = [(picture.root, 0)]
    while stack:
        key, depth = stack.pop()
        item = picture.items[key]
        indent = "  " * depth
        if isinstance(item, DrawnNode):
            lines.append(_line(picture, item, operands[key], indent))
            continue
        lines.append(f"{indent}{item.title}")
        own = _parameters(picture, item)
        lines += [_line(picture, node, [], f"{indent}  ") for node in own]
        others = [k for k in item.members if _kind(picture, k) not in LEAVES]
        stack += [(member, depth + 1) for member in reversed(others)]
    return "\n".join(lines)


def _kind(picture: Picture, key: int) -> str:
    return picture.items[key].kind


def _parameters(picture: Picture, cluster: Cluster) -> list[DrawnNode]:
    """The parameters of a function, which may stand in an inner frame of the picture."""
    if cluster.kind not in ("function", "local function"):
        return []
    return [
        node
        for node in picture.nodes()
        if node.kind in ("parameter", "free") and _function_of(picture, node.key) == cluster.key
    ]


def _function_of(picture: Picture, key: int) -> int:
    around = (picture.cluster(at) for at in picture.around(key))
    return next(c.key for c in around if c.kind in ("function", "local function"))


def _line(picture: Picture, node: DrawnNode, operands: list[int], indent: str) -> str:
    named = [_named(picture, key) for key in operands]
    match node.kind:
        case "parameter" | "free":
            return f"{indent}{node.kind} {node.title}: {node.shape}".rstrip(": ")
        case "result":
            said = ", ".join(named) or node.detail
            text = f"return {said}"
        case "condition":
            text = f"if {', '.join(named) or node.detail}"
        case "field":
            text = f"{node.name} = {''.join(named)}{node.title}" if node.name else node.title
        case "group":
            text = f"... {node.title}{f': {node.detail}' if node.detail else ''}"
        case "name" if node.name:
            text = f"{node.name} = {', '.join(named)}"
        case "name":
            text = node.title
        case _:
            inside = ", ".join([*named, *([node.detail] if node.detail else [])])
            text = f"{f'{node.name} = ' if node.name else ''}{node.title}({inside})"
    start = f"{indent}{text}"
    gap = " " * max(2, _SHAPES_AT - columns(start))
    return f"{start}{gap}{node.shape}" if node.shape else start


def _named(picture: Picture, key: int) -> str:
    item = picture.items[key]
    if isinstance(item, Cluster):
        return item.title.removeprefix("def ")
    if item.kind == "constant":
        return f"constant {item.shape}"
    return item.name or item.title
