"""The graph of a module's tensors, with an edge between those that are on one device.

A `Tree` has the nodes of the tensors in one value; values that are one share their nodes. A device
that is assigned to a node is propagated along the edges until nothing changes. So neither order nor
recursion matters, and the cost is that of the edges.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from relaxscript.errors import Span
from relaxscript.ir.field_roles import parts_of, with_parts
from relaxscript.ir.module import VDevice
from relaxscript.ir.node import Node
from relaxscript.ir.struct_info import FuncStructInfo, StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.sinfo import same_vdevice

__all__ = [
    "DeviceConflict",
    "DeviceGraph",
    "FunctionNode",
    "TensorNode",
    "Tree",
    "Use",
    "matches",
    "tensor_nodes",
    "tree_of_node",
    "with_devices",
]  # fmt: skip


class Use(NamedTuple):
    """The place in the program where a device is declared or needed."""

    node: Node
    within: Node | None = None
    span: Span | None = None


class _Edge(NamedTuple):
    """An edge to a tensor on the same device; without `forward` no device is propagated on it."""

    to: TensorNode
    at: Use
    forward: bool


class TensorNode:
    """A tensor of the program; `device` is None while nothing says where it is."""

    __slots__ = ("device", "links", "merges", "origin")

    def __init__(self) -> None:
        self.device: VDevice | None = None
        self.origin: Use | None = None  # what says that it is on `device`
        self.links: list[_Edge] = []
        self.merges: list[_Merge] = []  # values of which it may be one

    def link(self, other: TensorNode, at: Use, both: bool = True) -> None:
        """Have `other` be where this is; and the other way round, with `both`."""
        self.links.append(_Edge(other, at, True))
        other.links.append(_Edge(self, at, both))

    def belonging(self) -> Iterator[TensorNode]:
        """The nodes without a device that are connected with this one, itself included."""
        seen: set[int] = set()
        stack = [self]
        while stack:
            place = stack.pop()
            if id(place) not in seen and place.device is None:
                seen.add(id(place))
                yield place
                stack.extend(link.to for link in place.links)


class _Merge(NamedTuple):
    """The value of an `if`: on a device where both branches are on it."""

    value: TensorNode
    branches: tuple[TensorNode, TensorNode]
    at: Use


class FunctionNode(NamedTuple):
    """The nodes of the parameters and of the result of a function."""

    params: tuple[Tree, ...]
    result: Tree


# The nodes of the tensors in a value, arranged as its StructInfo is; None where it holds none.
Tree: TypeAlias = "TensorNode | list[Tree] | FunctionNode | None"


class DeviceConflict(NamedTuple):
    """A tensor that would be on two devices: where, which, and what declares each."""

    at: Use
    devices: tuple[VDevice, VDevice]
    origins: tuple[Use, Use]


class DeviceGraph:
    """The nodes with their devices, and what follows; `listed` are the devices of the module.

    `conflicts` are the tensors that would be on two devices, one of each cause.
    """

    def __init__(self, listed: Iterable[VDevice]) -> None:
        self.conflicts: list[DeviceConflict] = []
        self._devices = list(listed)
        self._assigned: list[tuple[TensorNode, VDevice, Use]] = []
        self._causes: set[frozenset[int]] = set()
        self._reached: deque[TensorNode] = deque()

    def assign(self, place: TensorNode, device: VDevice, at: Use) -> None:
        """Note that a tensor is on a device."""
        self._assigned.append((place, self._canonical(device), at))

    def _canonical(self, device: VDevice) -> VDevice:
        """The one object for a device in this graph."""
        for known in self._devices:
            if known is device or same_vdevice(known, device):
                return known
        self._devices.append(device)
        return device

    def assign_declared(self, info: StructInfo, tree: Tree, at: Use) -> None:
        """Note the devices that a StructInfo declares."""
        for part, place in _pairs(info, tree):
            if part.vdevice is not None:
                said = at if part.span is None else Use(part, at.node, part.span)
                self.assign(place, part.vdevice, said)

    def new_tree(self, info: StructInfo, at: Use) -> Tree:
        """New nodes for the tensors in a value."""
        tree = _tree_of(info)
        self.assign_declared(info, tree, at)
        return tree

    def connect(self, a: Tree, b: Tree, at: Use, both: bool = True) -> None:
        """Have the tensors of `b` be where those of `a` are; and the other way round, with `both`.

        A function that is passed on gives what is expected of it; what it takes is its own affair.
        """
        seen: set[tuple[int, int]] = set()
        stack = [(a, b)]
        while stack:
            one, other = stack.pop()
            if one is other or (id(one), id(other)) in seen:
                continue
            seen.add((id(one), id(other)))
            match one, other:
                case TensorNode(), TensorNode():
                    one.link(other, at, both)
                case list(), list() if len(one) == len(other):
                    stack.extend(zip(one, other))
                case FunctionNode(), FunctionNode():
                    stack.append((one.result, other.result))
                    if both and len(one.params) == len(other.params):
                        stack.extend(zip(one.params, other.params))

    def merge(self, tree: Tree, yes: Tree, no: Tree, at: Use) -> None:
        """Have a value be where both branches are, and each branch where the value is."""
        match tree, yes, no:
            case TensorNode(), TensorNode(), TensorNode():
                for branch in (yes, no):
                    branch.merges.append(_Merge(tree, (yes, no), at))
                    tree.link(branch, at, both=False)
            case list(), list(), list() if len(tree) == len(yes) == len(no):
                for parts in zip(tree, yes, no):
                    self.merge(*parts, at)
            case FunctionNode(), FunctionNode(), FunctionNode():
                self.merge(tree.result, yes.result, no.result, at)

    def propagate(self) -> None:
        """Propagate the assigned devices along the edges."""
        for place, device, at in self._assigned:
            self._set_device(place, device, at, at)
        while self._reached:
            place = self._reached.popleft()
            here, origin = place.device, place.origin
            if here is None or origin is None:
                continue
            for link in place.links:
                if link.forward:
                    self._set_device(link.to, here, origin, link.at)
            for merge in place.merges:
                if all(branch.device is here for branch in merge.branches):
                    self._set_device(merge.value, here, origin, merge.at)

    def _set_device(self, place: TensorNode, device: VDevice, origin: Use, at: Use) -> None:
        if place.device is None or place.origin is None:
            place.device, place.origin = device, origin
            self._reached.append(place)
        elif place.device is not device:
            cause = frozenset({id(place.origin.node), id(origin.node)})
            if cause not in self._causes:
                self._causes.add(cause)
                self.conflicts.append(
                    DeviceConflict(at, (place.device, device), (place.origin, origin))
                )


# -- trees -----------------------------------------------------------------------------------------


def _tree_of(info: StructInfo) -> Tree:
    match info:
        case TensorStructInfo():
            return TensorNode()
        case TupleStructInfo(fields):
            return [_tree_of(field) for field in fields]
        case FuncStructInfo(params=tuple(params), derive_func=None):
            return FunctionNode(tuple(map(_tree_of, params)), _tree_of(info.ret))
    return None


def tree_of_node(info: StructInfo, here: TensorNode) -> Tree:
    """The tree of a value whose tensors are all one node."""
    match info:
        case TensorStructInfo():
            return here
        case TupleStructInfo(fields):
            return [tree_of_node(field, here) for field in fields]
    return None


def matches(info: StructInfo, tree: Tree) -> bool:
    """True if a StructInfo is of the kind that the value has."""
    match info, tree:
        case (TensorStructInfo(), TensorNode()) | (FuncStructInfo(params=tuple()), FunctionNode()):
            return True
        case TupleStructInfo(fields), list():
            return len(fields) == len(tree)
    return False


def _pairs(info: StructInfo, tree: Tree) -> Iterator[tuple[TensorStructInfo, TensorNode]]:
    """The tensors that a StructInfo describes, and their nodes."""
    seen: set[tuple[int, int]] = set()
    stack = [(info, tree)]
    while stack:
        part, held = stack.pop()
        if (id(part), id(held)) in seen:
            continue
        seen.add((id(part), id(held)))
        match part, held:
            case TensorStructInfo(), TensorNode():
                yield part, held
            case TupleStructInfo(fields), list() if len(fields) == len(held):
                stack.extend(zip(reversed(fields), reversed(held)))
            case FuncStructInfo(params=tuple(params)), FunctionNode():
                stack.append((part.ret, held.result))
                stack.extend(zip(reversed(params), reversed(held.params)))


def tensor_nodes(trees: Iterable[Tree]) -> Iterator[TensorNode]:
    """The nodes of the tensors in values, each once; those of functions are not in the value."""
    seen: set[int] = set()
    stack = list(trees)[::-1]
    while stack:
        tree = stack.pop()
        if tree is None or id(tree) in seen:
            continue
        seen.add(id(tree))
        match tree:
            case TensorNode():
                yield tree
            case list():
                stack.extend(reversed(tree))


def with_devices(info: StructInfo, tree: Tree) -> StructInfo:
    """A StructInfo with the devices of its tensors filled in where it does not say them.

    It is the same object where nothing is to be filled in.
    """
    match info, tree:
        case TensorStructInfo(shape, dtype, None, ndim), TensorNode(device=VDevice() as device):
            return TensorStructInfo.make(shape, dtype, device, ndim, span=info.span)
        case TupleStructInfo(fields), list() if len(fields) == len(tree):
            return with_parts(info, list(map(with_devices, fields, tree)))
        case FuncStructInfo(params=tuple(params)), FunctionNode() if len(params) == len(
            tree.params
        ):
            trees = (*tree.params, tree.result)
            return with_parts(info, list(map(with_devices, parts_of(info), trees)))
    return info
