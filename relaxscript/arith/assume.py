"""Taking facts into a context: what variables stand for, what is at least zero, what is true.

Equalities are solved for a variable where one stands alone in them; congruences replace a variable
by a multiple of a new atom; conditions tighten bounds or are kept as inequalities.
"""

from __future__ import annotations

import contextlib
from math import gcd
from typing import TYPE_CHECKING

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

from .atom import Atom, is_index
from .facts import Congruence, Facts
from .interval import interval, substitute_atom
from .polynomial import (
    CONSTANT,
    GiveUp,
    Monomial,
    Poly,
    TooLarge,
    constant_of,
    difference,
    scale,
    tighten,
)

if TYPE_CHECKING:
    from .canonical import CanonicalContext

__all__ = ["assume"]


def assume(context: CanonicalContext, facts: Facts) -> None:
    """Make a fresh context know `facts`."""
    for v, (coefficient, base) in _congruences(facts).items():
        _assume_congruence(context, v, coefficient, base)
    # What cannot be read says nothing.
    for a, b in facts.equalities:
        with contextlib.suppress(GiveUp):
            _assume_equality(context, a, b)
    for condition in facts.conditions:
        with contextlib.suppress(GiveUp):
            _assume_condition(context, context.read(condition), True)


def _congruences(facts: Facts) -> dict[prim.Var, Congruence]:
    """The congruences of variables, as was said or as conditions `v % c == r` say."""
    found = {v: _normalize_congruence(*congruence) for v, congruence in facts.congruences.items()}
    stack = list(reversed(facts.conditions))
    while stack:
        match stack.pop():
            case prim.And(a, b):
                stack += [b, a]
            case prim.EQ(
                prim.FloorMod(prim.Var() as v, prim.IntImm(value=c))
                | prim.Mod(prim.Var() as v, prim.IntImm(value=c)),
                prim.IntImm(value=r),
            ) if abs(r) < c and is_index(v.dtype):
                both = _intersect_congruences(found.get(v, (1, 0)), (c, r % c))
                if both is not None:
                    found[v] = both
    return found


def _normalize_congruence(coefficient: int, base: int) -> Congruence:
    coefficient = abs(coefficient)
    return coefficient, base % coefficient if coefficient else base


