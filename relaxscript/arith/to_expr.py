"""Writing polynomials as expressions that people like to read.

Terms keep their order of appearance, constants come last: `n * 2 + 1`. Subtraction is kept (no
negative factors are added), and `a - a // b * b` is written `a % b`. Comparisons have only positive
terms on both sides. Where nothing changed, the original node comes back, and reading what was
written gives the same polynomial.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from relaxscript.dtypes import DataType
from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

from .atom import Atom, is_index
from .canonical import CanonicalContext
from .fold_remainders import Term, fold_remainders
from .operands import operands_of, with_operands
from .polynomial import (
    CONSTANT,
    GiveUp,
    Monomial,
    Poly,
    accumulate,
    difference,
    multiply,
    scale,
    total,
)

__all__ = ["ExprBuilder", "same_expression"]

MAX_DEPTH = 40
CHAINS: dict[str, type[prim.Binary | prim.Logic]] = {
    "max": prim.Max,
    "min": prim.Min,
    "and": prim.And,
    "or": prim.Or,
}
NEGATED: dict[type[PrimExpr], type[prim.Comparison]] = {
    prim.LT: prim.GE,
    prim.LE: prim.GT,
    prim.GT: prim.LE,
    prim.GE: prim.LT,
}


class _AtomsTooDeep(Exception):
    """Atoms are nested too deep for recursion."""


class ExprBuilder:
    """Writes polynomials of one context; atoms are written once."""

    def __init__(self, context: CanonicalContext) -> None:
        self._space = context
        self.atoms = context.atoms
        self._multiples = [atom for atom in context.atoms if atom.kind == "multiple"]
        self._quotients: dict[tuple[int, int], int] = {}
        self._expressions: dict[int, PrimExpr] = {}
        # Factors are sorted by where their atoms first occur in what is written, which is the order
        # in which a reader will meet them.
        self._ranks: dict[int, int] = {}
        # Whether a remainder was written, which is read as a difference.
        self.has_remainders = False
        self._depth = 0
        self._deep = False
        # How many nodes may be compared with what was there before, so that the cost is linear.
        self._comparisons = 500 + 20 * len(context.atoms)

    def write(self, p: Poly, like: PrimExpr) -> PrimExpr:
        """`p` as an expression of the dtype of `like`; `like` itself if that says the same."""
        result = self._whole(p, like.dtype)
        return like if same_expression(result, like) else result

    def _whole(self, p: Poly, dtype: DataType) -> PrimExpr:
        try:
            return self._write(p, dtype, None)
        except _AtomsTooDeep:
            self._deep = True
            for number in sorted(self._space.reachable(p)):
                self._ranks.setdefault(number, number)
                self._expressions[number] = self._atom(self.atoms[number])
            return self._write(p, dtype, None)

    def _unpack_multiples(self, p: Poly) -> Poly:
        """`p` with variables, or as small divisors of them as can be, in the place of multiples."""
        for atom in self._multiples:
            left = [m for m in p if atom.number in m]
            while left:
                m = left.pop()
                value = self._unpack_multiple(atom, p.get(m, 0))
                if value is None:
                    continue
                rest = list(m)
                rest.remove(atom.number)
                new = multiply(value, {tuple(rest): 1})
                p = {n: k for n, k in p.items() if n != m}
                accumulate(p, new)
                left += [n for n in new if atom.number in n]
        return p

    def _unpack_multiple(self, atom: Atom, c: int) -> Poly | None:
        """`c * k` for a multiple `k`: with `v == d * k + base`, `g * k` is `v // (d // g)`."""
        d, base, number = atom.detail
        g = gcd(c, d)
        if not c or g == 1 or base >= d // g > 1:
            return None
        if g < d:
            return {(self._quotient(atom, d // g),): c // g}
        return scale({(number,): 1, CONSTANT: -base} if base else {(number,): 1}, c // g)

    def _quotient(self, multiple: Atom, divisor: int) -> int:
        """An atom for the variable of a multiple, divided by less than it could be."""
        key = (multiple.number, divisor)
        if key not in self._quotients:
            _, base, number = multiple.detail
            detail = (divisor, base, number)
            atom = Atom(len(self.atoms), "multiple", (), multiple.node, detail=detail)
            self.atoms.append(atom)
            self._quotients[key] = atom.number
        return self._quotients[key]

    # ------------------------------------------------------------ sums

    def _write(self, p: Poly, dtype: DataType, like: PrimExpr | None) -> PrimExpr:
        if is_index(dtype):
            result = self._sum(fold_remainders(self.atoms, self._unpack_multiples(p)), dtype)
        elif not p or (len(p) == 1 and CONSTANT in p):
            result = _literal(dtype, p.get(CONSTANT, 0))
        elif dtype.is_bool:
            result = self._truth(p)
        else:
            ((m, c),) = p.items()
            if len(m) != 1 or c != 1:
                raise GiveUp
            result = self.factor(m[0])
        return result if like is None else self._old_or_new(like, result)

    def _old_or_new(self, old: PrimExpr, new: PrimExpr) -> PrimExpr:
        """`old` if `new` says the same, as far as that is worth finding out."""
        if old is new:
            return old
        steps = _steps_to_compare(old, new, self._comparisons)
        self._comparisons -= abs(steps)
        return old if steps > 0 else new

    def _sum(self, items: Iterable[Term], dtype: DataType) -> PrimExpr:
        """The sum of terms, a positive one first if there is any.

        A positive constant comes before what is subtracted at the end: `m + 1 - k`.
        """
        terms = [item for item in items if item.monomial != CONSTANT]
        constant = sum(item.coefficient for item in items if item.monomial == CONSTANT)
        first = next((i for i, item in enumerate(terms) if item.coefficient > 0), None)
        if first:
            terms.insert(0, terms.pop(first))
        result: PrimExpr | None = None
        if (constant > 0 and first is None) or not terms:
            result, constant = _literal(dtype, constant), 0
        last = next((i for i in range(len(terms), 0, -1) if terms[i - 1].coefficient > 0), 0)
        for index, item in enumerate(terms):
            if index == last and result is not None and constant > 0:
                result, constant = prim.Add.make(result, _literal(dtype, constant)), 0
            result = self._add_term(result, item, dtype)
        assert result is not None
        if constant > 0:
            return prim.Add.make(result, _literal(dtype, constant))
        return prim.Sub.make(result, _literal(dtype, -constant)) if constant else result

    def _add_term(self, result: PrimExpr | None, item: Term, dtype: DataType) -> PrimExpr:
        c = item.coefficient
        term = self._term(item, dtype)
        if result is None:
            if c == -1:
                return prim.Sub.make(_literal(dtype, 0), term)
            return term if c == 1 else prim.Mul.make(term, _literal(dtype, c))
        if abs(c) != 1:
            term = prim.Mul.make(term, _literal(dtype, abs(c)))
        return prim.Add.make(result, term) if c > 0 else prim.Sub.make(result, term)

    def _term(self, item: Term, dtype: DataType) -> PrimExpr:
        if item.remainder is not None:
            dividend, divisor, make = item.remainder
            a = self._write(dividend, dtype, None)
            b = self._write(divisor, dtype, None)
            self.has_remainders = True
            # A reader meets the quotient here.
            self._ranks.setdefault(item.monomial[0], len(self._ranks))
            return make.make(a, b)
        return self._product(item.monomial, dtype)

    def _product(self, m: Monomial, dtype: DataType) -> PrimExpr:
        if len(m) > 1:
            late = len(self.atoms)
            m = tuple(sorted(m, key=lambda n: self._ranks.get(n, late + n)))
        result = prim.cast(self.factor(m[0]), dtype)
        for number in m[1:]:
            result = prim.Mul.make(result, prim.cast(self.factor(number), dtype))
        return result

    # ------------------------------------------------------------ atoms

    def factor(self, number: int) -> PrimExpr:
        """The expression of an atom."""
        known = self._expressions.get(number)
        if known is not None:
            return known
        atom = self.atoms[number]
        if atom.kind == "var":
            result: PrimExpr = atom.node
        else:
            self._depth += 1
            if self._depth > MAX_DEPTH and not self._deep:
                raise _AtomsTooDeep
            result = self._atom(atom)
            self._depth -= 1
        self._ranks.setdefault(number, len(self._ranks))
        self._expressions[number] = result
        return result

    def _atom(self, atom: Atom) -> PrimExpr:
        node = atom.node
        match atom.kind:
            case "var":
                return node
            case "multiple":
                return prim.FloorDiv.make(node, _literal(node.dtype, atom.detail[0]))
            case "floordiv":
                return self._division(prim.FloorDiv, atom)
            case "div":
                return self._division(prim.Div, atom)
            case "ge0" if isinstance(node, prim.Comparison):
                result = self._ordering(type(node), atom.args[0], node.a.dtype)
                return self._old_or_new(node, result)
            case "eq0" if isinstance(node, prim.Comparison):
                result = self._equation(prim.EQ, atom.args[0], node.a.dtype)
                return self._old_or_new(node, result)
        if atom.kind in CHAINS:
            return self._chain(CHAINS[atom.kind], atom)
        return self._rebuild(node, atom.args)

    def _division(self, make: type[prim.Binary], atom: Atom) -> PrimExpr:
        node = atom.node
        like: tuple[PrimExpr | None, ...] = (None, None)
        if isinstance(node, make):
            like = (node.a, node.b)
        a = self._write(atom.args[0], node.dtype, like[0])
        b = self._write(atom.args[1], node.dtype, like[1])
        return node if a is like[0] and b is like[1] else make.make(a, b)

    def _chain(self, cls: type[prim.Binary | prim.Logic], atom: Atom) -> PrimExpr:
        dtype = atom.node.dtype
        result, *others = (self._write(p, dtype, None) for p in atom.args)
        for other in others:
            result = cls.make(result, other)
        return self._old_or_new(atom.node, result)

    def _ordering(self, make: type[prim.Comparison], p: Poly, dtype: DataType) -> PrimExpr:
        """`p >= 0` as a comparison of the given kind, positive terms on both sides."""
        if make in (prim.LT, prim.GT):
            p = total(p, {CONSTANT: 1})
        items = fold_remainders(self.atoms, self._unpack_multiples(p))
        upward = make in (prim.LT, prim.LE)
        # The left side is written first, so that atoms are ranked as they will be read.
        left = self._side(items, -1 if upward else 1, dtype)
        return make.make(left, self._side(items, 1 if upward else -1, dtype))

    def _equation(self, make: type[prim.Comparison], p: Poly, dtype: DataType) -> PrimExpr:
        items = fold_remainders(self.atoms, self._unpack_multiples(p))
        left = self._side(items, 1, dtype)
        return make.make(left, self._side(items, -1, dtype))

    def _side(self, items: list[Term], sign: int, dtype: DataType) -> PrimExpr:
        chosen = [item for item in items if item.coefficient * sign > 0]
        return self._sum([i._replace(coefficient=abs(i.coefficient)) for i in chosen], dtype)

    def _truth(self, p: Poly) -> PrimExpr:
        """A bool: an atom, or one minus an atom."""
        m = next(m for m in p if m)
        if p == {m: 1} and len(m) == 1:
            return self.factor(m[0])
        if p != {CONSTANT: 1, m: -1} or len(m) != 1:
            raise GiveUp
        atom = self.atoms[m[0]]
        node = atom.node
        if atom.kind == "ge0" and isinstance(node, prim.Comparison):
            opposite = difference(scale(atom.args[0], -1), {CONSTANT: 1})
            return self._ordering(NEGATED[type(node)], opposite, node.a.dtype)
        if atom.kind == "eq0" and isinstance(node, prim.Comparison):
            return self._equation(prim.NE, atom.args[0], node.a.dtype)
        return prim.Not.make(self.factor(m[0]))

    def _rebuild(self, node: PrimExpr, args: tuple[Poly, ...]) -> PrimExpr:
        """An operation with its operands written anew, or the node itself."""
        new = [self._write(p, e.dtype, e) for p, e in zip(args, operands_of(node))]
        return with_operands(node, new)


def _literal(dtype: DataType, value: int) -> prim.IntImm:
    low = -(1 << (dtype.bits - 1)) if dtype.kind == "int" else 0
    if not low <= value < low + (1 << dtype.bits):
        raise GiveUp
    return prim.IntImm.make(dtype, value)


def same_expression(x: PrimExpr, y: PrimExpr) -> bool:
    """True if two expressions are the same arithmetic of the very same parts."""
    return x is y or _steps_to_compare(x, y, None) > 0


def _steps_to_compare(x: PrimExpr, y: PrimExpr, limit: int | None) -> int:
    """The number of steps that a comparison of two expressions took, negative if they differ."""
    stack = [(x, y)]
    steps = 0
    while stack:
        a, b = stack.pop()
        steps += 1
        if a is b:
            continue
        if a.__class__ is not b.__class__ or (limit is not None and steps > limit):
            return -steps
        if isinstance(a, prim.Var):
            return -steps
        mine, theirs = operands_of(a), operands_of(b)
        if len(mine) != len(theirs) or not _same_besides_operands(a, b):
            return -steps
        stack.extend(zip(reversed(mine), reversed(theirs)))
    return steps


def _same_besides_operands(a: PrimExpr, b: PrimExpr) -> bool:
    match a, b:
        case prim.IntImm(), prim.IntImm():
            return a.value == b.value and a.dtype is b.dtype
        case prim.FloatImm(), prim.FloatImm():
            return a.value.hex() == b.value.hex() and a.dtype is b.dtype
        case prim.Cast(), prim.Cast():
            return a.dtype is b.dtype
    # Of other operations, only those without anything but operands are compared.
    return isinstance(a, (prim.Binary, prim.Comparison, prim.Logic, prim.Not, prim.Select))
