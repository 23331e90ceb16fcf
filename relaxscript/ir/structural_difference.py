"""Differences of two programs: those that `structural_equality.py` finds, by paths and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from relaxscript.errors import DiagnosticError, InternalError
from relaxscript.runtime.object_path import ObjectPath, ObjectPathPair

from . import hooks, prim, relax
from .module import IRModule
from .node import Node, traversal_of
from .tir import Buffer
from .walk import children

__all__ = [
    "Difference", "Found", "Holders", "Step", "StructuralMismatch", "described", "difference_of",
    "shown", "words_of",
]  # fmt: skip

# Two nodes, and the two that hold them.
Holders = tuple[Any, Any, Any]
# One more step of a path: the name of a method of `ObjectPath`, and its arguments.
Step = tuple[Any, ...]


class Difference(ObjectPathPair):
    """The first difference of two programs: the paths to it, `lhs_path` and `rhs_path`.

    `lhs` and `rhs` are a node of each, or a value; `reason` is what differs there, and `within` the
    pair of nodes in which they are.
    """

    lhs: Any
    rhs: Any
    reason: str
    within: tuple[Any, Any] | None

    def __new__(
        cls, paths: ObjectPathPair, lhs: Any, rhs: Any, reason: str,
        within: tuple[Any, Any] | None,
    ) -> Difference:  # fmt: skip
        made = super().__new__(cls, *paths)
        made.lhs, made.rhs, made.reason, made.within = lhs, rhs, reason, within
        return made

    def __getnewargs__(self) -> Any:
        return ObjectPathPair(*self), self.lhs, self.rhs, self.reason, self.within


class StructuralMismatch(AssertionError, ValueError):
    """Two programs that should be the same are not; the message shows where in both scripts.

    It also says which part that is, from the root on: "<root>.body.blocks[0].bindings".
    """

    def __init__(self, message: str, mismatch: Difference) -> None:
        super().__init__(message)
        self.mismatch = mismatch

    def __reduce__(self) -> tuple[Any, ...]:
        return (StructuralMismatch, (self.args[0], self.mismatch))


class Found(NamedTuple):
    """A difference while two programs are compared.

    `steps` go on from `at`, which is the pair `lhs` and `rhs` unless it says otherwise.
    """

    lhs: Any
    rhs: Any
    reason: str
    within: Holders | None
    steps: tuple[Sequence[Step], Sequence[Step]] = ((), ())
    at: tuple[Any, Any] | None = None


def difference_of(
    found: Found, roots: tuple[Any, Any], made: Sequence[tuple[Any, str]]
) -> Difference:
    """A difference with the paths to it; `made` are attributes that a module only stands for."""
    pairs = [found.at or (found.lhs, found.rhs)]
    within = found.within
    while within is not None:
        pairs.append(within[:2])
        within = within[2]
    paths = ObjectPath.root(), ObjectPath.root()
    known = {id(attrs): name for attrs, name in made}
    holders: tuple[Any, Any] | None = None
    for pair in reversed(pairs):
        steps = _between(roots, pair) if holders is None else _inside(holders, pair, known)
        paths = _follow(paths, steps)
        holders = pair
    paths = _follow(paths, found.steps)
    around = None if found.within is None else found.within[:2]
    return Difference(ObjectPathPair(*paths), found.lhs, found.rhs, found.reason, around)


_Steps = tuple[Sequence[Step], Sequence[Step]]


def _follow(paths: tuple[Any, Any], steps: _Steps) -> tuple[Any, Any]:
    found = []
    for path, own in zip(paths, steps):
        for name, *arguments in own:
            path = getattr(path, name)(*arguments)
        found.append(path)
    return found[0], found[1]


def _inside(holders: tuple[Any, Any], pair: tuple[Any, Any], known: Mapping[int, str]) -> _Steps:
    """The steps from two nodes to a pair of values that their fields hold."""
    a, b = holders
    if isinstance(a, IRModule):
        names: Sequence[str] = ("functions", "attrs", "global_infos")
        name = known.get(id(pair[0])) or known.get(id(pair[1]))
        if name is not None:
            return (("attr", name),), (("attr", name),)
    elif isinstance(a, Node):
        names = [f.name for f in traversal_of(type(a))]
    else:
        return _between(holders, pair)
    for name in names:
        inner = _search((getattr(a, name), getattr(b, name)), pair)
        if inner is not None:
            lhs, rhs = inner
            return (("attr", name), *lhs), (("attr", name), *rhs)
    return (), ()


def _between(outer: tuple[Any, Any], pair: tuple[Any, Any]) -> _Steps:
    return _search(outer, pair) or ((), ())


def _search(outer: tuple[Any, Any], pair: tuple[Any, Any]) -> _Steps | None:
    """The steps from two values to a pair that is in their tuples and mappings."""
    x, y = outer
    if x is pair[0] and y is pair[1]:
        return (), ()
    for lhs, rhs, inner in _entries(x, y):
        found = _search(inner, pair)
        if found is not None:
            return (lhs, *found[0]), (rhs, *found[1])
    return None


def _entries(x: Any, y: Any) -> list[tuple[Step, Step, tuple[Any, Any]]]:
    """The pairs of values in two tuples or mappings, each with the steps to it."""
    if isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)):
        steps = [("array_index", index) for index in range(min(len(x), len(y)))]
        return [(step, step, pair) for step, pair in zip(steps, zip(x, y))]
    if not isinstance(x, Mapping) or not isinstance(y, Mapping):
        return []
    partners = {_name(key): key for key in y}
    return [
        (("map_value", key), ("map_value", other), (x[key], y[other]))
        for key in x
        for other in ([partners[_name(key)]] if _name(key) in partners else y)
    ]


def _name(key: Any) -> Any:
    """The key of a mapping, and of functions their name, which two modules share."""
    return key.name_hint if isinstance(key, relax.GlobalVar) else key


# ---------------------------------------------------------------- words


def described(value: Any) -> str:
    """A value in a reason: "variable `x`", or what class of node it is."""
    match value:
        case relax.Var(name_hint=name):
            return f"variable `{name}`"
        case prim.Var(name=name):
            return f"scalar variable `{name}`"
        case Buffer(name=name):
            return f"buffer `{name}`"
        case None:
            return "nothing"
        case prim.Immediate():
            return shown(value.value)  # type: ignore[attr-defined]
        case Node():
            kind = type(value).__name__
            return f"{'an' if kind[0] in 'AEIO' else 'a'} {kind}"
    return shown(value)


def shown(value: Any) -> str:
    """A value that is no node."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return f"`{value}`"


