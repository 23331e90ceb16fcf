"""Concrete assignments: cheap ways to see that something does not hold for all values.

The atoms of a context are evaluated in their order for a few assignments of its variables. Only
assignments that satisfy the facts of the context count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from .atom import Atom
from .canonical import CanonicalContext
from .evaluate import truncated_division
from .polynomial import Poly

__all__ = ["Samples", "value_of"]

# What the i-th variable is, counted from its least value; small numbers, equal numbers, numbers
# that no coincidence makes equal, powers of two, large numbers.
ASSIGNMENTS: tuple[Callable[[int], int], ...] = (
    lambda i: 0,
    lambda i: 1,
    lambda i: (5, 3, 7, 2, 11, 13)[i % 6] + i // 6,
    lambda i: (2, 7, 3, 17, 5, 19)[i % 6] + i // 6,
    lambda i: 8 << (i % 4),
    lambda i: 1000 + 37 * i * i,
)


class Samples:
    """The assignments of a context, evaluated as far as they are asked for."""

    def __init__(self, context: CanonicalContext) -> None:
        self.context = context
        self._found: dict[int, list[int | None] | None] = {}

    def values(self, p: Poly) -> Iterator[int]:
        """The value of `p` under each assignment for which it has one."""
        for i, choose in enumerate(ASSIGNMENTS):
            known = self._found.get(i)
            if known is None or len(known) < len(self.context.atoms):
                known = self._found[i] = self._evaluate(choose)
            value = value_of(p, known)
            if value is not None:
                yield value

    def _evaluate(self, choose: Callable[[int], int]) -> list[int | None]:
        values: list[int | None] = []
        variables = 0
        for atom in self.context.atoms:
            if atom.kind in ("var", "multiple"):
                values.append(_choose_value(atom, choose(variables)))
                variables += 1
            else:
                values.append(_compute(atom, values))
        return values if self._possible(values) else [None] * len(values)

    def _possible(self, values: Sequence[int | None]) -> bool:
        """True if the facts hold, as far as they are known to the context."""
        for known in self.context.inequalities:
            value = value_of(known, values)
            if value is None or value < 0:
                return False
        return all(values[n] == int(truth) for n, truth in self.context.truth.items())


def _choose_value(atom: Atom, offset: int) -> int | None:
    low, high = atom.low, atom.high
    if low is None:
        low = -2 if high is None else high - 100
    if high is not None and low + offset > high:
        return low + offset % (high - low + 1) if high >= low else None
    return low + offset


def value_of(p: Poly, values: Sequence[int | None]) -> int | None:
    """The value of a polynomial, given those of its atoms; None when one has none."""
    result = 0
    for m, c in p.items():
        for n in m:
            value = values[n]
            if value is None:
                return None
            c *= value
        result += c
    return result


def _compute(atom: Atom, values: Sequence[int | None]) -> int | None:
    operands = [value_of(p, values) for p in atom.args]
    rule = RULES.get(atom.kind)
    if rule is None or any(operand is None for operand in operands):
        return None
    result = rule([operand for operand in operands if operand is not None])
    # What a learned fact says of the atom may rule the assignment out.
    if result is None or (atom.low is not None and result < atom.low):
        return None
    return None if atom.high is not None and result > atom.high else result


RULES: dict[str, Callable[[list[int]], int | None]] = {
    "floordiv": lambda v: v[0] // v[1] if v[1] else None,
    "div": lambda v: truncated_division(v[0], v[1]) if v[1] else None,
    "max": max,
    "min": min,
    "select": lambda v: v[1] if v[0] else v[2],
    "abs": lambda v: abs(v[0]),
    "cast": lambda v: v[0],
    "ge0": lambda v: int(v[0] >= 0),
    "eq0": lambda v: int(v[0] == 0),
    "and": lambda v: int(all(v)),
    "or": lambda v: int(any(v)),
}
