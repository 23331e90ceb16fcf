"""Structural equality and hashing: two programs are the same up to the names of what they define.

Variables are compared by where they are defined: the first pair met in a defining position is put
in correspondence, and from then on each may only meet the other. A free variable equals itself
only, unless `map_free_vars` is set. Places in the source take no part.

Source: TVM `ir.structural_equal` (names and parameters).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from relaxscript.errors import DiagnosticError, InternalError

from . import hooks, prim, relax
from .module import IRModule
from .node import Node, traversal_of
from .relax import Attrs
from .struct_info import FuncStructInfo, StructInfo
from .tir import Buffer, PrimFunc

__all__ = [
    "Mismatch", "StructuralMismatch", "assert_structural_equal", "get_first_structural_mismatch",
    "same", "structural_equal", "structural_hash",
]  # fmt: skip


class Mismatch(NamedTuple):
    """The first difference of two programs: a node of each, and what differs there."""

    lhs: Any
    rhs: Any
    reason: str


class StructuralMismatch(AssertionError):
    """Two programs that should be the same are not; the message shows where in both scripts."""

    def __init__(self, message: str, mismatch: Mismatch) -> None:
        super().__init__(message)
        self.mismatch = mismatch

    def __reduce__(self) -> tuple[Any, ...]:
        return (StructuralMismatch, (self.args[0], self.mismatch))


# Per class: the fields to compare directly, and those to descend into with "defines here".
Plan = tuple[tuple[str, ...], tuple[tuple[str, bool], ...]]
_plans: dict[type[Node], Plan] = {}
_VARIABLES = (prim.Var, relax.Var, Buffer)


def _plan(cls: type[Node]) -> Plan:
    found = _plans.get(cls)
    if found is None:
        hint = "name" if issubclass(cls, (prim.Var, Buffer)) else "name_hint"
        fields = traversal_of(cls)
        if issubclass(cls, _VARIABLES) or cls.__name__ == "Block":
            fields = tuple(f for f in fields if f.name != hint)
        leaves = tuple(f.name for f in fields if f.leaf)
        inner = tuple((f.name, f.definition) for f in reversed(fields) if not f.leaf)
        found = _plans[cls] = (leaves, inner)
    return found


# What binds variables for its own parts only: functions, and the types of functions.
_SCOPES = frozenset({relax.Function, PrimFunc, FuncStructInfo})


class _Exit(NamedTuple):
    """The end of a scope, in the list of what is still to be compared."""

    depth: int


class _Comparison:
    """One comparison of two programs; `run` returns the first difference or None."""

    def __init__(self, map_free_vars: bool) -> None:
        self.map_free_vars = map_free_vars
        self.forth: dict[Any, Any] = {}
        self.back: dict[Any, Any] = {}
        self.trail: list[Any] = []
        # StructInfos are shared by many variables. While scopes only open, correspondence only
        # grows, so a pair once found equal stays equal and is compared once: the cost is linear.
        self.equal_infos: set[tuple[int, int]] = set()

    # One loop over pairs: a call for each kind of pair would cost more than comparing it.
    def run(self, lhs: Any, rhs: Any) -> Mismatch | None:  # noqa: C901
        stack: list[tuple[Any, Any, bool]] = [(lhs, rhs, False)]
        equal_infos = self.equal_infos
        forth = self.forth
        while stack:
            a, b, defines = stack.pop()
            cls = type(a)
            if cls is _Exit:
                self.leave(a.depth)
                continue
            if cls is not type(b):
                return Mismatch(a, b, f"{_describe(a)} here, {_describe(b)} there")
            if not isinstance(a, Node):
                different = self._values(a, b, defines, stack)
                if different is not None:
                    return different
                continue
            if isinstance(a, _VARIABLES):
                known = forth.get(a)
                if known is b:
                    continue
                reason = self._variable(a, b, known, defines)
                if reason is not None:
                    return Mismatch(a, b, reason)
                if a not in self.forth:
                    continue
            elif isinstance(a, StructInfo):
                if (id(a), id(b)) in equal_infos:
                    continue
                equal_infos.add((id(a), id(b)))
            elif a is b and isinstance(a, (relax.Op, prim.Immediate)):
                continue
            if cls in _SCOPES:
                stack.append((_Exit(len(self.trail)), None, False))
            leaves, inner = _plans.get(cls) or _plan(cls)
            for name in leaves:
                x, y = getattr(a, name), getattr(b, name)
                if x is not y and not _same_leaf(x, y):
                    return Mismatch(a, b, f"`{name}` is {_show(x)} here, {_show(y)} there")
            for name, definition in inner:
                x, y = getattr(a, name), getattr(b, name)
                if x is None and y is None:
                    continue
                if x.__class__ is tuple and y.__class__ is tuple:
                    if len(x) != len(y):
                        return Mismatch(a, b, f"`{name}` has {len(x)} here, {len(y)} there")
                    flag = defines or definition
                    stack.extend([(p, q, flag) for p, q in zip(reversed(x), reversed(y))])
                else:
                    stack.append((x, y, defines or definition))
        return None

    def leave(self, depth: int) -> None:
        """What a function defines means nothing after it; the same variable may be bound anew."""
        if len(self.trail) > depth:
            self.equal_infos.clear()
        while len(self.trail) > depth:
            del self.back[self.forth.pop(self.trail.pop())]

    def _variable(self, a: Any, b: Any, known: Any, defines: bool) -> str | None:
        """Why a pair of variables cannot correspond; makes them correspond when they can."""
        if known is not None or b in self.back:
            return f"{_describe(a)} here, {_describe(b)} there"
        if defines or self.map_free_vars:
            self.forth[a] = b
            self.back[b] = a
            if defines:
                self.trail.append(a)
            return None
        return None if a is b else f"the free {_describe(a)} here, {_describe(b)} there"

    def _values(self, a: Any, b: Any, defines: bool, stack: list[Any]) -> Mismatch | None:
        match a:
            case IRModule():
                return self._modules(a, b, stack)
            case tuple():
                if len(a) != len(b):
                    return Mismatch(a, b, f"{len(a)} items here, {len(b)} there")
                stack.extend([(p, q, defines) for p, q in zip(reversed(a), reversed(b))])
            case Attrs():
                if a.keys() != b.keys():
                    return Mismatch(a, b, f"attributes {sorted(a)} here, {sorted(b)} there")
                stack.extend([(a[key], b[key], defines) for key in a])
            case Mapping():
                if len(a) != len(b):
                    return Mismatch(a, b, f"{len(a)} items here, {len(b)} there")
                pairs = list(zip(a.items(), b.items()))
                for (k, v), (k2, v2) in reversed(pairs):
                    stack.extend([(v, v2, defines), (k, k2, defines)])
            case _ if not _same_leaf(a, b):
                return Mismatch(a, b, f"{_show(a)} here, {_show(b)} there")
        return None

    def _modules(self, a: IRModule, b: IRModule, stack: list[Any]) -> Mismatch | None:
        mine, theirs = dict(_named(a)), dict(_named(b))
        if mine.keys() != theirs.keys():
            only = sorted(mine.keys() ^ theirs.keys())
            return Mismatch(a, b, f"`{only[0]}` is a function of one module only")
        stack.append((a.attrs or Attrs(), b.attrs or Attrs(), False))
        stack.append((Attrs(a.global_infos), Attrs(b.global_infos), False))
        stack.extend([(mine[name], theirs[name], False) for name in sorted(mine, reverse=True)])
        return None


def _named(module: IRModule) -> list[tuple[str, Any]]:
    return [(gv.name_hint, function) for gv, function in module.functions.items()]


def _same_leaf(x: Any, y: Any) -> bool:
    if isinstance(x, np.ndarray):
        return (
            isinstance(y, np.ndarray)
            and x.dtype == y.dtype
            and x.shape == y.shape
            and x.tobytes() == y.tobytes()
        )
    if type(x) is float and type(y) is float:
        return x.hex() == y.hex() if x == x else y != y
    return type(x) is type(y) and bool(x == y)


def _describe(value: Any) -> str:
    match value:
        case relax.Var(name_hint=name):
            return f"variable `{name}`"
        case prim.Var(name=name):
            return f"scalar variable `{name}`"
        case Buffer(name=name):
            return f"buffer `{name}`"
        case None:
            return "nothing"
    return f"a {type(value).__name__}" if isinstance(value, Node) else _show(value)


def _show(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return f"`{value}`"


def get_first_structural_mismatch(
    lhs: Any, rhs: Any, map_free_vars: bool = False
) -> Mismatch | None:
    """The first difference of two programs, or None when they are the same."""
    return _Comparison(map_free_vars).run(lhs, rhs)


def structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> bool:
    """Whether two nodes, functions or modules are the same up to the names of what they define.

    With `map_free_vars`, free variables of one may stand for those of the other. Cost: one step
    for each pair of nodes, each pair of shared StructInfos once.
    """
    return _Comparison(map_free_vars).run(lhs, rhs) is None


same = structural_equal


def assert_structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> None:
    """Raise `StructuralMismatch` unless both are the same; shows the place in both scripts."""
    mismatch = get_first_structural_mismatch(lhs, rhs, map_free_vars)
    if mismatch is None:
        return
    message = f"the programs differ: {mismatch.reason}"
    shown = [_place(lhs, mismatch.lhs, "the first"), _place(rhs, mismatch.rhs, "the second")]
    raise StructuralMismatch("\n\n".join([message, *filter(None, shown)]), mismatch)


def _place(root: Any, at: Any, which: str) -> str:
    if not isinstance(root, (Node, IRModule)) or not isinstance(at, (Node, IRModule)):
        return ""
    try:
        text: str = hooks.blame(root, at, f"differs here in {which}")
    except (InternalError, DiagnosticError):
        return ""
    return text


def structural_hash(node: Any, map_free_vars: bool = False) -> int:
    """A 64-bit number, the same for programs that are `structural_equal`, in every process."""
    digest = hashlib.blake2b(digest_size=8)
    numbers: dict[Any, int] = {}
    trail: list[Any] = []
    stack: list[tuple[Any, bool]] = [(node, False)]
    while stack:
        value, defines = stack.pop()
        token: Any
        if isinstance(value, _Exit):
            while len(trail) > value.depth:
                del numbers[trail.pop()]
            continue
        if isinstance(value, _VARIABLES):
            fresh = value not in numbers and (defines or map_free_vars)
            if fresh:
                numbers[value] = len(numbers)
            if fresh and defines:
                trail.append(value)
            token = (type(value).__name__, numbers.get(value, "free"))
            digest.update(repr(token).encode())
            if not fresh:
                continue
        if type(value) in _SCOPES:
            stack.append((_Exit(len(trail)), False))
        digest.update(_token(value).encode())
        _push_parts(value, defines, stack)
    return int.from_bytes(digest.digest(), "little")


def _push_parts(value: Any, defines: bool, stack: list[tuple[Any, bool]]) -> None:
    match value:
        case IRModule():
            stack.extend((f, False) for _, f in sorted(_named(value), reverse=True))
            stack.extend([(value.attrs or Attrs(), False), (Attrs(value.global_infos), False)])
        case Node():
            _, inner = _plan(type(value))
            stack.extend((getattr(value, name), defines or d) for name, d in inner)
        case tuple():
            stack.extend((item, defines) for item in reversed(value))
        case Attrs():
            stack.extend((value[key], defines) for key in sorted(value))
        case Mapping():
            for key, item in reversed(list(value.items())):
                stack.extend([(item, defines), (key, defines)])


def _token(value: Any) -> str:
    match value:
        case Node():
            leaves, _ = _plan(type(value))
            parts = [_token(getattr(value, name)) for name in leaves]
            return f"{type(value).__name__}({','.join(parts)})"
        case IRModule():
            return f"IRModule({sorted(name for name, _ in _named(value))})"
        case tuple():
            return f"tuple{len(value)}"
        case Attrs():
            return f"Attrs{sorted(value)}"
        case Mapping():
            return f"map{len(value)}"
        case np.ndarray():
            content = hashlib.blake2b(value.tobytes(), digest_size=8).hexdigest()
            return f"array({value.dtype},{value.shape},{content})"
        case float():
            return f"float({value.hex() if value == value else 'nan'})"
    return f"{type(value).__name__}:{value!r}" if not callable(value) else f"callable:{value!r}"
