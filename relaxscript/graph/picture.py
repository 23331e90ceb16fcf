"""The contents of a picture of a function, before anybody has decided where it stands.

A picture has items: nodes and clusters, numbered in the order of the program. A cluster holds
items. An edge leads from one item to another, and carries a value, or control where it is dashed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from relaxscript.ir.node import Node as IRNode
from relaxscript.ir.struct_info import StructInfo

__all__ = [
    "LEAVES",
    "Cluster",
    "ClusterKind",
    "DrawnEdge",
    "DrawnNode",
    "Item",
    "NodeKind",
    "Picture",
]

NodeKind = Literal[
    "parameter", "constant", "free", "operator", "kernel", "function", "packed", "closure",
    "match_cast", "tuple", "field", "name", "condition", "merge", "result", "group", "reference",
]  # fmt: skip
ClusterKind = Literal["function", "dataflow", "branch", "local function", "repeated"]

# What computes nothing: it stands beside what uses it.
LEAVES: frozenset[NodeKind] = frozenset({"parameter", "constant", "free", "reference"})

# Frames that hold steps of a function, which has parameters; these stand outside of them.
STEPS: frozenset[ClusterKind] = frozenset({"dataflow", "repeated"})


@dataclass
class DrawnNode:
    """A box of the picture.

    `title` says what is done, `detail` with which attributes. `name` is what the result is called,
    `shape` briefly what is known of it. `literals` are the operands that have no box of their own;
    `detail` says these, too. `origin` is the binding or variable that it stands for.
    """

    key: int
    kind: NodeKind
    title: str
    cluster: int
    name: str = ""
    detail: str = ""
    literals: tuple[str, ...] = ()
    shape: str = ""
    info: StructInfo | None = None
    origin: IRNode | None = None
    # The lines of the printed script that are about it, and what stands there.
    line: int | None = None
    end_line: int = 0
    # The lines of what it is shown for as well: the same in other layers.
    also: list[tuple[int, int]] = field(default_factory=list)
    script: str = ""
    # The place in the file of the user, where one is known.
    source: str = ""
    # What a group stands for.
    members: int = 1

    @property
    def is_leaf(self) -> bool:
        return self.kind in LEAVES


@dataclass
class Cluster:
    """A frame around items: a function, a dataflow block, a branch or a local function."""

    key: int
    kind: ClusterKind
    title: str
    cluster: int | None
    name: str = ""
    members: list[int] = field(default_factory=list)
    origin: IRNode | None = None
    line: int | None = None
    script: str = ""
    source: str = ""


Item: TypeAlias = "DrawnNode | Cluster"


@dataclass(frozen=True)
class DrawnEdge:
    """A value on its way, or control; `place` is the number of the operand that it becomes."""

    source: int
    target: int
    place: int = 0
    control: bool = False


@dataclass
class Picture:
    """The items and edges of one function; `root` is the cluster that holds all others.

    `bindings` are counted before anything is summarised, `remark` says what is not shown.
    """

    name: str
    items: dict[int, Item] = field(default_factory=dict)
    edges: list[DrawnEdge] = field(default_factory=list)
    root: int = 0
    bindings: int = 0
    remark: str = ""
    _last: int = -1

    @property
    def light(self) -> frozenset[int]:
        """The leaves, and the fields of them: they stand right above what uses them."""
        sources: dict[int, set[int]] = {}
        for edge in self.edges:
            sources.setdefault(edge.target, set()).add(edge.source)
        found: set[int] = set()
        for node in self.nodes():
            taken = node.kind == "field" and sources.get(node.key, set()) <= found
            if node.is_leaf or taken:
                found.add(node.key)
        return frozenset(found)

    def add(self, item: Item) -> int:
        """Add an item, which its cluster holds from now on."""
        self.put(item)
        if item.cluster is not None:
            self.cluster(item.cluster).members.append(item.key)
        return item.key

    def put(self, item: Item) -> None:
        """Add an item; whoever does says where in its cluster it stands."""
        self.items[item.key] = item
        self._last = max(self._last, item.key)

    def next_key(self) -> int:
        """A key that no item has had."""
        return self._last + 1

    def cluster(self, key: int) -> Cluster:
        """The cluster of a key."""
        found = self.items[key]
        assert isinstance(found, Cluster)
        return found

    def node(self, key: int) -> DrawnNode:
        """The node of a key."""
        found = self.items[key]
        assert isinstance(found, DrawnNode)
        return found

    def nodes(self) -> list[DrawnNode]:
        """The nodes."""
        return [item for item in self.items.values() if isinstance(item, DrawnNode)]

    def clusters(self) -> list[Cluster]:
        """The clusters, outer ones first."""
        inside = (self.items[key] for key in self.inside(self.root))
        return [item for item in inside if isinstance(item, Cluster)]

    def inside(self, key: int) -> list[int]:
        """An item and all that it holds, in the order of the program."""
        found, stack = [], [key]
        while stack:
            at = stack.pop()
            found.append(at)
            item = self.items[at]
            stack += reversed(item.members) if isinstance(item, Cluster) else ()
        return found

    def around(self, key: int) -> Iterator[int]:
        """The clusters that hold an item, from the inner to the outer ones."""
        at = self.items[key].cluster
        while at is not None:
            yield at
            at = self.items[at].cluster

    def is_leaf(self, key: int) -> bool:
        """True for a node that computes nothing."""
        item = self.items[key]
        return isinstance(item, DrawnNode) and item.is_leaf

    def is_beside(self, key: int) -> bool:
        """True for a parameter that stands beside the frame in which alone it is used."""
        item = self.items[key]
        if not isinstance(item, DrawnNode) or item.kind != "parameter":
            return False
        return self.cluster(item.cluster).kind in STEPS

    def users(self) -> dict[int, list[int]]:
        """The targets of the edges that leave an item."""
        found: dict[int, list[int]] = {}
        for edge in self.edges:
            found.setdefault(edge.source, []).append(edge.target)
        return found

    def move(self, leaf: int, cluster: int) -> None:
        """Put a leaf into another cluster, behind the leaves that begin it."""
        item = self.items[leaf]
        assert item.cluster is not None
        self.cluster(item.cluster).members.remove(leaf)
        item.cluster = cluster
        members = self.cluster(cluster).members
        at = 0
        while at < len(members) and members[at] < leaf and self.is_leaf(members[at]):
            at += 1
        members.insert(at, leaf)
