"""Congruences of polynomials: the multiple and the remainder that their values are."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from relaxscript.ir import prim
from relaxscript.ir.prim import PrimExpr

from .atom import Atom
from .facts import Congruence
from .opaque import fits
from .polynomial import CONSTANT, Monomial, Poly, constant_of, scale

__all__ = ["congruence_of"]

ANYTHING: Congruence = (1, 0)
MAX_DEPTH = 40


def congruence_of(atoms: Sequence[Atom], p: Poly) -> Congruence:
    """A coefficient and a base: every value of `p` is `coefficient * k + base`.

    The base is at least zero and below the coefficient; with the coefficient 0 it is the one value.
    """
    return _CongruenceAnalysis(atoms).of(p)


class _CongruenceAnalysis:
    def __init__(self, atoms: Sequence[Atom]) -> None:
        self.atoms = atoms
        self._known: dict[int, Congruence] = {}

    def of(self, p: Poly) -> Congruence:
        coefficient, base = 0, p.get(CONSTANT, 0)
        for m, c in p.items():
            if m:
                a, x = self._of_monomial(m)
                coefficient, base = gcd(coefficient, a * c), base + x * c
        return _normalize_congruence(coefficient, base)

    def _of_monomial(self, m: Monomial) -> Congruence:
        a, x = self._of_atom(m[0])
        for n in m[1:]:
            b, y = self._of_atom(n)
            a, x = gcd(a * b, a * y, b * x), x * y
        return a, x

    def _of_atom(self, n: int) -> Congruence:
        found = self._known.get(n)
        if found is None:
            atom = self.atoms[n]
            if atom.low is not None and atom.low == atom.high:
                found = (0, atom.low)
            else:
                found = ANYTHING if atom.depth > MAX_DEPTH else self._of_operation(atom)
            self._known[n] = found
        return found

    def _of_operation(self, atom: Atom) -> Congruence:
        match atom.kind:
            case "max" | "min":
                return self._union(atom.args)
            case "select":
                return self._union(atom.args[1:])
            case "abs":
                return self._union((atom.args[0], scale(atom.args[0], -1)))
            case "floordiv" | "div":
                a, x = self.of(atom.args[0])
                d = constant_of(atom.args[1])
                if d and a % d == 0 and (x % d == 0 or atom.kind == "floordiv"):
                    return _normalize_congruence(a // d, x // d)
            case "cast":
                return self.of(atom.args[0])
            case "bits" if atom.detail == "tir.bitwise_and":
                return self._mask(*atom.args)
            case "opaque":
                return self._of_opaque(atom)
        return ANYTHING

    def _mask(self, p: Poly, q: Poly) -> Congruence:
        """The congruence of the bits that both have, where one is a number."""
        if constant_of(q) is None:
            p, q = q, p
        mask = constant_of(q)
        if not mask:
            return ANYTHING
        a, x = self.of(p)
        # The bits below that of `known` are those of `x`, or there are none in the mask.
        known = a & -a
        while known and not mask & known and known.bit_length() <= mask.bit_length():
            known <<= 1
        return _normalize_congruence(known, x & mask)

    def _of_opaque(self, atom: Atom) -> Congruence:
        e, args = atom.node, atom.args
        found = ANYTHING
        match e:
            case prim.Cast(value=value) if value.dtype.is_integer and e.dtype.is_integer:
                found = self.of(args[0])
            case prim.Broadcast():
                found = self.of(args[0])
            case prim.Ramp():
                (a, x), (b, y) = self.of(args[0]), self.of(args[1])
                found = _normalize_congruence(gcd(a, b, y), x)
            case prim.Add() | prim.Sub() | prim.Mul() if e.dtype.is_integer:
                found = self._of_arithmetic(e, *map(self.of, args))
            case prim.FloorMod() | prim.Mod() if e.dtype.is_integer:
                # A multiple of the divisor was taken away.
                (a, x), (b, y) = self.of(args[0]), self.of(args[1])
                found = _normalize_congruence(gcd(a, b, y), x)
            case prim.Min() | prim.Max() if e.dtype.is_integer:
                found = self._union(args)
            case prim.Select() | prim.Call(op="tir.if_then_else") if e.dtype.is_integer:
                found = self._union(args[1:])
        if found != ANYTHING and not fits(self.atoms, e, args):
            # What wraps differs by multiples of all values that there are.
            return _normalize_congruence(gcd(found[0], 1 << e.dtype.bits), found[1])
        return found

    @staticmethod
    def _of_arithmetic(e: PrimExpr, p: Congruence, q: Congruence) -> Congruence:
        (a, x), (b, y) = p, q
        if isinstance(e, prim.Mul):
            return _normalize_congruence(gcd(a * b, a * y, b * x), x * y)
        return _normalize_congruence(gcd(a, b), x + y if isinstance(e, prim.Add) else x - y)

    def _union(self, values: Sequence[Poly]) -> Congruence:
        """The congruence that holds for each of some values."""
        a, x = self.of(values[0])
        for p in values[1:]:
            b, y = self.of(p)
            a = gcd(a, b, x - y)
        return _normalize_congruence(a, x)


def _normalize_congruence(coefficient: int, base: int) -> Congruence:
    coefficient = abs(coefficient)
    return coefficient, base % coefficient if coefficient else base
