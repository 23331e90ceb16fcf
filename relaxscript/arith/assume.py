"""Taking facts into a space: what variables stand for, what is at least zero, what is true.

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
    scaled,
    tightened,
)

if TYPE_CHECKING:
    from .canonical import Space

__all__ = ["learn"]


def learn(space: Space, facts: Facts) -> None:
    """Make a fresh space know `facts`."""
    for v, (coefficient, base) in _congruences(facts).items():
        _learn_congruence(space, v, coefficient, base)
    # What cannot be read says nothing.
    for a, b in facts.equalities:
        with contextlib.suppress(GiveUp):
            _learn_equality(space, a, b)
    for condition in facts.conditions:
        with contextlib.suppress(GiveUp):
            _learn_condition(space, space.read(condition), True)


def _congruences(facts: Facts) -> dict[prim.Var, Congruence]:
    """What variables are multiples of, as was said or as conditions `v % c == r` say."""
    found = {v: _reduced(*congruence) for v, congruence in facts.congruences.items()}
    stack = list(reversed(facts.conditions))
    while stack:
        match stack.pop():
            case prim.And(a, b):
                stack += [b, a]
            case prim.EQ(
                prim.FloorMod(prim.Var() as v, prim.IntImm(value=c)), prim.IntImm(value=r)
            ) if 0 <= r < c and is_index(v.dtype):
                both = _both(found.get(v, (1, 0)), (c, r))
                if both is not None:
                    found[v] = both
    return found


def _reduced(coefficient: int, base: int) -> Congruence:
    coefficient = abs(coefficient)
    return coefficient, base % coefficient if coefficient else base


def _both(first: Congruence, second: Congruence) -> Congruence | None:
    """What is said by two congruences together; None when no number fulfils both.

    Source: the Chinese remainder theorem.
    """
    (a, x), (b, y) = first, second
    g = gcd(a, b)
    if (y - x) % g if g else y != x:
        return None
    if not a:
        return first
    step = (y - x) // g * pow(a // g, -1, b // g) % (b // g)
    return _reduced(a // g * b, x + a * step)


def _learn_congruence(space: Space, v: prim.Var, coefficient: int, base: int) -> None:
    if coefficient == 1:
        return
    if coefficient == 0:
        space.values[v] = {CONSTANT: base} if base else {}
        return
    low, high = space.facts.range_of(v) if space.facts is not None else (0, None)
    # The variable itself, to write the multiple with.
    itself = Atom(len(space.atoms), "var", (), v, low, high)
    space.add(v, itself)
    atom = Atom(
        len(space.atoms),
        "multiple",
        (),
        v,
        None if low is None else -((base - low) // coefficient),
        None if high is None else (high - base) // coefficient,
        (coefficient, base, itself.number),
    )
    number = space.add(("multiple", v), atom)
    space.values[v] = {(number,): coefficient}
    if base:
        space.values[v][CONSTANT] = base


def _learn_equality(space: Space, a: PrimExpr, b: PrimExpr) -> None:
    gap = difference(space.read(a), space.read(b))
    if not gap:
        return
    for side in (a, b):
        if isinstance(side, prim.Var) and _solve(space, gap, space.by_key.get(side)):
            return
    for m in list(gap):
        if len(m) == 1 and _solve(space, gap, m[0]):
            return
    space.inequalities += [gap, scaled(gap, -1)]


def _solve(space: Space, gap: Poly, number: int | None) -> bool:
    """Learn what the variable `number` stands for from `gap == 0`, if that can be said."""
    if number is None or abs(gap.get((number,), 0)) != 1:
        return False
    atom = space.atoms[number]
    if atom.kind != "var" or not isinstance(atom.node, prim.Var):
        return False
    if number in space.reachable({m: c for m, c in gap.items() if m != (number,)}):
        return False
    sign = gap[(number,)]
    value = {m: -sign * c for m, c in gap.items() if m != (number,)}
    if any(
        number in space.reachable(known) and _only_inside(space, known, number)
        for known in space.values.values()
    ):
        return False
    try:
        space.values = {
            v: substitute_atom(known, number, value) for v, known in space.values.items()
        }
    except TooLarge:
        return False
    space.values[atom.node] = value
    # What was known of the variable's range is now known of what it stands for.
    if atom.low is not None:
        _learn_at_least_zero(space, difference(value, {CONSTANT: atom.low}))
    if atom.high is not None:
        _learn_at_least_zero(space, difference({CONSTANT: atom.high}, value))
    return True


def _only_inside(space: Space, p: Poly, number: int) -> bool:
    """Whether an atom of `p` other than `number` itself depends on it."""
    return any(n != number and number in space.reachable({(n,): 1}) for m in p for n in m)


def _learn_condition(space: Space, p: Poly, truth: bool) -> None:
    """Learn that the bool `p` is true, or false."""
    if constant_of(p) is not None or len(p) > 2:
        return
    m = next((m for m in p if m), CONSTANT)
    if len(m) != 1:
        return
    if p[m] < 0:
        p, truth = {m: 1}, not truth
    atom = space.atoms[m[0]]
    space.truth[m[0]] = truth
    if atom.kind == "ge0":
        (gap,) = atom.args
        _learn_at_least_zero(space, gap if truth else difference(scaled(gap, -1), {CONSTANT: 1}))
    elif atom.kind == "eq0":
        _learn_zero(space, atom.args[0]) if truth else _learn_not_zero(space, atom)
    elif atom.kind in ("and", "or"):
        if truth == (atom.kind == "and"):
            for part in atom.args:
                _learn_condition(space, part, truth)
        else:
            space.disjunctions.append((p, truth))


def _learn_not_zero(space: Space, atom: Atom) -> None:
    """Learn that the operand of `atom`, an equation with zero, is not zero."""
    (gap,) = atom.args
    low, high = interval(space.atoms, gap)
    if low == 0:
        _learn_at_least_zero(space, difference(gap, {CONSTANT: 1}))
    elif high == 0:
        _learn_at_least_zero(space, difference(scaled(gap, -1), {CONSTANT: 1}))
    else:
        space.disjunctions.append(({(atom.number,): 1}, False))


def _learn_zero(space: Space, p: Poly) -> None:
    for m in list(p):
        if len(m) == 1 and _solve(space, p, m[0]):
            return
    space.inequalities += [p, scaled(p, -1)]


def _learn_at_least_zero(space: Space, p: Poly) -> None:
    if not p or constant_of(p) is not None:
        return
    p = tightened(p)
    low = interval(space.atoms, p)[0]
    terms = [m for m in p if m]
    for m in terms:
        if len(m) == 1:
            _bound(space, p, m)
    if (len(terms) > 1 or len(terms[0]) > 1 or abs(p[terms[0]]) > 1) and (low is None or low < 0):
        space.inequalities.append(p)


def _bound(space: Space, p: Poly, m: Monomial) -> None:
    """Bound the atom `m` by what `p >= 0` says where all else is as large as it can be."""
    c = p[m]
    most = interval(space.atoms, {n: k for n, k in p.items() if n != m})[1]
    if most is None:
        return
    atom = space.atoms[m[0]]
    if c > 0:
        end = -(most // c)
        atom.low = end if atom.low is None else max(atom.low, end)
    else:
        end = most // -c
        atom.high = end if atom.high is None else min(atom.high, end)
