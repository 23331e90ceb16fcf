"""The structural hash: the same number for programs that are structurally equal.

Variables count by the order of their definitions. What several parts of a program share, a
StructInfo or a scalar, has one digest, which is found once: the cost is that of the graph, however
large the program is when it is written out. So a digest says nothing of the place of its part:
variables that a `Let` binds are numbered from its own beginning. Its digest is used again wherever
these are unknown outside of it.

A function type has one digest wherever it is: inside of it, nothing is known that is outside. Where
it occurs, the numbers of the variables that it does not bind are added. So the hash does not tell
whether it binds a variable or what is around it does; `structural_equal` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from relaxscript.dtypes import DataType

from .module import IRModule
from .node import Node
from .prim import PrimExpr
from .relax import Attrs, VarBinding
from .struct_info import FuncStructInfo, StructInfo
from .structure import (
    DEFINE,
    INSIDE,
    MAYBE,
    USE,
    VARIABLES,
    ComparisonPlan,
    as_tuples,
    functions_of,
    plan_of,
    rule_name,
)
from .walk import TypeVariables, sees_itself

__all__ = ["structural_hash"]

_END, _ENTER = -1, -1
_NOTHING: frozenset[Any] = frozenset()

# What is read of a value: a shared part by its digest, a variable by its number, any other node by
# its fields, one without inner fields by a token that is made once, and what is no node by itself.
_SHARED, _VARIABLE, _NODE, _ATOM, _VALUE = range(5)


class _HashedPart(NamedTuple):
    """The digest of a shared part, and where it holds.

    `levels` has a bit for each open scope whose variables it mentions: the digest holds until the
    innermost of them ends. The variables of scopes that have `ended` inside of it were unknown
    outside: where one is known, it would not be bound again.
    """

    digest: str
    levels: int
    ended: frozenset[Any]


class _VariableNumber(NamedTuple):
    """The number of a variable, and the number of scopes that were open at its definition.

    `rank` is that of the scope inside of a shared part that defined it (0: none). `token` is
    written where the variable occurs.
    """

    number: int | str
    level: int
    rank: int
    token: str


_UNKNOWN = _VariableNumber(-1, 0, 0, "")


class _HashPlan(NamedTuple):
    """The reading of the values of one class, found once: a program has far more nodes.

    `token` is what is written for a node whose fields are all inner ones, None for others.
    """

    sort: int
    token: str | None
    parts: ComparisonPlan | None


_plans: dict[type, _HashPlan] = {}


def _plan_for(cls: type) -> _HashPlan:
    """The plan for a class, which is kept."""
    if not issubclass(cls, Node):
        return _plans.setdefault(cls, _HashPlan(_VALUE, None, None))
    parts = plan_of(cls)
    sort = _NODE if parts.inner else _ATOM
    if issubclass(cls, VARIABLES):
        sort = _VARIABLE
    elif issubclass(cls, (StructInfo, PrimExpr)):
        sort = _SHARED
    token = None if parts.leaves else f"{cls.__name__}()"
    return _plans.setdefault(cls, _HashPlan(sort, token, parts))


class _Scopes:
    """The scopes that are open inside of one function type, or outside of all; their variables."""

    def __init__(self) -> None:
        self.numbers: dict[Any, _VariableNumber] = {}
        self.free: dict[Any, int] = {}
        self.count = 0
        self.trail: list[tuple[Any, _VariableNumber | None]] = []
        # What is known of shared parts, by their roles and how many scopes were open around them,
        # and which of it ends with each scope that is open. It holds as long as no variable that
        # was met gets another number.
        self.parts: dict[tuple[int, int, int], _HashedPart] = {}
        self.ending: list[list[tuple[int, int, int]]] = [[]]
        # How many variables were defined before each of these scopes, and its rank.
        self.begins: list[int] = []
        self.ranks: list[int] = []


class _StructuralHasher:
    """One computation of a hash: variables count by the order of their definitions."""

    def __init__(self, map_free_vars: bool) -> None:
        self.map_free_vars = map_free_vars
        from hashlib import blake2b  # loads OpenSSL, which takes longer than any import of ours

        self.blake2b = blake2b
        # What the hash is the digest of.
        self.written: list[str] = []
        self.stack: list[tuple[Any, int]] = []
        self.here = _Scopes()
        # What is around each function type that is open.
        self.outside: list[_Scopes] = []
        self.types = TypeVariables()
        # The digests of function types, by what variables do where they occur.
        self.known_types: dict[tuple[int, int], str] = {}
        # What is written for operators and names, by their ids: the program keeps them alive.
        self.atoms: dict[int, str] = {}

    # One loop over all that is no part of a shared one: a binding of a call has about eight nodes
    # here, and a call of Python for each would cost more than what is written of it.
    def of(self, root: Any) -> int:
        """The hash of a node, function or module."""
        stack, written = self.stack, self.written
        stack.append((as_tuples(root), USE))
        while stack:
            value, role = stack.pop()
            if role == _END:
                self._end_scope(value)
                continue
            cls = value.__class__
            sort, token, _ = plan = _plans.get(cls) or _plan_for(cls)
            if sort == _SHARED:
                written.append(self._digest_of_shared(value, role))
            elif sort == _ATOM:
                written.append(token or self.atoms.get(id(value)) or self._atom(value))
            elif sort == _VALUE:
                written.append(_token(value))
                self._push_values(value, role)
            elif sort == _NODE or self._variable(value, role):
                written.append(token or _token(value))
                self._push_fields(value, role, plan.parts)
        digest = self.blake2b(";".join(written).encode(), digest_size=8).digest()
        return int.from_bytes(digest, "little")

    def _atom(self, value: Node) -> str:
        token = self.atoms[id(value)] = _token(value)
        return token

    def _variable(self, var: Any, role: int) -> bool:
        """True if this defines the variable, so that what is known of it counts too."""
        known = self.here.numbers.get(var)
        if known is not None and role < DEFINE:
            self.written.append(known.token)
            return False
        fresh = role >= DEFINE or role == MAYBE or self.map_free_vars
        if fresh:
            self._define(var, self.here.count)
            self.here.count += 1
        self.written.append(self._number(var))
        return fresh

    def _define(self, var: Any, number: int | str, rank: int = 0) -> None:
        here = self.here
        before = here.numbers.get(var)
        if before is not None or var in here.free:
            self._forget_digests()
        here.trail.append((var, before))
        token = f"{var.__class__.__name__} {number}"
        here.numbers[var] = _VariableNumber(number, len(here.begins), rank, token)

    def _number(self, var: Any) -> str:
        # A free variable counts by its first occurrence: names are hints, addresses change.
        known, free = self.here.numbers.get(var), self.here.free
        if known is not None:
            return known.token
        return f"{type(var).__name__} free{free.setdefault(var, len(free))}"

    def _forget_digests(self) -> None:
        self.here.parts.clear()
        for ending in self.here.ending:
            ending.clear()

    def _digest_of_shared(self, root: Any, role: int) -> str:
        """The digest of a StructInfo or scalar: of its own fields, and the digests of its parts."""
        known = self._part(root, role)
        if known is not None:
            return known.digest
        stack: list[tuple[Any, int, int]] = [(root, role, _ENTER)]
        made: list[_HashedPart] = []
        while stack:
            value, role, count = stack.pop()
            if count >= 0:
                parts = made[len(made) - count :]
                del made[len(made) - count :]
                made.append(self._whole(value, role, parts))
            elif isinstance(value, VARIABLES):
                made.append(self._variable_inside(value, role))
            elif (part := self._part(value, role)) is not None:
                made.append(part)
            else:
                self._enter(value, role, stack)
        return made.pop().digest

    def _whole(self, value: Any, role: int, parts: list[_HashedPart]) -> _HashedPart:
        """The digest of a node or tuple, from those of its parts."""
        inner = "".join([part.digest for part in parts])
        digest = self.blake2b(f"{_token(value)}:{inner}".encode(), digest_size=16).hexdigest()
        levels, ended = 0, _NOTHING
        for part in parts:
            levels |= part.levels
            if part.ended:
                ended |= part.ended
        if not isinstance(value, Node):
            return _HashedPart(digest, levels, ended)
        if isinstance(value, FuncStructInfo):
            self.here = self.outside.pop()
            self.known_types[id(value), role] = digest
            return self._in_place(value, digest)
        if value.is_scope:
            levels &= ~(1 << len(self.here.begins))
            ended |= self._leave()
        whole = _HashedPart(digest, levels, ended)
        key = (id(value), role, len(self.here.begins))
        self.here.parts[key] = whole
        self.here.ending[max(levels.bit_length() - 1, 0)].append(key)
        return whole

    def _part(self, value: Any, role: int) -> _HashedPart | None:
        """The digest of a shared part, where it holds."""
        here = self.here
        part = here.parts.get((id(value), role, len(here.begins)))
        if part is not None:
            holds = not part.ended or here.numbers.keys().isdisjoint(part.ended)
            return part if holds else None
        if isinstance(value, FuncStructInfo):
            digest = self.known_types.get((id(value), role))
            return None if digest is None else self._in_place(value, digest)
        return None

    def _in_place(self, info: FuncStructInfo, digest: str) -> _HashedPart:
        """The digest of a function type where it occurs: with what its free variables count as.

        Those that are unknown here may be bound by a function type inside of it.
        """
        numbers, levels = self.here.numbers, 0
        free = self.types.free(info)
        for var in free:
            known = numbers.get(var)
            if known is not None:
                digest += f" {known.number}"
                levels |= 1 << known.level if known.level else 0
        return _HashedPart(digest, levels, frozenset(free.keys() - numbers.keys()))

    def _variable_inside(self, var: Any, role: int) -> _HashedPart:
        """A variable in what is shared: it says the same wherever it is met, defined there or not.

        What a scope in there binds is numbered from its own beginning, and by its rank.
        """
        known = self.here.numbers.get(var)
        if role >= DEFINE or (known is None and (role == MAYBE or self.map_free_vars)):
            if self.here.begins and role != USE:
                place = len(self.here.trail) - self.here.begins[-1]
                self._define(var, f"own{self.here.ranks[-1]}.{place}", self.here.ranks[-1])
            else:
                self._define(var, self.here.count)
                self.here.count += 1
        digest = f"{self._number(var)} {getattr(var, 'dtype', None)};"
        level = self.here.numbers[var].level if var in self.here.numbers else 0
        return _HashedPart(digest, 1 << level if level else 0, _NOTHING)

    def _enter(self, value: Any, role: int, stack: list[tuple[Any, int, int]]) -> None:
        parts: list[tuple[Any, int]] = []
        match value:
            case Node():
                plan = plan_of(type(value), sees_itself(value))
                if isinstance(value, FuncStructInfo):
                    self.outside.append(self.here)
                    self.here = _Scopes()
                elif plan.is_scope:
                    self.here.ranks.append(self._rank(value))
                    self.here.begins.append(len(self.here.trail))
                    self.here.ending.append([])
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

    def _rank(self, scope: Node) -> int:
        """One more than that of each scope inside of which it must be, by what it mentions."""
        known = (self.here.numbers.get(var) for var in self.types.mentioned_variables(scope))
        return 1 + max((number.rank for number in known if number), default=0)

    def _leave(self) -> frozenset[Any]:
        """The end of a scope inside of what is shared; the variables that it bound."""
        begin = self.here.begins.pop()
        self.here.ranks.pop()
        bound = frozenset(var for var, _ in self.here.trail[begin:])
        for key in self.here.ending.pop():
            self.here.parts.pop(key, None)
        self._restore(begin)
        return bound

    def _place(self, var: Any) -> _VariableNumber:
        return self.here.numbers.get(var, _UNKNOWN)

    def _end_scope(self, length: int) -> None:
        if len(self.here.trail) > length:
            self._forget_digests()
        self._restore(length)

    def _restore(self, length: int) -> None:
        while len(self.here.trail) > length:
            var, before = self.here.trail.pop()
            if before is None:
                del self.here.numbers[var]
            else:
                self.here.numbers[var] = before

    def _push_fields(self, value: Node, role: int, plan: ComparisonPlan | None) -> None:
        """The fields of a node, the last first; of tuples and of what is absent, what says so."""
        if plan is None or (value.__class__ is VarBinding and sees_itself(value)):
            plan = plan_of(type(value), True)
        stack, written = self.stack, self.written
        if plan.is_scope:
            stack.append((len(self.here.trail), _END))
        for name, own in plan.inner:
            part, inside = getattr(value, name), own or INSIDE[role]
            if part.__class__ is tuple:
                written.append(f"{name}{len(part)}")
                stack.extend([(item, inside) for item in part[::-1]])
            elif part is None or (part.__class__ is Attrs and not part):
                written.append(name)
            else:
                stack.append((part, inside))

    def _push_values(self, value: Any, role: int) -> None:
        stack = self.stack
        match value:
            case IRModule():
                stack.extend((f, USE) for _, f in sorted(functions_of(value), reverse=True))
                stack.extend([(value.attrs, USE), (Attrs(value.global_infos), USE)])
            case tuple():
                stack.extend((item, role) for item in reversed(value))
            case Attrs():
                stack.extend((value[key], role) for key in sorted(value))
            case Mapping():
                known = sorted(value, key=self._place, reverse=True)
                stack.extend((value[key], role) for key in known)


def structural_hash(node: Any, map_free_vars: bool = False) -> int:
    """A 64-bit number, the same for programs that are `structural_equal`, in every process."""
    return _StructuralHasher(map_free_vars).of(node)


def _token(value: Any) -> str:
    """The text that is written for a value, apart from its parts."""
    cls = value.__class__
    if cls is str or cls is DataType:
        return f"str:{str.__repr__(value)}"
    if cls is int or value is None:
        return f"{cls.__name__}:{value!r}"
    return _other_token(value)


def _other_token(value: Any) -> str:
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
            from hashlib import blake2b

            content = blake2b(value.tobytes(), digest_size=8).hexdigest()
            return f"array({value.dtype},{value.shape},{content})"
        case float():
            return f"float({value.hex() if value == value else 'nan'})"
        case str():
            return f"str:{str(value)!r}"
    if callable(value):
        return f"str:{rule_name(value)!r}"
    return f"{type(value).__name__}:{value!r}"