def _intersect_congruences(first: Congruence, second: Congruence) -> Congruence | None:
    """The congruence of the numbers that fulfil both; None when no number fulfils both.

    Source: the Chinese remainder theorem.
    """
    (a, x), (b, y) = first, second
    g = gcd(a, b)
    if (y - x) % g if g else y != x:
        return None
    if not a:
        return first
    step = (y - x) // g * pow(a // g, -1, b // g) % (b // g)
    return _normalize_congruence(a // g * b, x + a * step)


def _assume_congruence(context: CanonicalContext, v: prim.Var, coefficient: int, base: int) -> None:
    if coefficient == 1:
        return
    if coefficient == 0:
        context.values[v] = {CONSTANT: base} if base else {}
        return
    low, high = context.facts.range_of(v) if context.facts is not None else (0, None)
    # The variable itself, to write the multiple with.
    itself = Atom(len(context.atoms), "var", (), v, low, high)
    context.add(v, itself)
    atom = Atom(
        len(context.atoms),
        "multiple",
        (),
        v,
        None if low is None else -((base - low) // coefficient),
        None if high is None else (high - base) // coefficient,
        (coefficient, base, itself.number),
    )
    number = context.add(("multiple", v), atom)
    context.values[v] = {(number,): coefficient}
    if base:
        context.values[v][CONSTANT] = base


def _assume_equality(context: CanonicalContext, a: PrimExpr, b: PrimExpr) -> None:
    gap = difference(context.read(a), context.read(b))
    if not gap:
        return
    for side in (a, b):
        if isinstance(side, prim.Var) and _solve(context, gap, context.by_key.get(side)):
            return
    for m in list(gap):
        if len(m) == 1 and _solve(context, gap, m[0]):
            return
    context.inequalities += [gap, scale(gap, -1)]


def _solve(context: CanonicalContext, gap: Poly, number: int | None) -> bool:
    """Learn what the variable `number` stands for from `gap == 0`, if that can be said."""
    if number is None or abs(gap.get((number,), 0)) != 1:
        return False
    atom = context.atoms[number]
    if atom.kind != "var" or not isinstance(atom.node, prim.Var):
        return False
    if number in context.reachable({m: c for m, c in gap.items() if m != (number,)}):
        return False
    sign = gap[(number,)]
    value = {m: -sign * c for m, c in gap.items() if m != (number,)}
    if any(
        number in context.reachable(known) and _only_inside(context, known, number)
        for known in context.values.values()
    ):
        return False
    try:
        context.values = {
            v: substitute_atom(known, number, value) for v, known in context.values.items()
        }
    except TooLarge:
        return False
    context.values[atom.node] = value
    # What was known of the variable's range is now known of what it stands for.
    if atom.low is not None:
        _assume_at_least_zero(context, difference(value, {CONSTANT: atom.low}))
    if atom.high is not None:
        _assume_at_least_zero(context, difference({CONSTANT: atom.high}, value))
    return True


def _only_inside(context: CanonicalContext, p: Poly, number: int) -> bool:
    """True if an atom of `p` other than `number` itself depends on it."""
    return any(n != number and number in context.reachable({(n,): 1}) for m in p for n in m)


def _assume_condition(context: CanonicalContext, p: Poly, truth: bool) -> None:
    """Learn that the bool `p` is true, or false."""
    if constant_of(p) is not None or len(p) > 2:
        return
    m = next((m for m in p if m), CONSTANT)
    if len(m) != 1:
        return
    if p[m] < 0:
        p, truth = {m: 1}, not truth
    atom = context.atoms[m[0]]
    context.truth[m[0]] = truth
    if atom.kind == "ge0":
        (gap,) = atom.args
        _assume_at_least_zero(context, gap if truth else difference(scale(gap, -1), {CONSTANT: 1}))
    elif atom.kind == "eq0":
        _assume_zero(context, atom.args[0]) if truth else _assume_not_zero(context, atom)
    elif atom.kind in ("and", "or"):
        if truth == (atom.kind == "and"):
            for part in atom.args:
                _assume_condition(context, part, truth)
        else:
            context.disjunctions.append((p, truth))


def _assume_not_zero(context: CanonicalContext, atom: Atom) -> None:
    """Learn that the operand of `atom`, an equation with zero, is not zero."""
    (gap,) = atom.args
    low, high = interval(context.atoms, gap)
    if low == 0:
        _assume_at_least_zero(context, difference(gap, {CONSTANT: 1}))
    elif high == 0:
        _assume_at_least_zero(context, difference(scale(gap, -1), {CONSTANT: 1}))
    else:
        context.disjunctions.append(({(atom.number,): 1}, False))


def _assume_zero(context: CanonicalContext, p: Poly) -> None:
    for m in list(p):
        if len(m) == 1 and _solve(context, p, m[0]):
            return
    context.inequalities += [p, scale(p, -1)]


def _assume_at_least_zero(context: CanonicalContext, p: Poly) -> None:
    if not p or constant_of(p) is not None:
        return
    p = tighten(p)
    low = interval(context.atoms, p)[0]
    terms = [m for m in p if m]
    for m in terms:
        if len(m) == 1:
            _tighten_atom(context, p, m)
    if (len(terms) > 1 or len(terms[0]) > 1 or abs(p[terms[0]]) > 1) and (low is None or low < 0):
        context.inequalities.append(p)


def _tighten_atom(context: CanonicalContext, p: Poly, m: Monomial) -> None:
    """Bound the atom `m` by what `p >= 0` says where all else is as large as it can be."""
    c = p[m]
    most = interval(context.atoms, {n: k for n, k in p.items() if n != m})[1]
    if most is None:
        return
    atom = context.atoms[m[0]]
    if c > 0:
        end = -(most // c)
        atom.low = end if atom.low is None else max(atom.low, end)
    else:
        end = most // -c
        atom.high = end if atom.high is None else min(atom.high, end)
