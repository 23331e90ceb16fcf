"""Mismatches of two StructInfos: the one comparison behind subtyping and compatibility.

`find_mismatches(derived, base)` walks both at once. It yields each place where a value of `derived`
is not sure to be one of `base`. Subtyping and compatibility differ only in how they judge missing
knowledge.

Sources: spec "Subtyping for StructInfo" (parameters contravariant), "Auxiliary Procedures"
(check_compatibility; an unknown rank or device where one is needed is possible).
"""

from __future__ import annotations

import enum
from collections.abc import Container, Iterator
from typing import Any, NamedTuple

from relaxscript.arith import NO, UNKNOWN, YES, Answer, Facts, all_of, format_expr, prove_equal
from relaxscript.errors import Remark, quantity
from relaxscript.ir import prim
from relaxscript.ir.distributed import Placement
from relaxscript.ir.field_roles import Datum, Parts, Sizes
from relaxscript.ir.prim import PrimExpr
from relaxscript.ir.relax import Expr, ShapeExpr, Var
from relaxscript.ir.struct_info import FuncStructInfo, ObjectStructInfo, StructInfo, empty_derive
from relaxscript.ir.types import ObjectType
from relaxscript.ir.vdevice import VDevice

from .matching import (
    fresh_var,
    outer_shape_vars,
    own_shape_vars,
    shape_var_mapping,
    substitute_shape_vars,
)
from .shape_variables import ShapeVariables, known_dimensions

__all__ = [
    "ComparedPairs", "Mismatch", "MismatchKind", "find_mismatches", "format_gap",
    "prove_same_shape",
]  # fmt: skip


class MismatchKind(enum.Enum):
    """The certainty of a mismatch."""

    DIFFERENT = "different"  # for all values of the variables
    # Refused as if different: no sort of value is named, a purer one is needed, or a function takes
    # other values, though one that takes both would do.
    WIDER = "wider"
    UNPROVED = "unproved"  # depends on the variables, or the prover cannot tell
    MISSING = "missing"  # the rank, dtype, device or rule that is needed is not said
    UNSTATED = "unstated"  # the dimensions or the value that are needed are not said

    @property
    def refuses(self) -> bool:
        """True if a value must not go where the other is expected, even with a check."""
        return self is MismatchKind.DIFFERENT or self is MismatchKind.WIDER


class Mismatch(NamedTuple):
    """One place where two StructInfos disagree.

    `path` names the fields, parameters and results that lead there from the outside; `words` are
    a sentence with gaps for `gaps`, put together only when somebody reads it. The gap `{it}` is the
    value itself, where the sentence is about no part of it.
    """

    kind: MismatchKind
    path: tuple[str, ...]
    words: str
    gaps: tuple[Any, ...]

    @property
    def excludes(self) -> bool:
        """True if no value at all is described by both.

        What two functions take never excludes a third that takes more.
        """
        taken = any(step.startswith("parameter ") for step in self.path)
        return self.kind is MismatchKind.DIFFERENT and not taken

    def __str__(self) -> str:
        where = "".join(f"in {step}, " for step in self.path)
        return where + self._sentence("it ")

    @property
    def fact(self) -> str:
        """The fact about the value, or a remark on one of its parts."""
        of_the_value = not self.path and "{it}" in self.words
        return self._sentence("") if of_the_value else Remark(self)

    def _sentence(self, it: str) -> str:
        return self.words.format(*(format_gap(gap) for gap in self.gaps), it=it)


DIFFERENT = MismatchKind.DIFFERENT
WIDER = MismatchKind.WIDER
UNPROVED = MismatchKind.UNPROVED
MISSING = MismatchKind.MISSING
UNSTATED = MismatchKind.UNSTATED

# What a field of sizes holds.
HeldSizes = Expr | PrimExpr | tuple[PrimExpr, ...]
_Found = tuple[MismatchKind, str, tuple[Any, ...]]
# The shape variables known where two StructInfos occur; None: not asked for yet.
_Known = frozenset[prim.Var] | None
_Key = tuple[int, int, _Known, bool]


class _Pair(NamedTuple):
    """Two StructInfos to compare, and where they are."""

    derived: StructInfo
    base: StructInfo
    path: tuple[str, ...] = ()
    known: _Known = None
    in_parameter: bool = False

    def inner(self, derived: StructInfo, base: StructInfo, step: str) -> _Pair:
        """A pair of their parts."""
        return self._replace(derived=derived, base=base, path=(*self.path, step))


class ComparedPairs:
    """The pairs that were found to agree, and what is known of the variables in them."""

    def __init__(self) -> None:
        self.variables = ShapeVariables()
        # The pairs are kept alive, so that no id is used twice.
        self.pairs: dict[_Key, _Pair] = {}


