"""Places of tensors, links between those that are on one device, and the flow along the links.

A `Tree` has the places of the tensors in one value; values that are one share their places. A
device that is said of a place flows along the links until nothing changes, so neither the order in
which things are said nor recursion matters, and the cost is that of the links.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from relaxscript.errors import Span
from relaxscript.ir.module import VDevice
from relaxscript.ir.node import Node
from relaxscript.ir.struct_info import FuncStructInfo, StructInfo, TensorStructInfo, TupleStructInfo
from relaxscript.sinfo import map_infos, same_vdevice

__all__ = [
    "Clash", "Place", "Places", "Signature", "Spot", "Tree", "all_at", "fits", "placed_info",
    "places_in",
]  # fmt: skip


class Spot(NamedTuple):
    """Where in the program something is said or needed."""

    node: Node
    within: Node | None = None
    span: Span | None = None


class _Link(NamedTuple):
    """That another tensor is on the same device; what is not `forward` only belongs together."""

    to: Place
    at: Spot
    forward: bool


class Place:
    """A tensor of the program; `device` is None as long as nothing says where it is."""

    __slots__ = ("device", "forks", "links", "origin")

    def __init__(self) -> None:
        self.device: VDevice | None = None
        self.origin: Spot | None = None  # what says that it is on `device`
        self.links: list[_Link] = []
        self.forks: list[_Fork] = []  # values of which it may be one

    def link(self, other: Place, at: Spot, both: bool = True) -> None:
        """Have `other` be where this is; and the other way round, with `both`."""
        self.links.append(_Link(other, at, True))
        other.links.append(_Link(self, at, both))

    def belonging(self) -> Iterator[Place]:
        """The places without a device that a device said here, or of which one, could reach."""
        seen: set[int] = set()
        stack = [self]
        while stack:
            place = stack.pop()
            if id(place) not in seen and place.device is None:
                seen.add(id(place))
                yield place
                stack.extend(link.to for link in place.links)


class _Fork(NamedTuple):
    """The value of an `if`: on a device where both branches are on it."""

    value: Place
    branches: tuple[Place, Place]
    at: Spot


class Signature(NamedTuple):
    """The places of what a function takes and gives."""

    params: tuple[Tree, ...]
    result: Tree


# The places of the tensors in a value, arranged as its StructInfo is; None where it holds none.
Tree: TypeAlias = "Place | list[Tree] | Signature | None"


class Clash(NamedTuple):
    """A tensor that would be on two devices: where, which, and what says so of each."""

    at: Spot
    devices: tuple[VDevice, VDevice]
    origins: tuple[Spot, Spot]


class Places:
    """What is said of places, and what follows; `listed` are the devices of the module.

    `clashes` are the tensors that would be on two devices, one of each cause.
    """

    def __init__(self, listed: Iterable[VDevice]) -> None:
        self.clashes: list[Clash] = []
        self._devices = list(listed)
        self._said: list[tuple[Place, VDevice, Spot]] = []
        self._causes: set[frozenset[int]] = set()
        self._reached: deque[Place] = deque()

    def say(self, place: Place, device: VDevice, at: Spot) -> None:
        """Note that a tensor is on a device."""
        self._said.append((place, self._known(device), at))

    def _known(self, device: VDevice) -> VDevice:
        """The one object that stands for a device here."""
        for known in self._devices:
            if known is device or same_vdevice(known, device):
                return known
        self._devices.append(device)
        return device

    def hear(self, info: StructInfo, tree: Tree, at: Spot) -> None:
        """Note the devices that a StructInfo says."""
        for part, place in _pairs(info, tree):
            if part.vdevice is not None:
                said = at if part.span is None else Spot(part, at.node, part.span)
                self.say(place, part.vdevice, said)

    def fresh(self, info: StructInfo, at: Spot) -> Tree:
        """New places for the tensors in a value."""
        tree = _tree_of(info)
        self.hear(info, tree, at)
        return tree

    def connect(self, a: Tree, b: Tree, at: Spot, both: bool = True) -> None:
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
                case Place(), Place():
                    one.link(other, at, both)
                case list(), list() if len(one) == len(other):
                    stack.extend(zip(one, other))
                case Signature(), Signature():
                    stack.append((one.result, other.result))
                    if both and len(one.params) == len(other.params):
                        stack.extend(zip(one.params, other.params))

    def fork(self, tree: Tree, yes: Tree, no: Tree, at: Spot) -> None:
        """Have a value be where both branches are, and each branch where the value is."""
        match tree, yes, no:
            case Place(), Place(), Place():
                for branch in (yes, no):
                    branch.forks.append(_Fork(tree, (yes, no), at))
                    tree.link(branch, at, both=False)
            case list(), list(), list() if len(tree) == len(yes) == len(no):
                for parts in zip(tree, yes, no):
                    self.fork(*parts, at)
            case Signature(), Signature(), Signature():
                self.fork(tree.result, yes.result, no.result, at)

    def flow(self) -> None:
        """Carry what was said along the links."""
        for place, device, at in self._said:
            self._reach(place, device, at, at)
        while self._reached:
            place = self._reached.popleft()
            here, origin = place.device, place.origin
            if here is None or origin is None:
                continue
            for link in place.links:
                if link.forward:
                    self._reach(link.to, here, origin, link.at)
            for fork in place.forks:
                if all(branch.device is here for branch in fork.branches):
                    self._reach(fork.value, here, origin, fork.at)

    def _reach(self, place: Place, device: VDevice, origin: Spot, at: Spot) -> None:
        if place.device is None or place.origin is None:
            place.device, place.origin = device, origin
            self._reached.append(place)
        elif place.device is not device:
            cause = frozenset({id(place.origin.node), id(origin.node)})
            if cause not in self._causes:
                self._causes.add(cause)
                self.clashes.append(Clash(at, (place.device, device), (place.origin, origin)))


# -- trees -----------------------------------------------------------------------------------------


def _tree_of(info: StructInfo) -> Tree:
    match info:
        case TensorStructInfo():
            return Place()
        case TupleStructInfo(fields):
            return [_tree_of(field) for field in fields]
        case FuncStructInfo(params=tuple(params), derive_func=None):
            return Signature(tuple(map(_tree_of, params)), _tree_of(info.ret))
    return None


def all_at(info: StructInfo, here: Place) -> Tree:
    """The tree of a value whose tensors are all in one place."""
    match info:
        case TensorStructInfo():
            return here
        case TupleStructInfo(fields):
            return [all_at(field, here) for field in fields]
    return None


def fits(info: StructInfo, tree: Tree) -> bool:
    """Whether a StructInfo is of the kind that the value has."""
    match info, tree:
        case (TensorStructInfo(), Place()) | (FuncStructInfo(params=tuple()), Signature()):
            return True
        case TupleStructInfo(fields), list():
            return len(fields) == len(tree)
    return False


def _pairs(info: StructInfo, tree: Tree) -> Iterator[tuple[TensorStructInfo, Place]]:
    """The tensors that a StructInfo describes, and their places."""
    seen: set[tuple[int, int]] = set()
    stack = [(info, tree)]
    while stack:
        part, held = stack.pop()
        if (id(part), id(held)) in seen:
            continue
        seen.add((id(part), id(held)))
        match part, held:
            case TensorStructInfo(), Place():
                yield part, held
            case TupleStructInfo(fields), list() if len(fields) == len(held):
                stack.extend(zip(reversed(fields), reversed(held)))
            case FuncStructInfo(params=tuple(params)), Signature():
                stack.append((part.ret, held.result))
                stack.extend(zip(reversed(params), reversed(held.params)))


def places_in(trees: Iterable[Tree]) -> Iterator[Place]:
    """The places of the tensors in values, each once; those of functions are not in the value."""
    seen: set[int] = set()
    stack = list(trees)[::-1]
    while stack:
        tree = stack.pop()
        if tree is None or id(tree) in seen:
            continue
        seen.add(id(tree))
        match tree:
            case Place():
                yield tree
            case list():
                stack.extend(reversed(tree))


def placed_info(info: StructInfo, tree: Tree) -> StructInfo:
    """A StructInfo with the devices of its tensors filled in where it does not say them.

    It is the same object where nothing is to be filled in.
    """
    match info, tree:
        case TensorStructInfo(shape, dtype, None, ndim), Place(device=VDevice() as device):
            return TensorStructInfo.make(shape, dtype, device, ndim, span=info.span)
        case TupleStructInfo(fields), list() if len(fields) == len(tree):
            return info.replace(fields=map_infos(placed_info, fields, tree))
        case FuncStructInfo(params=tuple(params)), Signature():
            given = map_infos(placed_info, params, tree.params)
            return info.replace(params=given, ret=placed_info(info.ret, tree.result))
    return info
