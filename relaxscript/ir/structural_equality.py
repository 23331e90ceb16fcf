"""Structural equality: two programs are the same up to the names of what they define.

Variables are compared by where they are defined: a pair met in a defining position is put in
correspondence. Until the end of the scope each may only meet the other. A free variable equals
itself only, unless `map_free_vars` is set. Places in the source take no part.

Source: TVM `ir.structural_equal` (names and parameters).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from . import prim, relax
from .module import IRModule
from .node import Node
from .relax import Attrs, Id
from .struct_info import StructInfo, equal_at_a_glance
from .structural_difference import (
    Difference,
    Found,
    Step,
    StructuralMismatch,
    described,
    difference_of,
    shown,
    words_of,
)
from .structural_hashing import structural_hash
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
    plans,
    rule_name,
)
from .tir import Buffer
from .tir_compute import BufferRealize
from .types import Type
from .walk import TypeVariables, sees_itself, walk

__all__ = [
    "Difference", "StructuralMismatch", "assert_structural_equal", "get_first_structural_mismatch",
    "same", "structural_equal", "structural_hash",
]  # fmt: skip


# On the stack beside what variables do: the end of a scope, items that one of two tuples has, and
# the end of two types whose variables are noted.
_END, _LENGTHS, _NOTED = -1, -2, -3
# Two nodes by their ids, and what variables do there; also the partners of the variables in the
# first, and in the second.
_Pair = tuple[int, int, int]
_Comparable = tuple[int, int, int, frozenset[tuple[int, int]], frozenset[tuple[int, int]]]
# Two values, what variables do there, and the two nodes that hold them, with what holds these.
Entry = tuple[Any, Any, int, Any]

_SHARED = (StructInfo, prim.PrimExpr, Type)

# The partner of a variable whose own partner has been defined anew, so it has none in this scope.
_HIDDEN = Id()


class _StructuralComparison:
    """One comparison of two programs; `run` returns the first difference or None."""

    def __init__(self, map_free_vars: bool) -> None:
        self.map_free_vars = map_free_vars
        self.forth: dict[Any, Any] = {}
        self.back: dict[Any, Any] = {}
        # What `forth` and `back` held before each definition, to be restored when its scope ends.
        self.trail: list[tuple[dict[Any, Any], Any, Any]] = []
        # StructInfos are shared by many variables, scalars by what was made of them. As long as
        # correspondence only grows, a pair once found equal stays equal where its variables do the
        # same, and is compared once: the cost is linear in the graph.
        self.equal: set[_Pair] = set()
        # Variables that were met where nothing had defined them: where one is defined later, or
        # again after its scope has ended, what was equal need not be any more.
        self.loose: set[Any] = set()
        # Types that may have function types inside bind variables that may be known where the same
        # type is met next. Which variables meet is the same wherever two types are equal: it is
        # noted once, and says where else they are.
        self.types = TypeVariables()
        self.met: dict[_Pair, set[tuple[Any, Any]]] = {}
        # What was met so far in the types that are being compared, the innermost last.
        self.meeting: list[set[tuple[Any, Any]]] = []
        # Those that are no scopes, once for each correspondence of their variables: they define for
        # what is around them.
        self.unscoped: set[_Pair | _Comparable] = set()
        # The pairs in their order: those of a scope are forgotten with it.
        self.order: list[_Pair | _Comparable] = []
        self.roots: tuple[Any, Any] = (None, None)
        # Attributes that stand for what a module holds, and by what name.
        self.made: list[tuple[Attrs, str]] = []

    # One loop over pairs: a call for each kind of pair would cost more than comparing it.
    def run(self, lhs: Any, rhs: Any) -> Found | None:  # noqa: C901
        self.roots = lhs, rhs = as_tuples(lhs), as_tuples(rhs)
        stack: list[Entry] = [(lhs, rhs, USE, None)]
        equal, order, forth, meeting = self.equal, self.order, self.forth, self.meeting
        while stack:
            a, b, role, within = stack.pop()
            cls = type(a)
            if role < USE:
                if role == _LENGTHS:
                    return self._lengths(a, b, within)
                self._note(a) if role == _NOTED else self._end_scope(a, b)
                continue
            if cls is not type(b) or not isinstance(a, Node):
                if (different := self._values((a, b, role, within), stack)) is not None:
                    return different
                continue
            if isinstance(a, VARIABLES):
                if meeting:
                    meeting[-1].add((a, b))
                known = forth.get(a)
                if known is b and role <= MAYBE:
                    continue
                if (reason := self._variable(a, b, known, role)) is not None:
                    return Found(a, b, reason, within)
                if a not in forth:
                    continue
            elif a is b and isinstance(a, (relax.Op, prim.Immediate)):
                continue
            elif a.is_compound:
                if self._is_compared(a, b, role, stack):
                    continue
            elif isinstance(a, _SHARED):
                if (pair := (id(a), id(b), role)) in equal:
                    if meeting:
                        self._meet_again(a)
                    continue
                order.append(pair)
                equal.add(pair)
            leaves, inner, is_scope = _plan_for(a, cls)
            for name in leaves:
                x, y = getattr(a, name), getattr(b, name)
                if x is not y and not _same_leaf(x, y):
                    steps = () if isinstance(a, relax.Op) else (("attr", name),)
                    return Found(a, b, _leaf_reason(a, b, name), within, (steps, steps))
            if is_scope:
                stack.append((len(self.trail), len(order), _END, None))
            here = (a, b, within)
            for name, own_role in inner:
                x, y = getattr(a, name), getattr(b, name)
                if x is None and y is None:
                    continue
                part_role = own_role or INSIDE[role]
                if x.__class__ is tuple and y.__class__ is tuple:
                    if len(x) != len(y):
                        stack.append((x, y, _LENGTHS, (name, here)))
                    stack.extend([(p, q, part_role, here) for p, q in zip(x, y)][::-1])
                else:
                    stack.append((x, y, part_role, here))
        return None

    def _is_compared(self, a: Node, b: Node, role: int, stack: list[Entry]) -> bool:
        """True if two types were found equal, and are so where variables mean what they do here.

        Where they are still to be compared, what meets in them is noted.
        """
        pair = (id(a), id(b), role)
        met = self.met.get(pair)
        if not a.is_scope:
            key = (id(a), id(b), role, self._partners(self.forth, a), self._partners(self.back, b))
            found = key in self.unscoped
            if not found:
                # What it defines ends with the scope around it.
                self.unscoped.add(key)
                self.order.append(key)
        else:
            found = met is not None and self._may_meet(met, a, role)
        if not found:
            self.meeting.append(set())
            stack.append((pair, None, _NOTED, None))
        elif met is not None and self.meeting:
            self.meeting[-1] |= met
        return found

    def _meet_again(self, part: Any) -> None:
        """Let the variables meet of a part that was found equal as it is here."""
        mentioned = self.types.mentioned_variables(part)
        self.meeting[-1].update((v, self.forth.get(v, v)) for v in mentioned)

    def _may_meet(self, pairs: set[tuple[Any, Any]], info: Node, role: int) -> bool:
        """True if the variables in a function type may meet here in these pairs.

        Where neither is known here they correspond when they meet, but for those that are free.
        """
        forth, back = self.forth, self.back
        binds_all = role != USE or self.map_free_vars
        free = {} if binds_all else self.types.free(info)
        for v, other in pairs:
            if v in forth:
                if forth[v] is not other:
                    return False
            elif other in back or (v in free and v is not other):
                return False
        return True

    def _note(self, pair: _Pair) -> None:
        """Note which variables met in two types that are equal."""
        pairs = self.met[pair] = self.meeting.pop()
        if self.meeting:
            self.meeting[-1] |= pairs

    def _partners(self, table: dict[Any, Any], info: Node) -> frozenset[tuple[int, int]]:
        if not table:
            return frozenset()
        return frozenset(
            (id(v), id(table[v])) for v in self.types.mentioned_variables(info) if v in table
        )

    def _variable(self, a: Any, b: Any, known: Any, role: int) -> str | None:
        """Make two variables correspond; the reason why where they cannot."""
        if role >= DEFINE or (known is None and b not in self.back and self._may_map(a, b, role)):
            self._correspond(a, b, known)
            if role < DEFINE:
                self.loose.update((a, b))
            return None
        if known is not None or b in self.back:
            return f"{described(a)} here, {described(b)} there"
        if a is not b:
            return f"the free {described(a)} here, {described(b)} there"
        self.loose.add(a)
        return None

    def _may_map(self, a: Any, b: Any, role: int) -> bool:
        if role == MAYBE or self.map_free_vars:
            return True
        # A buffer that a region gives memory is no other's, nor is its pointer, though they may be
        # named before.
        pointer = isinstance(a, prim.Var) and a.dtype.kind == "handle"
        return (pointer or isinstance(a, Buffer)) and all(
            node in _realized_buffers(root) for node, root in zip((a, b), self.roots)
        )

    def _correspond(self, a: Any, b: Any, known: Any) -> None:
        other = self.back.get(b)
        if known is b and other is a:
            return
        if a in self.loose or b in self.loose:
            self.equal.clear()
        if known is not None:
            self._set(self.back, known, _HIDDEN)
            self.equal.clear()
        if other is not None:
            self._set(self.forth, other, _HIDDEN)
            self.equal.clear()
        self._set(self.forth, a, b)
        self._set(self.back, b, a)

    def _set(self, table: dict[Any, Any], key: Any, value: Any) -> None:
        self.trail.append((table, key, table.get(key)))
        table[key] = value

    def _lengths(self, x: Any, y: Any, within: Any) -> Found:
        """The items that both have are the same: the first that only one has is the difference."""
        name, here = within
        common = min(len(x), len(y))
        reason = f"`{name}` has {len(x)} items here, {len(y)} there"
        lhs, rhs = (v[common] if len(v) > common else here[i] for i, v in enumerate((x, y)))
        return Found(lhs, rhs, reason, here, _item_steps(x, y), (x, y))

    def _end_scope(self, length: int, compared: int) -> None:
        if len(self.trail) > length:
            self.equal.difference_update(self.order[compared:])
            self.unscoped.difference_update(self.order[compared:])
            del self.order[compared:]
        while len(self.trail) > length:
            table, key, before = self.trail.pop()
            if before is None:
                del table[key]
            else:
                table[key] = before

    def _values(self, entry: Entry, stack: list[Entry]) -> Found | None:
        a, b, role, within = entry
        if type(a) is not type(b):
            if (_is_empty(a) and _is_empty(b)) or _is_one_rule(a, b):
                return None
            return Found(a, b, f"{described(a)} here, {described(b)} there", within)
        match a:
            case IRModule():
                return self._modules(a, b, stack)
            case tuple():
                if len(a) != len(b):
                    reason = f"{len(a)} items here, {len(b)} there"
                    return Found(a, b, reason, within, _item_steps(a, b))
                stack.extend([(p, q, role, within) for p, q in zip(reversed(a), reversed(b))])
            case Attrs():
                return _attributes(entry, stack)
            case Mapping():
                return self._mappings(entry, stack)
            case _ if not _same_leaf(a, b):
                return Found(a, b, f"{shown(a)} here, {shown(b)} there", within)
        return None

    def _mappings(self, entry: Entry, stack: list[Entry]) -> Found | None:
        """Mappings from variables, which are known already; their order means nothing."""
        a, b, role, within = entry
        if len(a) != len(b):
            return Found(a, b, f"{len(a)} buffers here, {len(b)} there", within)
        for key, value in reversed(list(a.items())):
            partner = self.forth.get(key, key)
            if partner not in b:
                reason = f"{described(key)} is mapped to a buffer here, to none there"
                steps = (("map_value", key),), (("missing_map_entry",),)
                return Found(key, partner, reason, within, steps, (a, b))
            stack.append((value, b[partner], role, within))
        return None

    def _modules(self, a: IRModule, b: IRModule, stack: list[Any]) -> Found | None:
        mine, theirs = dict(functions_of(a)), dict(functions_of(b))
        for name in [*mine, *theirs]:
            if name not in mine or name not in theirs:
                which = "second" if name in mine else "first"
                at = (mine.get(name, a), theirs.get(name, b))
                steps = tuple(
                    (("attr", "functions"), ("map_value", m.get_global_var(name)))
                    if name in m
                    else (("attr", "functions"), ("missing_map_entry",))
                    for m in (a, b)
                )
                reason = f"the {which} has no function `{name}`"
                return Found(*at, reason, None, (steps[0], steps[1]), (a, b))
        here = (a, b, None)
        for field in ("global_infos", "attrs"):
            held = [getattr(module, field) for module in (a, b)]
            pair = [one if isinstance(one, Attrs) else Attrs(one or {}) for one in held]
            self.made += [(attrs, field) for attrs in pair]
            stack.append((*pair, USE, here))
        stack.extend([(mine[name], theirs[name], USE, here) for name in reversed(list(mine))])
        return None


def _item_steps(x: Any, y: Any) -> tuple[tuple[Step], tuple[Step]]:
    """The steps to the first item that only one of two tuples has."""
    common = min(len(x), len(y))
    lhs, rhs = (
        ("array_index" if len(v) > common else "missing_array_element", common) for v in (x, y)
    )
    return (lhs,), (rhs,)


def _plan_for(node: Node, cls: type[Node]) -> ComparisonPlan:
    recursive = cls is relax.VarBinding and sees_itself(node)
    return plans.get((cls, recursive)) or plan_of(cls, recursive)


def _realized_buffers(root: Any) -> set[Any]:
    """The buffers of which regions are realized, and their pointers."""
    parts = root.functions.values() if isinstance(root, IRModule) else [root]
    nodes = (node for part in parts if isinstance(part, Node) for node in walk(part))
    buffers = [node.buffer for node in nodes if isinstance(node, BufferRealize)]
    return {*buffers, *(buffer.data for buffer in buffers)}


def _attributes(entry: Entry, stack: list[Entry]) -> Found | None:
    a, b, role, within = entry
    for name in [*a, *b]:
        if name not in a or name not in b:
            which, given = ("second", a[name]) if name in a else ("first", b[name])
            reason = f"the {which} has no attribute `{name}`, which is {shown(given)} in the other"
            lhs, rhs = (
                ("map_value", name) if name in v else ("missing_map_entry",) for v in (a, b)
            )
            return Found(a, b, reason, within, ((lhs,), (rhs,)))
        if not isinstance(a[name], _NESTED) and not _same_leaf(a[name], b[name]):
            reason = f"the attribute `{name}` is {shown(a[name])} here, {shown(b[name])} there"
            step = ("map_value", name)
            return Found(a, b, reason, within, ((step,), (step,)))
    nested = [name for name in a if isinstance(a[name], _NESTED)]
    stack.extend([(a[name], b[name], role, within) for name in reversed(nested)])
    return None


_NESTED = (Node, tuple, Attrs)


def _is_empty(value: Any) -> bool:
    # No attributes may be written in two ways.
    return value is None or (isinstance(value, Attrs) and not value)


def _leaf_reason(a: Any, b: Any, name: str) -> str:
    x, y = getattr(a, name), getattr(b, name)
    of = f" of {described(a)}" if isinstance(a, VARIABLES) else ""
    return f"`{name}`{of} is {shown(x)} here, {shown(y)} there"


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
    if isinstance(x, str) and isinstance(y, str):
        return x == y
    return type(x) is type(y) and bool(x == y)


def _is_one_rule(a: Any, b: Any) -> bool:
    """A `derive_func` is a function of Python or, where a script was read, its name."""
    return callable(a) != callable(b) and rule_name(a) == rule_name(b) is not None


def get_first_structural_mismatch(
    lhs: Any, rhs: Any, map_free_vars: bool = False
) -> Difference | None:
    """The paths to the first difference of two programs, or None when they are the same.

    The pair also has the two that differ, `lhs` and `rhs`, and says why: `reason`.
    """
    comparison = _StructuralComparison(map_free_vars)
    found = comparison.run(lhs, rhs)
    return None if found is None else difference_of(found, comparison.roots, comparison.made)


def structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> bool:
    """True if two nodes, functions or modules are the same up to the names of what they define.

    With `map_free_vars`, free variables of one may stand for those of the other. Cost: one step
    for each pair of nodes, each pair of shared StructInfos once.
    """
    quick = equal_at_a_glance(lhs, rhs)
    if quick or (quick is False and not map_free_vars):
        return quick
    return _StructuralComparison(map_free_vars).run(lhs, rhs) is None


same = structural_equal


def assert_structural_equal(lhs: Any, rhs: Any, map_free_vars: bool = False) -> None:
    """Raise `StructuralMismatch` unless both are the same; shows the place in both scripts."""
    mismatch = get_first_structural_mismatch(lhs, rhs, map_free_vars)
    if mismatch is not None:
        raise StructuralMismatch(words_of(mismatch, lhs, rhs), mismatch)