def find_mismatches(
    derived: StructInfo,
    base: StructInfo,
    facts: Facts | None = None,
    in_scope: Container[prim.Var] = (),
    agreed: ComparedPairs | None = None,
) -> Iterator[Mismatch]:
    """Every place where a value described by `derived` may fail to be one described by `base`.

    Shape variables that stand alone in the parameters of a function type are its own. Those
    `in_scope`, and those that also occur outside of it, are not. The order is that of the fields;
    nothing is yielded when all agree. What has `agreed` under the same facts is not compared again.
    """
    stack = [_Pair(derived, base)]
    agreed = agreed or ComparedPairs()
    variables = agreed.variables
    # Shared parts are compared once in each scope.
    seen: dict[_Key, _Pair] = {}
    outer: _Known = None
    all_agree = True
    while stack:
        pair = stack.pop()
        a, b = pair.derived, pair.base
        if a is b or type(b) is ObjectStructInfo:
            continue
        if pair.known is None and type(a) is type(b) is FuncStructInfo:
            if outer is None:
                outer = outer_shape_vars(derived, base, in_scope, variables)
            pair = pair._replace(known=outer)
        if (key := _key(pair, variables)) in seen or key in agreed.pairs:
            continue
        seen[key] = pair
        inner: list[_Pair] = []
        for kind, words, gaps in _compare(pair, facts, variables, inner):
            if pair.in_parameter and kind is DIFFERENT:
                kind = WIDER
            all_agree = False
            yield Mismatch(kind, pair.path, words, gaps)
        stack.extend(reversed(inner))
    if all_agree:
        agreed.pairs |= seen


def _key(pair: _Pair, variables: ShapeVariables) -> _Key:
    """The key of a comparison: the two, and of the known variables those that they mention."""
    a, b, known = pair.derived, pair.base, pair.known
    if known:
        known &= variables.mentioned(a) | variables.mentioned(b)
    return id(a), id(b), known, pair.in_parameter


def _compare(
    pair: _Pair, facts: Facts | None, variables: ShapeVariables, inner: list[_Pair]
) -> Iterator[_Found]:
    a, b = pair.derived, pair.base
    if isinstance(a, FuncStructInfo) and isinstance(b, FuncStructInfo):
        return _functions(pair, a, b, variables, inner)
    if type(a) is type(b):
        return _roles(pair, facts, inner)
    if type(a) is ObjectStructInfo:
        return iter([(WIDER, "nothing is known of it, and {} is needed", (b.noun,))])
    # What is a tensor at run time may be said to lie on one device, or on several.
    related = a.static_type is b.static_type is not ObjectType
    return iter([(WIDER if related else DIFFERENT, "{it}is {}, not {}", (a.noun, b.noun))])


def _roles(pair: _Pair, facts: Facts | None, inner: list[_Pair]) -> Iterator[_Found]:
    """The mismatches of two of a kind, field by field."""
    a, b = pair.derived, pair.base
    differing: list[str] = []
    for role in b.roles:
        mine, theirs = getattr(a, role.name), getattr(b, role.name)
        if mine is theirs:
            continue
        if isinstance(role, Parts):
            yield from _parts(pair, role, inner)
        elif isinstance(role, Sizes):
            if theirs is not None and role.given not in differing:
                yield from _sizes(role, pair, facts)
        elif not (role.is_unknown(theirs) or role.same(mine, theirs)):
            differing.append(role.name)
            yield _datum(role, mine, theirs)


def _datum(role: Datum, mine: Any, theirs: Any) -> _Found:
    if role.is_unknown(mine):
        return MISSING, f"the {role.noun} is unknown, and {{}} is needed", (theirs,)
    kind = DIFFERENT if role.is_seen else WIDER
    return kind, f"the {role.noun} is {{}}, not {{}}", (mine, theirs)


def _sizes(role: Sizes, pair: _Pair, facts: Facts | None) -> Iterator[_Found]:
    mine, theirs = getattr(pair.derived, role.name), getattr(pair.base, role.name)
    some = None if mine is None else known_dimensions(mine)
    others = known_dimensions(theirs)
    if some is None or others is None:
        ranks = getattr(pair.derived, role.given), getattr(pair.base, role.given)
        if ranks == (0, 0):
            return
        if mine is None:
            yield UNSTATED, f"{role.subject} unknown, and {{}} is needed", (theirs,)
        else:
            yield UNPROVED, f"{role.subject} {{}}, which is not known to be {{}}", (mine, theirs)
    elif isinstance(theirs, PrimExpr):
        yield from _scalars(role.subject, (mine, theirs), facts)
    elif len(some) != len(others):
        yield DIFFERENT, "the rank is {}, not {}", (len(some), len(others))
    else:
        for i, (x, y) in enumerate(zip(some, others)):
            if x is not y:
                yield from _scalars("dimension {} is", (i, x, y), facts)