def words_of(mismatch: Difference, lhs: Any, rhs: Any) -> str:
    """The message for two programs that differ, with the place in both scripts."""
    holders = mismatch.within or (None, None)
    differing = mismatch.lhs, mismatch.rhs
    sides = zip((lhs, rhs), differing, holders, _occurrences(mismatch), ("first", "second"))
    places = [_place(*side) for side in sides]
    first, second = map(repr, mismatch)
    where = first if first == second else f"{first} here, {second} there"
    message = f"the programs differ: {mismatch.reason} (at {where})"
    return "\n\n".join([message, *filter(None, places)])


def _occurrences(mismatch: Difference) -> tuple[int, int]:
    """The occurrences of the two that differ, counted in the nodes that hold them."""
    lhs, rhs, within = mismatch.lhs, mismatch.rhs, mismatch.within
    if within is None or not all(isinstance(holder, Node) for holder in within):
        return 0, 0
    earlier: list[tuple[Any, Any]] = []
    for pair in zip(*map(children, within)):
        if pair[0] is lhs and pair[1] is rhs:
            break
        earlier.append(pair)
    return sum(a is lhs for a, _ in earlier), sum(b is rhs for _, b in earlier)


def _place(root: Any, at: Any, within: Any, occurrence: int, which: str) -> str:
    """The lines of the script where the difference is; nothing where that would be all of it."""
    if not isinstance(at, Node):
        at = within
    if not isinstance(root, (Node, IRModule)) or not isinstance(at, Node):
        return ""
    try:
        message = f"differs here in the {which}"
        text: str = hooks.blame(root, at, message, within=within, occurrence=occurrence)
    except (InternalError, DiagnosticError):
        return ""
    return text
