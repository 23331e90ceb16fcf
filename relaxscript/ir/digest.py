"""The structural hash: the same number for programs that are structurally equal.

Variables count by the order of their definitions. What several parts of a program share, a
StructInfo or a scalar, has one digest, which is found once: the cost is that of the graph, however
large the program is when it is written out. So a digest says nothing of the place of its part:
what a function type or a `Let` binds is numbered from its own beginning.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from .module import IRModule
from .node import Node
from .prim import PrimExpr
from .relax import Attrs
from .struct_info import StructInfo
from .structure import (
    DEFINE,
    INSIDE,
    MAYBE,
    USE,
    VARIABLES,
    as_tuples,
    functions_of,
    plan_of,
    rule_name,
)
from .walk import sees_itself

__all__ = ["structural_hash"]

_END, _ENTER = -1, -1


class _Hashing:
    """One computation of a hash: variables count by the order of their definitions."""

    def __init__(self, map_free_vars: bool) -> None:
        self.map_free_vars = map_free_vars
        self.digest = hashlib.blake2b(digest_size=8)
        self.numbers: dict[Any, int | str] = {}
        self.free: dict[Any, int] = {}
        self.count = 0
        self.trail: list[tuple[Any, int | str | None]] = []
        self.stack: list[tuple[Any, int]] = []
        # The digests of shared parts, those inside each open scope apart; they hold as long as no
        # variable that was met gets another number.
        self.known: list[dict[tuple[int, int], bytes]] = [{}]
        # How many variables were defined before each of these scopes.
        self.begins: list[int] = []

    def of(self, root: Any) -> int:
        """The hash of a node, function or module."""
        self.stack.append((as_tuples(root), USE))
        while self.stack:
            value, role = self.stack.pop()
            if role == _END:
                self._end_scope(value)
            elif isinstance(value, (StructInfo, PrimExpr)) and not isinstance(value, VARIABLES):
                self.digest.update(self._shared(value, role))
            elif not isinstance(value, VARIABLES) or self._variable(value, role):
                self.digest.update(_token(value).encode())
                self._push_parts(value, role)
        return int.from_bytes(self.digest.digest(), "little")

    def _variable(self, var: Any, role: int) -> bool:
        """Whether this defines the variable, so that what is known of it counts too."""
        known = self.numbers.get(var)
        fresh = role >= DEFINE or (known is None and (role == MAYBE or self.map_free_vars))
        if fresh:
            self._define(var, self.count)
            self.count += 1
        self.digest.update(self._number(var))
        return fresh

    def _define(self, var: Any, number: int | str) -> None:
        before = self.numbers.get(var)
        if before is not None or var in self.free:
            self._forget_digests()
        self.trail.append((var, before))
        self.numbers[var] = number

    def _number(self, var: Any) -> bytes:
        # A free variable counts by its first occurrence: names are hints, addresses change.
        number = self.numbers.get(var)
        if number is None:
            number = f"free{self.free.setdefault(var, len(self.free))}"
        return f"{type(var).__name__} {number}".encode()

    def _forget_digests(self) -> None:
        for known in self.known:
            known.clear()

    def _shared(self, root: Any, role: int) -> bytes:
        """The digest of a StructInfo or scalar: of its own fields, and the digests of its parts."""
        stack: list[tuple[Any, int, int]] = [(root, role, _ENTER)]
        made: list[bytes] = []
        while stack:
            value, role, count = stack.pop()
            if count >= 0:
                inner = b"".join(made[len(made) - count :])
                del made[len(made) - count :]
                token = _token(value).encode()
                made.append(hashlib.blake2b(token + b":" + inner, digest_size=16).digest())
                if isinstance(value, Node):
                    if value.is_scope:
                        self._leave()
                    self.known[-1][id(value), role] = made[-1]
            elif isinstance(value, VARIABLES):
                made.append(self._variable_inside(value, role))
            elif isinstance(value, Node) and (id(value), role) in self.known[-1]:
                made.append(self.known[-1][id(value), role])
            else:
                self._enter(value, role, stack)
        return made.pop()

    def _variable_inside(self, var: Any, role: int) -> bytes:
        """A variable in what is shared: it says the same wherever it is met, defined there or not.

        What a scope in there binds is numbered from the beginning of the outermost one.
        """
        known = self.numbers.get(var)
        if role >= DEFINE or (known is None and (role == MAYBE or self.map_free_vars)):
            if self.begins and role != USE:
                place = len(self.trail) - self.begins[-1]
                self._define(var, f"own{len(self.begins)}.{place}")
            else:
                self._define(var, self.count)
                self.count += 1
        dtype = getattr(var, "dtype", None)
        return self._number(var) + f" {dtype};".encode()

    def _enter(self, value: Any, role: int, stack: list[tuple[Any, int, int]]) -> None:
        parts: list[tuple[Any, int]] = []
        match value:
            case Node():
                plan = plan_of(type(value), sees_itself(value))
                if plan.is_scope:
                    self.begins.append(len(self.trail))
                    self.known.append({})
                stack.append((value, role, len(plan.inner)))
                parts = [(getattr(value, name), own or INSIDE[role]) for name, own in plan.inner]
            case tuple():
                parts = [(item, role) for item in reversed(value)]
                stack.append((value, role, len(parts)))
            case Mapping():
                parts = [(value[key], role) for key in sorted(value, reverse=True)]
                stack.append((value, role, len(parts)))
            case _:
                stack.append((value, role, 0))
        stack.extend((part, inside, _ENTER) for part, inside in parts)

    def _leave(self) -> None:
        """The end of a scope inside of what is shared."""
        self.known.pop()
        self._restore(self.begins.pop())

    def _end_scope(self, length: int) -> None:
        if len(self.trail) > length:
            self._forget_digests()
        self._restore(length)

    def _restore(self, length: int) -> None:
        while len(self.trail) > length:
            var, before = self.trail.pop()
            if before is None:
                del self.numbers[var]
            else:
                self.numbers[var] = before

    def _push_parts(self, value: Any, role: int) -> None:
        stack = self.stack
        match value:
            case IRModule():
                stack.extend((f, USE) for _, f in sorted(functions_of(value), reverse=True))
                stack.extend([(value.attrs, USE), (Attrs(value.global_infos), USE)])
            case Node():
                plan = plan_of(type(value), sees_itself(value))
                if plan.is_scope:
                    stack.append((len(self.trail), _END))
                parts = [(getattr(value, name), own or INSIDE[role]) for name, own in plan.inner]
                stack.extend(parts)
            case tuple():
                stack.extend((item, role) for item in reversed(value))
            case Attrs():
                stack.extend((value[key], role) for key in sorted(value))
            case Mapping():
                known = sorted(value, key=lambda key: self.numbers.get(key, -1), reverse=True)
                stack.extend((value[key], role) for key in known)


def structural_hash(node: Any, map_free_vars: bool = False) -> int:
    """A 64-bit number, the same for programs that are `structural_equal`, in every process."""
    return _Hashing(map_free_vars).of(node)


def _token(value: Any) -> str:
    match value:
        case Node():
            leaves = plan_of(type(value)).leaves
            parts = [_token(getattr(value, name)) for name in leaves]
            return f"{type(value).__name__}({','.join(parts)})"
        case IRModule():
            return f"IRModule({sorted(name for name, _ in functions_of(value))})"
        case tuple():
            return f"tuple{len(value)}"
        case Attrs():
            return f"Attrs{sorted(value)}" if value else _token(None)
        case Mapping():
            return f"map{len(value)}"
        case np.ndarray():
            content = hashlib.blake2b(value.tobytes(), digest_size=8).hexdigest()
            return f"array({value.dtype},{value.shape},{content})"
        case float():
            return f"float({value.hex() if value == value else 'nan'})"
        case str():
            return f"str:{str(value)!r}"
    if callable(value):
        return f"str:{rule_name(value)!r}"
    return f"{type(value).__name__}:{value!r}"