def _scalars(subject: str, gaps: tuple[Any, ...], facts: Facts | None) -> Iterator[_Found]:
    answer = prove_equal(gaps[-2], gaps[-1], facts)
    if answer is NO:
        yield DIFFERENT, f"{subject} {{}}, not {{}}", gaps
    elif answer is UNKNOWN:
        yield UNPROVED, f"{subject} {{}}, which is not known to be {{}}", gaps


def _parts(pair: _Pair, role: Parts, inner: list[_Pair]) -> Iterator[_Found]:
    mine, theirs = getattr(pair.derived, role.name), getattr(pair.base, role.name)
    if not isinstance(theirs, tuple):
        inner.append(pair.inner(mine, theirs, f"the {role.noun}"))
    elif len(mine) != len(theirs):
        yield DIFFERENT, "{it}has {}, not {}", (quantity(len(mine), role.noun), len(theirs))
    else:
        for i, (x, y) in enumerate(zip(mine, theirs)):
            if role.contravariant:
                # Whoever uses it passes what the base takes, so here the roles are exchanged.
                inner.append(pair.inner(y, x, f"{role.noun} {i}")._replace(in_parameter=True))
            elif x is not y:
                inner.append(pair.inner(x, y, f"{role.noun} {i}"))


def _functions(
    pair: _Pair,
    a: FuncStructInfo,
    b: FuncStructInfo,
    variables: ShapeVariables,
    inner: list[_Pair],
) -> Iterator[_Found]:
    if b.purity and not a.purity:
        yield WIDER, "{it}is impure, not pure", ()
    if a.params is None and b.params is None:
        yield from _packed_func_mismatches(pair, a, b, inner)
    elif a.params is None or b.params is None:
        kinds = ("a PackedFunc", "a function with known parameters")
        yield DIFFERENT, "{it}is {}, not {}", kinds if a.params is None else kinds[::-1]
    elif len(a.params) != len(b.params):
        taken = quantity(len(a.params), "parameter")
        yield DIFFERENT, "{it}takes {}, not {}", (taken, len(b.params))
    else:
        applied = _applied(pair, a, b, variables)
        for role in b.part_roles:
            yield from _parts(applied, role, inner)


def _applied(pair: _Pair, a: FuncStructInfo, b: FuncStructInfo, variables: ShapeVariables) -> _Pair:
    """Two functions, the first in the words of the second.

    The first function's own variables take what the second passes; where that is not said, they are
    none of the second's. Inside, the second's own variables are known. So a parameter that is a
    function of just their sizes is not one of any sizes.
    """
    known = pair.known or frozenset()
    mine, theirs = a.params or (), b.params or ()
    mapping = shape_var_mapping(mine, theirs, known, variables)
    mapping |= {v: fresh_var(v) for v in own_shape_vars(mine, known, variables) if v not in mapping}
    applied = substitute_shape_vars(a, mapping, known, variables)
    own = own_shape_vars(theirs, known, variables)
    return pair._replace(derived=applied, known=known.union(own) if own else known)


def _packed_func_mismatches(
    pair: _Pair, a: FuncStructInfo, b: FuncStructInfo, inner: list[_Pair]
) -> Iterator[_Found]:
    """PackedFuncs: a `derive_func` is known only by its identity; without one `ret` is constant."""
    if _derives_nothing(b) or (a.derive_func is not None and a.derive_func == b.derive_func):
        return
    if a.derive_func is None and b.derive_func is None:
        inner.append(pair.inner(a.ret, b.ret, "the result"))
        return
    yield MISSING, "its result is derived in another way", ()


def _derives_nothing(info: FuncStructInfo) -> bool:
    if info.derive_func is None:
        return type(info.ret) is ObjectStructInfo
    return info.derive_func is empty_derive


def prove_same_shape(a: HeldSizes, b: HeldSizes, facts: Facts | None = None) -> Answer:
    """Decide whether two shapes (literals, or variables that hold shapes) or scalars are equal."""
    if a is b:
        return YES
    mine, theirs = known_dimensions(a), known_dimensions(b)
    if mine is None or theirs is None:
        return UNKNOWN
    if len(mine) != len(theirs):
        return NO
    return all_of(prove_equal(x, y, facts) for x, y in zip(mine, theirs))


def format_gap(value: Any) -> str:
    """A dimension, shape, device or word as it is in a sentence."""
    match value:
        case PrimExpr():
            return f"`{format_expr(value)}`"
        case ShapeExpr(values) | tuple(values):
            inner = ", ".join(format_expr(e) for e in values)
            return f"`({inner},)`" if len(values) == 1 else f"`({inner})`"
        case Var(name_hint=name):
            return f"`{name}`"
        case VDevice(memory_scope="global"):
            return f"{value.target}:{value.vdevice_id}"
        case Placement():
            return f'"{value}"'
    return str(value)
