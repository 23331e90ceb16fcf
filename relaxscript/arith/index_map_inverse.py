"""The inverse of an index map, which is exact: digits of the old indices are found in the new ones.

An index `i` that is divided by 16 somewhere has two digits, `i // 16` and `i % 16`. Each new index
is a sum of digits times numbers. The digits are read off again where each number is the product of
the extents of the digits below it. A sum that is divided as a whole, such as `(i * 5 + j) // 4`, is
an index of its own. Its digits are `i` and `j`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from relaxscript.errors import OperandError
from relaxscript.ir import prim
from relaxscript.ir.prim import FloorDiv, FloorMod, IntImm, PrimExpr, Var, as_prim, const
from relaxscript.ir.tir import Range
from relaxscript.ir.tir_compute import IndexMap
from relaxscript.ir.walk import free_vars, rewrite_top_down, substitute

from .analyzer import Analyzer
from .answer import NO, YES
from .facts import Facts
from .format import format_expr
from .prove import prove, prove_equal
from .simplify import simplify

__all__ = ["inverse_of"]


def inverse_of(
    index_map: IndexMap, shape: Sequence[Any], analyzer: Analyzer | None, allow_padding: bool,
    new_shape: Callable[[], Sequence[PrimExpr]] = tuple,
) -> tuple[IndexMap, PrimExpr]:  # fmt: skip
    """The inverse over a shape, and the condition under which a new index is padding.

    `new_shape` gives that of the new indices, which may be larger than what they take.

    Raises `OperandError` where none is found: where two elements would get one place, and, unless
    padding is allowed, where places are left.
    """
    ranges = _ranges(index_map, shape)
    facts = Facts() if analyzer is None else analyzer.facts
    known = index_map.inverse_index_map
    if known is not None:
        if allow_padding:
            raise OperandError(
                "shape", "is not needed", code="RX0204",
                message="the inverse of this index map was given: `inverse` has it",
            )  # fmt: skip
        return known, const(False)
    solver = _Solver(index_map, ranges, facts)
    names = [Var.make(f"axis{k}", v.dtype) for k, v in enumerate(index_map.final_indices)]
    found, padding = solver.solve(names, new_shape)
    if not allow_padding and not (isinstance(padding, IntImm) and padding.value == 0):
        raise _refused(
            "leaves places where no element is",
            f"padding where `{format_expr(padding)}`",
            "`non_surjective_inverse` gives the inverse and this condition",
        )
    return IndexMap(tuple(names), tuple(found)), padding


def _ranges(index_map: IndexMap, shape: Sequence[Any]) -> list[Range]:
    ranges = [dim if isinstance(dim, Range) else Range(0, as_prim(dim)) for dim in shape]
    if len(ranges) != len(index_map.initial_indices):
        raise OperandError(
            "shape", f"has {len(ranges)} axes", code="RX0204",
            message=f"the index map takes {len(index_map.initial_indices)} indices",
        )  # fmt: skip
    return ranges


def _refused(message: str, label: str, help: str | None = None) -> OperandError:
    return OperandError(
        "shape", label, code="RX0204", message=f"the index map {message}", help=help
    )


class _Digit(NamedTuple):
    """A part of the index `of`, `of // low % extent`, which is `var` in what is made of it."""

    of: Var
    var: Var
    low: PrimExpr
    extent: PrimExpr


class _Source:
    """An index that has digits: a variable of the map, or a sum that is divided as a whole."""

    def __init__(self, value: PrimExpr, extent: PrimExpr) -> None:
        self.value = value
        self.extent = extent
        self.cuts: list[PrimExpr] = []
        self.digits: list[_Digit] = []


class _Solver:
    """Finds the digits of all indices, and reads them off the new indices."""

    def __init__(self, index_map: IndexMap, ranges: Sequence[Range], facts: Facts) -> None:
        self.variables = index_map.initial_indices
        self.ranges = ranges
        self.facts = facts
        self.sources: dict[Var, _Source] = {}
        self.extents: dict[Var, PrimExpr] = {}
        # Indices count from 0 here.
        shifted: dict[Var, PrimExpr] = {}
        for var, domain in zip(self.variables, ranges):
            own = Var.make(var.name, var.dtype)
            low, extent = prim.cast(domain.min, var.dtype), prim.cast(domain.extent, var.dtype)
            shifted[var] = own if prove_equal(low, 0) is YES else own + low
            self.sources[own] = _Source(own, extent)
            self._learn(own, extent)
        self.own = tuple(self.sources)
        self.sums: list[tuple[Var, PrimExpr]] = []
        # One more than the largest value of each new index.
        self.sizes: list[PrimExpr] = []
        finals = [substitute(e, shifted) for e in index_map.final_indices]
        self.finals = [self._name_sums(e) for e in finals]

    def _learn(self, var: Var, extent: PrimExpr) -> None:
        self.extents[var] = extent
        if isinstance(extent, IntImm):
            self.facts = self.facts.with_range(var, 0, max(extent.value - 1, 0))
        else:
            self.facts = self.facts.with_condition(var < extent)

    def _simplify(self, e: PrimExpr) -> PrimExpr:
        return simplify(e, self.facts)

    def _equal(self, a: PrimExpr | int, b: PrimExpr | int) -> bool:
        return prove_equal(a, b, self.facts) is YES

    # ------------------------------------------------------------ digits

    def _name_sums(self, e: PrimExpr) -> PrimExpr:
        """`e` with a new variable for each sum that is divided as a whole and stays one."""

        def step(node: Any) -> Any:
            if not isinstance(node, (FloorDiv, FloorMod)) or not self._is_own(node):
                return None
            if isinstance(self._simplify(node.a), (Var, FloorDiv, FloorMod)):
                return None
            if not isinstance(node.b, IntImm) or self._splits(node):
                return None
            return type(node).make(self._sum(node.a), node.b)

        return rewrite_top_down(e, step)

    def _is_own(self, e: PrimExpr) -> bool:
        return any(isinstance(v, Var) and v in self.sources for v in free_vars(e))

    def _splits(self, node: FloorDiv | FloorMod) -> bool:
        """True if the quotient and the remainder of a sum are sums of digits themselves."""
        parts = (
            self._simplify(FloorDiv.make(node.a, node.b)),
            self._simplify(FloorMod.make(node.a, node.b)),
        )
        return not any(_divides_a_sum(part) for part in parts)

    def _sum(self, e: PrimExpr) -> Var:
        for var, known in self.sums:
            if self._equal(known, e):
                return var
        var = Var.make(f"w{len(self.sums)}", e.dtype)
        self.sums.append((var, e))
        return var

    # ------------------------------------------------------------ solving

    def solve(
        self, names: Sequence[Var], new_shape: Callable[[], Sequence[PrimExpr]]
    ) -> tuple[list[PrimExpr], PrimExpr]:
        """The old indices by the new ones, and the condition of padding."""
        conditions: list[PrimExpr] = []
        for var, e in self.sums:
            extent = self._read_sum(e)
            self.sources[var] = _Source(var, extent)
            self._learn(var, extent)
        finals = [self._simplify(e) for e in self.finals]
        hidden = {v for _, e in self.sums for v in free_vars(e)}
        used = {v for e in finals for v in free_vars(e)}
        if used & hidden:
            mixed = next(v for v in self.own if v in used & hidden)
            raise self._not_found(f"`{mixed.name}` occurs in a divided sum and elsewhere")
        for e in finals:
            self._cut(e)
        digits = self._digits(skip=hidden)
        values = self._read_all([self._in_digits(e) for e in finals], names, digits)
        found: dict[Any, PrimExpr] = {}
        for var, source in self.sources.items():
            if var not in hidden:
                found[var] = self._value(source, values)
                conditions += self._beyond(source, found[var])
        sizes = list(self.sizes)
        for name, size, whole in zip(names, sizes, new_shape()):
            if isinstance(size, IntImm) and isinstance(whole, IntImm) and size.value < whole.value:
                conditions.append(name >= size)
        for var, e in self.sums:
            found |= self._read(e, found[var], self._unit_digits(e))
        pairs = zip(self.variables, self.own, self.ranges)
        facts = self._facts_of(names, sizes)
        results = [
            simplify(found[own] + prim.cast(domain.min, var.dtype), facts)
            for var, own, domain in pairs
        ]
        return results, _any(conditions)

    def _facts_of(self, names: Sequence[Var], sizes: Sequence[PrimExpr]) -> Facts:
        facts = self.facts
        for name, size in zip(names, sizes):
            if isinstance(size, IntImm):
                facts = facts.with_range(name, 0, max(size.value - 1, 0))
        return facts

    def _not_found(self, why: str) -> OperandError:
        return _refused("has no inverse that is found", why)

    def _cut(self, e: PrimExpr) -> None:
        """Note where divisions cut variables."""
        for node in _divisions(e):
            match node:
                case FloorDiv(a=Var() as var, b=by) | FloorMod(a=Var() as var, b=by):
                    cuts = [by]
                case FloorMod(a=FloorDiv(a=Var() as var, b=low), b=by):
                    cuts = [low, self._simplify(low * by)]
                case FloorDiv(a=FloorMod(a=Var() as var, b=high), b=by):
                    cuts = [by, high]
                case _:
                    raise self._not_found(f"it has the index `{format_expr(node)}`")
            if var not in self.sources or any(self._is_own(cut) for cut in cuts):
                raise self._not_found(f"it has the index `{format_expr(node)}`")
            known = self.sources[var].cuts
            known += [c for c in cuts if not any(self._equal(c, k) for k in known)]

    def _digits(self, skip: Iterable[Any]) -> dict[Var, _Digit]:
        """The digits of all sources, each of which ends where the next one begins."""
        found: dict[Var, _Digit] = {}
        for var, source in self.sources.items():
            if var in skip:
                continue
            low: PrimExpr = const(1, var.dtype)
            for cut in self._in_order(source):
                extent = self._simplify(cut // low)
                if not self._equal(extent * low, cut):
                    raise self._not_found(
                        f"`{var.name}` is cut at {format_expr(low)} and at {format_expr(cut)}"
                    )
                source.digits.append(self._digit(var, low, extent))
                low = cut
            extent = self._simplify((source.extent + low - 1) // low)
            source.digits.append(self._digit(var, low, extent))
            found |= {digit.var: digit for digit in source.digits}
        return found

    def _digit(self, var: Var, low: PrimExpr, extent: PrimExpr) -> _Digit:
        digit = Var.make(f"{var.name}_{format_expr(low)}", var.dtype)
        self._learn(digit, extent)
        return _Digit(var, digit, low, extent)

    def _in_order(self, source: _Source) -> list[PrimExpr]:
        """The cuts of a source that are inside of it, the smallest first."""
        cuts = [c for c in source.cuts if prove(c < source.extent, self.facts) is not NO]
        numbers = sorted((c for c in cuts if isinstance(c, IntImm)), key=lambda c: c.value)
        return [*numbers, *(c for c in cuts if not isinstance(c, IntImm))]

    def _in_digits(self, e: PrimExpr) -> PrimExpr:
        """`e` with sums of digits in the place of variables and of their divisions."""

        def step(node: Any) -> Any:
            match node:
                case FloorMod(a=FloorDiv(a=Var() as var, b=low), b=by) if var in self.sources:
                    return self._between(var, low, self._simplify(low * by))
                case FloorDiv(a=FloorMod(a=Var() as var, b=high), b=by) if var in self.sources:
                    return self._between(var, by, high)
                case FloorDiv(a=Var() as var, b=by) if var in self.sources:
                    return self._between(var, by, None)
                case FloorMod(a=Var() as var, b=by) if var in self.sources:
                    return self._between(var, const(1, var.dtype), by)
                case Var() if node in self.sources:
                    return self._between(node, const(1, node.dtype), None)
            return None

        return rewrite_top_down(e, step)

    def _between(self, var: Var, low: PrimExpr, high: PrimExpr | None) -> PrimExpr:
        """The digits from one cut up to another, as one number."""
        total: PrimExpr = const(0, var.dtype)
        begun = False
        for digit in self.sources[var].digits:
            begun = begun or self._equal(digit.low, low)
            if high is not None and self._equal(digit.low, high):
                break
            if begun:
                total = total + digit.var * self._simplify(digit.low // low)
        if not begun:
            raise self._not_found(f"`{var.name}` is cut at {format_expr(low)}")
        return total

    # ------------------------------------------------------------ reading digits off

    def _read_all(
        self, finals: Sequence[PrimExpr], names: Sequence[Var], digits: Mapping[Var, _Digit]
    ) -> dict[Var, PrimExpr]:
        """The value of each digit by the new indices."""
        values: dict[Var, PrimExpr] = {}
        for e, name in zip(finals, names):
            mine = [digits[v] for v in free_vars(e) if isinstance(v, Var) and v in digits]
            twice = next((d for d in mine if d.var in values), None)
            if twice is not None:
                raise _refused(
                    "leaves places where no element is",
                    f"`{twice.of.name}` occurs in two new indices",
                )
            values |= self._read(e, name, mine)
        for digit in digits.values():
            if digit.var not in values and not self._equal(digit.extent, 1):
                raise _refused(
                    "puts several elements at one place",
                    f"no new index tells all `{digit.of.name}` apart",
                )
        return values

    def _read_sum(self, e: PrimExpr) -> PrimExpr:
        """The number of values of a sum of variables."""
        self._read(e, Var.make("w", e.dtype), self._unit_digits(e))
        return self.sizes.pop()

    def _unit_digits(self, e: PrimExpr) -> list[_Digit]:
        """The variables in a sum, as digits."""
        return [
            _Digit(v, v, const(1, v.dtype), self.extents[v])
            for v in free_vars(e)
            if isinstance(v, Var) and v in self.extents
        ]

    def _read(self, e: PrimExpr, name: PrimExpr, digits: Sequence[_Digit]) -> dict[Any, PrimExpr]:
        """The values of the digits of which a new index is the sum, by that index."""
        zero: dict[Any, PrimExpr] = {d.var: const(0, d.var.dtype) for d in digits}
        offset = self._simplify(substitute(e, zero))
        terms: list[tuple[_Digit, PrimExpr, bool]] = []
        total = offset
        for digit in digits:
            one = {**zero, digit.var: const(1, digit.var.dtype)}
            by = self._simplify(substitute(e, one) - offset)
            total = total + digit.var * by
            if self._equal(digit.extent, 1):
                continue
            turned = isinstance(by, IntImm) and by.value < 0
            if turned:  # A digit that counts down begins with its last value.
                offset = self._simplify(offset + by * (digit.extent - 1))
                by = self._simplify(-by)
            terms.append((digit, by, turned))
        if not self._equal(total, e):
            raise self._not_found(f"it has the index `{format_expr(e)}`")
        values: dict[Any, PrimExpr] = zero
        size: PrimExpr = const(1, e.dtype)
        rest = name if self._equal(offset, 0) else name - offset
        while terms:
            term = next((t for t in terms if self._equal(t[1], size)), None)
            if term is None:
                step = format_expr(terms[0][1])
                raise self._not_found(f"{step} is no step after {format_expr(size)} values")
            terms.remove(term)
            digit, _, turned = term
            value = rest if self._equal(size, 1) else rest // size
            if terms:
                value = value % digit.extent
            values[digit.var] = digit.extent - 1 - value if turned else value
            size = self._simplify(size * digit.extent)
        self.sizes.append(self._simplify(size + offset))
        return values

    def _value(self, source: _Source, values: Mapping[Var, PrimExpr]) -> PrimExpr:
        total: PrimExpr = const(0, source.value.dtype)
        for digit in reversed(source.digits):
            value = values.get(digit.var)
            total = total if value is None else total + value * digit.low
        return total

    def _beyond(self, source: _Source, value: PrimExpr) -> list[PrimExpr]:
        """The condition under which an index is beyond its extent, if that can be."""
        last = source.digits[-1]
        if self._equal(last.low * last.extent, source.extent):
            return []
        return [simplify(value, self.facts) >= source.extent]


def _any(conditions: Sequence[PrimExpr]) -> PrimExpr:
    if not conditions:
        return const(False)
    first, *rest = conditions
    for condition in rest:
        first = prim.Or(first, condition)
    return first


def _divisions(e: PrimExpr) -> list[PrimExpr]:
    """The outermost divisions and remainders in an expression."""
    found: list[PrimExpr] = []

    def step(node: Any) -> Any:
        if isinstance(node, (FloorDiv, FloorMod)):
            found.append(node)
            return node
        return None

    rewrite_top_down(e, step)
    return found


def _divides_a_sum(e: PrimExpr) -> bool:
    """True if a sum of several variables is divided."""
    return any(sum(isinstance(v, Var) for v in free_vars(d)) > 1 for d in _divisions(e))
