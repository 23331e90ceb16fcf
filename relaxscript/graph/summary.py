"""Summaries of pictures that are too large to be looked at.

Layers that are repeated are shown once, branches and local functions become a box, as do long
stretches of bindings. A summary says that it is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace

from .picture import Cluster, DrawnEdge, DrawnNode, Item, NodeKind, Picture
from .repeats import LEAST_SAVED, aligned, repetitions
from .wording import LONGEST_DETAIL, fit

__all__ = ["summarise"]

# Parameters and constants of one box that are told apart; more are one.
_MOST_LEAVES = 8
# What a stretch of bindings is worth: at least so many are put into one box.
_SHORTEST = 3


def summarise(picture: Picture, max_nodes: int | None) -> None:
    """Bring a picture down to about `max_nodes` nodes, in place; None leaves it as it is."""
    if max_nodes is None or len(picture.nodes()) <= max_nodes:
        return
    for cluster in picture.clusters():
        if cluster.key in picture.items:
            _fold_repetitions(picture, cluster)
    _fold_leaves(picture, max_nodes)
    _fold_inner(picture, max_nodes)
    _fold_stretches(picture, max_nodes)
    _fold_leaves(picture, max_nodes)
    number = picture.bindings
    picture.remark = (
        f"a summary of {number:,} binding{'' if number == 1 else 's'} in "
        f"{len(picture.nodes()):,} boxes; all are drawn by graph(max_nodes=None)"
    )


def _is_small(picture: Picture, max_nodes: int) -> bool:
    return len(picture.nodes()) <= max_nodes


def _steps(picture: Picture, cluster: Cluster) -> list[int]:
    """The members of a cluster that do something; the end of a function stays what it is."""
    return [
        key
        for key in cluster.members
        if not picture.is_leaf(key) and picture.items[key].kind != "result"
    ]


# ---- repeated layers


def _fold_repetitions(picture: Picture, cluster: Cluster) -> None:
    """Show the first of layers that are the same, in a frame that says how many there are."""
    steps = _steps(picture, cluster)
    if len(steps) <= LEAST_SAVED:
        return
    looks = [_looks(picture, key) for key in steps]
    connected = [*zip(looks, _wiring(picture, steps))]
    for found in repetitions(connected):
        start, period, copies = aligned(found, connected, looks)
        layers = [steps[start + i * period : start + (i + 1) * period] for i in range(copies)]
        _fold_layers(picture, cluster, layers)


def _looks(picture: Picture, key: int) -> Hashable:
    """A value that is equal for two items that look the same."""
    item = picture.items[key]
    if isinstance(item, DrawnNode):
        title = "" if item.kind == "field" else item.title
        return item.kind, title, item.detail, item.shape
    inner = (_looks(picture, k) for k in item.members if not picture.is_leaf(k))
    return item.kind, tuple(inner)


def _wiring(picture: Picture, steps: Sequence[int]) -> list[Hashable]:
    """For each step where its operands come from, as seen from it: how many steps before.

    So layers are the same only if their parts are connected alike. Leaves are not told apart.
    """
    at = {
        key: (number, place)
        for number, step in enumerate(steps)
        for place, key in enumerate(picture.inside(step))
    }
    found: list[list[Hashable]] = [[] for _ in steps]
    for edge in picture.edges:
        if edge.target not in at:
            continue
        number, part = at[edge.target]
        said: Hashable = None if picture.is_leaf(edge.source) else edge.source
        if edge.source in at:
            source, place = at[edge.source]
            said = number - source, place
        found[number].append((part, edge.place, edge.control, said))
    return [tuple(each) for each in found]


def _fold_layers(picture: Picture, cluster: Cluster, layers: Sequence[Sequence[int]]) -> None:
    shown = [key for top in layers[0] for key in picture.inside(top)]
    same: dict[int, int] = {}
    for layer in layers[1:]:
        for mine, theirs in zip(layers[0], layer):
            own, other = picture.inside(mine), picture.inside(theirs)
            pairs = zip(other, own) if len(own) == len(other) else ((k, mine) for k in other)
            same.update(pairs)
    for gone, kept in same.items():
        _show_for(picture.items[kept], picture.items[gone])
    title = f"{len(layers):,} times, of which the first is shown"
    frame = Cluster(picture.next_key(), "repeated", title, cluster.key)
    frame.line = picture.items[layers[0][0]].line
    picture.put(frame)
    cluster.members.insert(cluster.members.index(layers[0][0]), frame.key)
    for key in layers[0]:
        cluster.members.remove(key)
        picture.items[key].cluster = frame.key
        frame.members.append(key)
    users = picture.users()
    own = [k for k in cluster.members if picture.is_leaf(k) and {*users.get(k, [-1])} <= {*shown}]
    _merge(picture, same, {*shown})
    for key in own:
        picture.move(key, frame.key)


def _show_for(shown: Item, other: Item) -> None:
    if isinstance(shown, DrawnNode) and isinstance(other, DrawnNode) and other.line is not None:
        shown.also.append((other.line, other.end_line))


def _merge(picture: Picture, same: dict[int, int], shown: set[int]) -> None:
    """Remove the items that are shown by others, and lead to these what came from them.

    What leads into a copy is left out, where the one shown has the like, or it is a leaf: the
    weights of each layer.
    """
    kept: dict[DrawnEdge, None] = {
        e: None for e in picture.edges if e.source not in same and e.target not in same
    }
    fed = {edge.target for edge in kept}
    for edge in picture.edges:
        if edge in kept or (edge.source in same and edge.target in same):
            continue
        source, target = same.get(edge.source, edge.source), same.get(edge.target, edge.target)
        comes = edge.target in same
        if comes and (source in shown or picture.is_leaf(source) or target in fed):
            continue
        kept[replace(edge, source=source, target=target)] = None
    _rewire(picture, list(kept), {*same})


def _rewire(picture: Picture, edges: list[DrawnEdge], gone: set[int]) -> None:
    """Take these edges for the old ones, without items that are gone and leaves left alone."""
    before = picture.users()
    picture.edges = edges
    _remove(picture, gone)
    after = picture.users()
    _remove(picture, {k for k in before if k in picture.items and picture.is_leaf(k)} - {*after})


def _remove(picture: Picture, keys: set[int]) -> None:
    homes = {picture.items[key].cluster for key in keys} - keys - {None}
    for key in keys:
        del picture.items[key]
    for home in homes:
        if home in picture.items:
            cluster = picture.cluster(home)
            cluster.members = [key for key in cluster.members if key not in keys]


# ---- boxes for many


@dataclass
class _Boxes:
    """Boxes that take the place of items, put into the picture at once by `close`."""

    picture: Picture
    same: dict[int, int] = field(default_factory=dict)
    # How many nodes there are fewer.
    saved: int = 0

    def add(self, keys: Sequence[int], title: str, kind: NodeKind = "group") -> None:
        """A box for items that stand next to each other in a cluster."""
        picture = self.picture
        inner = [key for top in keys for key in picture.inside(top)]
        first, nodes = picture.items[inner[0]], _nodes(picture, inner)
        assert first.cluster is not None
        box = DrawnNode(
            picture.next_key(), kind, fit(title), first.cluster, detail=_most(nodes),
            line=first.line, end_line=max((node.end_line for node in nodes), default=0),
            members=sum(node.members for node in nodes),
        )  # fmt: skip
        home = picture.cluster(first.cluster)
        home.members.insert(home.members.index(keys[0]), box.key)
        picture.put(box)
        self.same.update(dict.fromkeys(inner, box.key))
        self.saved += len(nodes) - 1

    def close(self) -> None:
        """Lead the edges of what is in a box to the box, and remove the rest."""
        picture, same = self.picture, self.same
        users = picture.users()
        edges: dict[DrawnEdge, None] = {}
        results: dict[int, set[int]] = {}
        for edge in picture.edges:
            source, target = same.get(edge.source, edge.source), same.get(edge.target, edge.target)
            if source == target:
                continue
            if edge.source in same:
                results.setdefault(source, set()).add(edge.source)
            if edge.target in same and picture.is_leaf(source) and len(users.get(source, ())) == 1:
                continue  # a weight of what is in the box
            place = 0 if edge.target in same else edge.place
            edges[replace(edge, source=source, target=target, place=place)] = None
        for key, sources in results.items():
            if len(sources) == 1:
                _say_result(picture.node(key), picture.items[sources.pop()])
        _rewire(picture, list(edges), {*same})


def _nodes(picture: Picture, keys: Sequence[int]) -> list[DrawnNode]:
    items = (picture.items[key] for key in keys)
    return [item for item in items if isinstance(item, DrawnNode)]


def _say_result(box: DrawnNode, result: Item) -> None:
    """Call a box what the only result that leaves it is called."""
    if isinstance(result, DrawnNode):
        box.name, box.shape, box.info = result.name, result.shape, result.info


def _most(nodes: Sequence[DrawnNode]) -> str:
    """The most frequent titles: `matmul × 12, add × 9`."""
    silent = ("field", "name", "merge", "condition", "parameter", "constant", "group")
    counts = Counter(node.title for node in nodes if node.kind not in silent)
    top = counts.most_common(3)
    said = [f"{title} \u00d7 {count}" if count > 1 else title for title, count in top]
    return fit(", ".join([*said, "\u2026"] if len(counts) > 3 else said), LONGEST_DETAIL)


def _bindings(picture: Picture, keys: Sequence[int]) -> str:
    inner = [key for top in keys for key in picture.inside(top)]
    number = sum(node.members for node in _nodes(picture, inner))
    return f"{number:,} binding{'' if number == 1 else 's'}"


def _fold_leaves(picture: Picture, max_nodes: int) -> None:
    """One box for the many parameters and constants that one box uses, or that nothing uses."""
    if _is_small(picture, max_nodes):
        return
    users = picture.users()
    groups: dict[tuple[int, int], list[int]] = {}
    for cluster in picture.clusters():
        for key in cluster.members:
            own = {*users.get(key, ())}
            if picture.is_leaf(key) and len(own) < 2:
                groups.setdefault((cluster.key, own.pop() if own else -1), []).append(key)
    boxes = _Boxes(picture)
    for (_, user), keys in groups.items():
        if len(keys) > _MOST_LEAVES:
            unused = "" if user >= 0 else " that nothing uses"
            kinds = {picture.node(key).kind for key in keys}
            noun = "parameters" if kinds == {"parameter"} else "values"
            boxes.add(keys, f"{len(keys):,} {noun}{unused}", "constant")
    boxes.close()


def _fold_inner(picture: Picture, max_nodes: int) -> None:
    """A box for each inner cluster, the innermost first, until what is left is small enough."""
    by_depth: dict[int, list[Cluster]] = {}
    for cluster in picture.clusters():
        depth = len([*picture.around(cluster.key)])
        is_outer = depth == 1 and cluster.kind == "dataflow"
        if depth and not is_outer and cluster.kind != "repeated":
            by_depth.setdefault(depth, []).append(cluster)
    for depth in sorted(by_depth, reverse=True):
        boxes, number = _Boxes(picture), len(picture.nodes())
        for cluster in by_depth[depth]:
            if number - boxes.saved > max_nodes:
                said = _bindings(picture, [cluster.key])
                boxes.add([cluster.key], f"{fit(cluster.title, 16)}: {said}")
        boxes.close()


def _fold_stretches(picture: Picture, max_nodes: int) -> None:
    """Boxes for stretches of bindings, as long as needed, in each cluster its share."""
    if _is_small(picture, max_nodes):
        return
    clusters = [_steps(picture, cluster) for cluster in picture.clusters()]
    total = sum(map(len, clusters)) or 1
    for steps in reversed(clusters):
        boxes = _Boxes(picture)
        share = max(1, max_nodes * len(steps) // (2 * total))
        length = max(_SHORTEST, -(-len(steps) // share))
        for start in range(0, len(steps), length):
            stretch = [key for key in steps[start : start + length] if key in picture.items]
            if len(stretch) > 1:
                boxes.add(stretch, _bindings(picture, stretch))
        boxes.close()
